from array import array
from collections.abc import Container

def sketched(
    term_id: memoryview,
    number: memoryview,
    offsets: memoryview,
    positions: memoryview,
    starts: memoryview,
    documents: int,
) -> tuple[bytes, bytes]: ...
def bucket_keys(bins: memoryview) -> bytes: ...
def sharing(some: array[int], others: memoryview) -> list[int]: ...
def beside_another(keys: array[int]) -> list[int]: ...
def near_pairs(
    bins: memoryview, order: array[int], least: int, crowd: int
) -> list[tuple[int, int, int]]: ...
def near_some(
    some: memoryview,
    others: memoryview,
    hashes: list[str],
    apart: Container[str],
    least: int,
    texts: array[int],
    firsts: list[str | None],
) -> list[tuple[int, int, int, int]]: ...
