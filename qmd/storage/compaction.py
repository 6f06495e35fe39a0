"""Compaction: rewrite of the index file without free blocks.

DuckDB reuses the blocks of a file, but the file never shrinks, and a row group with mostly deleted
rows keeps its size. So a new copy is written, without a lock on the index, and replaces the index
if that has not changed in the meantime.
"""

from __future__ import annotations

import shutil
from contextlib import closing
from pathlib import Path

from qmd.errors import IndexFailure
from qmd.storage.attachment import ENGINE, ROW_GROUP_SIZE, SORTED_ROW_GROUP_SIZE
from qmd.storage.cursor import Cursor, DatabaseError, connected
from qmd.storage.database import Database
from qmd.storage.duckdb_errors import translate
from qmd.storage.file_version import version_of
from qmd.storage.scratch import workplace
from qmd.storage.snapshot import write_snapshot
from qmd.storage.statements import filled, statement, without_header

MAX_COMPACTED_SHARE = 0.9
"""Largest share of its size that a compacted index may have to replace the old one."""

MAX_ATTEMPTS = 3
"""Copies that are made at most, while other processes write."""


class _Changed(Exception):
    """Another process wrote to the index after the copy was made."""


def compact(database: Database) -> bool:
    """Rewrite the file without free blocks.

    A process that is killed leaves the old file or the new one, whole.

    Returns:
        True if it was done, or would not have been worth it; False: others wrote each time.

    Raises:
        IndexFailure: the index cannot be read or replaced, or there is no room for two copies.
    """
    path = database.path
    if path.is_symlink():  # its folder may be on another disk
        path = path.resolve()
    try:
        with workplace(path.with_name(f"{path.name}.compact")) as folder:
            return any(_attempt(database, folder / str(turn)) for turn in range(MAX_ATTEMPTS))
    except OSError as error:
        raise IndexFailure(f"The index cannot be written anew: {error.strerror}.") from error


def _attempt(database: Database, folder: Path) -> bool:
    """Try once, in a new folder; False if another process has written in between."""
    folder.mkdir()
    new = folder / "new.duckdb"
    seen = version_of(database.path)
    old, _ = write_snapshot(database, folder)
    if version_of(database.path) != seen:
        return False
    _write_anew(old, new, folder)
    old.unlink()
    if new.stat().st_size > MAX_COMPACTED_SHARE * database.path.stat().st_size:
        return True

    shutil.copymode(database.path, new)

    def agree(_: Cursor) -> None:
        if version_of(database.path) != seen:
            raise _Changed

    try:
        database.replace(new, agree)
    except _Changed:
        return False
    return True


def _write_anew(old: Path, new: Path, folder: Path) -> None:
    begin = filled(
        "maintenance/compact",
        old=old,
        new=new,
        row_group_size=ROW_GROUP_SIZE,
        sorted_row_group_size=SORTED_ROW_GROUP_SIZE,
    )
    copy = without_header("maintenance/copy_table")
    config = ENGINE | {"temp_directory": str(folder / "spill")}
    try:
        with closing(connected(config)) as engine:
            engine.execute(begin)
            engine.begin()
            for long in (False, True):
                engine.execute(statement("maintenance/copy_content"), {"long": long})
            for (table,) in engine.execute(statement("store/tables")).fetchall():
                if table not in {"content", "postings"}:
                    engine.execute(copy.replace("$table", f'"{table}"'))
            engine.commit()
            engine.execute(statement("maintenance/compacted"))
    except DatabaseError as error:
        raise translate(old, error) or error from error
