"""One index, every verb.

Verbs that only look something up are plain functions, ready for a worker thread; `update`
is asynchronous, since it is a pipeline. The command line and the servers are thin layers
over this.
"""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from qmd import config
from qmd.config import Machine, Place, Settings
from qmd.errors import (
    Ambiguous,
    DocumentNotFound,
    IndexNotWritable,
    ModelError,
    NotEmbedded,
    QueryError,
    UsageError,
)
from qmd.models.loaded import Models
from qmd.results import Form, Presenter
from qmd.store import collections, lookup, search
from qmd.store.cursor import Cursor
from qmd.store.database import Database
from qmd.store.stemmer import Stemmer
from qmd.text import masks, paths, query
from qmd.types import (
    EXPERIENCES,
    Collection,
    Context,
    Document,
    Filter,
    Passage,
    Report,
    Result,
)

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from qmd.editing import Parsed
    from qmd.models.choice import Space
    from qmd.pipeline.compare import Comparison
    from qmd.pipeline.export import Exported, Wish
    from qmd.pipeline.hybrid import Helpers, Ranking, Recipe
    from qmd.pipeline.importing import Imported
    from qmd.store import embeddings, maintenance
    from qmd.store.collections import Overview
    from qmd.store.cursor import Connection
    from qmd.store.sandbox import Answer as SqlAnswer
    from qmd.store.sandbox import Found as SqlFound
    from qmd.store.sandbox import Limits
    from qmd.store.shortcut import Shortcut
    from qmd.store.trees import Call, Parameters
    from qmd.text.questions import Question
    from qmd.types import Embedded

Found = TypeVar("Found")

ALL = search.ALL

UNLIMITED = 1_000_000
"""Results when all are asked for."""

