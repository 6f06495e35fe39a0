"""An export as an index again.

    folder ─▸ files are what was written? ─▸ new index beside the old ─▸ facts hold? ─▸ its place

Until the last step the index is as it was, and that step is one rename, alone among all processes.
index.yml changes around it in such an order that nobody who reads it in between, or after this
process is killed, takes documents for strays: first it names the old collections and the new
ones, then the file changes, then the old collections go.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from qmd import __version__, config, editing, trust
from qmd.errors import (
    ExportDamaged,
    ExportIncomplete,
    ExportTooNew,
    ExportUnreadable,
    IndexNotWritable,
    IndexTaken,
    NotAnExport,
)
from qmd.pipeline import manifest
from qmd.pipeline.destination import locked
from qmd.pipeline.export import sha256
from qmd.pipeline.filling import fill
from qmd.store import collections, exchange, maintenance, migrate
from qmd.store.cursor import Cursor
from qmd.store.database import Database
from qmd.store.exchange import NextIds
from qmd.store.gate import errand
from qmd.store.workplaces import workplace
from qmd.types import EXPERIENCES, Collection, Context

if TYPE_CHECKING:
    from qmd.config import Settings
    from qmd.editing import Parsed
    from qmd.environment import Place
    from qmd.pipeline.manifest import File, Manifest, Part

MOST_THREADS = 4
"""Threads that put postings in order."""

NEW = NextIds(1, 1)
"""What an index without anything counts from."""


class Imported(NamedTuple):
    """What an import did.

    Attributes:
        rows: by table.
        left_out: what the export would have run or used, in words.
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
    """Make an index of an export, with all of its numbers, vectors and scores.

    Args:
        recorded: gives the settings that the tables have, for an index.yml that was lost.
        replace: an index that has documents.
        trusting: take over the update commands and the models of the export.
        progress: told (steps done, steps in all).

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
    with locked(source, source, shared=True):
        document = _usable(source)
        steps = 2 * sum(len(part.files) for part in document.parts) + len(document.parts)
        for file in document.files:
            _verify(source, file)
            step()
        with errand(database.path, "import"), _building(database.path) as path:
            seen = NEW
            if database.path.exists():
                seen = database.read(partial(_next_ids, path=database.path, replace=replace))
            shift = NextIds(seen.document_id - 1, seen.chunk_id - 1)
            known, described = _built(path, source, document, shift, step)
            wanted = _Wanted(document, known, described, trusting=trusting)
            wanted.check(place)
            before = config.load(place)
            if not place.config.exists():
                before = recorded()
            editing.edit(place, partial(wanted.add, before=before))
            database.replace(path, partial(_agree, path=database.path, replace=replace, seen=seen))
            if replace:
                editing.edit(place, partial(wanted.settle, place=place))
            if trusting:
                trust.approve(place, config.load(place))
    return Imported(
        database.path,
        {part.name: part.rows for part in document.parts},
        tuple(wanted.left_out),
        tuple((c.name, c.root) for c in config.load(place).collections if not _is_here(c)),
        time.monotonic() - began,
    )


# -- the folder ----------------------------------------------------------------


def _usable(folder: Path) -> Manifest:
    """The manifest of an export of which an index can be made.

    Raises:
        NotAnExport, ExportUnreadable, ExportDamaged, ExportTooNew, ExportIncomplete: there is
            none.
    """
    document = manifest.read(folder)
    if document.schema > migrate.migrations()[-1].version:
        raise ExportTooNew(folder, written_by=document.qmd_version, this=__version__)
    there = {part.name for part in document.parts if part.files}
    missing = [t.name for t in exchange.TABLES if t.needed and t.name not in there]
    if missing:
        raise ExportIncomplete(folder, missing)
    return document


def _verify(folder: Path, file: File) -> None:
    """Refuse a file that is not what was written.

    Raises:
        ExportDamaged: it is not.
        ExportUnreadable: nobody can say.
    """
    path = folder / file.path
    try:
        size = path.stat().st_size
        if size != file.bytes:
            raise ExportDamaged(folder, file.path, f"it has {size} bytes, not {file.bytes}.")
        if sha256(path) != file.sha256:
            raise ExportDamaged(folder, file.path, "it has been changed since it was written.")
    except FileNotFoundError:
        raise ExportDamaged(folder, file.path, "it is missing.") from None
    except OSError as error:
        raise ExportUnreadable(folder, file.path, error.strerror or str(error)) from error


# -- the new file --------------------------------------------------------------


@contextmanager
def _building(index: Path) -> Iterator[Path]:
    """A place beside the index for the file that is to replace it."""
    with ExitStack() as stack:
        try:
            folder = stack.enter_context(workplace(index.with_name(f"{index.name}.new")))
        except OSError as error:
            raise IndexNotWritable(index, error.strerror or str(error)) from error
        yield folder / index.name


def _built(
    path: Path, folder: Path, document: Manifest, shift: NextIds, step: Callable[[], None]
) -> tuple[list[Collection], list[Context]]:
    """Make the new file.

    It is filled when it has the tables that the export was made of, and brought up to date after.

    Returns:
        Its collections and contexts.

    Raises:
        ExportDamaged: what is in the files does not fit, or does not fit together.
    """
    threads = min(os.cpu_count() or 1, MOST_THREADS)
    new = Database(path, threads=threads, schema=document.schema)
    try:
        new.write(partial(_fill, folder=folder, document=document, shift=shift, step=step))
    finally:
        new.close()
    new = Database(path, threads=threads)
    try:
        new.write(lambda _: None)
        fill(new)
        new.write(lambda _: None, settled=True)
        wrong = [each for each in new.read(maintenance.problems) if each.times]
        if wrong:
            problem = f"not so {wrong[0].times} times: {wrong[0].fact}."
            raise ExportDamaged(folder, "The tables do not fit together", problem)
        return new.read(collections.collections), new.read(collections.contexts)
    finally:
        new.close()


def _fill(
    cursor: Cursor, *, folder: Path, document: Manifest, shift: NextIds, step: Callable[[], None]
) -> None:
    """Add what is in the files, table by table."""
    there = {table.name for table in exchange.tables(cursor)}
    for part in document.parts:
        if part.name not in there:
            raise ExportDamaged(folder, manifest.NAME, f"there is no table '{part.name}'.")
        for file in part.files:
            _look_at(cursor, folder, part, file)
            step()
    for part in document.parts:
        full = [file for file in part.files if file.rows]
        with _read_from(folder, part.name):
            if part.name == exchange.PARTED:
                of: dict[str | None, list[Path]] = {}
                for file in part.files:
                    of.setdefault(file.collection, []).append(folder / file.path)
                exchange.load_documents(cursor, of, shift=shift)
            elif full:
                paths = [folder / file.path for file in full]
                exchange.load(cursor, part.name, paths, shift=shift)
        step()


@contextmanager
def _read_from(folder: Path, what: str) -> Iterator[None]:
    """Tell a file of an export that is not what it should be from one that cannot be read.

    Raises:
        ExportDamaged, ExportUnreadable: there is one.
    """
    try:
        yield
    except exchange.Misfit as error:
        raise ExportDamaged(folder, what, str(error).splitlines()[0]) from error
    except exchange.Unread as error:
        problem = str(error).splitlines()[0]
        if str(folder) not in problem:  # of the index that is made
            raise
        raise ExportUnreadable(folder, what, problem) from error


def _look_at(cursor: Cursor, folder: Path, part: Part, file: File) -> None:
    """Refuse a file that has other rows or columns than the manifest says.

    Raises:
        ExportDamaged: it has.
    """
    expected = [
        (column.name, column.type)
        for column in part.columns
        if file.collection is None or column.name != "collection"
    ]
    with _read_from(folder, file.path):
        columns = exchange.columns_of_file(cursor, folder / file.path)
        rows = exchange.rows_of_file(cursor, folder / file.path)
    if columns != expected:
        raise ExportDamaged(folder, file.path, "its columns are not those of the manifest.")
    if rows != file.rows:
        raise ExportDamaged(folder, file.path, f"it has {rows} rows, not {file.rows}.")


# -- the old file --------------------------------------------------------------


def _next_ids(cursor: Cursor, *, path: Path, replace: bool) -> NextIds:
    """What an index counts from that may be replaced.

    Raises:
        IndexTaken: it must not.
    """
    documents = maintenance.totals(cursor).documents
    if documents and not replace:
        raise IndexTaken(
            path,
            f"has {documents} documents.",
            mend="Import into another one with --index NAME, or replace it with --replace.",
        )
    return exchange.next_ids(cursor)


def _agree(cursor: Cursor, *, path: Path, replace: bool, seen: NextIds) -> None:
    """Let an index go, unless somebody has added to it.

    No number may be given away twice, since others may be about to use it.

    Raises:
        IndexTaken: somebody has.
    """
    if _next_ids(cursor, path=path, replace=replace) != seen:
        raise IndexTaken(path, "has been changed meanwhile.", mend="Try again.")
    path.with_name(f"{path.name}.hnsw").unlink(missing_ok=True)


# -- index.yml -----------------------------------------------------------------


class _Wanted:
    """What index.yml is to say of what was imported.

    Args:
        known: the collections that were imported.
        described: the contexts.
        trusting: with what it would run and use.

    Attributes:
        left_out: what it would run and use, in words, if it must not.
    """

    def __init__(
        self,
        document: Manifest,
        known: list[Collection],
        described: list[Context],
        *,
        trusting: bool,
    ) -> None:
        self.left_out: list[str] = []
        self._contexts = [c for c in described if c.collection != EXPERIENCES]
        self._collections = []
        for collection in known:
            if collection.name == EXPERIENCES:
                continue
            if collection.update_command and not trusting:
                self.left_out.append(f"run for '{collection.name}': {collection.update_command}")
                collection = collection._replace(update_command=None)
            self._collections.append(collection)
        self._sections: dict[str, dict[str, Any]] = {"chunk": dict(document.chunk)}
        if trusting:
            self._sections["models"] = dict(document.models)
        else:
            self.left_out += [f"use for {role}: {name}" for role, name in document.models.items()]

    def check(self, place: Place) -> None:
        """Refuse what could not be written.

        Raises:
            ConfigError: a name, a mask or a number makes no sense.
        """
        document: Parsed = {}
        for collection in self._collections:
            editing.add_collection(document, collection)
        for context in self._contexts:
            editing.set_context(document, context)
        config.understood(document | self._sections, place)

    def add(self, document: Parsed, *, before: Settings) -> None:
        """Add what is not there; nothing that is there changes.

        Args:
            before: what the tables say, for a document that says nothing.
        """
        if not document:
            editing.write_all(document, before)
        there = set(document.get("collections") or {})
        for collection in self._collections:
            if collection.name not in there:
                editing.add_collection(document, collection)
        has = {(context.collection, context.prefix) for context in before.contexts}
        for context in self._contexts:
            if (context.collection, context.prefix) not in has:
                editing.set_context(document, context)
        for name, section in self._sections.items():
            if name not in document:
                self._set(document, name, section)

    def settle(self, document: Parsed, *, place: Place) -> None:
        """Say this and nothing else of collections; lines that say it already stay."""
        before = config.understood(document, place)
        there = {collection.name: collection for collection in before.collections}
        own = {collection.name for collection in self._collections}
        for name in there.keys() - own:
            del document["collections"][name]
        if not any(context.collection is None for context in self._contexts):
            document.pop("global_context", None)
        for collection in self._collections:
            old = there.get(collection.name)
            if old is not None and not _is_here(collection) and _is_here(old):
                collection = collection._replace(root=old.root)
            contexts = {c.prefix: c for c in self._contexts if c.collection == collection.name}
            if old != collection or contexts != {
                c.prefix: c for c in before.contexts if c.collection == collection.name
            }:
                editing.add_collection(document, collection)
                for context in contexts.values():
                    editing.set_context(document, context)
        for context in self._contexts:
            if context.collection is None:
                editing.set_context(document, context)
        for name, section in self._sections.items():
            self._set(document, name, section)

    def _set(self, document: Parsed, name: str, section: dict[str, Any]) -> None:
        """Set a section, unless it is what it is without."""
        defaults = config.Settings()
        plain = {
            "chunk": {
                "tokens": defaults.chunk_tokens,
                "overlap": defaults.chunk_overlap,
                "strategy": defaults.chunk_strategy,
            },
            "models": {},
        }[name]
        if section == plain:
            document.pop(name, None)
        elif document.get(name) != section:
            document[name] = section


def _is_here(collection: Collection) -> bool:
    return Path(collection.root).is_dir()
