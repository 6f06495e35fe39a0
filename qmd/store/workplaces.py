"""Folders beside the index in which a process makes something, and those of killed processes.

    index.duckdb.new        the index that an import makes
    index.duckdb.hnsw.new   the shortcut to the nearest vectors that a server makes
    index.duckdb.copy       what an export reads
    index.duckdb.copy-…     what a long query reads

Whoever uses one holds its lock, which the operating system ends with the process: what nobody
holds was left behind.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path

_KINDS = (".new", ".hnsw.new", ".copy", ".copy-*")


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


def _abandoned(index: Path) -> Iterator[tuple[Path, int]]:
    """Folders that nobody has, each locked while it is looked at."""
    for kind in _KINDS:
        for folder in sorted(index.parent.glob(escape(index.name) + kind)):
            with suppress(OSError):  # no folder, or gone, or not ours to look into
                lock = _locked(folder, wait=False)
                if lock is None:
                    continue
                try:
                    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
                    yield folder, size
                finally:
                    os.close(lock)
