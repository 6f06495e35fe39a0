from array import array

def sketched(
    term_id: memoryview,
    number: memoryview,
    offsets: memoryview,
    positions: memoryview,
    starts: memoryview,
    documents: int,
) -> tuple[bytes, bytes]: ...
def near_pairs(
    bins: memoryview, order: array[int], least: int, crowd: int
) -> list[tuple[int, int, int]]: ...