NONE_INCLUDED = (
    "All collections are excluded from searches that name none. "
    "Name one with -c, or run 'qmd collection include NAME'."
)

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
        machine: what the environment says of models.
        warm: for a process that reads more than once: keep the index attached between reads.
        stays: for a server: what takes minutes to make and is of use later may be made.
    """

    def __init__(
        self,
        place: Place,
        machine: Machine = Machine(),  # noqa: B008  # a named tuple
        *,
        warm: bool = False,
        stays: bool = False,
        patience: float = 30.0,
    ) -> None:
        self.place = place
        self.models = Models(self._approved, machine, place.config.parent)
        self.database = Database(place.database, warm=warm, patience=patience)
        self.stemmer = Stemmer()
        self._mirrored: tuple[int, int] | None = None
        self._stays = stays
        self._shortcut: tuple[str, Shortcut] | None = None
        self._making = threading.Lock()

    def close(self) -> None:
        """Let go of the index and of the models."""
        with self._making:
            if self._shortcut is not None:
                self._shortcut[1].close()
                self._shortcut = None
        self.models.close()
        self.database.close()

    # -- settings --------------------------------------------------------------

    def settings(self) -> Settings:
        """What index.yml says now."""
        return config.load(self.place)

    def _approved(self) -> Settings:
        """The same, without models that a project wants and nobody approved."""
        from qmd import trust

        settings = self.settings()
        if settings.models and not trust.is_trusted(self.place, settings):
            return settings._replace(models={})
        return settings

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

    def read(self, work: Callable[[Cursor], Found], *, key: Hashable | None = None) -> Found:
        """What `work` finds, with the tables as index.yml says.

        Args:
            key: what is asked, if the answer may come from memory while nobody writes.
        """
        try:
            info = self.place.config.stat()
        except FileNotFoundError:
            return self.database.read(work)
        stamp = (info.st_mtime_ns, info.st_ino)
        if stamp == self._mirrored:
            return self.database.remembered(key, work) if key else self.database.read(work)
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
        among: Filter = ALL,
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
        narrowed = self._narrowed(cursor, among)
        if narrowed is None:
            return Answer([], NONE_INCLUDED)
        found = search.bm25(cursor, asked, self.stemmer, among=narrowed, limit=limit)
        presenter = Presenter(Form(found.words, length, full), self._described(cursor))
        results = [
            presenter.result(hit.document, hit.score)
            for hit in found.hits
            if hit.score >= min_score
        ]
        return Answer(results, words=found.words)

    def _described(self, cursor: Cursor) -> list[Context]:
        """All contexts, the most general first."""
        return self.database.remembered("contexts", collections.contexts, cursor=cursor)

    def _narrowed(self, cursor: Cursor, among: Filter) -> Filter | None:
        """The filter, without names with the collections that searches look into; None: none does.

        Raises:
            CollectionNotFound: one that it names does not exist.
        """
        if among.collections is not None:
            lookup.check_collections(cursor, among.collections)
            return among
        known = self.database.remembered("collections", collections.collections, cursor=cursor)
        if all(collection.included for collection in known):
            return among
        included = tuple(c.name for c in known if c.included)
        return among._replace(collections=included) if included else None

    # -- search by meaning -----------------------------------------------------

    def vectors(self) -> tuple[Space, embeddings.Pending]:
        """The space that is searched, and how much has no vectors in it.

        Raises:
            ModelMissing: the file of the model is not here.
        """
        from qmd.store import embeddings

        space = self.models.space()
        work = partial(embeddings.pending, fingerprint=space.fingerprint)
        return space, self.read(work, key=("pending", space.fingerprint))

    def vector_search(
        self,
        text: str,
        *,
        among: Filter = ALL,
        limit: int = 5,
        min_score: float = -1.0,
        per_file: int = 1,
        length: int = 500,
        full: bool = False,
    ) -> Answer:
        """Documents with a passage that means what a question asks, best first.

        Args:
            among: documents that may answer; without collections, those included by default.
            limit: results at most.
            min_score: cosine, from which on a passage counts.
            per_file: passages of one document at most.
            length: characters of a snippet.
            full: give whole bodies instead of snippets.

        Raises:
            QueryError: the question cannot be read.
            CollectionNotFound: a collection of the filter does not exist.
            NotEmbedded: there are no vectors of the model in use.
            ModelError: it cannot run here, or did not answer.
        """
        problem = query.check_semantic(text)
        if problem or not text.strip():
            raise QueryError(problem or query.NOTHING_TO_FIND)
        space, state = self.vectors()
        if not state.vectors:
            raise NotEmbedded(self.other_vectors())
        vector = self.models.embedder(space).embed([space.model.as_query(text)])[0]
        answer = self.read(
            partial(
                self._nearest,
                vector,
                space=space,
                vectors=state.vectors,
                words=query.content_words(text),
                among=among,
                limit=limit,
                per_file=per_file,
                length=length,
                full=full,
            )
        )
        kept = [result for result in answer.results if result.score >= min_score]
        return answer._replace(results=kept, notice=answer.notice or state.notice)

    def other_vectors(self) -> str:
        """Whose vectors there are, where those of the model in use are missing."""
        from qmd.store import embeddings

        stored = [each for each in self.read(embeddings.models) if each.embeddings]
        if not stored:
            return ""
        names = ", ".join(dict.fromkeys(each.name for each in stored))
        return f"The index has vectors of {names}, made with other settings than those in use now."

    def _nearest(
        self,
        vector: NDArray[np.float32],
        cursor: Cursor,
        *,
        space: Space,
        vectors: int,
        words: dict[str, str],
        among: Filter,
        limit: int,
        per_file: int,
        length: int,
        full: bool,
    ) -> Answer:
        from qmd.store import embeddings

        narrowed = self._narrowed(cursor, among)
        if narrowed is None:
            return Answer([], NONE_INCLUDED)
        number = embeddings.model_id(cursor, space.fingerprint, dimensions=len(vector))
        if number is None:
            raise NotEmbedded
        found = embeddings.nearest(
            cursor,
            vector,
            model_id=number,
            vectors=vectors,
            documents=search.allowed(cursor, narrowed),
            limit=limit,
            per_file=per_file,
            shortcut=self._shortcut_to(space, number, vectors),
        )
        documents = search.documents(cursor, (hit.document_id for hit in found))
        presenter = Presenter(Form(words, length, full), self._described(cursor))
        results = [
            presenter.result(documents[hit.document_id], hit.score, near=hit, by_words=False)
            for hit in found
        ]
        return Answer(results, words=words)

    def _shortcut_to(self, space: Space, model_id: int, vectors: int) -> Shortcut | None:
        """A faster way to the nearest vectors, where there are very many and this process stays.

        If it is missing or out of date, it is made in the background for later.
        """
        from qmd.store import shortcut

        if not self._stays or vectors < shortcut.WORTH:
            return None
        with self._making:
            if self._shortcut is None or self._shortcut[0] != space.fingerprint:
                if self._shortcut is not None:
                    self._shortcut[1].close()
                width = self.models.embedder(space).dimensions
                made = shortcut.Shortcut(self.place.database, space.fingerprint, width)
                self._shortcut = space.fingerprint, made
            found = self._shortcut[1]
        if found.fits(vectors):
            return found
        found.prepare(self.database, model_id)
        return None

    # -- both --------------------------------------------------------------------

    async def query(
        self,
        document: str | Question,
        *,
        among: Filter = ALL,
        limit: int = 5,
        recipe: Recipe | None = None,
        expand: bool = False,
        rerank: bool = False,
        length: int = 500,
        full: bool = False,
        intent: str | None = None,
    ) -> Answer:
        """Documents that answer a question best, by words and by meaning.

        Args:
            document: one plain line, or lines `lex:`, `vec:`, `hyde:`, `intent:`; or that, read.
            among: documents that may answer; without collections, those included by default.
            limit: results at most.
            recipe: how lists become one.
            expand: let a model put the question in other words, if there is one.
            rerank: let a model judge the best candidates, if there is one.
            length: characters of a snippet.
            full: give whole bodies instead of snippets.
            intent: what the question is about; over that of the document.

        Raises:
            QueryError: the question cannot be read.
            CollectionNotFound: a collection of the filter does not exist.
            NotEmbedded, ModelError: nothing but meaning is asked for, and cannot be searched.
        """
        from anyio import to_thread

        from qmd.pipeline import hybrid
        from qmd.text import questions

        question = questions.parse(document) if isinstance(document, str) else document
        if intent:
            question = question._replace(intent=intent)
        recipe = recipe or hybrid.Recipe()
        narrowed = await to_thread.run_sync(self.read, partial(self._narrowed, among=among))
        if narrowed is None:
            return Answer([], NONE_INCLUDED)
        helpers = await to_thread.run_sync(
            partial(self._helpers, meaning=recipe.meaning, expand=expand, rerank=rerank)
        )
        ranking = await hybrid.ranking(
            self.database,
            self.stemmer,
            question,
            helpers=helpers,
            recipe=recipe,
            among=narrowed,
            limit=limit,
        )
        words = ranking.words or query.content_words(" ".join(question.texts))
        about = words | query.content_words(question.intent or "")
        form = Form(about, length, full)
        results = await to_thread.run_sync(
            self.read, partial(self._shown, ranking=ranking, form=form)
        )
        return Answer(results, "\n".join(ranking.notices) or None, words)

    def _shown(self, cursor: Cursor, *, ranking: Ranking, form: Form) -> list[Result]:
        """Ranked documents as results; without those that are gone since they were found."""
        documents = search.documents(cursor, (each.document_id for each in ranking.documents))
        presenter = Presenter(form, self._described(cursor))
        return [
            presenter.result(
                documents[each.document_id],
                each.score,
                near=each.near,
                by_words=each.by_words,
                explain=each.explain,
            )
            for each in ranking.documents
            if each.document_id in documents
        ]

    def _helpers(self, *, meaning: bool, expand: bool, rerank: bool) -> Helpers:
        """The models that are at hand, none of them loaded yet."""
        from qmd.pipeline.hybrid import Helpers

        return Helpers(
            self.models.space if meaning else None,
            self.models.embedder if meaning else None,
            self._shortcut_to,
            self.models.generator() if expand else None,
            self.models.reranker() if rerank else None,
        )

    # -- vectors -----------------------------------------------------------------

    async def embed(
        self,
        names: Sequence[str] = (),
        *,
        force: bool = False,
        batch_tokens: int | None = None,
        within: float | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> Embedded:
        """Give all documents their vectors.

        Args:
            names: of collections; none means all.
            force: make those anew that are there.
            batch_tokens: tokens between two commits.
            within: seconds after which to stop.
            progress: told (bytes done, bytes in all).

        Raises:
            ModelError: the model cannot run here, or does not work at all.
            JobRunning: another process is at it.
        """
        from anyio import to_thread

        from qmd.pipeline import embed
        from qmd.store.gate import errand

        await to_thread.run_sync(self._check, names)
        space = await to_thread.run_sync(self.models.space)
        with errand(self.place.database, "embed"):
            return await embed.embed(
                self.database,
                await to_thread.run_sync(self.models.embedder, space),
                space,
                collections=names,
                force=force,
                batch_tokens=batch_tokens or embed.BATCH_TOKENS,
                within=within,
                progress=progress,
            )

    def in_use(self) -> str | None:
        """The fingerprint of the vectors that are searched; None if their model is not here."""
        try:
            return self.models.space().fingerprint
        except ModelError:
            return None

    # -- SQL -------------------------------------------------------------------

    def sql(
        self,
        text: str,
        parameters: Parameters = (),
        *,
        timeout: float = 60.0,
        memory: str = "1GB",
        files: bool = False,
    ) -> pa.Table:
        """What a query of the views gives, as an Arrow table. It can only read: see docs/sql.md.

        Other reads and writes of this engine wait meanwhile.

        Args:
            parameters: by name for `$name`, or in order for `?`.
            timeout: seconds that the query may take, without the searches it calls for.
            memory: that it may use, such as "1GB"; more goes to disk.
            files: whether it may read files.

        Raises:
            SqlError: it is no query, or cannot be answered; SqlTimeout: not in time.
            QueryError, CollectionNotFound, NotEmbedded, ModelError: a search it calls for failed.
        """
        from qmd.store.sandbox import Limits

        answer = self.sql_answer(text, parameters, Limits(timeout, memory, files))
        try:
            return answer.table()
        finally:
            answer.close()

    def sql_answer(self, text: str, parameters: Parameters, limits: Limits) -> SqlAnswer:
        """The same as rows, which are there until the answer is closed."""
        from qmd.store.sandbox import Sandbox

        box = Sandbox(self.place.database, limits)
        try:
            request = box.read(text, parameters)
            made = [self._called(number, call) for number, call in enumerate(request.calls)]
            found = [each for rows, _ in made for each in rows]
            answer = self._apart(partial(box.answer, request, parameters, found))
        except BaseException:
            box.close()
            raise
        notices = [notice for _, notice in made if notice is not None]
        answer.notices = tuple(dict.fromkeys(notices))
        return answer

    def _called(self, number: int, call: Call) -> tuple[list[SqlFound], str | None]:
        """What a search finds that a query calls for, and what should be known of it."""
        from qmd.store.sandbox import Found

        names = None if call.collection is None else (call.collection,)
        among = ALL._replace(collections=names)
        if call.search == "bm25":
            answer = self.search(call.query, among=among, limit=call.n)
        elif call.search == "vsearch":
            answer = self.vector_search(call.query, among=among, limit=call.n)
        else:
            import anyio

            ask = partial(self.query, call.query, among=among, limit=call.n)
            answer = anyio.run(ask)
        rows = []
        for rank, result in enumerate(answer.results, 1):
            collection, _, path = result.file.partition("/")
            rows.append(
                Found(
                    number,
                    rank,
                    result.score,
                    result.docid,
                    result.file,
                    collection,
                    path,
                    result.title,
                    result.line,
                    result.snippet,
                )
            )
        return rows, answer.notice

    def _apart(
        self, work: Callable[[Callable[[Connection], None], Callable[[Cursor], None]], SqlAnswer]
    ) -> SqlAnswer:
        """What `work` finds with a DuckDB of its own, with the tables as index.yml says."""
        from qmd.store import migrate

        digest = config.digest(self.place)

        def check(cursor: Cursor) -> None:
            if not migrate.is_current(cursor, self.place.database):
                raise _Stale
            if digest is not None and collections.config_digest(cursor) != digest:
                raise _Stale

        if self.place.database.exists():
            with suppress(_Stale):
                return self.database.apart(lambda attach: work(attach, check))
        self.read(lambda _: None)
        return self.database.apart(lambda attach: work(attach, lambda _: None))

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
        return collections.matching(self._described(cursor), document.collection, document.path)

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

    def configured(self, name: str) -> Collection:
        """One collection that index.yml has, and so can be changed.

        Raises:
            CollectionNotFound: there is none of this name.
            UsageError: it is that of the experience records.
        """
        collection = self.collection(name)
        if name == EXPERIENCES:
            raise UsageError(
                f"'{name}' is the collection of the records that agents submit. It is not in "
                "index.yml, and cannot be changed."
            )
        return collection

    def collections(self) -> list[Collection]:
        """All collections, by name."""
        return self.read(collections.collections)

    def contexts(self) -> list[Context]:
        """All contexts, the most general first."""
        return self.read(collections.contexts)

    def change(
        self,
        edit: Callable[[Settings, Parsed], None],
        *,
        also: Callable[[Cursor], None] | None = None,
    ) -> None:
        """Change index.yml and the tables with it.

        What qmd writes itself needs no approval, unless something else there still does.

        Args:
            edit: is given the settings and the document to change.
            also: done in the same transaction as the change of the tables, before it.
        """
        from qmd import editing, trust

        before = self.settings()
        if not self.place.config.exists():
            before = self._as_recorded()
        trusted = trust.is_trusted(self.place, before)

        def change(document: Parsed) -> None:
            if not document:
                editing.write_all(document, before)
            edit(before, document)

        self.database.write(lambda _: None)  # an index that cannot follow stops it here
        editing.edit(self.place, change)
        if trusted:
            trust.approve(self.place, self.settings())
        self.sync(also)

    def _as_recorded(self) -> Settings:
        """The settings as the tables have them: index.yml was lost or is kept elsewhere."""
        if not self.place.database.exists():
            return Settings()
        known = self.database.read(collections.collections)
        described = self.database.read(collections.contexts)
        return Settings(
            tuple(each for each in known if each.name != EXPERIENCES),
            tuple(each for each in described if each.collection != EXPERIENCES),
        )

    def rename(self, old: str, new: str) -> None:
        """Give a collection another name; its documents keep their postings."""
        from qmd import editing

        config.check_name(new)
        self.configured(old)

        def edit(_: Settings, document: Parsed) -> None:
            editing.rename_collection(document, old, new)

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
        for collection in self.folders(names):
            with suppress(RootMissing):  # told of by the update
                compared[collection.name] = compare(self.database, collection)
        return compared

    def folders(self, names: Sequence[str] = ()) -> list[Collection]:
        """Collections of files, by name: those that can be updated.

        Args:
            names: of collections; none means all.

        Raises:
            CollectionNotFound: there is none of one of the names.
            UsageError: one has no files, but the experience records.
        """
        self._check(names)
        if EXPERIENCES in names:
            raise UsageError(
                f"'{EXPERIENCES}' has no folder to be updated from: agents submit its records."
            )
        return [c for c in self.collections() if c.root and (not names or c.name in names)]

    def export(
        self,
        folder: Path,
        *,
        wish: Wish | None = None,
        force: bool = False,
        progress: Callable[[int, int], None] | None = None,
    ) -> Exported:
        """Write the index to a folder as Parquet, or bring an earlier export there up to date.

        Args:
            wish: what to export; None: everything.
            force: replace whatever the folder has in it.
            progress: told (files done, files in all).

        Raises:
            CollectionNotFound: one of the wish does not exist.
            FolderTaken: the folder has something else in it.
            ExportFailed: it cannot be written.
            JobRunning: another process exports this index.
        """
        from qmd.pipeline import export

        wanted = wish or export.Wish()
        names = list(wanted.among.collections or ())
        self.read(partial(lookup.check_collections, names=names))
        return export.export(
            self.database,
            self.place,
            self.settings(),
            folder,
            wish=wanted,
            force=force,
            progress=progress,
        )

    def import_(
        self,
        folder: Path,
        *,
        replace: bool = False,
        trusting: bool = False,
        progress: Callable[[int, int], None] | None = None,
    ) -> Imported:
        """Make this index that of an export, with all of its numbers, vectors and scores.

        Args:
            replace: an index that has documents.
            trusting: take over the update commands and the models of the export.
            progress: told (steps done, steps in all).

        Raises:
            ExchangeError: the export cannot be used, or the index has documents.
            JobRunning: another process imports into this index.
        """
        from qmd.pipeline import importing

        imported = importing.import_(
            self.database,
            self.place,
            folder,
            recorded=self._as_recorded,
            replace=replace,
            trusting=trusting,
            progress=progress,
        )
        self._mirrored = None
        self.sync()
        return imported

    def _check(self, names: Sequence[str]) -> None:
        """Refuse names of collections that do not exist."""
        if names:
            self.read(partial(lookup.check_collections, names=list(names)))

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

        chosen = await to_thread.run_sync(self.folders, names)
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
