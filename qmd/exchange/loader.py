"""New index file of an import: load, migrate, check."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from qmd import processes
from qmd.errors import ExportDamaged, ExportUnreadable, UsageError
from qmd.exchange import manifest, parquet
from qmd.exchange.parquet import NextIds
from qmd.ingest.backfill import fill
from qmd.ingest.grouping import settle
from qmd.settings.config_reader import check_name
from qmd.storage import catalog, long_texts, maintenance
from qmd.storage.cursor import Cursor
from qmd.storage.database import Database
from qmd.text import paths
from qmd.types import EXPERIENCES, Collection, Context
from qmd.wording import amount, on_one_line

if TYPE_CHECKING:
    from qmd.exchange.manifest import Manifest, ManifestFile, ManifestTable

MAX_SHOWN_PATH = 80
"""Characters of a path in an error."""

MAX_THREADS = 4
"""Threads that sort postings."""


def build_index(
    path: Path, folder: Path, document: Manifest, shift: NextIds, step: Callable[[], None]
) -> tuple[list[Collection], list[Context]]:
    """Make the new file.

    It is filled when it has the tables that the export was made of, and brought up to date after.

    Args:
        path: where it is to be.
        folder: of the export.
        shift: what is added to its numbers.
        step: called after each file, and after each table.

    Returns:
        The collections and contexts of the index.

    Raises:
        ExportDamaged: what is in the files does not fit, or does not fit together.
    """
    threads = min(processes.cores(), MAX_THREADS)
    new = Database(path, threads=threads, schema=document.schema)
    try:
        new.write(partial(_fill, folder=folder, document=document, shift=shift, step=step))
    finally:
        new.close()
    new = Database(path, threads=threads)
    try:
        new.write(lambda _: None)
        new.read(partial(_check_names, folder=folder))
        fill(new)
        settle(new)
        wrong = [each for each in new.read(maintenance.problems) if each.times]
        if wrong:
            problem = f"not so {amount(wrong[0].times, 'time')}: {wrong[0].fact}."
            raise ExportDamaged(folder, "The tables do not fit together", problem)
        return new.read(catalog.collections), new.read(catalog.contexts)
    finally:
        new.close()


def _fill(
    cursor: Cursor, *, folder: Path, document: Manifest, shift: NextIds, step: Callable[[], None]
) -> None:
    """Add what is in the files, table by table."""
    there = {table.name for table in parquet.tables(cursor)}
    for part in document.parts:
        if part.name not in there:
            raise ExportDamaged(folder, manifest.NAME, f"there is no table '{part.name}'.")
        for file in part.files:
            _look_at(cursor, folder, part, file)
            step()
    for part in document.parts:
        full = [file for file in part.files if file.rows]
        with _read_from(folder, part.name):
            if part.name == parquet.PARTED:
                of: dict[str | None, list[Path]] = {}
                for file in part.files:
                    of.setdefault(file.collection, []).append(folder / file.path)
                parquet.load_documents(cursor, of, shift=shift)
            elif full:
                paths = [folder / file.path for file in full]
                parquet.load_table(cursor, part.name, paths, shift=shift)
        step()
    long_texts.cut_stored(cursor)


def _check_names(cursor: Cursor, *, folder: Path) -> None:
    """Refuse names and paths that would lead out of the folder of a collection.

    Raises:
        ExportDamaged: a name or a path would.
    """
    for name, root in cursor.run("import/collections"):
        try:
            if name != EXPERIENCES or root:
                check_name(name)
        except UsageError as error:
            raise ExportDamaged(folder, "collections", str(error).split("\n")[0]) from error
        if root and paths.place(root, "a") is None:
            shown = on_one_line(root)
            problem = f"the folder of '{name}' is not an absolute path: '{shown}'."
            raise ExportDamaged(folder, "collections", problem)
    for stray in maintenance.stray_paths(cursor):
        shown = on_one_line(stray.path)
        if len(shown) > MAX_SHOWN_PATH:
            shown = f"{shown[:MAX_SHOWN_PATH]}…"
        problem = (
            f"the path '{shown}' of collection '{stray.collection}' cannot lie below its folder: "
            "it is absolute, has '..', an empty segment or a NUL, begins with a drive, or is too "
            "long."
        )
        raise ExportDamaged(folder, f"{stray.kind}s", problem)


@contextmanager
def _read_from(folder: Path, what: str) -> Iterator[None]:
    """Distinguish a damaged file of an export from one that cannot be read.

    Raises:
        ExportDamaged, ExportUnreadable: the file is damaged, or cannot be read.
    """
    try:
        yield
    except parquet.Misfit as error:
        raise ExportDamaged(folder, what, str(error).splitlines()[0]) from error
    except parquet.Unread as error:
        problem = str(error).splitlines()[0]
        if str(folder) not in problem:  # of the index that is made
            raise
        raise ExportUnreadable(folder, what, problem) from error


def _look_at(cursor: Cursor, folder: Path, part: ManifestTable, file: ManifestFile) -> None:
    """Refuse a file that has other rows or columns than the manifest says.

    Raises:
        ExportDamaged: the file has other rows or columns.
    """
    expected = [
        (column.name, column.type)
        for column in part.columns
        if file.collection is None or column.name != "collection"
    ]
    with _read_from(folder, file.path):
        columns = parquet.columns_of_file(cursor, folder / file.path)
        rows = parquet.rows_of_file(cursor, folder / file.path)
    if columns != expected:
        raise ExportDamaged(folder, file.path, "its columns are not those of the manifest.")
    if rows != file.rows:
        raise ExportDamaged(folder, file.path, f"it has {amount(rows, 'row')}, not {file.rows}.")
