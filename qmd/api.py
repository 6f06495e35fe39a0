"""qmd from Python: a knowledge base whose verbs are those of the command line.

    async with qmd.open() as kb:                  with qmd.connect() as kb:
        hits = await kb.search("tea")                 hits = kb.search("tea")

`AsyncKnowledgeBase` says what the verbs do; `KnowledgeBase` has the same ones, blocking. Both are
thin: the engine does the work. What reads the index runs in worker threads, a few at once, and is
interrupted when the task that waits for it is cancelled; a write that has begun is finished.
"""

from __future__ import annotations

import logging
import os
import threading
import weakref
from collections.abc import Callable, Coroutine, Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import date, datetime
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, Generic, Literal, ParamSpec, Self, TypeVar

import anyio
from anyio import CapacityLimiter, to_thread
from anyio.from_thread import BlockingPortalProvider

from qmd import config
from qmd.engine import LARGEST_OF_SEVERAL, UNLIMITED, Answer, Engine
from qmd.errors import UsageError
from qmd.pipeline.stoppable import stoppable
from qmd.rows import Results, Rows, Table
from qmd.status import Status
from qmd.store.collections import Overview
from qmd.store.stopping import Stopped
from qmd.text import paths
from qmd.types import Context, Embedded, Filter, Passage, Report

if TYPE_CHECKING:
    from qmd.pictures.map import Map
    from qmd.pipeline.export import Exported
    from qmd.pipeline.importing import Imported
    from qmd.stats import Stats
    from qmd.store.trees import Parameters
    from qmd.types import Collection
    from qmd.types import Document as Indexed

Given = ParamSpec("Given")
Found = TypeVar("Found")

Names = str | Iterable[str] | None
"""The name of a collection, or several; None means all, in a search those included by default."""

Day = date | str | None
"""A day or a moment, in UTC if it does not say; text as 2025-03-14."""

READERS, MODELS = 4, 1
"""Calls at once that only read the index, and that use a model."""

SIMILAR = 0.3
"""Cosine below which passages have little to do with the question. Source: tobi/qmd (MIT)."""

ENDED = 10.0
"""Seconds to wait for a call to end that was interrupted from the keyboard."""

log = logging.getLogger("qmd")


@dataclass(frozen=True, slots=True)
class Document:
    """A file in the index.

    Attributes:
        file: `collection/path`.
        path: below the folder of the collection, with `/`.
        date: UTC; from frontmatter, else the file name, else `modified`.
        modified: UTC.
        size: bytes.
        hash: SHA-256 of the text; its first six digits are the docid.
    """

    docid: str
    file: str
    title: str
    collection: str
    path: str
    date: datetime
    modified: datetime
    size: int
    hash: str
    uri: str


def open(  # qmd.open
    index: str | os.PathLike[str] | None = None,
    *,
    path: str | os.PathLike[str] | None = None,
    gpu: bool = True,
    patience: float = 30.0,
) -> AsyncKnowledgeBase:
    """A knowledge base, for `async with`.

    Args:
        index: a name, as for `--index`; a path, as below; None: the one that the command line would
            use here.
        path: of a project with an index of its own, or of an `index.duckdb`. Such a file is made
            when it is first used; its settings are in an `index.yml` beside it, unless it is one
            that the command line uses.
        gpu: whether models may use one.
        patience: seconds to wait for other processes that hold the index.

    Raises:
        UsageError: there is no such index.
    """
    return AsyncKnowledgeBase(_engine(index, path, gpu=gpu, patience=patience))


def connect(
    index: str | os.PathLike[str] | None = None,
    *,
    path: str | os.PathLike[str] | None = None,
    gpu: bool = True,
    patience: float = 30.0,
) -> KnowledgeBase:
    """A knowledge base for notebooks and scripts: see `open`."""
    return KnowledgeBase(_engine(index, path, gpu=gpu, patience=patience))


