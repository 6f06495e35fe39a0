"""Snapshot copy of the index file for long reads, which then hold off no writer."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from pathlib import Path

from qmd.storage.cursor import Connection, connected
from qmd.storage.database import Database
from qmd.storage.file_version import wal_path
from qmd.storage.scratch import sweep_copies, workplace


@contextmanager
def copied(database: Database, *folders: Path) -> Iterator[tuple[Database, float]]:
    """Yield a copy, removed at the end, and the seconds for which the index was locked.

    Those of processes that were killed go first.

    Args:
        folders: where it may be: the first that has room is taken.

    Raises:
        IndexFailure: the index is busy or unreadable.
        OSError: none of them has room.
    """
    sweep_copies(database.path)
    with ExitStack() as stack:
        for folder in folders:
            try:
                path, held = write_snapshot(database, stack.enter_context(workplace(folder)))
                break
            except OSError:
                stack.close()
                if folder == folders[-1]:
                    raise
        apart = Database(path)
        stack.callback(apart.close)
        yield apart, held


def write_snapshot(database: Database, folder: Path) -> tuple[Path, float]:
    """Copy the index file into a folder, between two transactions.

    Other processes can read at the same time; writers wait.

    Returns:
        The copy, and for how many seconds the file was held.

    Raises:
        IndexFailure: the index is busy, unreadable, or too new.
        OSError: the copy cannot be written.
    """
    database.read(lambda _: None)  # it is there, and of this version
    return database.apart(partial(_copied, database.path, folder / database.path.name))


def _copied(path: Path, target: Path, attach: Callable[[Connection], None]) -> tuple[Path, float]:
    from qmd import files

    began = time.monotonic()
    with closing(connected()) as engine:
        attach(engine)  # so that programs without these locks do not write
        if (log := wal_path(path)).exists():
            files.copy_file(log, wal_path(target))
        files.copy_file(
            path, target
        )  # last: closing the file that it reads drops the engine's lock
    return target, time.monotonic() - began
