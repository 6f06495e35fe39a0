"""Comparison of the facts of files with those that the index has: size, both times, inode.

The compiled version takes a tenth of the time; a property test holds both equal.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence

from qmd.named_tuple import NamedTuple

try:
    from qmd.ingest.compiled.listing import differing as _compiled
except ImportError:
    _compiled = None  # type: ignore[assignment]


class FileFacts(NamedTuple):
    """Files in order of their paths, in columns. See `walk.FileTable`."""

    paths: list[str]
    sizes: Sequence[int]
    mtimes: Sequence[int]
    inodes: Sequence[int]
    ctimes: Sequence[int]

    def line(self, at: int) -> str:
        """Format a file as documents/files does."""
        facts = f"{self.sizes[at]} {self.mtimes[at]} {self.ctimes[at]} {self.inodes[at]}"
        return f"{facts}/{self.paths[at]}"


KnownColumns = tuple[memoryview, ...]
"""Result of documents/file_columns, or a part of it, as bytes."""


def differing(
    known: str | Iterable[KnownColumns], files: FileFacts, first: int, end: int
) -> tuple[list[int], list[str]]:
    """Find the files that the index has not, or not as they are.

    Args:
        known: result of documents/files, or parts of that of documents/file_columns.
        first: place of the first file that is compared, and of the first that is not any more.

    Returns:
        Places of these files; paths that the index has with other facts, or that are gone.
    """
    if _compiled is None:
        lines = known if isinstance(known, str) else "\0".join(map(_lines, known))
        return plainly_differing(lines, files, first, end)
    sizes, mtimes, inodes, ctimes = (
        memoryview(column if isinstance(column, array) else array(code, column))
        for code, column in zip("qqQq", files[1:], strict=True)
    )
    return _compiled(known, files.paths, sizes, mtimes, inodes, ctimes, first, end)


def _lines(known: KnownColumns) -> str:
    """Write columns of files as documents/files does."""
    *facts, paths = known
    columns = [each.cast("Q" if at == 3 else "q") for at, each in enumerate(facts)]
    rows = zip(*columns, bytes(paths).decode().split("\0"), strict=False)
    return "\0".join(
        f"{size} {mtime} {ctime} {inode}/{path}" for size, mtime, ctime, inode, path in rows
    )


def plainly_differing(
    known: str, files: FileFacts, first: int, end: int
) -> tuple[list[int], list[str]]:
    """Compare in plain Python. See `differing`."""
    here = {files.line(at): at for at in range(first, end)}
    there = set(known.split("\0")) - {""}
    places = sorted(here[line] for line in here.keys() - there)
    return places, [line.partition("/")[2] for line in there - here.keys()]
