"""Searching by meaning, and by both."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from qmd.errors import ModelError, NotEmbedded, QueryError
from qmd.operations.search import NONE_INCLUDED, Answer, Searching
from qmd.ranking import search_log
from qmd.storage import cancellation
from qmd.storage.cursor import Cursor
from qmd.types import ALL, Filter, Result

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from qmd.embedding import vectors as embeddings
    from qmd.models.selection import Space
    from qmd.ranking.hnsw import Shortcut
    from qmd.ranking.hybrid import Helpers, Ranking, Recipe
    from qmd.ranking.nearest import Faster
    from qmd.ranking.query_document import Question
    from qmd.ranking.results import Form
    from qmd.ranking.vector_matrix import Matrix


class Meaning(Searching):
    """Finds documents by what they mean."""

    _matrix: Matrix | None
    _shortcut: tuple[str, Shortcut] | None
    _making: threading.Lock

    # -- by meaning ----------------------------------------------------------------

    def vectors(
        self, collections: tuple[str, ...] | None = None
    ) -> tuple[Space, embeddings.Pending]:
        """The space that is searched, and how much has no vectors in it.

        Args:
            collections: of whose documents; None means all.

        Raises:
            ModelMissing: the file of the model is not here.
        """
        from qmd.embedding import vectors as embeddings

        space = self.models.space()
        work = partial(embeddings.pending, fingerprint=space.fingerprint, collections=collections)
        return space, self.read(work, key=("pending", space.fingerprint, collections))

    def in_use(self) -> str | None:
        """The fingerprint of the vectors that are searched; None if their model is not here."""
        try:
            return self.models.space().fingerprint
        except ModelError:
            return None

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
            min_score: 0 to 1, from which on a passage counts.
            per_file: passages of one document at most.
            length: characters of a snippet.
            full: give whole bodies instead of snippets.

        Raises:
            QueryError: the question cannot be read.
            CollectionNotFound: a collection of the filter does not exist.
            NotEmbedded: there are no vectors of the model in use.
            ModelError: it cannot run here, or did not answer.
        """
        from qmd.models import truncation
        from qmd.ranking import query

        made = search_log.begin("vsearch", text, among.collections, limit)
        problem = query.check_semantic(text)
        if problem or not text.strip():
            raise QueryError(problem or query.NOTHING_TO_FIND)
        space, state = self.vectors(among.collections)
        if not state.documents and (empty := self.emptiness()):
            return Answer([], empty)
        if not state.vectors:
            raise NotEmbedded(self.other_vectors())
        cut: list[str] = []
        [vector] = self.models.vectors(
            space,
            [space.model.as_query(text)],
            between=cancellation.check,
            cut=lambda _, tokens: cut.append(truncation.notice(text, space.model, tokens)),
        )
        answer = self.read(
            partial(
                self._nearest,
                vector,
                made,
                space=space,
                vectors=state.vectors,
                words=query.content_words(text),
                among=among,
                limit=limit,
                min_score=min_score,
                per_file=per_file,
                length=length,
                full=full,
            )
        )
        chance = None if space.model.knows(text) else space.model.chance
        notices = [answer.notice] if answer.notice else [chance, *cut, state.notice]
        return answer._replace(notice="\n".join(filter(None, notices)) or None)

    def other_vectors(self) -> str:
        """Whose vectors there are, where those of the model in use are missing."""
        from qmd.embedding import vectors as embeddings

        stored = [each for each in self.read(embeddings.models) if each.embeddings]
        if not stored:
            return ""
        names = ", ".join(dict.fromkeys(each.name for each in stored))
        return f"The index has vectors of {names}, made with other settings than those in use now."

    def _nearest(
        self,
        vector: NDArray[np.float32],
        made: search_log.Search,
        cursor: Cursor,
        *,
        space: Space,
        vectors: int,
        words: dict[str, str],
        among: Filter,
        limit: int,
        min_score: float,
        per_file: int,
        length: int,
        full: bool,
    ) -> Answer:
        from qmd.embedding import cosines
        from qmd.embedding import vectors as embeddings
        from qmd.ranking import nearest, postings
        from qmd.ranking.results import Form, Match

        narrowed = self._narrowed(cursor, among)
        if narrowed is None:
            return Answer([], NONE_INCLUDED)
        number = embeddings.model_id(cursor, space.fingerprint, dimensions=len(vector))
        if number is None:
            raise NotEmbedded
        found = nearest.nearest(
            cursor,
            vector,
            model_id=number,
            vectors=vectors,
            documents=postings.allowed(cursor, narrowed),
            limit=limit,
            per_file=per_file,
            faster=self._faster(space, number, vectors, len(vector)),
        )
        similarity = cosines.of(cursor, number).similarity
        near = {Match(hit.document_id, hit, by_words=False): similarity(hit.score) for hit in found}
        shown = self._results(cursor, Form(words, length, full), near)
        results = [
            shown[match]._replace(score=score)
            for match, score in near.items()
            if score >= min_score
        ]
        self._note(cursor, made, results)
        return Answer(results, words=words)

    def _faster(self, space: Space, model_id: int, vectors: int, dimensions: int) -> Faster | None:
        """Faster ways to the nearest vectors, from the second question on: to read all of them
        takes as long as to compare them several times, and a command asks only once.
        """
        from qmd.ranking import vector_matrix
        from qmd.ranking.nearest import Faster

        if 4 * vectors * dimensions > vector_matrix.MOST:
            self._matrix = None
            return Faster(shortcut=self._shortcut_to(space, model_id, vectors, dimensions))
        with self._making:
            held = self._matrix
            if held is None or held.fingerprint != space.fingerprint:
                self._matrix = vector_matrix.Matrix(space.fingerprint)
                return None
        return Faster(held)

    def _shortcut_to(
        self, space: Space, model_id: int, vectors: int, dimensions: int
    ) -> Shortcut | None:
        """A faster way to the nearest vectors, where there are very many and this process stays.

        If it is missing or out of date, it is made in the background for later.
        """
        from qmd.ranking import hnsw

        if not self._stays or vectors < hnsw.WORTH:
            return None
        with self._making:
            if self._shortcut is None or self._shortcut[0] != space.fingerprint:
                if self._shortcut is not None:
                    self._shortcut[1].close()
                made = hnsw.Shortcut(self.place.database, space.fingerprint, dimensions)
                self._shortcut = space.fingerprint, made
            found = self._shortcut[1]
        if found.fits(vectors):
            return found
        found.prepare(self.database, model_id)
        return None

    # -- by both -------------------------------------------------------------------

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

        from qmd.ranking import hybrid, query, query_document
        from qmd.ranking.results import Form

        question = query_document.parse(document) if isinstance(document, str) else document
        if intent:
            question = question._replace(intent=intent)
        made = search_log.begin("query", question.document, among.collections, limit)
        recipe = recipe or hybrid.Recipe()
        meaning = recipe.meaning

        def begun() -> tuple[Filter | None, Helpers]:
            narrowed = self.read(partial(self._narrowed, among=among))
            return narrowed, self._helpers(meaning=meaning, expand=expand, rerank=rerank)

        narrowed, helpers = await to_thread.run_sync(begun)
        if narrowed is None:
            return Answer([], NONE_INCLUDED)

        steering = query.content_words(question.intent or "")

        def told(ranking: Ranking) -> Mapping[str, str]:
            return ranking.words or query.content_words(" ".join(question.texts))

        def shown(ranking: Ranking, cursor: Cursor) -> list[Result]:
            about = {**told(ranking), **steering}
            form = Form(about, length, full)
            return self._shown(made, cursor, ranking=ranking, form=form, limit=limit)

        try:
            ranking, results = await hybrid.ranking(
                self.database,
                self.stemmer,
                question,
                helpers=helpers,
                recipe=recipe,
                among=narrowed,
                limit=limit,
                show=shown,
            )
        except NotEmbedded:
            if empty := await to_thread.run_sync(self.emptiness):
                return Answer([], empty)
            raise
        empty = None if results else await to_thread.run_sync(self.emptiness)
        notice = empty or "\n".join(ranking.notices) or None
        return Answer(results, notice, told(ranking), steering)

    def _shown(
        self, made: search_log.Search, cursor: Cursor, *, ranking: Ranking, form: Form, limit: int
    ) -> list[Result]:
        """Ranked documents as results; without those that are gone since they were found."""
        from qmd.ranking.results import Match

        matches = [Match(each.document_id, each.near, each.by_words) for each in ranking.documents]
        shown = self._results(cursor, form, matches)
        results: dict[tuple[str, int], Result] = {}
        for each, match in zip(ranking.documents, matches, strict=True):
            if match in shown:
                result = shown[match]._replace(score=each.score, explain=each.explain)
                results.setdefault((result.file, result.line), result)  # no passage twice
        found = list(results.values())[:limit]
        self._note(cursor, made, found)
        return found

    def _helpers(self, *, meaning: bool, expand: bool, rerank: bool) -> Helpers:
        """The models that are at hand, none of them loaded yet."""
        from qmd.ranking.hybrid import Helpers

        return Helpers(
            self.models.space if meaning else None,
            self.models.vectors if meaning else None,
            self._faster,
            self.models.generator() if expand else None,
            self.models.reranker() if rerank else None,
        )
