"""Verbs that ask: searches, documents, facts, SQL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from qmd.analytics.rows import Rows, Table
from qmd.operations.engine import LARGEST_OF_SEVERAL
from qmd.operations.search import search
from qmd.operations.semantic_search import query, vector_search
from qmd.operations.status import Status
from qmd.surfaces.python import given
from qmd.surfaces.python.answers import Document, document
from qmd.surfaces.python.base import Base
from qmd.surfaces.python.derive import awaited
from qmd.surfaces.python.given import Names
from qmd.text import paths
from qmd.types import Passage

if TYPE_CHECKING:
    from qmd.analytics.document_map import Map
    from qmd.analytics.report import Stats
    from qmd.analytics.search_calls import Parameters
    from qmd.operations.doctor import Finding


class Asking(Base):
    """Asks an index, and changes nothing."""

    # -- search ------------------------------------------------------------------

    search = awaited(search)
    vector_search = awaited(vector_search)
    vsearch = vector_search
    query = awaited(query)

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
