import mmap
from collections.abc import Iterable, Mapping, Sequence

class CompiledPostings:
    def __init__(
        self,
        file: mmap.mmap,
        places: Mapping[str, Sequence[object]],
        parts: int,
        gone: Iterable[int],
    ) -> None: ...
    def count(self, term: int) -> int: ...
    def any_of(self, terms: Iterable[int]) -> tuple[list[int], list[float]]: ...
    def phrase(self, elements: Sequence[tuple[int, int]]) -> tuple[list[int], list[float]]: ...
    def ranked(
        self,
        terms: Iterable[tuple[int, float]],
        counted: Iterable[tuple[Sequence[int], Sequence[float], float]],
        average: float,
        allowed: Iterable[int] | None,
        banned: Iterable[int],
        limit: int,
    ) -> tuple[list[int], list[float]]: ...
