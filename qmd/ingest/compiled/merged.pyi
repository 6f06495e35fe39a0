from array import array

from qmd.ingest.merging import Postings

def merged(
    made: list[tuple[array[int], Postings]], documents: int
) -> tuple[bytes, bytes, bytes, bytes, bytes, bytes, bytes, bytes, bytes, bytes]: ...
