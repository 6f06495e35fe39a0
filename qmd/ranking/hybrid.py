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
from typing import TYPE_CHECKING, TypeVar

from anyio import to_thread

from qmd.embedding import vectors as embeddings
from qmd.named_tuple import NamedTuple
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


class _Run(NamedTuple):
    """One hybrid search in progress."""

    database: Database
    question: Question
    helpers: Helpers
    recipe: Recipe
    aid: Aid
    expansion: Expansion
    lists: SearchLists

    async def answer(self, limit: int, show: Show[Shown]) -> tuple[Ranking, Shown]:
        """Rank the documents and build the results."""
        reranks = self.helpers.reranker is not None
        wanted = max(limit, self.recipe.candidates) if reranks else limit
        searches = await self.expansion.searches()
        known, pages = await to_thread.run_sync(self.database.read, self._rearranged)
        deep = copies.depth(wanted, known or pages)
        alone = [asked.kind for asked, _ in searches] == ["lex"]
        if alone and self.recipe.half_life is None:
            self.lists.depth = deep  # nothing can change its order
        else:
            self.lists.depth = max(self.lists.depth, limit if not (known or pages) else deep)
        at_once = alone and not reranks
        lists = [] if at_once else await self.lists.all(searches)

        def fuse(cursor: Cursor) -> list[Ranked]:
            asked = " ".join(self.question.texts)

            def rank(count: int) -> Sequence[Ranked]:
                nonlocal lists
                if at_once:
                    self.lists.depth = max(self.lists.depth, count)
                    lists = self.lists.words_alone(searches, cursor)
                elif count > self.lists.depth:
                    lists = self.lists.deeper(cursor, count)
                ranked = self._fused(cursor, lists=lists, limit=count)
                return link_pages.ranked_behind(
                    cursor, ranked, pages, question=asked, from_file=self.recipe.from_file
                )

            kept = copies.folded(
                rank,
                lambda each: each.document_id,
                known,
                question=asked,
                limit=wanted,
                rearranged=known or pages,
            )
            return [each._replace(similar=similar) for each, similar in kept]

        def finished(cursor: Cursor, documents: list[Ranked] | None) -> tuple[Ranking, Shown]:
            best = fuse(cursor) if documents is None else documents
            best = self._with_passages(cursor, best[:limit])
            ranking = Ranking(best, self.aid.notices, self.lists.words, self.lists.respelled)
            return ranking, show(ranking, cursor)

        read = self.database.read
        if self.helpers.reranker is None:
            return await to_thread.run_sync(read, partial(finished, documents=None))
        documents = await to_thread.run_sync(read, fuse)
        if documents:
            asked = " ".join(dict.fromkeys(self.question.texts))
            if self.question.intent:
                asked = f"{asked}\n{self.question.intent}"
            documents = await reranked(
                self.database,
                self.helpers.reranker,
                asked,
                documents,
                candidates=self.recipe.candidates,
                words={**self.lists.words, **query.content_words(self.question.intent or "")},
                aid=self.aid,
            )
        return await to_thread.run_sync(read, partial(finished, documents=documents))

    def _rearranged(self, cursor: Cursor) -> tuple[Copies, Collection[int]]:
        """Load the documents that have near-duplicates, and those that are lists of links."""
        bm25.mapped(cursor)  # so that near-duplicates and statistics come from its columns
        known: Copies = {} if self.recipe.copies is None else self.recipe.copies(cursor)
        return known, bm25.statistics(cursor).link_pages

    def _fused(self, cursor: Cursor, *, lists: Sequence[Listed], limit: int) -> list[Ranked]:
        """Fuse the lists; the keywords of documents without a vector decide their ranks."""
        unknown: set[int] = set()
        if self.lists.is_partial and self.lists.space is not None:
            number = embeddings.model_id(cursor, self.lists.space.fingerprint)
            near = {n for each in lists if each.kind != "lex" for n in each.scores}
            found = {n for each in lists if each.kind == "lex" for n in each.scores}
            if number is not None and found - near:
                unknown = embeddings.lacking(
                    cursor, model_id=number, documents=sorted(found - near)
                )
        return fused(
            cursor,
            lists,
            self.recipe.fusion,
            banned=self.lists.banned,
            unknown=unknown,
            half_life=self.recipe.half_life,
            limit=limit,
            rrf_k=self.recipe.rrf_k,
            share=self.recipe.words,
        )

    def _with_passages(self, cursor: Cursor, documents: list[Ranked]) -> list[Ranked]:
        """Add further passages to each document, as many as are wanted."""
        if not documents or self.recipe.per_file == 1 or self.lists.near_to is None:
            return documents
        return with_passages(
            cursor,
            documents,
            self.lists.near_to,
            similarity=self.lists.cosines.similarity,
            per_file=self.recipe.per_file,
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
    aid = Aid(database, recipe.timeout)
    expansion = Expansion(database, question, generator=helpers.generator, among=among, aid=aid)
    lists = SearchLists(database, question, helpers=helpers, recipe=recipe, among=among, aid=aid)
    run = _Run(database, question, helpers, recipe, aid, expansion, lists)
    return await run.answer(limit, show)
