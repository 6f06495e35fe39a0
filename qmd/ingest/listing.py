"""Listing of one folder, and facts of its files.

The compiled version makes no object of Python for a file whose suffix says that it is wanted, and
takes a third of the time. Plain Python leaves all decisions to the entries of `os.scandir`.
"""

from __future__ import annotations

import os
import stat
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Protocol

from qmd import processes
from qmd.named_tuple import NamedTuple

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

try:
    from qmd.ingest.compiled import listing as _compiled
except ImportError:
    _compiled = None  # type: ignore[assignment]
if _compiled is not None and not _compiled.available:
    _compiled = None  # type: ignore[assignment]

MANY_FILES = 20_000
"""Files from which on threads read facts: until then it takes less than a twentieth of a second."""

SEVERAL_FILES = 50
"""Files of a folder that are worth a task of a thread, which takes as long as the facts of ten."""

_FILE, _FOLDER, _LINK = 1, 2, 3
"""Kinds of what is in a folder, as the compiled module tells them."""


class FolderEntry(Protocol):
    """Anything in a folder, as `os.DirEntry` tells of it."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def path(self) -> str:
        """The folder, `/`, and its name."""

    def is_symlink(self) -> bool:
        """Check for a symbolic link."""

    def is_dir(self, *, follow_symlinks: bool = True) -> bool:
        """Check for a folder."""

    def is_file(self, *, follow_symlinks: bool = True) -> bool:
        """Check for a regular file."""

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:
        """Read its facts."""


class ListedEntry(NamedTuple):
    """FolderEntry of the compiled listing."""

    folder: str
    name: str
    kind: int

    @property
    def path(self) -> str:
        """The folder, `/`, and its name."""
        return f"{self.folder.rstrip('/')}/{self.name}"

    def is_symlink(self) -> bool:
        """Check for a symbolic link."""
        return self.kind == _LINK

    def is_dir(self, *, follow_symlinks: bool = True) -> bool:
        """Check for a folder."""
        return self._is(_FOLDER, stat.S_ISDIR, follow=follow_symlinks)

    def is_file(self, *, follow_symlinks: bool = True) -> bool:
        """Check for a regular file."""
        return self._is(_FILE, stat.S_ISREG, follow=follow_symlinks)

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:
        """Read its facts."""
        return os.stat(self.path, follow_symlinks=follow_symlinks)

    def _is(self, kind: int, check: Callable[[int], bool], *, follow: bool) -> bool:
        if self.kind and not (follow and self.kind == _LINK):
            return self.kind == kind
        try:
            return check(self.stat(follow_symlinks=follow).st_mode)
        except FileNotFoundError:
            return False


@dataclass(slots=True)
class FileColumns:
    """Regular files of one folder, in columns.

    Attributes:
        sizes: bytes.
        mtimes: nanoseconds since the epoch, within 64 bits; as `ctimes`.
        inodes: unsigned.
    """

    paths: list[str] = field(default_factory=list)
    sizes: array[int] = field(default_factory=partial(array, "q"))
    mtimes: array[int] = field(default_factory=partial(array, "q"))
    inodes: array[int] = field(default_factory=partial(array, "Q"))
    ctimes: array[int] = field(default_factory=partial(array, "q"))

    @property
    def facts(self) -> tuple[array[int], ...]:
        """All columns but the paths."""
        return self.sizes, self.mtimes, self.inodes, self.ctimes

    def append(self, path: str, size: int, times: tuple[int, int], inode: int) -> None:
        """Add a file.

        Args:
            times: of the last change of its content, and of any change.
        """
        self.paths.append(path)
        for column, value in zip(self.facts, (size, times[0], inode, times[1]), strict=True):
            column.append(value)

    def extend(self, others: FileColumns) -> None:
        """Add files."""
        self.paths += others.paths
        for column, more in zip(self.facts, others.facts, strict=True):
            column.extend(more)


def listed(folder: str, suffixes: frozenset[str]) -> tuple[list[str], Sequence[FolderEntry]]:
    """List a folder in the order of names.

    Args:
        suffixes: of files that need no further look, in small letters, with their dots.

    Returns:
        Names of regular files with these suffixes that do not begin with a dot; all other entries.
        Without the compiled module, all are others.

    Raises:
        OSError: it cannot be listed.
    """
    if _compiled is None:
        return [], sorted(os.scandir(folder), key=lambda entry: entry.name)
    names, others = _compiled.listed(folder, suffixes)
    return names, [ListedEntry(folder, *each) for each in others]


Facts = tuple[FileColumns, list[tuple[str, OSError]]]
"""Facts of files of a folder, and what could not be looked at. See `facts`."""


def facts(folder: str, names: list[str]) -> Facts:
    """Read the facts of files of a folder; links are not followed.

    Args:
        names: as `listed` gives them.

    Returns:
        Those that are regular files, with their names as paths; (name, error) of those that could
        not be looked at.
    """
    if _compiled is None or not names:
        return FileColumns(), []
    columns, codes = _compiled.facts(folder, names)
    found = FileColumns(list(names))
    for column, values in zip(found.facts, columns, strict=True):
        column.frombytes(values)
    failed = []
    for at, code in reversed(codes):
        name = found.paths.pop(at)
        for column in found.facts:
            column.pop(at)
        if code > 0:
            failed.append((name, OSError(code, os.strerror(code), f"{folder}/{name}")))
    return found, failed[::-1]


class FactsAhead:
    """Facts of files of many folders, which threads read while further folders are listed.

    The facts of a million files take 1.6 s of the system's time, which one thread after the other
    would wait for.
    """

    def __init__(self) -> None:
        self._asked = 0
        self._threads: ThreadPoolExecutor | None = None

    def begin(self, folder: str, names: list[str]) -> Callable[[], Facts]:
        """Begin to read facts. See `facts`.

        Returns:
            A function that waits for them.
        """
        self._asked += len(names)
        if _compiled is None or self._asked < MANY_FILES or len(names) < SEVERAL_FILES:
            found = facts(folder, names)
            return lambda: found
        if self._threads is None:
            from concurrent.futures import ThreadPoolExecutor

            self._threads = ThreadPoolExecutor(min(4, processes.cores()))
        try:
            return self._threads.submit(facts, folder, names).result
        except RuntimeError:  # the system starts no more threads
            found = facts(folder, names)
            return lambda: found

    @property
    def has_threads(self) -> bool:
        """True once there were so many files that threads read facts."""
        return self._threads is not None

    def close(self) -> None:
        """Drop what has not begun, and end the threads."""
        if self._threads is not None:
            self._threads.shutdown(cancel_futures=True)
