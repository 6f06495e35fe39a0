"""One question, searched by words and by meaning, and answered by the best of both.

    question ─▸ expand ─┬─▸ keyword lists ────────┬─▸ fuse ─▸ rerank ─▸ blend
                        └─▸ embed ─▸ vector lists ┘

Fusing and blending are statements (search/fuse_scores, fuse_ranks, blend). What a model cannot do,
or not in time, is left out with a notice: the order is then that of what was done.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeVar

import anyio
import xxhash
from anyio import from_thread, to_thread

from qmd.errors import IndexFailure, ModelError, ModelFailure, NotEmbedded, QueryError
from qmd.models import prompts
from qmd.results import passage_of
from qmd.store import answers, embeddings, search
from qmd.store.cursor import as_json
from qmd.text import query, snippet, words
from qmd.text.questions import Kind, Question
from qmd.text.questions import Search as Asked
from qmd.types import Filter, Nearest, Text

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from qmd.models.base import Embedder, Generator, Reranker
    from qmd.models.choice import Space
    from qmd.models.loaded import Helper
    from qmd.store.cursor import Cursor
    from qmd.store.database import Database
    from qmd.store.shortcut import Shortcut
    from qmd.store.stemmer import Stemmer

Fusion = Literal["scores", "rrf"]
Value = TypeVar("Value")

FIRST, FURTHER = 2.0, 1.0
"""Weight of the lists of the question itself, and of all others. Source: tobi/qmd (MIT)."""

WORDS = 0.45
"""Share of the keyword lists in the fused score; the rest is that of the lists by meaning.
Measured: docs/relevance.md."""

DEPTH: Mapping[Fusion, int] = {"scores": 200, "rrf": 20}
"""Documents of a list that are fused. Sources: docs/relevance.md; tobi/qmd (MIT)."""

CANDIDATES = 40
"""Documents that are reranked. Source: tobi/qmd (MIT)."""

STRONG, AHEAD = 0.85, 0.15
"""Displayed keyword score, and its distance to the second, from which on a question needs no
expansion. Source: tobi/qmd (MIT)."""

PASSAGE = 1500
"""Characters of a passage that is judged, where no vector says which."""

ONLY_MEANING = (
    "The question only asks by meaning, which is not searched.\n\n"
    "Add a lex: line, or search by meaning too."
)


class Recipe(NamedTuple):
    """How a question is answered.

    Attributes:
        fusion: 'scores' adds weighted scores, 'rrf' reciprocal ranks.
        meaning: search by meaning too.
        candidates: documents that are reranked.
        timeout: seconds for expansion, and again for reranking.
        half_life: days after which a document's claim to be recent is half; None: all are alike.
    """

    fusion: Fusion = "scores"
    meaning: bool = True
    candidates: int = CANDIDATES
    timeout: float | None = None
    half_life: float | None = None


class Helpers(NamedTuple):
    """The models at hand; None where there is none, or it is not wanted.

    Attributes:
        space: gives the vectors that are searched; raises a ModelError if their model is not here.
        embedder: gives what makes them, loaded; raises a ModelError if it cannot be.
        shortcut: gives a faster way to the nearest of them, if there is one.
    """

    space: Callable[[], Space] | None = None
    embedder: Callable[[Space], Embedder] | None = None
    shortcut: Callable[[Space, int, int], Shortcut | None] | None = None
    generator: Helper[Generator] | None = None
    reranker: Helper[Reranker] | None = None


class Listed(NamedTuple):
    """One ranked list.

    Attributes:
        scores: bm25 or cosine, by document, best first.
    """

    kind: Kind
    text: str
    weight: float
    scores: Mapping[int, float]
    passages: Mapping[int, Nearest]


class Ranked(NamedTuple):
    """A document that answers.

    Attributes:
        near: its passage nearest to the question, if meaning was searched.
        by_words: whether it was found by words, too.
        explain: how the score came about; it can be added up by hand.
    """

    document_id: int
    score: float
    near: Nearest | None
    by_words: bool
    explain: dict[str, object]


class Ranking(NamedTuple):
    """Documents, best first, with what the user should know.

    Attributes:
        words: of the index, that were looked for, each with the word of the question it answers.
    """

    documents: list[Ranked]
    notices: list[str]
    words: dict[str, str]


class _Run:
    """One question on its way."""

    def __init__(
        self,
        database: Database,
        stemmer: Stemmer,
        helpers: Helpers,
        recipe: Recipe,
        question: Question,
        among: Filter,
    ) -> None:
        self._database = database
        self._stemmer = stemmer
        self._helpers = helpers
        self._recipe = recipe
        self._question = question
        self._among = among
        self._notices: list[str] = []
        self._words: dict[str, str] = {}
        self._banned: set[int] = set()
        self._space: Space | None = None
        self._depth = DEPTH[recipe.fusion]
        self._count = 0

    async def ranking(self, limit: int) -> Ranking:
        """The best documents."""
        self._depth = max(self._depth, limit)
        searches = await self._searches()
        lists = await self._lists(searches)
        reranks = self._helpers.reranker is not None
        wanted = max(limit, self._recipe.candidates) if reranks else limit
        documents = await self._fused(lists, wanted)
        if self._helpers.reranker is not None and documents:
            documents = await self._reranked(documents)
        return Ranking(documents[:limit], self._notices, self._words)

    # -- what to search ----------------------------------------------------------

    async def _searches(self) -> list[tuple[Asked, float]]:
        """The searches, each with its weight.

        Raises:
            QueryError: a plain question only says what to leave out.
        """
        question = self._question
        if question.plain is None:
            weights = [FIRST] + [FURTHER] * (len(question.searches) - 1)
            return list(zip(question.searches, weights, strict=True))
        own = [(Asked("lex", _lexical(question.plain)), FIRST)]
        bare = query.EXCLUSION.sub(" ", question.plain).replace('"', " ").strip()
        if query.EXCLUSION.search(question.plain) and not words.split(bare):
            raise QueryError(query.ONLY_EXCLUSIONS)
        if bare:
            own.append((Asked("vec", bare), FIRST))
        if self._helpers.generator is None:
            return own
        return [*own, *((each, FURTHER) for each in await self._expanded(question.plain))]

    async def _expanded(self, plain: str) -> list[Asked]:
        """Other searches for the same, as a model puts them."""
        assert self._helpers.generator is not None
        rarest, strong = await to_thread.run_sync(self._database.read, partial(self._probe, plain))
        if strong and not self._question.intent:
            return []
        helper = self._helpers.generator

        def write() -> str:
            prompt = prompts.expansion(helper.model, plain, self._question.intent)
            key = _key("expansion", helper.identity(), prompts.GRAMMAR, prompt)
            known = self._database.read(partial(answers.kept, keys=[key]))
            if key in known:
                return str(known[key])
            text = helper.load().generate(
                prompt,
                grammar=prompts.GRAMMAR,
                tokens=prompts.EXPANSION_TOKENS,
                between=from_thread.check_cancelled,
            )
            self._keep("expansion", {key: text})
            return text

        text = await self._within("The question was not expanded", write)
        if text is None:
            return []
        return prompts.expanded(text, plain, lambda line: _has(line, rarest))

    def _probe(self, plain: str, cursor: Cursor) -> tuple[str | None, bool]:
        """The rarest word of a question, and whether words alone answer it clearly."""
        try:
            asked = query.parse(_lexical(plain))
        except QueryError:
            return None, False
        found = search.scored(cursor, asked, self._stemmer, among=self._among, limit=20)
        best = [score / (1 + score) for _, score in found.scores[:2]] + [0.0, 0.0]
        strong = best[0] >= STRONG and best[0] - best[1] >= AHEAD
        return search.rarest(cursor, asked, self._stemmer), strong

    # -- lists -------------------------------------------------------------------

    async def _lists(self, searches: Sequence[tuple[Asked, float]]) -> list[Listed]:
        """A ranked list for each search, in order; those by meaning may be missing.

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
            try:
                asked = [each for _, each, _ in semantic]
                work = partial(self._embedded, asked, alone=not lexical)
                vectors = await to_thread.run_sync(work)
                if vectors is None:
                    return
                if query.EXCLUSION.search(self._question.plain or ""):
                    await banned.wait()
                near = partial(self._by_meaning, semantic, vectors)
                found.update(await to_thread.run_sync(self._database.read, near))
            except (ModelError, NotEmbedded) as error:
                if not lexical:
                    raise
                reason = str(error).split("\n")[0]
                self._notices.append(f"Searched by words alone. {reason}")

        try:
            async with anyio.create_task_group() as tasks:
                if lexical:
                    tasks.start_soon(by_words)
                if semantic:
                    tasks.start_soon(by_meaning)
        except BaseExceptionGroup as group:
            raise _first(group) from None
        return [found[number] for number in sorted(found)]

    def _by_words(
        self, searches: Sequence[tuple[int, Asked, float]], cursor: Cursor, *, alone: bool
    ) -> dict[int, Listed]:
        """The lists by words; without those that a plain question has no words for.

        Args:
            alone: nothing else is searched.
        """
        plain = self._question.plain is not None
        found = {}
        for number, asked, weight in searches:
            try:
                parsed = query.parse(asked.text)
            except QueryError:
                # A plain question without a word still has a meaning; and nobody typed what a
                # model made of it.
                if plain and (number or not alone):
                    continue
                raise
            result = search.scored(
                cursor, parsed, self._stemmer, among=self._among, limit=self._depth
            )
            if plain and number == 0:
                self._banned |= result.banned
            for word, stands_for in result.words.items():
                self._words.setdefault(word, stands_for)
            scores = dict(result.scores[: self._depth])
            found[number] = Listed("lex", asked.text, weight, scores, {})
        return found

    def _embedded(self, searches: Sequence[Asked], *, alone: bool) -> NDArray[np.float32] | None:
        """The vectors of all searches by meaning, in one batch.

        None, with a notice, if the model does not know the script that they are in: what it
        would find is chance, and words find better (docs/relevance.md).

        Args:
            alone: nothing else is searched.
        """
        assert self._helpers.space is not None
        assert self._helpers.embedder is not None
        space = self._space = self._helpers.space()
        if not alone and not space.model.knows("".join(each.text for each in searches)):
            self._notices.append(
                f"Searched by words alone: {space.model.name} knows English only. "
                "'qmd models list' shows models that know many languages."
            )
            return None
        state = self._database.remembered(
            ("pending", space.fingerprint),
            partial(embeddings.pending, fingerprint=space.fingerprint),
        )
        self._count = state.vectors
        if not state.vectors:
            raise NotEmbedded
        model = space.model
        texts = [
            model.as_document(each.text) if each.kind == "hyde" else model.as_query(each.text)
            for each in searches
        ]
        vectors = self._helpers.embedder(space).embed(texts, between=from_thread.check_cancelled)
        if state.notice:
            self._notices.append(state.notice)
        return vectors

    def _by_meaning(
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
        documents = search.allowed(cursor, self._among, banned=self._banned)
        shortcut = None
        if self._helpers.shortcut is not None:
            shortcut = self._helpers.shortcut(self._space, number, self._count)
        found = {}
        for (place, asked, weight), vector in zip(searches, vectors, strict=True):
            near = embeddings.nearest(
                cursor,
                vector,
                model_id=number,
                vectors=self._count,
                documents=documents,
                limit=self._depth,
                shortcut=shortcut,
            )
            passages = {hit.document_id: hit for hit in near}
            scores = {hit.document_id: hit.score for hit in near}
            found[place] = Listed(asked.kind, asked.text, weight, scores, passages)
        return found

    # -- fusion ------------------------------------------------------------------

    async def _fused(self, lists: Sequence[Listed], limit: int) -> list[Ranked]:
        """The best documents of all lists."""
        weights = self._weights(lists)
        rows = [
            {
                "list": number,
                "kind": "lex" if each.kind == "lex" else "vec",
                "weight": weight,
                "document_id": document_id,
                "rank": rank,
                "score": score,
            }
            for number, (each, weight) in enumerate(zip(lists, weights, strict=True))
            for rank, (document_id, score) in enumerate(each.scores.items(), start=1)
            if document_id not in self._banned
        ]
        statement = "search/fuse_ranks" if self._recipe.fusion == "rrf" else "search/fuse_scores"
        fused = await to_thread.run_sync(
            self._database.read,
            lambda cursor: cursor.run(
                statement,
                lists=as_json(rows),
                half_life=self._recipe.half_life,
                limit=limit,
                now=datetime.now(UTC).replace(tzinfo=None).isoformat(sep=" "),
            ),
        )
        best: dict[int, Nearest] = {}
        by_words = {number for each in lists if each.kind == "lex" for number in each.scores}
        for each in lists:
            for document_id, passage in each.passages.items():
                if document_id not in best or passage.score > best[document_id].score:
                    best[document_id] = passage
        return [
            Ranked(
                document_id,
                score,
                best.get(document_id),
                document_id in by_words,
                {
                    "fusion": self._recipe.fusion,
                    "lists": [_part(lists, part) for part in json.loads(parts)],
                    "bonus": bonus,
                    "fused": score,
                },
            )
            for document_id, score, bonus, parts in fused
        ]

    def _weights(self, lists: Sequence[Listed]) -> list[float]:
        """What each list counts: for ranks as it is, for scores so that all add up to 1."""
        if self._recipe.fusion == "rrf":
            return [each.weight for each in lists]
        lexical = sum(each.weight for each in lists if each.kind == "lex")
        semantic = sum(each.weight for each in lists if each.kind != "lex")
        share = 1.0 if not semantic else 0.0 if not lexical else WORDS
        return [
            share * each.weight / lexical
            if each.kind == "lex"
            else (1 - share) * each.weight / semantic
            for each in lists
        ]

    # -- reranking ---------------------------------------------------------------

    async def _reranked(self, fused: list[Ranked]) -> list[Ranked]:
        """The best candidates in the order that a judge gives them, then the rest."""
        helper = self._helpers.reranker
        assert helper is not None
        candidates, rest = fused[: self._recipe.candidates], fused[self._recipe.candidates :]
        texts = await to_thread.run_sync(
            self._database.read,
            partial(search.documents, ids=[each.document_id for each in candidates]),
        )
        candidates = [each for each in candidates if each.document_id in texts]  # others are gone
        asked = " ".join(dict.fromkeys(self._question.texts))
        if self._question.intent:
            asked = f"{asked}\n{self._question.intent}"
        match = snippet.Matcher(self._words)
        passages = [_judged(texts[each.document_id], each, match) for each in candidates]

        def judge() -> list[float]:
            identity = helper.identity()
            keys = [_key("rerank", identity, asked, passage) for passage in passages]
            known = self._database.read(partial(answers.kept, keys=keys))
            missing = {k: p for k, p in zip(keys, passages, strict=True) if k not in known}
            if missing:
                scores = helper.load().score(
                    asked, list(missing.values()), between=from_thread.check_cancelled
                )
                if not all(map(math.isfinite, scores)):
                    raise ModelFailure(f"{helper.model.name} gave a score that is no number.")
                fresh = dict(zip(missing, scores, strict=True))
                self._keep("rerank", fresh)
                known |= fresh
            return [float(str(known[key])) for key in keys]

        scores = await self._within("The results were not reranked", judge)
        if scores is None:
            return fused
        judged = [
            {"document_id": each.document_id, "rank": rank, "rerank": score}
            for rank, (each, score) in enumerate(
                zip([*candidates, *rest], [*scores, *(None for _ in rest)], strict=True), start=1
            )
        ]
        blended = await to_thread.run_sync(
            self._database.read,
            lambda cursor: cursor.run("search/blend", fused=as_json(judged)),
        )
        by_number = {each.document_id: each for each in fused}
        place = {row["document_id"]: row for row in judged}
        return [
            by_number[document_id]._replace(
                score=score,
                explain={
                    **by_number[document_id].explain,
                    "rank": place[document_id]["rank"],
                    "rerank": place[document_id]["rerank"],
                    "weight": weight,
                },
            )
            for document_id, score, weight in blended
        ]

    # -- models ------------------------------------------------------------------

    async def _within(self, otherwise: str, work: Callable[[], Value]) -> Value | None:
        """What a model answers; None, with a notice, if it cannot, or not in time."""
        try:
            with anyio.fail_after(self._recipe.timeout):
                return await to_thread.run_sync(work)
        except ModelError as error:
            reason = str(error).split("\n")[0]
        except TimeoutError:
            reason = f"The model took longer than {self._recipe.timeout:g} s."
        self._notices.append(f"{otherwise}. {reason}")
        return None

    def _keep(self, kind: str, values: Mapping[str, object]) -> None:
        """Keep answers for the next time, where the index can be written."""
        with suppress(IndexFailure):
            self._database.write(partial(answers.keep, kind=kind, answers=values))


async def ranking(
    database: Database,
    stemmer: Stemmer,
    question: Question,
    *,
    helpers: Helpers,
    recipe: Recipe,
    among: Filter,
    limit: int,
) -> Ranking:
    """The documents that answer a question best.

    Raises:
        QueryError: a search cannot be read.
        NotEmbedded, ModelError: nothing but meaning is searched, and cannot be.
    """
    return await _Run(database, stemmer, helpers, recipe, question, among).ranking(limit)


def _first(failure: BaseException) -> BaseException:
    """The failure that came first of a group."""
    while isinstance(failure, BaseExceptionGroup):
        failure = failure.exceptions[0]
    return failure


def _part(lists: Sequence[Listed], part: Mapping[str, object]) -> dict[str, object]:
    """What a list gave to a document."""
    number = part["list"]
    assert isinstance(number, int)
    each = lists[number]
    return {
        "kind": each.kind,
        "query": each.text,
        "rank": part["rank"],
        "weight": part["weight"],
        "contribution": part["contribution"],
    }


def _lexical(plain: str) -> str:
    """A plain question as a keyword query: an odd quote is no phrase."""
    return plain.replace('"', " ") if plain.count('"') % 2 else plain


def _has(text: str, word: str | None) -> bool:
    """Whether a text has a word, or a longer one that begins so."""
    if word is None:
        return True
    stem = word[: max(4, len(word) - 2)]
    folded = (piece for raw in words.split(text) for piece, _ in words.pieces(raw)[1])
    return any(piece.startswith(stem) for piece in folded)


def _judged(text: Text, ranked: Ranked, match: snippet.Matcher) -> str:
    """What is judged of a document: the passage that answers, else the lines with its words."""
    near = passage_of(text, ranked.near, match, by_words=ranked.by_words)
    if near is not None:
        return text.body[near.position : near.position + near.length]
    return "\n".join(snippet.snippet(text.body, match, length=PASSAGE).lines)


def _key(*parts: str) -> str:
    return xxhash.xxh3_128_hexdigest("\0".join(parts).encode("utf-8", "surrogatepass"))
