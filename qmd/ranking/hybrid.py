"""Hybrid search: keyword and vector lists, fused and reranked.

    question ─▸ expand ─┬─▸ keyword lists ────────┬─▸ fuse ─▸ rerank ─▸ blend
                        └─▸ embed ─▸ vector lists ┘

Expanding is in `expansion`, the lists in `hybrid_lists`, fusing in `fusion`, reranking and blending
in `reranking`. A step whose model fails or is late is left out with a notice (`helper_calls`); the
other steps determine the order.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from anyio import to_thread

from qmd.embedding import vectors as embeddings
from qmd.ranking import bm25, copies, link_pages, query
from qmd.ranking.expansion import Expansion
from qmd.ranking.fusion import Listed, Ranked, fused
from qmd.ranking.helper_calls import Aid
from qmd.ranking.hybrid_lists import SearchLists
from qmd.ranking.passages import with_passages
from qmd.ranking.query_document import Question
from qmd.ranking.reranking import reranked
from qmd.types import Filter

if TYPE_CHECKING:
    from qmd.ranking.copies import Copies
    from qmd.ranking.hybrid_lists import Helpers, Recipe
    from qmd.storage.cursor import Cursor
    from qmd.storage.database import Database

Shown = TypeVar("Shown")


class Ranking(NamedTuple):
    """Ranked documents, best first, with notices for the user.

    Attributes:
        documents: with further passages, perhaps, some of which may be shown by the same lines.
        words: of the index, that were looked for, each with the word of the question it answers.
        respelled: words that no document has, each with those that were looked for in its place.
    """

    documents: list[Ranked]
    notices: list[str]
    words: dict[str, str]
    respelled: dict[str, tuple[str, ...]]


Show = Callable[[Ranking, "Cursor"], Shown]
"""Callback that builds results of documents, in the read that ranked them or another one."""


class _Run:
    """One hybrid search in progress."""

    def __init__(
        self,
        database: Database,
        helpers: Helpers,
        recipe: Recipe,
        question: Question,
        among: Filter,
    ) -> None:
        self._database = database
        self._helpers = helpers
        self._recipe = recipe
        self._question = question
        self._among = among
        self._aid = Aid(database, recipe.timeout)
        self._expansion = Expansion(
            database,
            question,
            generator=helpers.generator,
            among=among,
            aid=self._aid,
        )
        self._lists = SearchLists(
            database, question, helpers=helpers, recipe=recipe, among=among, aid=self._aid
        )

    async def answer(self, limit: int, show: Show[Shown]) -> tuple[Ranking, Shown]:
        """Rank the documents and build the results."""
        reranks = self._helpers.reranker is not None
        wanted = max(limit, self._recipe.candidates) if reranks else limit
        searches = await self._expansion.searches()
        known, pages = await to_thread.run_sync(self._database.read, self._rearranged)
        deep = copies.depth(wanted, known or pages)
        alone = [asked.kind for asked, _ in searches] == ["lex"]
        if alone and self._recipe.half_life is None:
            self._lists.depth = deep  # nothing can change its order
        else:
            self._lists.depth = max(self._lists.depth, limit if not (known or pages) else deep)
        at_once = alone and not reranks
        lists = [] if at_once else await self._lists.all(searches)

        def fuse(cursor: Cursor) -> list[Ranked]:
            found = self._lists.words_alone(searches, cursor) if at_once else lists
            asked = " ".join(self._question.texts)
            ranked: Sequence[Ranked] = self._fused(cursor, lists=found, limit=deep)
            ranked = link_pages.ranked_behind(cursor, ranked, pages, question=asked)
            kept = copies.without_copies(
                ranked, lambda each: each.document_id, known, question=asked, limit=wanted
            )
            return [each._replace(similar=similar) for each, similar in kept]

        def finished(cursor: Cursor, documents: list[Ranked] | None) -> tuple[Ranking, Shown]:
            best = fuse(cursor) if documents is None else documents
            best = self._with_passages(cursor, best[:limit])
            ranking = Ranking(best, self._aid.notices, self._lists.words, self._lists.respelled)
            return ranking, show(ranking, cursor)

        read = self._database.read
        if self._helpers.reranker is None:
            return await to_thread.run_sync(read, partial(finished, documents=None))
        documents = await to_thread.run_sync(read, fuse)
        if documents:
            asked = " ".join(dict.fromkeys(self._question.texts))
            if self._question.intent:
                asked = f"{asked}\n{self._question.intent}"
            documents = await reranked(
                self._database,
                self._helpers.reranker,
                asked,
                documents,
                candidates=self._recipe.candidates,
                words={**self._lists.words, **query.content_words(self._question.intent or "")},
                aid=self._aid,
            )
        return await to_thread.run_sync(read, partial(finished, documents=documents))

    def _rearranged(self, cursor: Cursor) -> tuple[Copies, Collection[int]]:
        """Load the documents that have near-duplicates, and those that are lists of links."""
        known: Copies = {} if self._recipe.copies is None else self._recipe.copies(cursor)
        return known, bm25.link_pages(cursor)

    def _fused(self, cursor: Cursor, *, lists: Sequence[Listed], limit: int) -> list[Ranked]:
        """Fuse the lists; the keywords of documents without a vector decide their ranks."""
        unknown: set[int] = set()
        if self._lists.is_partial and self._lists.space is not None:
            number = embeddings.model_id(cursor, self._lists.space.fingerprint)
            near = {n for each in lists if each.kind != "lex" for n in each.scores}
            found = {n for each in lists if each.kind == "lex" for n in each.scores}
            if number is not None and found - near:
                unknown = embeddings.lacking(
                    cursor, model_id=number, documents=sorted(found - near)
                )
        return fused(
            cursor,
            lists,
            self._recipe.fusion,
            banned=self._lists.banned,
            unknown=unknown,
            half_life=self._recipe.half_life,
            limit=limit,
            rrf_k=self._recipe.rrf_k,
            share=self._recipe.words,
        )

    def _with_passages(self, cursor: Cursor, documents: list[Ranked]) -> list[Ranked]:
        """Add further passages to each document, as many as are wanted."""
        if not documents or self._recipe.per_file == 1 or self._lists.near_to is None:
            return documents
        return with_passages(
            cursor,
            documents,
            self._lists.near_to,
            similarity=self._lists.cosines.similarity,
            per_file=self._recipe.per_file,
        )


async def ranking(
    database: Database,
    question: Question,
    *,
    helpers: Helpers,
    recipe: Recipe,
    among: Filter,
    limit: int,
    show: Show[Shown],
) -> tuple[Ranking, Shown]:
    """Rank documents for a query, and build results by `show`.

    Raises:
        QueryError: a search cannot be read.
        NotEmbedded, ModelError: nothing but meaning is searched, and cannot be.
    """
    return await _Run(database, helpers, recipe, question, among).answer(limit, show)
