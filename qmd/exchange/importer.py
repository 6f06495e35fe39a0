"""Import of an export: verification, new index file, atomic swap.

    folder ─▸ verify files ─▸ new index beside the old ─▸ check integrity ─▸ swap

Until the last step the index is as it was, and that step is one rename, alone among all processes.
index.yml changes in an order that never orphans documents, even if it is read in between or this
process is killed: first it names the old collections and the new ones, then the file changes, then
the old collections are removed.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from qmd.errors import (
    ExportDamaged,
    ExportIncomplete,
    ExportTooNew,
    ExportUnreadable,
    IndexNotWritable,
    IndexTaken,
    NotAnExport,
)
from qmd.exchange import manifest, parquet
from qmd.exchange.destination import folder_lock
from qmd.exchange.exporter import sha256
from qmd.exchange.imported_settings import ImportedSettings, folder_exists
from qmd.exchange.loader import build_index
from qmd.exchange.parquet import NextIds
from qmd.named_tuple import NamedTuple
from qmd.safe_open import NotRegularFile
from qmd.settings import config, edit, trust
from qmd.storage import maintenance, migrations
from qmd.storage.cursor import Cursor
from qmd.storage.database import Database
from qmd.storage.file_lock import errand
from qmd.storage.scratch import workplace
from qmd.version import __version__
from qmd.wording import amount

if TYPE_CHECKING:
    from qmd.exchange.manifest import Manifest, ManifestFile
    from qmd.settings.environment import Place
    from qmd.settings.schema import Settings

FIRST_IDS = NextIds(1, 1)
"""First numbers of an empty index."""


class Imported(NamedTuple):
    """Report of an import.

    Attributes:
        rows: by table.
        left_out: descriptions of commands and models that were left out.
        missing: collections, with their folders, that are not on this machine.
    """

    database: Path
    rows: dict[str, int]
    left_out: tuple[str, ...]
    missing: tuple[tuple[str, str], ...]
    seconds: float


def import_(
    database: Database,
    place: Place,
    folder: Path,
    *,
    recorded: Callable[[], Settings],
    replace: bool = False,
    trusting: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Imported:
    """Make an index of an export, with vectors and scores; a new one with its numbers.

    Args:
        recorded: gives the settings that the tables have, for an index.yml that was lost.
        replace: an index that has documents.
        trusting: take over the update commands and the models of the export.
        progress: callback with (steps done, steps in all).

    Raises:
        ExchangeError: the export cannot be used, or the index has documents.
        ConfigError: index.yml cannot be read or written.
        IndexFailure: the index cannot be replaced.
    """
    began = time.monotonic()
    done = 0

    def step() -> None:
        nonlocal done
        done += 1
        if progress is not None:
            progress(done, steps)

    source = folder.resolve()
    if not source.is_dir():
        raise NotAnExport(source)
    with folder_lock(source, source, shared=True):
        document = _usable(source)
        steps = 2 * sum(len(part.files) for part in document.parts) + len(document.parts)
        for file in document.files:
            _verify(source, file)
            step()
        with errand(database.path, "import"), _building(database.path) as path:
            seen = FIRST_IDS
            if database.path.exists():
                seen = database.read(partial(_next_ids, path=database.path, replace=replace))
            shift = NextIds(seen.document_id - 1, seen.chunk_id - 1)
            known, described = build_index(path, source, document, shift, step)
            wanted = ImportedSettings(document, known, described, trusting=trusting)
            wanted.check(place)
            before = config.load(place)
            if not place.config.exists() or config.is_blank(place):
                before = recorded()
            # What was not approved before is not approved with what comes.
            approves = trusting and trust.is_trusted(place, before)
            settings = edit.edit(place, partial(wanted.add, before=before))
            database.replace(path, partial(_agree, path=database.path, replace=replace, seen=seen))
            if replace:
                settings = edit.edit(place, partial(wanted.settle, place=place))
            if approves:
                trust.approve(place, settings)
    return Imported(
        database.path,
        {part.name: part.rows for part in document.parts},
        tuple(wanted.left_out),
        tuple((c.name, c.root) for c in config.load(place).collections if not folder_exists(c)),
        time.monotonic() - began,
    )


# -- the folder ----------------------------------------------------------------


def _usable(folder: Path) -> Manifest:
    """Return the manifest of an export that is complete enough for an index.

    Raises:
        NotAnExport, ExportUnreadable, ExportDamaged, ExportTooNew, ExportIncomplete: the export
            cannot be used.
    """
    document = manifest.read_manifest(folder)
    known, written_by = migrations.migrations()[-1].version, document.qmd_version
    if document.schema > known:
        raise ExportTooNew(
            folder, "schema", document.schema, known=known, written_by=written_by, this=__version__
        )
    there = {part.name for part in document.parts if part.files}
    missing = [t.name for t in parquet.TABLES if t.needed and t.name not in there]
    if missing:
        raise ExportIncomplete(folder, missing)
    return document


def _verify(folder: Path, file: ManifestFile) -> None:
    """Refuse a file that differs from the manifest.

    Raises:
        ExportDamaged: the file differs.
        ExportUnreadable: the file cannot be read.
    """
    try:
        with manifest.open_member(folder, file.path) as found:
            size = os.fstat(found.fileno()).st_size
            if size != file.bytes:
                raise ExportDamaged(folder, file.path, f"it has {size} bytes, not {file.bytes}.")
            if sha256(found) != file.sha256:
                raise ExportDamaged(folder, file.path, "it has been changed since it was written.")
    except FileNotFoundError:
        raise ExportDamaged(folder, file.path, "it is missing.") from None
    except NotRegularFile:
        problem = "it is no file of this folder, but a link that leads out, a pipe or a device."
        raise ExportDamaged(folder, file.path, problem) from None
    except OSError as error:
        raise ExportUnreadable(folder, file.path, error.strerror or str(error)) from error


# -- the new file --------------------------------------------------------------


@contextmanager
def _building(index: Path) -> Iterator[Path]:
    """Yield a path beside the index for the file that will replace it."""
    with ExitStack() as stack:
        try:
            folder = stack.enter_context(workplace(index.with_name(f"{index.name}.new")))
        except OSError as error:
            raise IndexNotWritable(index, error.strerror or str(error)) from error
        yield folder / index.name


# -- the old file --------------------------------------------------------------


def _next_ids(cursor: Cursor, *, path: Path, replace: bool) -> NextIds:
    """Return the next numbers of the index to be replaced.

    Raises:
        IndexTaken: the index must not be replaced.
    """
    documents = maintenance.totals(cursor).documents
    if documents and not replace:
        raise IndexTaken(
            path,
            f"has {amount(documents, 'document')}.",
            mend={
                "command": "Import into another one with --index NAME, or replace it with "
                "--replace.",
                "python": "Import into another one, or replace it with replace=True.",
            },
        )
    return parquet.next_ids(cursor)


def _agree(cursor: Cursor, *, path: Path, replace: bool, seen: NextIds) -> None:
    """Permit the replacement of the index, unless a process has added to it since.

    No number may be given away twice, since others may be about to use it.

    Raises:
        IndexTaken: a process has added to the index.
    """
    if _next_ids(cursor, path=path, replace=replace) != seen:
        raise IndexTaken(path, "has been changed meanwhile.", mend="Try again.")
    path.with_name(f"{path.name}.hnsw").unlink(missing_ok=True)
