from collections.abc import Callable, Container, Iterator, Sequence

def add_words(
    text: str,
    lowered: str,
    starts: Sequence[int],
    first: int,
    stop: int,
    apart: Container[int],
    begins: dict[str, int],
    known: dict[str, int],
    unknown: Callable[[str], int],
    found: dict[int, int],
    bit_of: dict[str, int],
    longest: int,
) -> None: ...
def line_starts(lines: list[str]) -> list[int]: ...
def best_window(
    starts: list[int],
    matching: Iterator[tuple[int, int]],
    length: int,
    distinct: int | None,
    counts: Callable[[int], bool] | None,
    reach: int,
) -> tuple[int, int] | None: ...
