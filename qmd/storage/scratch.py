"""Scratch folders beside the index, and cleanup after killed processes.

    index.duckdb.new        new index of an import
    index.duckdb.compact    new index of a cleanup
    index.duckdb.hnsw.new   new HNSW index of a server
    index.duckdb.copy       snapshot for an export
    index.duckdb.copy-…     snapshot for a long query
    index.duckdb.spill-…    data that exceeds the memory of an engine

The process that uses a folder holds its lock, which the operating system releases at the end of
the process: an unlocked folder is abandoned. An engine makes and removes its spill folder by
itself and locks none: a spill folder without changes for a day is abandoned, too.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from qmd import safe_open

_COPIES = (".copy", ".copy-*")
_KINDS = (".new", ".hnsw.new", ".compact", *_COPIES)

ABANDONED_SECONDS = 86_400.0
"""Seconds after which a spill folder counts as abandoned."""


@contextmanager
def workplace(folder: Path) -> Iterator[Path]:
    """Create an empty folder for this process alone, and remove it at the end.

    Raises:
        OSError: it cannot be made.
    """
    lock = None
    while lock is None:
        folder.mkdir(mode=0o700, exist_ok=True)
        lock = _locked(folder, wait=True)  # None: another process has just removed it
    try:
        for entry in folder.iterdir():
            _remove(entry) if entry.is_dir() else entry.unlink()
        yield folder
    finally:
        _remove(folder, ignore_errors=True)
        os.close(lock)


def _locked(folder: Path, *, wait: bool) -> int | None:
    """Take the lock of a folder.

    Returns:
        The descriptor that holds it; None if another process does, or the folder has gone.
    """
    descriptor = None
    try:
        descriptor = safe_open.opened_folder(folder, wait=wait)
        if descriptor is not None and os.stat(folder).st_ino == os.fstat(descriptor).st_ino:
            taken, descriptor = descriptor, None
            return taken
    except FileNotFoundError:
        pass
    finally:
        if descriptor is not None:
            os.close(descriptor)
    return None


def spill_folder(index: Path) -> Path:
    """Create a spill folder for one engine: two that share one break each other.

    Source: DuckDB 1.5.5, two processes that sort with the same temp_directory.
    """
    return index.with_name(f"{index.name}.spill-{os.urandom(8).hex()}")


def sweep(index: Path) -> None:
    """Remove the spill folders of killed processes."""
    for folder in _spilled(index):
        _remove(folder, ignore_errors=True)


def left_behind(index: Path) -> dict[Path, int]:
    """List the folders of killed processes, with their bytes."""
    return dict(_abandoned(index))


def clear(index: Path) -> dict[Path, int]:
    """Remove the folders of killed processes.

    Returns:
        Removed folders, as `left_behind` lists them.
    """
    found = {}
    for folder, size in _abandoned(index):
        _remove(folder, ignore_errors=True)
        if not folder.exists():
            found[folder] = size
    return found


def sweep_copies(index: Path) -> None:
    """Remove the copies of killed processes."""
    for folder, _ in _unheld(index, _COPIES):
        _remove(folder, ignore_errors=True)


def _spilled(index: Path) -> Iterator[Path]:
    """Yield spill folders that no process uses."""
    for folder in _beside(index, ".spill*"):
        with suppress(OSError):  # another process has removed it
            if time.time() - folder.stat().st_mtime > ABANDONED_SECONDS:
                yield folder


def _abandoned(index: Path) -> Iterator[tuple[Path, int]]:
    """Yield folders that no process uses, each locked in the meantime."""
    for folder in _spilled(index):
        yield folder, _bytes(folder)
    yield from _unheld(index, _KINDS)


def _beside(index: Path, kind: str) -> list[Path]:
    """List the folders of a kind, in order of their names."""
    from glob import escape  # a search asks for none

    return sorted(index.parent.glob(escape(index.name) + kind))


def _unheld(index: Path, kinds: Sequence[str]) -> Iterator[tuple[Path, int]]:
    """Yield folders of some kinds whose lock is free, each locked in the meantime."""
    for kind in kinds:
        for folder in _beside(index, kind):
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


def _remove(folder: Path, *, ignore_errors: bool = False) -> None:
    """Remove a folder with all that is in it. Few commands do, and the module takes a while."""
    import shutil

    shutil.rmtree(folder, ignore_errors=ignore_errors)
