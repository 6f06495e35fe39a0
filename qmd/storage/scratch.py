"""Folders beside the index in which a process makes something, and those of killed processes.

    index.duckdb.new        the index that an import makes
    index.duckdb.compact    the index that a cleanup writes anew
    index.duckdb.hnsw.new   the shortcut to the nearest vectors that a server makes
    index.duckdb.copy       what an export reads
    index.duckdb.copy-…     what a long query reads
    index.duckdb.spill-…    what does not fit into the memory of an engine

Whoever uses one holds its lock, which the operating system ends with the process: what nobody
holds was left behind. An engine makes and removes the folder that it spills to by itself, and
locks none: one that nobody has touched for a day was left behind, too.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path

_COPIES = (".copy", ".copy-*")
_KINDS = (".new", ".hnsw.new", ".compact", *_COPIES)

ABANDONED = 86_400.0
"""Seconds after which nobody uses a folder any more that an engine has spilled to."""


@contextmanager
def workplace(folder: Path) -> Iterator[Path]:
    """A folder for this process alone, empty at first, which goes in the end.

    Raises:
        OSError: it cannot be made.
    """
    lock = None
    while lock is None:
        folder.mkdir(mode=0o700, exist_ok=True)
        lock = _locked(folder, wait=True)  # None: somebody has just removed what was left behind
    try:
        for entry in folder.iterdir():
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def _locked(folder: Path, *, wait: bool) -> int | None:
    """Take the lock of a folder.

    Returns:
        The descriptor that holds it; None if another process does, or the folder has gone.
    """
    descriptor = None
    try:
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW
        descriptor = os.open(folder, flags)
        fcntl.flock(descriptor, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.stat(folder).st_ino == os.fstat(descriptor).st_ino:
            taken, descriptor = descriptor, None
            return taken
    except (BlockingIOError, FileNotFoundError):
        pass
    finally:
        if descriptor is not None:
            os.close(descriptor)
    return None


def spill(index: Path) -> Path:
    """A folder for one engine to spill to: two that share one bring each other down.

    Source: DuckDB 1.5.5, two processes that sort with the same temp_directory.
    """
    return index.with_name(f"{index.name}.spill-{os.urandom(8).hex()}")


def sweep(index: Path) -> None:
    """Remove what engines have spilled whose processes were killed."""
    for folder in _spilled(index):
        shutil.rmtree(folder, ignore_errors=True)


def left_behind(index: Path) -> dict[Path, int]:
    """Folders of processes that were killed, and how many bytes each takes."""
    return dict(_abandoned(index))


def clear(index: Path) -> dict[Path, int]:
    """Remove those folders.

    Returns:
        What `left_behind` does, of those that are gone.
    """
    found = {}
    for folder, size in _abandoned(index):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            found[folder] = size
    return found


def sweep_copies(index: Path) -> None:
    """Remove the copies of processes that were killed."""
    for folder, _ in _unheld(index, _COPIES):
        shutil.rmtree(folder, ignore_errors=True)


def _spilled(index: Path) -> Iterator[Path]:
    """Folders that were spilled to, and that nobody uses any more."""
    for folder in sorted(index.parent.glob(escape(index.name) + ".spill*")):
        with suppress(OSError):  # somebody else has removed it
            if time.time() - folder.stat().st_mtime > ABANDONED:
                yield folder


def _abandoned(index: Path) -> Iterator[tuple[Path, int]]:
    """Folders that nobody has, each locked while it is looked at."""
    for folder in _spilled(index):
        yield folder, _bytes(folder)
    yield from _unheld(index, _KINDS)


def _unheld(index: Path, kinds: Sequence[str]) -> Iterator[tuple[Path, int]]:
    """Those of some kinds whose lock nobody holds, each locked while it is looked at."""
    for kind in kinds:
        for folder in sorted(index.parent.glob(escape(index.name) + kind)):
            with suppress(OSError):  # no folder, or gone, or not ours to look into
                lock = _locked(folder, wait=False)
                if lock is None:
                    continue
                try:
                    yield folder, _bytes(folder)
                finally:
                    os.close(lock)


def _bytes(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
