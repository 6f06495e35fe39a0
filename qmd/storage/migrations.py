"""Schema migrations: numbered SQL files and their ledger.

A migration and its row in the ledger are one transaction. A new index is made by one statement file
that has the result of all migrations, as if they had run. A migration that was edited after it ran
is refused, and so is an index with migrations of a later qmd.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

from qmd.errors import IndexTooNew, IndexUnreadable, MigrationEdited
from qmd.named_tuple import NamedTuple
from qmd.storage.cursor import Cursor, DatabaseError, NoSuchTable, as_json
from qmd.storage.statements import data_folder, statement
from qmd.text import hashes
from qmd.version import __version__


class Migration(NamedTuple):
    """A migration file: `0001_documents.sql` is version 1, named documents."""

    version: int
    name: str
    digest: str
    text: str


class LedgerRow(NamedTuple):
    """A row of the ledger."""

    version: int
    name: str
    digest: str
    qmd_version: str


@cache
def migrations() -> tuple[Migration, ...]:
    """List all shipped migrations, in order."""
    files = sorted(each for each in data_folder("migrations").iterdir() if each.suffix == ".sql")
    found = []
    for file in files:
        data = file.read_bytes()
        number, _, name = file.stem.partition("_")
        found.append(Migration(int(number), name, hashes.short_digest(data), data.decode()))
    return tuple(found)


def is_current(cursor: Cursor, path: Path) -> bool:
    """Check that the ledger has exactly the shipped migrations.

    A command reads them again when the index, their folder or the name of the last one has changed
    since; that a shipped one has been edited in place is noticed with the next change of the index.

    Raises:
        IndexTooNew, IndexUnreadable, MigrationEdited: it can never be brought there.
    """
    folder = data_folder("migrations")
    with os.scandir(folder) as files:
        last = max(file.name for file in files)
    shipped = f"{last} {folder.stat().st_mtime_ns}"
    return cursor.fact(f"current with {shipped}", lambda: not _missing(cursor, path), bool)


def migrate(cursor: Cursor, path: Path, *, last: int | None = None) -> None:
    """Run the migrations that the ledger lacks.

    Args:
        last: version to stop at; None: the last one there is.

    Raises:
        IndexTooNew, IndexUnreadable, MigrationEdited: see `is_current`.
    """
    missing = [each for each in _missing(cursor, path) if last is None or each.version <= last]
    if len(missing) == len(migrations()) and not cursor.run("store/tables"):
        _run(cursor, missing, statement("store/new_index"))
    else:
        for migration in missing:
            _run(cursor, [migration], f"{statement('store/ledger')};\n{migration.text}")


def _run(cursor: Cursor, together: Sequence[Migration], text: str) -> None:
    """Run migrations in one transaction.

    Args:
        text: statements that have their result.
    """
    cursor.connection.begin()
    try:
        cursor.connection.execute(text)
        ran = [
            {"version": each.version, "name": each.name, "digest": each.digest} for each in together
        ]
        cursor.run("store/record", migrations=as_json(ran), qmd_version=__version__)
        cursor.connection.commit()
    except BaseException:
        with suppress(DatabaseError):  # after a fatal error, of no transaction
            cursor.connection.rollback()
        raise


def _missing(cursor: Cursor, path: Path) -> list[Migration]:
    try:
        applied = {row.version: row for row in cursor.rows(LedgerRow, "store/applied")}
    except NoSuchTable:
        if cursor.run("store/tables"):
            raise IndexUnreadable(path, "it is a DuckDB database, but not one of qmd's.") from None
        return list(migrations())
    shipped_versions = {migration.version for migration in migrations()}
    newer = [row for version, row in applied.items() if version not in shipped_versions]
    if newer:
        last = max(newer)  # by version, which comes first
        raise IndexTooNew(
            path,
            schema=last.version,
            known=max(shipped_versions),
            written_by=last.qmd_version,
            this=__version__,
        )
    for migration in migrations():
        row = applied.get(migration.version)
        if row is not None and row.digest != migration.digest:
            raise MigrationEdited(
                path, f"{migration.version:04}_{migration.name}", written_by=row.qmd_version
            )
    return [migration for migration in migrations() if migration.version not in applied]
