from collections.abc import Iterable

available: bool

def listed(folder: str, suffixes: frozenset[str]) -> tuple[list[str], list[tuple[str, int]]]: ...
def facts(folder: str, names: list[str]) -> tuple[list[bytes], list[tuple[int, int]]]: ...
def differing(
    known: str | Iterable[tuple[memoryview, ...]],
    paths: list[str],
    sizes: memoryview,
    mtimes: memoryview,
    inodes: memoryview,
    ctimes: memoryview,
    first: int,
    end: int,
) -> tuple[list[int], list[str]]: ...
