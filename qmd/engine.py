"""One index, every verb.

Verbs that only look something up are plain functions, ready for a worker thread; `update`
is asynchronous, since it is a pipeline. The command line and the servers are thin layers
over this.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from qmd import config
from qmd.config import Place, Settings
from qmd.errors import Ambiguous, DocumentNotFound, IndexNotWritable, UsageError
from qmd.store import collections, lookup, search
from qmd.store.cursor import Cursor
from qmd.store.database import Database
from qmd.store.stemmer import Stemmer
from qmd.text import masks, paths, query, snippet
from qmd.types import Collection, Context, Document, Filter, Passage, Report, Result

if TYPE_CHECKING:
    from qmd.pipeline.compare import Comparison
    from qmd.store import maintenance
    from qmd.store.collections import Overview

Found = TypeVar("Found")

UNLIMITED = 1_000_000
"""Results when all are asked for."""

LARGEST_OF_SEVERAL = 10_240
"""Bytes from which on a document is left out of several. Source: tobi/qmd (MIT), multi-get."""


class _Stale(Exception):
    """index.yml has changed since the tables were made from it."""


class Answer(NamedTuple):
    """Results of a search, best first.

    Attributes:
        notice: something the user should know, such as that nothing was searched.
        words: of the index, that were looked for, each with the word of the query it answers.
    """

    results: list[Result]
    notice: str | None = None
    words: Mapping[str, str] = MappingProxyType({})


class Engine:
    """An index and its settings.

    Args:
        warm: for a process that stays: keep the index attached between reads.
    """

    def __init__(self, place: Place, *, warm: bool = False, patience: float = 30.0) -> None:
        self.place = place
        self.database = Database(place.database, warm=warm, patience=patience)
        self.stemmer = Stemmer()
        self._mirrored: tuple[int, int] | None = None

    def close(self) -> None:
        """Let go of the index."""
        self.database.close()

    # -- settings --------------------------------------------------------------

    def settings(self) -> Settings:
        """What index.yml says now."""
        return config.load(self.place)

    def sync(self, also: Callable[[Cursor], None] | None = None) -> None:
        """Make the tables say what index.yml says, and do `also` before that.

        Raises:
            ConfigError: it cannot be read; nothing is changed.
        """
        digest = config.digest(self.place)
        if digest is None:
            return
        settings = self.settings()

        def work(cursor: Cursor) -> None:
            if also is not None:
                also(cursor)
            collections.mirror(cursor, settings.collections, settings.contexts, digest)

        self.database.write(work)

    def read(self, work: Callable[[Cursor], Found]) -> Found:
        """What `work` finds, with the tables as index.yml says."""
        try:
            info = self.place.config.stat()
        except FileNotFoundError:
            return self.database.read(work)
        stamp = (info.st_mtime_ns, info.st_ino)
        if stamp == self._mirrored:
            return self.database.read(work)
        digest = config.digest(self.place)

        def checked(cursor: Cursor) -> Found:
            if collections.config_digest(cursor) != digest:
                raise _Stale
            return work(cursor)

        try:
            found = self.database.read(checked)
        except _Stale:
            try:
                self.sync()
            except IndexNotWritable:
                return self.database.read(work)  # with the settings it has
            found = self.database.read(work)
        self._mirrored = stamp
        return found

    # -- search ----------------------------------------------------------------

    def search(
        self,
        text: str,
        *,
        among: Filter = search.ALL,
        limit: int = 5,
        min_score: float = 0.0,
        length: int = 500,
        full: bool = False,
    ) -> Answer:
        """Documents that contain words of a query, best first.

        Args:
            among: documents that may answer; without collections, those included by default.
            limit: results at most.
            min_score: 0 to 1.
            length: characters of a snippet.
            full: give whole bodies instead of snippets.

        Raises:
            QueryError: the query cannot be read.
            CollectionNotFound: a collection of the filter does not exist.
        """
        asked = query.parse(text)
        return self.read(
            partial(
                self._search,
                asked,
                among=among,
                limit=limit,
                min_score=min_score,
                length=length,
                full=full,
            )
        )

    def _search(
        self,
        asked: query.Query,
        cursor: Cursor,
        *,
        among: Filter,
        limit: int,
        min_score: float,
        length: int,
        full: bool,
    ) -> Answer:
        known = collections.collections(cursor)
        if among.collections is not None:
            lookup.check_collections(cursor, among.collections)
        elif not all(collection.included for collection in known):
            included = tuple(c.name for c in known if c.included)
            if not included:
                return Answer(
                    [],
                    "All collections are excluded from searches that name none. "
                    "Name one with -c, or run 'qmd collection include NAME'.",
                )
            among = among._replace(collections=included)
        found = search.bm25(cursor, asked, self.stemmer, among=among, limit=limit)
        hits = [hit for hit in found.hits if hit.score >= min_score]
        described = collections.contexts(cursor)
        match = snippet.matcher(found.words)
        distinct = len(set(found.words.values()))
        results = []
        for hit in hits:
            shown = snippet.snippet(hit.body, match, length=length, distinct=distinct)
            results.append(
                Result(
                    docid=hit.docid,
                    score=hit.score,
                    file=hit.name,
                    line=shown.line,
                    title=hit.title,
                    context=collections.matching(described, hit.collection, hit.path),
                    snippet=shown.text,
                    uri=paths.uri(hit.collection, hit.path),
                    body=hit.body if full else None,
                )
            )
        return Answer(results, words=found.words)

    # -- documents -------------------------------------------------------------

    def get(self, name: str, *, first: int | None = None, count: int | None = None) -> Passage:
        """A document, or some of its lines; `name:first:count` says it as well.

        Args:
            first: line to begin with, from 1.
            count: lines at most.

        Raises:
            DocumentNotFound, Ambiguous: the name names none, or several.
            UsageError: the range lies outside the document.
        """
        return self.read(partial(self._get, name, first=first, count=count))

    def _get(self, name: str, cursor: Cursor, *, first: int | None, count: int | None) -> Passage:
        asked = paths.Range(name, first, count)
        try:
            document = lookup.resolve(cursor, name)
        except DocumentNotFound as error:
            asked = paths.split_range(name)
            if asked.first is None:
                raise
            try:
                document = lookup.resolve(cursor, asked.name)
            except DocumentNotFound:
                raise error from None
            asked = asked._replace(lines=asked.lines if asked.lines is not None else count)
        body = lookup.bodies(cursor, [document.hash])[document.hash]
        context = self._context(cursor, document)
        return _passage(document, body, context, asked.first, asked.lines)

    def multi_get(
        self, pattern: str, *, count: int | None = None, largest: int = LARGEST_OF_SEVERAL
    ) -> list[Passage]:
        """Documents by glob, brace set, or comma list of paths and docids.

        One that is not found, or larger than `largest` bytes, is in the list with the reason.
        """
        return self.read(partial(self._multi_get, pattern, count=count, largest=largest))

    def _multi_get(
        self, pattern: str, cursor: Cursor, *, count: int | None, largest: int
    ) -> list[Passage]:
        parts = masks.split_mask(pattern)
        if not parts:
            raise UsageError("Name documents by a glob such as 'notes/2025-*.md' or by a list.")
        chosen: dict[int, Document] = {}
        missing = []
        everything: list[Document] | None = None
        for part in parts:
            try:
                document = lookup.resolve(cursor, part)
                chosen[document.document_id] = document
            except (DocumentNotFound, Ambiguous) as error:
                if not any(mark in part for mark in "*?[{"):
                    missing.append(Passage.skipping(part, str(error)))
                    continue
                if everything is None:
                    everything = lookup.below(cursor, None)
                matches = masks.matcher([part.removeprefix(paths.SCHEME)])
                found = [d for d in everything if matches(d.name) or matches(d.path)]
                chosen.update((document.document_id, document) for document in found)
                if not found:
                    missing.append(Passage.skipping(part, f"No documents match: {part}"))
        small = [d for d in chosen.values() if d.size <= largest]
        bodies = lookup.bodies(cursor, [document.hash for document in small])
        passages = list(missing)
        for document in chosen.values():
            context = self._context(cursor, document)
            if document.hash in bodies and document.size <= largest:
                passages.append(_passage(document, bodies[document.hash], context, None, count))
            else:
                reason = f"{document.size} bytes, more than {largest}; use: qmd get {document.name}"
                passages.append(Passage.skipping(document.name, reason, document=document))
        return passages

    def _context(self, cursor: Cursor, document: Document) -> str | None:
        return collections.matching(
            collections.contexts(cursor), document.collection, document.path
        )

    def documents(self, collection: str | None, prefix: str = "") -> list[Document]:
        """Documents of a collection, or below one of its folders."""
        return self.read(partial(lookup.below, collection=collection, prefix=prefix))

    def overview(self) -> list[Overview]:
        """Each collection with what is indexed of it."""
        return self.read(collections.overview)

    def totals(self) -> maintenance.Totals:
        """What the index holds."""
        from qmd.store import maintenance

        return self.read(maintenance.totals)

    # -- collections -----------------------------------------------------------

    def collection(self, name: str) -> Collection:
        """One collection.

        Raises:
            CollectionNotFound: there is none of this name.
        """

        def work(cursor: Cursor) -> Collection:
            lookup.check_collections(cursor, [name])
            return next(c for c in collections.collections(cursor) if c.name == name)

        return self.read(work)

    def collections(self) -> list[Collection]:
        """All collections, by name."""
        return self.read(collections.collections)

    def contexts(self) -> list[Context]:
        """All contexts, the most general first."""
        return self.read(collections.contexts)

    def change(
        self,
        edit: Callable[[Settings, config.Document], None],
        *,
        also: Callable[[Cursor], None] | None = None,
    ) -> None:
        """Change index.yml and the tables with it.

        What qmd writes itself needs no approval, unless something else there still does.

        Args:
            edit: is given the settings and the document to change.
            also: done in the same transaction as the change of the tables, before it.
        """
        from qmd import trust

        before = self.settings()
        if not self.place.config.exists():
            before = self._as_recorded()
        trusted = trust.is_trusted(self.place, before)

        def change(document: config.Document) -> None:
            if not document:
                config.write_all(document, before)
            edit(before, document)

        self.database.write(lambda _: None)  # an index that cannot follow stops it here
        config.edit(self.place, change)
        if trusted:
            trust.approve(self.place, self.settings())
        self.sync(also)

    def _as_recorded(self) -> Settings:
        """The settings as the tables have them: index.yml was lost or is kept elsewhere."""
        if not self.place.database.exists():
            return Settings()
        return Settings(
            tuple(self.database.read(collections.collections)),
            tuple(self.database.read(collections.contexts)),
        )

    def rename(self, old: str, new: str) -> None:
        """Give a collection another name; its documents keep their postings."""
        config.check_name(new)
        self.collection(old)

        def edit(_: Settings, document: config.Document) -> None:
            config.rename_collection(document, old, new)

        self.change(edit, also=partial(collections.rename, old=old, new=new))

    # -- upkeep ----------------------------------------------------------------

    def compare(self, names: Sequence[str] = ()) -> dict[str, Comparison]:
        """Collections beside their folders, by name; without those whose folder is missing.

        Args:
            names: of collections; none means all.

        Raises:
            CollectionNotFound: there is none of one of the names.
        """
        from qmd.errors import RootMissing
        from qmd.pipeline.compare import compare

        compared = {}
        for collection in self._chosen(names):
            with suppress(RootMissing):  # told of by the update
                compared[collection.name] = compare(self.database, collection)
        return compared

    def _chosen(self, names: Sequence[str]) -> list[Collection]:
        if names:
            self.read(partial(lookup.check_collections, names=list(names)))
        return [c for c in self.collections() if not names or c.name in names]

    async def update(
        self,
        names: Sequence[str] = (),
        *,
        compared: Mapping[str, Comparison] = MappingProxyType({}),
        progress: Callable[[Collection], Callable[[int, int], None]] | None = None,
        before: Callable[[Collection], Awaitable[None]] | None = None,
        told: Callable[[Collection, Report], None] | None = None,
    ) -> list[Report]:
        """Bring collections up to date with their files.

        Args:
            names: of collections; none means all.
            compared: made just before, where nothing has to be done first.
            progress: gives for a collection a function that is told (done, in all).
            before: is awaited before a collection is indexed; an error it raises is the
                failure of this collection.
            told: is given each report as it is ready.

        Returns:
            A report for each collection; a failure of one does not stop the others.
        """
        from anyio import to_thread

        from qmd.errors import IndexFailure, QmdError
        from qmd.pipeline import index
        from qmd.store import maintenance

        chosen = await to_thread.run_sync(self._chosen, names)
        reports = []
        for collection in chosen:
            try:
                if before is not None:
                    await before(collection)
                report = await index.update(
                    self.database,
                    collection,
                    self.stemmer,
                    comparison=compared.get(collection.name),
                    progress=progress(collection) if progress else None,
                )
            except IndexFailure:
                raise
            except QmdError as error:
                report = Report(collection.name, collection.mask, failure=str(error))
            reports.append(report)
            if told is not None:
                told(collection, report)
        await to_thread.run_sync(maintenance.merge, self.database)
        return reports


def _passage(
    document: Document, body: str, context: str | None, first: int | None, count: int | None
) -> Passage:
    lines = body.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    start = 1 if first is None else first
    if start < 1:
        raise UsageError(f"Line {start} does not exist; lines are counted from 1.")
    if count is not None and count < 1:
        raise UsageError(f"{count} lines cannot be shown; ask for at least 1.")
    if first is not None and first > len(lines):
        raise UsageError(f"{document.name} has {len(lines)} lines; line {first} is past its end.")
    end = len(lines) if count is None else min(len(lines), start - 1 + count)
    whole = start == 1 and end == len(lines)
    return Passage(
        docid=document.docid,
        file=document.name,
        title=document.title,
        context=context,
        uri=paths.uri(document.collection, document.path),
        first=start,
        total=len(lines),
        body=body if whole else "\n".join(lines[start - 1 : end]),
    )