def _engine(
    index: str | os.PathLike[str] | None,
    path: str | os.PathLike[str] | None,
    *,
    gpu: bool,
    patience: float,
) -> Engine:
    if index is not None and path is not None:
        raise TypeError("Give an index or a path, not both.")
    if index is not None and not (isinstance(index, str) and _is_name(index)):
        index, path = None, index
    if path is not None:
        place = config.at(os.environ, Path(path))
    else:
        place = config.locate(os.environ, Path.cwd(), index=index)
    return Engine(place, config.machine(os.environ, gpu=gpu), warm=True, patience=patience)


def _is_name(text: str) -> bool:
    return "/" not in text and not text.startswith((".", "~")) and not text.endswith(".duckdb")


class AsyncKnowledgeBase:
    """Everything that can be asked of an index, or done to it. See `open`."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._readers = CapacityLimiter(READERS)
        self._models = CapacityLimiter(MODELS)
        self._let_go = weakref.finalize(self, engine.close)  # also when nobody closes it

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Let go of the index and of the models."""
        with anyio.CancelScope(shield=True):
            await to_thread.run_sync(self._let_go)

    @property
    def path(self) -> Path:
        """The DuckDB file."""
        return self._engine.place.database

    async def _run(
        self,
        work: Callable[Given, Found],
        /,
        *given: Given.args,
        **named: Given.kwargs,
    ) -> Found:
        """What `work` gives, in a thread of those that read."""
        self._check()
        call = partial(work, *given, **named)
        return await stoppable(partial(to_thread.run_sync, call, limiter=self._readers))

    def _check(self) -> None:
        if not self._let_go.alive:
            raise RuntimeError("This knowledge base is closed.")

    # -- search ------------------------------------------------------------------

    async def search(
        self,
        query: str,
        *,
        collection: Names = None,
        limit: int | None = 10,
        min_score: float = 0.0,
        since: Day = None,
        before: Day = None,
        filter: str | None = None,
        full: bool = False,
        length: int = 500,
    ) -> Results:
        """Documents that contain words of a query, best first.

        Args:
            query: words, `"phrases"`, `-exclusions`.
            collection: names; without any, those that searches look into by default.
            limit: results at most; None: all.
            min_score: 0 to 1.
            since, before: documents of this day or later, and from before this day.
            filter: on frontmatter: `'status = "open" and tags = urgent'`.
            full: whole bodies, no snippets.
            length: characters of a snippet.

        Raises:
            QueryError: the query cannot be read.
            UsageError: a date, the filter or the limit cannot be.
            CollectionNotFound: there is none of one of the names.
        """
        return _results(
            await self._run(
                self._engine.search,
                query,
                among=_among(collection, since, before, filter),
                limit=_limit(limit),
                min_score=min_score,
                length=length,
                full=full,
            )
        )

    async def vector_search(
        self,
        question: str,
        *,
        collection: Names = None,
        limit: int | None = 10,
        min_score: float = SIMILAR,
        since: Day = None,
        before: Day = None,
        filter: str | None = None,
        per_file: int = 1,
        full: bool = False,
        length: int = 500,
    ) -> Results:
        """Documents with a passage that means what a question asks, best first.

        Args:
            min_score: cosine, -1 to 1.
            per_file: passages of one document at most.
            collection, limit, since, before, filter, full, length: see `search`.

        Raises:
            QueryError: the question cannot be read.
            UsageError: a date, the filter or the limit cannot be.
            CollectionNotFound: there is none of one of the names.
            NotEmbedded: there are no vectors of the model in use.
            ModelError: it cannot run here, or did not answer.
        """
        self._check()
        search = partial(
            self._engine.vector_search,
            question,
            among=_among(collection, since, before, filter),
            limit=_limit(limit),
            min_score=min_score,
            per_file=per_file,
            length=length,
            full=full,
        )
        return _results(await stoppable(partial(to_thread.run_sync, search, limiter=self._models)))

    vsearch = vector_search

    async def query(
        self,
        question: str,
        *,
        collection: Names = None,
        limit: int | None = 10,
        min_score: float = 0.0,
        since: Day = None,
        before: Day = None,
        filter: str | None = None,
        intent: str | None = None,
        meaning: bool = True,
        expand: bool | None = None,
        rerank: bool | None = None,
        fusion: Literal["scores", "rrf"] = "scores",
        candidates: int = 40,
        timeout: float | None = None,  # noqa: ASYNC109  # of a model, not of the call
        recent: float | None = None,
        explain: bool = False,
        full: bool = False,
        length: int = 500,
    ) -> Results:
        """Documents that answer a question best, by words and by meaning.

        Args:
            question: plain, or lines `lex:`, `vec:`, `hyde:`, `intent:`.
            intent: what the question is about.
            meaning: search by meaning too.
            expand: let a model put the question in other words; None: if one is fast here.
            rerank: let a model judge the best candidates; None: if one is fast here.
            fusion: how lists become one: by scores, or by ranks.
            candidates: documents that are judged.
            timeout: seconds for each model that helps.
            recent: prefer new documents: days after which a claim to be new is half.
            explain: give each result how its score came about.
            collection, limit, min_score, since, before, filter, full, length: see `search`.

        Raises:
            QueryError: the question cannot be read.
            UsageError: a date, the filter or the limit cannot be.
            CollectionNotFound: there is none of one of the names.
            NotEmbedded, ModelError: nothing but meaning is asked for, and cannot be searched.
        """
        from qmd.pipeline.hybrid import Recipe

        self._check()
        among, most = _among(collection, since, before, filter), _limit(limit)

        async def work() -> Answer:
            helping = False
            if expand is None or rerank is None:
                helping = await to_thread.run_sync(
                    self._engine.models.help_at_once, limiter=self._readers
                )
            async with self._models:
                return await self._engine.query(
                    question,
                    among=among,
                    limit=most,
                    recipe=Recipe(fusion, meaning, candidates, timeout, recent),
                    expand=helping if expand is None else expand,
                    rerank=helping if rerank is None else rerank,
                    length=length,
                    full=full,
                    intent=intent,
                )

        answer = await stoppable(work)
        return Results(
            (
                result if explain else result._replace(explain=None)
                for result in answer.results
                if result.score >= min_score
            ),
            answer.notice,
        )

    # -- documents ---------------------------------------------------------------

    async def get(
        self, name: str, *, first: int | None = None, count: int | None = None
    ) -> Passage:
        """A document, or some of its lines.

        Args:
            name: `collection/path`, a docid, a path, or the end of one; `name:120:40` for lines.
            first: line to begin with, from 1.
            count: lines at most.

        Raises:
            DocumentNotFound, Ambiguous: the name names none, or several.
            UsageError: the range lies outside the document.
        """
        return await self._run(self._engine.get, name, first=first, count=count)

    async def multi_get(
        self, pattern: str, *, count: int | None = None, largest: int = LARGEST_OF_SEVERAL
    ) -> Rows[Passage]:
        """Documents by glob, brace set, or comma list of paths and docids.

        Args:
            count: lines of each at most.
            largest: bytes; a larger document, or one that is not there, is in the list with a
                `reason` in place of its text.
        """
        found = await self._run(self._engine.multi_get, pattern, count=count, largest=largest)
        return Rows(Passage, found)

    async def documents(self, path: str | None = None) -> Rows[Document]:
        """What is in the index, by path.

        Args:
            path: a collection, or one of its folders: `notes/work`; None: all.

        Raises:
            CollectionNotFound: there is none of this name.
        """
        collection, _, prefix = (path or "").removeprefix(paths.SCHEME).strip("/").partition("/")
        found = await self._run(self._engine.documents, collection or None, prefix)
        return Rows(Document, map(_document, found))

    ls = documents

    async def status(self) -> Status:
        """What is indexed, and where."""
        from qmd.status import status

        return await self._run(status, self._engine)

    # -- facts and pictures --------------------------------------------------------

    async def stats(self, collection: Names = None, *, terms: int = 20, longest: int = 10) -> Stats:
        """Facts about the documents: over time, sizes, collections, frequent terms.

        Args:
            terms: that are listed, and `longest`: documents.

        Raises:
            CollectionNotFound: there is none of one of the names.
        """
        from qmd.stats import gather

        names = _names(collection)
        return await self._run(gather, self._engine, names, terms=terms, longest=longest)

    async def map(self, collection: Names = None, *, method: Literal["pca", "tsne"] = "pca") -> Map:
        """The documents in two dimensions, near to each other if they are about the same.

        Args:
            method: 'pca' for overall likeness; 'tsne' for who is next to whom.

        Raises:
            CollectionNotFound: there is none of one of the names.
            NotEmbedded, ModelError: there are no vectors of the model in use, or it is not here.
            UsageError: scikit-learn is not installed, which computes t-SNE.
        """
        from qmd.pictures.map import make

        return await self._run(make, self._engine, _names(collection), method=method)

    # -- SQL and Parquet -----------------------------------------------------------

    async def sql(
        self,
        query: str,
        parameters: Parameters = (),
        *,
        timeout: float = 60.0,  # noqa: ASYNC109  # DuckDB stops the query
        memory: str = "1GB",
        files: bool = False,
    ) -> Table:
        """What a query of the views gives. It can only read: see docs/sql.md.

        Args:
            parameters: by name for `$name`, or in order for `?`.
            timeout: seconds that the query may take, without the searches it calls for.
            memory: that it may use, such as "1GB"; more goes to disk.
            files: whether it may read files.

        Raises:
            SqlError: it is no query, or cannot be answered; SqlTimeout: not in time.
            QueryError, CollectionNotFound, NotEmbedded, ModelError: a search it calls for failed.
        """
        return Table(
            await self._run(
                self._engine.sql, query, parameters, timeout=timeout, memory=memory, files=files
            )
        )

    async def export(
        self,
        folder: str | os.PathLike[str],
        *,
        collection: Names = None,
        filter: str | None = None,
        tables: Iterable[str] = (),
        vectors: bool = True,
        parted: bool = False,
        force: bool = False,
        progress: Callable[[int, int], None] | None = None,
    ) -> Exported:
        """Write the index to a folder as Parquet, or bring an earlier export there up to date.

        Args:
            collection, filter: documents; see `search`. Without any, everything.
            tables: names; none: all.
            parted: documents by collection, in folders of their own.
            force: replace whatever the folder has in it.
            progress: told (files done, files in all), in another thread.

        Raises:
            CollectionNotFound: there is none of one of the names.
            ExchangeError: the folder has something else in it, or cannot be written.
            JobRunning: another process exports this index.
        """
        from qmd.pipeline.export import Wish

        among = _among(collection, None, None, filter)
        wish = Wish(among, filter, tuple(tables), vectors, parted)
        export = partial(self._engine.export, wish=wish, force=force, progress=progress)
        return await self._run(export, Path(folder))

    async def import_(
        self,
        folder: str | os.PathLike[str],
        *,
        replace: bool = False,
        trusting: bool = False,
        progress: Callable[[int, int], None] | None = None,
    ) -> Imported:
        """Make this index that of an export, with all of its numbers, vectors and scores.

        Args:
            replace: an index that has documents.
            trusting: take over the update commands and the models of the export.
            progress: told (steps done, steps in all), in another thread.

        Raises:
            ExchangeError: the export cannot be used, or the index has documents.
            JobRunning: another process imports into this index.
        """
        take = partial(self._engine.import_, replace=replace, trusting=trusting, progress=progress)
        return await self._run(take, Path(folder))

    # -- collections and contexts --------------------------------------------------

    async def collections(self) -> Rows[Overview]:
        """Each collection with what is indexed of it."""
        return Rows(Overview, await self._run(self._engine.overview))

    async def add_collection(
        self, path: str | os.PathLike[str], *, name: str | None = None, mask: str = "**/*.md"
    ) -> Report:
        """Register a folder and index it.

        Args:
            name: else that of the folder.
            mask: which files; a comma list of globs.

        Raises:
            UsageError: there is no such folder, or the name or mask is none.
            AlreadyExists: the name is taken, or the folder is registered under another.
        """
        from qmd import curation

        add = partial(curation.add_collection, name=name, mask=mask)
        added = await self._run(add, self._engine, Path(path))
        return (await self.update(added.name))[0]

    async def remove_collection(self, name: str) -> None:
        """Forget a collection. Its files stay where they are.

        Raises:
            CollectionNotFound: there is none of this name.
        """
        from qmd import curation

        await self._run(curation.remove_collection, self._engine, name)

    async def contexts(self) -> Rows[Context]:
        """All texts that describe folders, the most general first."""
        return Rows(Context, await self._run(self._engine.contexts))

    async def add_context(self, path: str | os.PathLike[str], text: str) -> None:
        """Describe a folder; results from there carry the text.

        Args:
            path: `/` for all, `qmd://collection/folder`, or a folder.

        Raises:
            UsageError: the text is empty, or the folder in no collection.
            CollectionNotFound: there is none of this name.
        """
        from qmd import curation

        await self._run(curation.add_context, self._engine, os.fspath(path), text)

    async def remove_context(self, path: str | os.PathLike[str]) -> None:
        """Take the description of a folder away.

        Raises:
            ContextNotFound: it has none.
        """
        from qmd import curation

        await self._run(curation.remove_context, self._engine, os.fspath(path))

    # -- upkeep --------------------------------------------------------------------

    async def update(
        self,
        collection: Names = None,
        *,
        pull: bool = False,
        progress: Callable[[str, int, int], object] | None = None,
    ) -> Rows[Report]:
        """Index what has changed.

        Args:
            pull: run `git pull --ff-only` first in collections that are git work trees.
            progress: told (collection, files done, files in all).

        Returns:
            A report for each collection. One that could not be updated says so in `failure`, and
            does not stop the others.

        Raises:
            CollectionNotFound: there is none of one of the names.
            IndexFailure: the index is busy or cannot be written.
        """
        from qmd.pipeline.hooks import Hooks

        def telling(each: Collection) -> Callable[[int, int], None]:
            def tell(done: int, total: int) -> None:
                if progress is not None:
                    progress(each.name, done, total)

            return tell

        async def work() -> list[Report]:
            settings = await to_thread.run_sync(self._engine.settings, limiter=self._readers)
            hooks = Hooks(self._engine.place, settings, pull=pull, told=log.warning)
            return await self._engine.update(_names(collection), progress=telling, before=hooks.run)

        self._check()
        return Rows(Report, await stoppable(work))

    async def embed(
        self,
        collection: Names = None,
        *,
        force: bool = False,
        within: float | None = None,
        batch_tokens: int | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> Embedded:
        """Give documents the vectors that they lack. What is done stays, also after a cancellation.

        Args:
            force: make those anew that are there.
            within: seconds after which to stop.
            batch_tokens: tokens between two commits.
            progress: told (bytes done, bytes in all).

        Raises:
            CollectionNotFound: there is none of one of the names.
            ModelError: the model cannot run here, or does not work at all.
            JobRunning: another process is at it.
        """
        self._check()
        work = partial(
            self._engine.embed,
            _names(collection),
            force=force,
            within=within,
            batch_tokens=batch_tokens,
            progress=progress,
        )
        return await stoppable(work)


def _blocking(
    verb: Callable[Concatenate[AsyncKnowledgeBase, Given], Coroutine[Any, Any, Found]],
) -> Callable[Concatenate[KnowledgeBase, Given], Found]:
    """A verb that waits for its answer."""

    @wraps(verb)
    def call(kb: KnowledgeBase, /, *given: Given.args, **named: Given.kwargs) -> Found:
        return kb._wait(partial(verb, kb._within, *given, **named))

    return call


class _Call(Generic[Found]):
    """A call of the blocking door, in its event loop.

    Attributes:
        ended: set when nothing of it runs any more.
    """

    def __init__(self, work: Callable[[], Coroutine[Any, Any, Found]]) -> None:
        self.ended = threading.Event()
        self._work = work
        self._scope: anyio.CancelScope | None = None

    async def run(self) -> Found:
        """What the work gives."""
        try:
            with anyio.CancelScope() as self._scope:
                if self.ended.is_set():  # cancelled before it began
                    self._scope.cancel()
                return await self._work()
        finally:
            self.ended.set()
        raise Stopped  # nobody waits for it

    def cancel(self) -> None:
        """End it; to be called in the event loop."""
        if self._scope is None:
            self.ended.set()
        else:
            self._scope.cancel()


class KnowledgeBase:
    """The same verbs, blocking: for notebooks and scripts. See `connect`.

    The work is done in an event loop of its own, so that it can be used inside a running one
    (Jupyter). Without `with`, nothing has to be closed. Safe to share between threads.
    """

    def __init__(self, engine: Engine) -> None:
        self._within = AsyncKnowledgeBase(engine)
        self._portal = BlockingPortalProvider()
        self._kept = ExitStack()
        weakref.finalize(self, self._kept.close)  # a loop that is left would keep the process

    def __enter__(self) -> Self:
        self._kept.enter_context(self._portal)
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the index and of the models."""
        try:
            self._wait(self._within.close)
        finally:
            self._kept.close()

    @property
    def path(self) -> Path:
        """The DuckDB file."""
        return self._within.path

    def _wait(self, work: Callable[[], Coroutine[Any, Any, Found]]) -> Found:
        """What `work` gives. Ctrl-C cancels it."""
        call = _Call(work)
        with self._portal as portal:
            try:
                return portal.call(call.run)
            except BaseException:
                if not call.ended.is_set():
                    portal.call(call.cancel)
                    call.ended.wait(ENDED)
                raise

    search = _blocking(AsyncKnowledgeBase.search)
    vector_search = _blocking(AsyncKnowledgeBase.vector_search)
    vsearch = vector_search
    query = _blocking(AsyncKnowledgeBase.query)
    get = _blocking(AsyncKnowledgeBase.get)
    multi_get = _blocking(AsyncKnowledgeBase.multi_get)
    documents = _blocking(AsyncKnowledgeBase.documents)
    ls = documents
    status = _blocking(AsyncKnowledgeBase.status)
    stats = _blocking(AsyncKnowledgeBase.stats)
    map = _blocking(AsyncKnowledgeBase.map)
    sql = _blocking(AsyncKnowledgeBase.sql)
    export = _blocking(AsyncKnowledgeBase.export)
    import_ = _blocking(AsyncKnowledgeBase.import_)
    collections = _blocking(AsyncKnowledgeBase.collections)
    add_collection = _blocking(AsyncKnowledgeBase.add_collection)
    remove_collection = _blocking(AsyncKnowledgeBase.remove_collection)
    contexts = _blocking(AsyncKnowledgeBase.contexts)
    add_context = _blocking(AsyncKnowledgeBase.add_context)
    remove_context = _blocking(AsyncKnowledgeBase.remove_context)
    update = _blocking(AsyncKnowledgeBase.update)
    embed = _blocking(AsyncKnowledgeBase.embed)


def _names(given: Names) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given or ())


def _among(collection: Names, since: Day, before: Day, where: str | None) -> Filter:
    from qmd.text.filters import parse_filter

    return Filter(
        _names(collection) or None,
        _moment(since, "since"),
        _moment(before, "before"),
        parse_filter(where) if where is not None else (),
    )


def _moment(value: Day, name: str) -> datetime | None:
    from qmd.text.markdown import parsed_date

    found = parsed_date(value)
    if found is None and value is not None:
        raise UsageError(f"{name} takes a date such as 2025-03-14, not {value!r}.")
    return found


def _limit(limit: int | None) -> int:
    if limit is not None and limit < 1:
        raise UsageError(f"limit={limit} asks for nothing; None asks for all.")
    return UNLIMITED if limit is None else limit


def _results(answer: Answer) -> Results:
    return Results(answer.results, answer.notice)


def _document(found: Indexed) -> Document:
    return Document(
        found.docid,
        found.name,
        found.title,
        found.collection,
        found.path,
        found.dated,
        found.modified,
        found.size,
        found.hash,
        paths.uri(found.collection, found.path),
    )
