"""Hybrid search: keyword and vector lists, fused and reranked.

    question ─▸ expand ─┬─▸ keyword lists ────────┬─▸ fuse ─▸ rerank ─▸ blend
                        └─▸ embed ─▸ vector lists ┘

Expanding is in `expansion`, fusing in `fusion`, reranking and blending in `reranking`. A step whose
model fails or is late is left out with a notice (`helper_calls`); the other steps determine the
order.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import anyio
from anyio import from_thread, to_thread

from qmd.embedding import cosines
from qmd.embedding import vectors as embeddings
from qmd.errors import ModelError, NotEmbedded, QueryError
from qmd.models import truncation
from qmd.ranking import bm25, copies, link_pages, postings, query
from qmd.ranking import nearest as neighbours
from qmd.ranking.expansion import Expansion
from qmd.ranking.fusion import DEPTH, RRF_K, Fusion, Listed, Ranked, fused
from qmd.ranking.helper_calls import Aid
from qmd.ranking.passages import with_passages
from qmd.ranking.query_document import Question
from qmd.ranking.query_document import Search as Asked
from qmd.ranking.reranking import reranked
from qmd.ranking.scale import WORDS, attained
from qmd.types import Filter, Nearest

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from qmd.models.loader import Helper
    from qmd.models.protocols import Generator, Reranker
    from qmd.models.selection import Space
    from qmd.ranking.copies import Copies
    from qmd.ranking.nearest import Faster
    from qmd.storage.cursor import Cursor
    from qmd.storage.database import Database

Shown = TypeVar("Shown")

ONLY_MEANING = (
    "The question only asks by meaning, which is not searched.\n\n"
    "Add a lex: line, or search by meaning too."
)


class Recipe(NamedTuple):
    """Options of a hybrid search.

    Attributes:
        fusion: 'scores' adds weighted scores, 'rrf' reciprocal ranks.
        meaning: whether to run vector searches, too.
        candidates: documents that are reranked.
        timeout: seconds for expansion, and again for reranking.
        half_life: days after which a document's claim to be recent is half; None: all are alike.
        per_file: passages of one document at most.
        exact: no other words stand for those that no document has.
        copies: gives the documents that have near-duplicates, to fold these; None: fold none.
        rrf_k: constant of reciprocal rank fusion.
        words: share of the keyword lists in the score.
    """

    fusion: Fusion
    meaning: bool
    candidates: int
    timeout: float | None
    half_life: float | None
    per_file: int
    exact: bool
    copies: Callable[[Cursor], Copies] | None
    rrf_k: int = RRF_K
    words: float = WORDS


class Helpers(NamedTuple):
    """Available models; None where there is none, or it is not wanted.

    Attributes:
        space: gives the vectors that are searched; raises a ModelError if their model is not here.
        vectors: gives those of questions (`Models.vectors`).
        faster: gives faster ways to the nearest of them, if there are any.
    """

    space: Callable[[], Space] | None = None
    vectors: Callable[..., NDArray[np.float32]] | None = None
    faster: Callable[[Space, int, int, int], Faster | None] | None = None
    generator: Helper[Generator] | None = None
    reranker: Helper[Reranker] | None = None


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
        self._words: dict[str, str] = {}
        self._respelled: dict[str, tuple[str, ...]] = {}
        self._banned: set[int] = set()
        self._space: Space | None = None
        self._near_to: Callable[..., list[Nearest]] | None = None  # the first vector search
        self._cosines = cosines.USUAL
        self._depth = DEPTH[recipe.fusion]
        self._count = 0
        self._is_partial = False  # some documents have no vectors

    async def answer(self, limit: int, show: Show[Shown]) -> tuple[Ranking, Shown]:
        """Rank the documents and build the results."""
        reranks = self._helpers.reranker is not None
        wanted = max(limit, self._recipe.candidates) if reranks else limit
        searches = await self._expansion.searches()
        known, pages = await to_thread.run_sync(self._database.read, self._rearranged)
        deep = copies.depth(wanted, known or pages)
        alone = [asked.kind for asked, _ in searches] == ["lex"]
        if alone and self._recipe.half_life is None:
            self._depth = deep  # nothing can change its order
        else:
            self._depth = max(self._depth, limit if not (known or pages) else deep)
        at_once = alone and not reranks
        lists = [] if at_once else await self._lists(searches)

        def fuse(cursor: Cursor) -> list[Ranked]:
            found = self._words_alone(searches, cursor) if at_once else lists
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
            ranking = Ranking(best, self._aid.notices, self._words, self._respelled)
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
                words={**self._words, **query.content_words(self._question.intent or "")},
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
        if self._is_partial and self._space is not None:
            number = embeddings.model_id(cursor, self._space.fingerprint)
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
            banned=self._banned,
            unknown=unknown,
            half_life=self._recipe.half_life,
            limit=limit,
            rrf_k=self._recipe.rrf_k,
            share=self._recipe.words,
        )

    def _with_passages(self, cursor: Cursor, documents: list[Ranked]) -> list[Ranked]:
        """Add further passages to each document, as many as are wanted."""
        if not documents or self._recipe.per_file == 1 or self._near_to is None:
            return documents
        return with_passages(
            cursor,
            documents,
            self._near_to,
            similarity=self._cosines.similarity,
            per_file=self._recipe.per_file,
        )

    # -- lists -------------------------------------------------------------------

    async def _lists(self, searches: Sequence[tuple[Asked, float]]) -> list[Listed]:
        """Compute a ranked list for each search, in order; vector lists may be missing.

        Raises:
            QueryError: a search cannot be read, or none can be done.
        """
        found: dict[int, Listed] = {}
        lexical = [(n, *each) for n, each in enumerate(searches) if each[0].kind == "lex"]
        semantic = [(n, *each) for n, each in enumerate(searches) if each[0].kind != "lex"]
        semantic = semantic if self._recipe.meaning else []
        if not lexical and not semantic:
            raise QueryError(ONLY_MEANING)
        banned = anyio.Event()

        async def by_words() -> None:
            work = partial(self._by_words, lexical, alone=not semantic)
            found.update(await to_thread.run_sync(self._database.read, work))
            banned.set()

        async def by_meaning() -> None:
            asked = [each for _, each, _ in semantic]
            embedded = partial(self._embedded, asked, alone=not lexical)
            try:
                if lexical and query.EXCLUSION.search(self._question.plain or ""):
                    vectors = await to_thread.run_sync(embedded)
                    await banned.wait()
                    work = partial(self._by_meaning, semantic, lambda: vectors)
                else:
                    work = partial(self._by_meaning, semantic, embedded)
                found.update(await to_thread.run_sync(work))
            except (ModelError, NotEmbedded) as error:
                if not lexical:
                    raise
                reason = str(error).split("\n")[0]
                self._aid.notices.append(f"Searched by words alone. {reason}")

        try:
            async with anyio.create_task_group() as tasks:
                if lexical:
                    tasks.start_soon(by_words)
                if semantic:
                    tasks.start_soon(by_meaning)
        except BaseExceptionGroup as group:
            raise _first(group) from None
        return [found[number] for number in sorted(found)]

    def _words_alone(self, searches: Sequence[tuple[Asked, float]], cursor: Cursor) -> list[Listed]:
        """Compute the lists of a query with keyword searches alone."""
        numbered = [(number, *each) for number, each in enumerate(searches)]
        return list(self._by_words(numbered, cursor, alone=True).values())

    def _by_words(
        self, searches: Sequence[tuple[int, Asked, float]], cursor: Cursor, *, alone: bool
    ) -> dict[int, Listed]:
        """Compute the keyword lists, except those without any word.

        Args:
            alone: nothing else is searched.
        """
        plain = self._question.plain is not None
        found = {}
        for number, asked, weight in searches:
            try:
                # A word that a model thought of is not replaced.
                exact = self._recipe.exact or (plain and number > 0)
                parsed = query.parse(asked.text, exact=exact)
            except QueryError:
                # A plain question without a word can still be searched by its vector; and an error
                # in the wording of a model is not the user's.
                if plain and (number or not alone):
                    continue
                raise
            result = bm25.scored(cursor, parsed, among=self._among, limit=self._depth)
            if plain and number == 0:
                self._banned |= result.banned
            for word, stands_for in result.words.items():
                self._words.setdefault(word, stands_for)
            self._respelled |= result.respelled
            best = bm25.in_order(cursor, result.scores, itemgetter(1), self._depth)
            scores = {each: attained(score, result.most) for each, score in best}
            found[number] = Listed("lex", asked.text, weight, scores, {})
        return found

    def _embedded(self, searches: Sequence[Asked], *, alone: bool) -> NDArray[np.float32] | None:
        """Embed all vector searches in one batch.

        None if the model does not know the script that they are in: what it would find is
        chance, and words find better (docs/relevance.md). A notice says so.

        Args:
            alone: nothing else is searched.
        """
        assert self._helpers.space is not None
        assert self._helpers.vectors is not None
        space = self._space = self._helpers.space()
        if not space.model.knows("".join(each.text for each in searches)):
            if not alone:
                self._aid.notices.append(f"Searched by words alone: {space.model.limits}")
                return None
            self._aid.notices.append(space.model.chance)
        collections = self._among.collections
        state = self._database.remembered(
            ("pending", space.fingerprint, collections),
            partial(embeddings.pending, fingerprint=space.fingerprint, collections=collections),
        )
        self._count, self._is_partial = state.vectors, bool(state.lacking)
        if not state.vectors:
            raise NotEmbedded
        model = space.model
        texts = [
            model.as_document(each.text) if each.kind == "hyde" else model.as_query(each.text)
            for each in searches
        ]
        typed = {t: f"{each.kind}: {each.text}" for t, each in zip(texts, searches, strict=True)}
        cut: dict[str, int] = {}
        vectors: NDArray[np.float32] = self._helpers.vectors(
            space, texts, between=from_thread.check_cancelled, cut=cut.__setitem__
        )
        for text, tokens in cut.items():
            self._aid.notices.append(truncation.truncation_notice(typed[text], model, tokens))
        if state.notice:
            self._aid.notices.append(state.notice)
        return vectors

    def _by_meaning(
        self,
        searches: Sequence[tuple[int, Asked, float]],
        embedded: Callable[[], NDArray[np.float32] | None],
    ) -> dict[int, Listed]:
        """Compute the vector lists; none if the model does not support the query's script."""
        vectors = embedded()
        if vectors is None:
            return {}
        return self._database.read(partial(self._near, searches, vectors))

    def _near(
        self,
        searches: Sequence[tuple[int, Asked, float]],
        vectors: NDArray[np.float32],
        cursor: Cursor,
    ) -> dict[int, Listed]:
        assert self._space is not None
        fingerprint = self._space.fingerprint
        number = embeddings.model_id(cursor, fingerprint, dimensions=vectors.shape[1])
        if number is None:
            raise NotEmbedded
        self._cosines = cosines.of(cursor, number)
        documents = postings.allowed(cursor, self._among, banned=self._banned)
        nearest = partial(neighbours.nearest, model_id=number, vectors=self._count)
        if self._helpers.faster is not None:
            faster = self._helpers.faster(self._space, number, self._count, vectors.shape[1])
            nearest = partial(nearest, faster=faster)
        self._near_to = partial(nearest, vector=vectors[0])
        found = {}
        for (place, asked, weight), vector in zip(searches, vectors, strict=True):
            near = nearest(cursor, vector=vector, documents=documents, limit=self._depth)
            passages = {hit.document_id: hit for hit in near}
            scores = {hit.document_id: self._cosines.similarity(hit.score) for hit in near}
            found[place] = Listed(asked.kind, asked.text, weight, scores, passages)
        return found


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


def _first(failure: BaseException) -> BaseException:
    """Return the first failure of a group."""
    while isinstance(failure, BaseExceptionGroup):
        failure = failure.exceptions[0]
    return failure
