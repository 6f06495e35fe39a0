"""Verbs that ask: searches, documents, facts, SQL."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Literal

from anyio import to_thread

from qmd.analytics.rows import Results, Rows, Table
from qmd.operations.engine import LARGEST_OF_SEVERAL, Answer
from qmd.operations.status import Status
from qmd.operations.threads import stoppable
from qmd.surfaces.python import given
from qmd.surfaces.python.answers import Document, document
from qmd.surfaces.python.base import Base
from qmd.surfaces.python.given import Day, Names
from qmd.text import paths
from qmd.types import SIMILAR, Passage

if TYPE_CHECKING:
    from qmd.analytics.document_map import Map
    from qmd.analytics.report import Stats
    from qmd.analytics.search_calls import Parameters
    from qmd.operations.doctor import Finding


class Asking(Base):
    """Asks an index, and changes nothing."""

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
            UsageError: a date or the filter cannot be.
            CollectionNotFound: there is none of one of the names.
        """
        return _results(
            await self._run(
                self._engine.search,
                given.text(query, "query"),
                among=given.among(collection, since, before, filter),
                limit=given.limit(limit),
                min_score=given.number(min_score, "min_score"),
                length=given.whole(length, "length"),
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
            UsageError: a date or the filter cannot be.
            CollectionNotFound: there is none of one of the names.
            NotEmbedded: there are no vectors of the model in use.
            ModelError: it cannot run here, or did not answer.
        """
        self._check()
        search = partial(
            self._engine.vector_search,
            given.text(question, "question"),
            among=given.among(collection, since, before, filter),
            limit=given.limit(limit),
            min_score=given.number(min_score, "min_score"),
            per_file=given.whole(per_file, "per_file"),
            length=given.whole(length, "length"),
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
        per_file: int = 1,
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
            per_file: passages of one document at most: further ones by their meaning.
            explain: give each result how its score came about.
            collection, limit, min_score, since, before, filter, full, length: see `search`.

        Raises:
            QueryError: the question cannot be read.
            UsageError: a date or the filter cannot be.
            CollectionNotFound: there is none of one of the names.
            NotEmbedded, ModelError: nothing but meaning is asked for, and cannot be searched.
        """
        from qmd.ranking.hybrid import Recipe

        self._check()
        ask = partial(
            self._engine.query,
            given.text(question, "question"),
            among=given.among(collection, since, before, filter),
            limit=given.limit(limit),
            recipe=Recipe(
                given.choice(fusion, "fusion", ("scores", "rrf")),
                meaning,
                given.whole(candidates, "candidates"),
                given.number_or_none(timeout, "timeout"),
                given.half_life(recent, "recent"),
                given.whole(per_file, "per_file"),
            ),
            length=given.whole(length, "length"),
            full=full,
            intent=given.text_or_none(intent, "intent"),
        )
        given.number(min_score, "min_score")

        async def work() -> Answer:
            helping = False
            if expand is None or rerank is None:
                helping = await to_thread.run_sync(
                    self._engine.models.help_at_once, limiter=self._readers
                )
            async with self._models:
                return await ask(
                    expand=helping if expand is None else expand,
                    rerank=helping if rerank is None else rerank,
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
        return await self._run(
            self._engine.get,
            given.text(name, "name"),
            first=given.whole_or_none(first, "first"),
            count=given.whole_or_none(count, "count"),
        )

    async def multi_get(
        self, pattern: str, *, count: int | None = None, largest: int = LARGEST_OF_SEVERAL
    ) -> Rows[Passage]:
        """Documents by glob, brace set, or comma list of paths and docids, with `:first:count`.

        Args:
            count: lines of each at most.
            largest: bytes; a larger document, or one that is not there, is in the list with a
                `reason` in place of its text.
        """
        found = await self._run(
            self._engine.multi_get,
            given.text(pattern, "pattern"),
            count=given.whole_or_none(count, "count"),
            largest=given.whole(largest, "largest"),
        )
        return Rows(Passage, found)

    async def documents(self, path: str | None = None) -> Rows[Document]:
        """What is in the index, by path.

        Args:
            path: a collection, or one of its folders: `notes/work`; None: all.

        Raises:
            CollectionNotFound: there is none of this name.
        """
        below = given.text_or_none(path, "path") or ""
        collection, _, prefix = below.removeprefix(paths.SCHEME).strip("/").partition("/")
        found = await self._run(self._engine.documents, collection or None, prefix)
        return Rows(Document, map(document, found))

    ls = documents

    async def status(self) -> Status:
        """What is indexed, and where."""
        from qmd.operations.status import status

        return await self._run(status, self._engine)

    async def doctor(self, *, deep: bool = False) -> Rows[Finding]:
        """Everything that can be wrong, and what mends it; nothing is changed.

        Args:
            deep: compare the index with what its own texts say, too.
        """
        from qmd.operations.doctor import Finding, examine, prove

        found = await self._run(examine, self._engine)
        if deep and not any(finding.status == "problem" for finding in found):
            found += await self._run(prove, self._engine)
        return Rows(Finding, found)

    # -- facts and pictures --------------------------------------------------------

    async def stats(self, collection: Names = None, *, terms: int = 20, longest: int = 10) -> Stats:
        """Facts about the documents: over time, sizes, collections, frequent terms.

        Args:
            terms: that are listed, and `longest`: documents.

        Raises:
            CollectionNotFound: there is none of one of the names.
        """
        from qmd.analytics.report import gather

        return await self._run(
            gather,
            self._engine,
            given.names(collection),
            terms=given.whole(terms, "terms", least=0),
            longest=given.whole(longest, "longest", least=0),
        )

    async def map(self, collection: Names = None, *, method: Literal["pca", "tsne"] = "pca") -> Map:
        """The documents in two dimensions, near to each other if they are about the same.

        Args:
            method: 'pca' for overall likeness; 'tsne' for who is next to whom.

        Raises:
            CollectionNotFound: there is none of one of the names.
            NotEmbedded, ModelError: there are no vectors of the model in use, or it is not here.
            UsageError: scikit-learn is not installed, which computes t-SNE.
        """
        from qmd.analytics.document_map import make

        names = given.names(collection)
        given.choice(method, "method", ("pca", "tsne"))
        return await self._run(make, self._engine, names, method=method)

    # -- SQL -----------------------------------------------------------------------

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
                self._engine.sql,
                given.text(query, "query"),
                given.parameters(parameters),
                timeout=given.number(timeout, "timeout", least=0),
                memory=given.text(memory, "memory"),
                files=files,
            )
        )


def _results(answer: Answer) -> Results:
    return Results(answer.results, answer.notice)
