from array import array

from qmd.ingest.merging import PostingColumns

def merged(
    made: list[tuple[array[int], PostingColumns]], documents: int
) -> tuple[bytes, bytes, bytes, bytes, bytes, bytes, bytes, bytes, bytes]: ...
