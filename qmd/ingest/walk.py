"""Directory walk: the files of a collection on disk."""

from __future__ import annotations

import errno
import os
import stat
import time
from array import array
from collections import Counter, deque
from collections.abc import Callable, Iterator, MutableSequence, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from qmd.errors import RootMissing, RootUnreadable
from qmd.ingest import gitignore
from qmd.ingest.listing import Facts, FactsAhead, FileColumns, listed
from qmd.named_tuple import NamedTuple
from qmd.reports import Report
from qmd.text import kinds, paths
from qmd.text.globs import ignoring, taken_suffixes, taking
from qmd.types import Collection, LeftOut

EXCLUDED = frozenset({".git", "node_modules", ".cache", "vendor", "dist", "build"})
"""Folders that are never entered. Source: tobi/qmd (MIT), src/store.ts. Dot folders too."""

LARGEST = 64_000_000
"""Bytes of a file that is still indexed: a text of this size is a log or a dump."""

ASTRAY = "a link that leads out of the collection, or nowhere"

FOLDERS_AHEAD = 64
"""Folders that are listed while the facts of files of an earlier one are still read."""

LATEST = (1 << 63) - 1
"""Nanoseconds after 1970 that can be stored: a file of a later year than 2262 gets this time, one
of an earlier year than 1677 its negative."""


@dataclass(slots=True)
class FileTable:
    """Files in columns, to be compared in one statement.

    Attributes:
        paths: relative to the root, with `/`.
        skipped: (path, reason)
        unread: files that could not be read and, with a `/`, folders that could not be
            listed; they and what is below them are not gone.
        began: nanoseconds since the epoch, before the first of them was looked at.
        mask: of the collection.
        passed_over: files that the mask does not take.
        too_large: paths of files over the limit, which are in `skipped`, too.
        ctimes: nanoseconds: of the last change in any way, which no program can set back, as
            `rsync -t` does with the other time.
    """

    paths: list[str] = field(default_factory=list)
    sizes: MutableSequence[int] = field(default_factory=partial(array, "q"))
    mtimes: MutableSequence[int] = field(default_factory=partial(array, "q"))
    inodes: MutableSequence[int] = field(default_factory=partial(array, "Q"))
    skipped: list[tuple[str, str]] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    began: int = field(default_factory=time.time_ns)
    mask: str = ""
    passed_over: list[str] = field(default_factory=list)
    too_large: list[str] = field(default_factory=list)
    ctimes: MutableSequence[int] = field(default_factory=partial(array, "q"))

    def is_unread(self, path: str) -> bool:
        """Check that a path could not be read, or lies in a folder that could not be listed."""
        return any(
            path == place or (path.startswith(place) and place.endswith("/"))
            for place in self.unread
        )

    @property
    def facts(self) -> tuple[MutableSequence[int], ...]:
        """All columns of the files but the paths."""
        return self.sizes, self.mtimes, self.inodes, self.ctimes

    @property
    def left_out(self) -> list[LeftOut]:
        """Count the files that are left out, by suffix, the most frequent first."""
        counts = Counter(map(kinds.suffix_of, self.passed_over))
        found = [
            LeftOut(suffix, count, kinds.why_left_out(f"a{suffix}", self.mask))
            for suffix, count in sorted(counts.items(), key=lambda each: (-each[1], each[0]))
        ]
        if self.too_large:
            count = len(self.too_large)
            found.append(LeftOut(None, count, f"over {LARGEST // 1_000_000} MB"))
        return found

    @property
    def refused(self) -> list[tuple[str, str]]:
        """Files that cannot be read but for their size, with the reasons, by path."""
        large = set(self.too_large)
        return sorted(each for each in self.skipped if each[0] not in large)


def walk(collection: Collection) -> FileTable:
    """List all files of a collection, sorted by path.

    Raises:
        RootMissing: the folder is not there or no folder.
        RootUnreadable: it cannot be read.
    """
    root = paths.real(collection.root)
    try:
        is_there = Path(root).is_dir()
    except OSError as error:
        raise _unreadable(collection, error) from error
    if not is_there:
        raise RootMissing(collection.name, collection.root)
    found = FileTable(mask=collection.mask)
    for files in _files(root, collection, found):
        _add(found, files)
    _sort(found)
    return found


def has_files(collection: Collection) -> bool:
    """Return whether a folder has a file of its collection with anything in it.

    Raises:
        RootMissing, RootUnreadable: as `walk` does.
    """
    if not Path(collection.root).is_dir():
        raise RootMissing(collection.name, collection.root)
    found = _files(paths.real(collection.root), collection, FileTable())
    return any(0 < size <= LARGEST for files in found for size in files.sizes)


def same(
    collection: Collection, found: FileTable, unusable: Sequence[tuple[str, str]] = ()
) -> Report:
    """Build the report of a collection without changes.

    Args:
        unusable: (path, reason) of files that cannot be indexed.
    """
    return Report(
        collection.name,
        collection.mask,
        unchanged=len(found.paths) - len(unusable),
        skipped=[*found.skipped, *unusable],
        left_out=found.left_out,
    )


def _unreadable(collection: Collection, error: OSError) -> RootUnreadable:
    problem = (error.strerror or str(error)).lower()
    return RootUnreadable(collection.name, collection.root, problem)


def _bounded(mtime: int) -> int:
    return min(max(mtime, -LATEST), LATEST)


def _add(found: FileTable, files: FileColumns) -> None:
    """Add the files of a folder, other than those that cannot be indexed."""
    fits = max(files.sizes, default=0) <= LARGEST
    if not (
        fits and ("".join(files.paths).isprintable() or not any(map(_undecodable, files.paths)))
    ):
        files = _usable(found, files)
    found.paths += files.paths
    for column, more in zip(found.facts, files.facts, strict=True):
        column.extend(more)


