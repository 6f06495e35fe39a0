"""Ranked lists of a hybrid search: one of keywords or of vectors for each of its searches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING

import anyio
from anyio import from_thread, to_thread

from qmd.embedding import cosines
from qmd.embedding import vectors as embeddings
from qmd.errors import ModelError, NotEmbedded, QueryError
from qmd.models import truncation
from qmd.named_tuple import NamedTuple
from qmd.ranking import bm25, postings, query
from qmd.ranking import nearest as neighbours
from qmd.ranking.fusion import DEPTH, Fusion, Listed
from qmd.ranking.helper_calls import Aid
from qmd.ranking.query_document import Question
from qmd.ranking.query_document import Search as Asked
from qmd.ranking.scale import RRF_K, WORDS, attained
from qmd.types import Filter, Nearest

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from qmd.models.loader import Helper
    from qmd.models.protocols import Generator, Reranker
    from qmd.models.selection import Space
    from qmd.ranking.copies import Copies
    from qmd.ranking.link_pages import LinksFromFile
    from qmd.ranking.nearest import Faster
    from qmd.storage.cursor import Cursor
    from qmd.storage.database import Database

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
        from_file: see `link_pages.lowered`.
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
    from_file: LinksFromFile | None
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


_Numbered = tuple[int, Asked, float]
"""A search with its number, and the weight of its list."""


class SearchLists:
    """Maker of the lists of one hybrid search.

    Attributes:
        depth: documents of a list.
        words: of the index, that were looked for, each with the word of the question it answers.
        respelled: words that no document has, each with those that were looked for in its place.
        banned: documents with something that the question excludes.
        space: vectors that were searched; None: none were.
        near_to: finds the passages nearest to the first search by meaning; None: there was none.
        cosines: of the passages of the model.
        is_partial: some documents have no vectors.
    """

    def __init__(
        self,
        database: Database,
        question: Question,
        *,
        helpers: Helpers,
        recipe: Recipe,
        among: Filter,
        aid: Aid,
    ) -> None:
        self._database = database
        self._helpers = helpers
        self._recipe = recipe
        self._question = question
        self._among = among
        self._aid = aid
        self._count = 0
        self._lexical: Sequence[_Numbered] = ()
        self._semantic: Sequence[_Numbered] = ()
        self._vectors: NDArray[np.float32] | None = None
        self.depth = DEPTH[recipe.fusion]
        self.words: dict[str, str] = {}
        self.respelled: dict[str, tuple[str, ...]] = {}
        self.banned: set[int] = set()
        self.space: Space | None = None
        self.near_to: Callable[..., list[Nearest]] | None = None
        self.cosines = cosines.USUAL
        self.is_partial = False

    async def all(self, searches: Sequence[tuple[Asked, float]]) -> list[Listed]:
        """Compute a ranked list for each search, in order; vector lists may be missing.

        Raises:
            QueryError: a search cannot be read, or none can be done.
        """
        found: dict[int, Listed] = {}
        lexical = [(n, *each) for n, each in enumerate(searches) if each[0].kind == "lex"]
        semantic = [(n, *each) for n, each in enumerate(searches) if each[0].kind != "lex"]
        semantic = semantic if self._recipe.meaning else []
        self._lexical, self._semantic = lexical, semantic
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

    def deeper(self, cursor: Cursor, depth: int) -> list[Listed]:
        """Compute the same lists once more, with more documents in each."""
        self.depth = depth
        found = self._by_words(self._lexical, cursor, alone=not self._semantic)
        if self._vectors is not None:
            found |= self._near(self._semantic, self._vectors, cursor)
        return [found[number] for number in sorted(found)]

    def words_alone(self, searches: Sequence[tuple[Asked, float]], cursor: Cursor) -> list[Listed]:
        """Compute the lists of a query with keyword searches alone."""
        numbered = [(number, *each) for number, each in enumerate(searches)]
        return list(self._by_words(numbered, cursor, alone=True).values())

    def _by_words(
        self, searches: Sequence[_Numbered], cursor: Cursor, *, alone: bool
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
            result = bm25.scored(cursor, parsed, among=self._among, limit=self.depth)
            if plain and number == 0:
                self.banned |= result.banned
            for word, stands_for in result.words.items():
                self.words.setdefault(word, stands_for)
            self.respelled |= result.respelled
            best = bm25.in_order(cursor, result.scores, itemgetter(1), self.depth)
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
        space = self.space = self._helpers.space()
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
        self._count, self.is_partial = state.vectors, bool(state.lacking)
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
        searches: Sequence[_Numbered],
        embedded: Callable[[], NDArray[np.float32] | None],
    ) -> dict[int, Listed]:
        """Compute the vector lists; none if the model does not support the query's script."""
        vectors = embedded()
        if vectors is None:
            return {}
        found = self._database.read(partial(self._near, searches, vectors))
        self._vectors = vectors
        return found

    def _near(
        self,
        searches: Sequence[_Numbered],
        vectors: NDArray[np.float32],
        cursor: Cursor,
    ) -> dict[int, Listed]:
        assert self.space is not None
        fingerprint = self.space.fingerprint
        number = embeddings.model_id(cursor, fingerprint, dimensions=vectors.shape[1])
        if number is None:
            raise NotEmbedded
        self.cosines = cosines.of(cursor, number)
        documents = postings.allowed(cursor, self._among, banned=self.banned)
        nearest = partial(neighbours.nearest, model_id=number, vectors=self._count)
        if self._helpers.faster is not None:
            faster = self._helpers.faster(self.space, number, self._count, vectors.shape[1])
            nearest = partial(nearest, faster=faster)
        self.near_to = partial(nearest, vector=vectors[0])
        found = {}
        for (place, asked, weight), vector in zip(searches, vectors, strict=True):
            among = documents
            if asked.fields:
                narrowed = self._among._replace(clauses=(*self._among.clauses, *asked.fields))
                among = postings.allowed(cursor, narrowed, banned=self.banned)
            near = nearest(cursor, vector=vector, documents=among, limit=self.depth)
            passages = {hit.document_id: hit for hit in near}
            scores = {hit.document_id: self.cosines.similarity(hit.score) for hit in near}
            found[place] = Listed(asked.kind, asked.text, weight, scores, passages)
        return found


def _first(failure: BaseException) -> BaseException:
    """Return the first failure of a group."""
    while isinstance(failure, BaseExceptionGroup):
        failure = failure.exceptions[0]
    return failure
