"""Giving back the room that nothing in an index takes any more.

DuckDB uses the blocks of a file again, but the file only ever grows, and a group of rows whose
rows have mostly gone stays as large as it was. So a copy is written anew, which nobody has to
wait for, and put in the place of the index if that has not changed meanwhile.
"""

from __future__ import annotations

import shutil
from contextlib import closing
from pathlib import Path

from qmd.errors import IndexFailure
from qmd.storage.attachment import ENGINE, ROW_GROUP_SIZE
from qmd.storage.cursor import Cursor, DatabaseError, connected
from qmd.storage.database import Database
from qmd.storage.duckdb_errors import translated
from qmd.storage.file_version import version_of
from qmd.storage.scratch import workplace
from qmd.storage.snapshot import copy
from qmd.storage.statements import filled

WORTH = 0.9
"""Share of its size that an index may have afterwards, at most, to be put in its place."""

ATTEMPTS = 3
"""Times that a copy is made, if others write meanwhile."""


class _Changed(Exception):
    """Somebody has written since the copy was made."""


def compact(database: Database) -> bool:
    """Make the file as small as what is in it.

    Whoever is killed leaves the old file or the new one, whole.

    Returns:
        Whether it could be done, or would not have been worth it; False: others wrote each time.

    Raises:
        IndexFailure: the index cannot be read or replaced, or there is no room for two copies.
    """
    path = database.path
    if path.is_symlink():  # its folder may be on another disk
        path = path.resolve()
    try:
        with workplace(path.with_name(f"{path.name}.compact")) as folder:
            return any(_attempt(database, folder / str(turn)) for turn in range(ATTEMPTS))
    except OSError as error:
        raise IndexFailure(f"The index cannot be written anew: {error.strerror}.") from error


def _attempt(database: Database, folder: Path) -> bool:
    """One attempt, in a folder to make; False if somebody has written meanwhile."""
    folder.mkdir()
    new = folder / "new.duckdb"
    seen = version_of(database.path)
    old, _ = copy(database, folder)
    if version_of(database.path) != seen:
        return False
    _write_anew(old, new, folder)
    old.unlink()
    if new.stat().st_size > WORTH * database.path.stat().st_size:
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
    text = filled("maintenance/compact", old=old, new=new, row_group_size=ROW_GROUP_SIZE)
    config = ENGINE | {"temp_directory": str(folder / "spill")}
    try:
        with closing(connected(config)) as engine:
            engine.execute(text)
    except DatabaseError as error:
        raise translated(old, error) or error from error