def _usable(found: FileTable, files: FileColumns) -> FileColumns:
    """Return the files that can be indexed, and note why the others cannot."""
    kept = FileColumns()
    for at, (path, size) in enumerate(zip(files.paths, files.sizes, strict=True)):
        if _undecodable(path):
            found.skipped.append((_shown(path), "the name is not valid UTF-8"))
        elif size > LARGEST:
            shown, limit = size // 1_000_000, LARGEST // 1_000_000
            found.skipped.append((path, f"too large ({shown} MB, the limit is {limit} MB)"))
            found.unread.append(path)
            found.too_large.append(path)
        else:
            kept.paths.append(path)
            for column, own in zip(kept.facts, files.facts, strict=True):
                column.append(own[at])
    return kept


def _sort(found: FileTable) -> None:
    """Put the files in order of their paths; most folders are walked in it."""
    in_order = sorted(found.paths)
    if in_order == found.paths:
        return
    places = sorted(range(len(found.paths)), key=found.paths.__getitem__)
    found.paths = in_order
    found.sizes = array("q", map(found.sizes.__getitem__, places))
    found.mtimes = array("q", map(found.mtimes.__getitem__, places))
    found.inodes = array("Q", map(found.inodes.__getitem__, places))
    found.ctimes = array("q", map(found.ctimes.__getitem__, places))


def _files(root: str, collection: Collection, found: FileTable) -> Iterator[FileColumns]:
    """Yield the regular files of each folder.

    Of others, nothing but their names is looked at.
    """
    with closing(FactsAhead()) as ahead:
        begun = deque[_Begun]()
        for folder in _folders(root, collection, found, ahead):
            begun.append(folder)
            while len(begun) > (FOLDERS_AHEAD if ahead.has_threads else 0):
                yield begun.popleft().files(found)
        while begun:
            yield begun.popleft().files(found)


class _Begun(NamedTuple):
    """Files of a folder that is listed.

    Attributes:
        prefix: of their paths.
        facts: waits for the facts of most of them.
        more: the others, with their paths.
    """

    prefix: str
    facts: Callable[[], Facts]
    more: FileColumns

    def files(self, found: FileTable) -> FileColumns:
        """Wait for all of them, and note those that could not be read."""
        files, failed = self.facts()
        for name, error in failed:
            _note_unread(found, self.prefix + name, error)
        files.paths = [self.prefix + name for name in files.paths]
        files.extend(self.more)
        return files


def _folders(
    root: str, collection: Collection, found: FileTable, ahead: FactsAhead
) -> Iterator[_Begun]:
    """List the folders of a collection."""
    wanted = taking(collection.mask, collection.ignored, collection.converted)
    suffixes = taken_suffixes(collection.mask)
    ignores = ignoring(collection.ignored)
    entered = {root}
    above = gitignore.above(root) if collection.respect_gitignore else gitignore.NOTHING
    waiting = [(root, "", above)]
    while waiting:
        folder, prefix, rules = waiting.pop()
        try:
            names, entries = listed(folder, suffixes)
        except OSError as error:
            if folder == root:
                raise _unreadable(collection, error) from error
            found.skipped.append((_shown(prefix), error.strerror or str(error)))
            found.unread.append(prefix)
            continue
        if collection.respect_gitignore:
            rules = rules.inside(folder, prefix, {entry.name for entry in entries})
        if collection.ignored or not rules.is_empty:
            names = [
                name
                for name in names
                if not (ignores(prefix + name) or rules.ignore(prefix + name))
            ]
        facts, more, folders = ahead.begin(folder, names), FileColumns(), []
        for entry in entries:
            path = prefix + entry.name
            follow = False
            try:
                if entry.is_symlink():
                    if not collection.follow_symlinks:
                        continue
                    if not stays_inside(entry.path, root):
                        if wanted(path) and not rules.ignore(path):
                            found.skipped.append((_shown(path), ASTRAY))
                        continue
                    follow = True
                if entry.is_dir(follow_symlinks=follow):
                    if entry.name in EXCLUDED or entry.name.startswith("."):
                        continue
                    below = rules.of_folder(path)
                    if below is None:
                        continue
                    real = paths.real(entry.path) if collection.follow_symlinks else path
                    if real not in entered:
                        entered.add(real)
                        folders.append((entry.path, path + "/", below))
                elif wanted(path) and not rules.ignore(path):
                    info = entry.stat(follow_symlinks=follow)
                    if stat.S_ISREG(info.st_mode):
                        times = _bounded(info.st_mtime_ns), _bounded(info.st_ctime_ns)
                        more.append(path, info.st_size, times, info.st_ino)
                elif entry.is_file(follow_symlinks=follow):
                    is_meant = wanted(path) or ignores(path) or entry.name.startswith(".")
                    if not is_meant and not rules.ignore(path):
                        found.passed_over.append(path)
                elif follow:
                    entry.stat()  # a link that leads nowhere may have led to a folder
            except OSError as error:
                _note_unread(found, path, error)
        yield _Begun(prefix, facts, more)
        waiting.extend(reversed(folders))


def _note_unread(found: FileTable, path: str, error: OSError) -> None:
    found.skipped.append((_shown(path), error.strerror or str(error)))
    if error.errno != errno.ENOENT:
        found.unread += [path, path + "/"]


def stays_inside(path: str, root: str) -> bool:
    """Check that a path leads to a place below a folder, given by its real path."""
    real = paths.real(path)
    return real == root or real.startswith(root.rstrip("/") + "/")


def _undecodable(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return True
    return False


def _shown(path: str) -> str:
    """Format a path for messages; it may contain bytes that are not UTF-8."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")
