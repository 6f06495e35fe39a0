"""Query expansion: the query itself, and other wordings from a model."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from anyio import from_thread, to_thread

from qmd.errors import QueryError
from qmd.ranking import bm25, expansion_prompt, query
from qmd.ranking.helper_calls import Aid, key
from qmd.ranking.query_document import Question, Search
from qmd.text import tokenizer
from qmd.types import Filter

if TYPE_CHECKING:
    from qmd.models.loader import Helper
    from qmd.models.protocols import Generator
    from qmd.storage.cursor import Cursor
    from qmd.storage.database import Database

FIRST, FURTHER = 2.0, 1.0
"""Weight of the lists of the query itself, and of all others. Source: tobi/qmd (MIT)."""

STRONG, AHEAD = 0.85, 0.15
"""Displayed keyword score, and its distance to the second, from which on a query needs no
expansion. Source: tobi/qmd (MIT)."""


class Expansion:
    """Expansion of one query to several searches.

    Args:
        generator: model for other wordings; None: the query is searched alone.
        among: documents that may answer.
    """

    def __init__(
        self,
        database: Database,
        question: Question,
        *,
        generator: Helper[Generator] | None,
        among: Filter,
        aid: Aid,
    ) -> None:
        self._database = database
        self._question = question
        self._generator = generator
        self._among = among
        self._aid = aid

    async def searches(self) -> list[tuple[Search, float]]:
        """Return the searches, each with its weight.

        Raises:
            QueryError: a plain question only says what to leave out.
        """
        question = self._question
        if question.plain is None:
            weights = [FIRST] + [FURTHER] * (len(question.searches) - 1)
            return list(zip(question.searches, weights, strict=True))
        own = [(Search("lex", _lexical(question.plain)), FIRST)]
        structure = query.structure_of(_lexical(question.plain))
        if structure is not None:
            bare = structure.text
        else:
            bare = query.EXCLUSION.sub(" ", question.plain).replace('"', " ").strip()
        finds = structure is not None and structure.is_searched
        leaves_out = structure is not None or query.EXCLUSION.search(question.plain)
        if leaves_out and not finds and not tokenizer.split(bare):
            raise QueryError(query.ONLY_EXCLUSIONS)
        if bare:
            own.append((Search("vec", bare), FIRST))
        if self._generator is None:
            return own
        others = await self._expanded(question.plain, self._generator)
        return [*own, *((each, FURTHER) for each in others)]

    async def _expanded(self, plain: str, generator: Helper[Generator]) -> list[Search]:
        """Return other wordings of the query from a model."""
        rarest, strong = await to_thread.run_sync(self._database.read, partial(self._probe, plain))
        if strong and not self._question.intent:
            return []

        def write() -> str:
            prompt = expansion_prompt.expansion(generator.model, plain, self._question.intent)
            kept_as = key("expansion", generator.identity(), expansion_prompt.GRAMMAR, prompt)
            known = self._aid.kept([kept_as])
            if known:
                return str(known[kept_as])
            text = generator.load().generate(
                prompt,
                grammar=expansion_prompt.GRAMMAR,
                tokens=expansion_prompt.EXPANSION_TOKENS,
                between=from_thread.check_cancelled,
            )
            self._aid.keep("expansion", {kept_as: text})
            return text

        text = await self._aid.within("The question was not expanded", write)
        if text is None:
            return []
        return expansion_prompt.expanded(text, plain, lambda line: _has(line, rarest))

    def _probe(self, plain: str, cursor: Cursor) -> tuple[str | None, bool]:
        """Return the rarest word of a query, and whether keywords alone answer it clearly."""
        try:
            asked = query.parse(_lexical(plain))
        except QueryError:
            return None, False
        found = bm25.scored(cursor, asked, among=self._among, limit=20)
        best = [score / (1 + score) for _, score in found.scores[:2]] + [0.0, 0.0]
        strong = best[0] >= STRONG and best[0] - best[1] >= AHEAD
        return bm25.rarest(cursor, asked), strong


def fields_of(question: Question) -> tuple[Any, ...]:
    """Return the fields of a plain question, which limit all that is searched.

    Raises:
        QueryError: the value of a field cannot be read.
    """
    structure = query.structure_of(_lexical(question.plain)) if question.plain else None
    return structure.fields if structure else ()


def _lexical(plain: str) -> str:
    """Convert a plain query to a keyword query; an odd quote starts no phrase."""
    return plain.replace('"', " ") if plain.count('"') % 2 else plain


def _has(text: str, word: str | None) -> bool:
    """Check that a text has a word, or a longer one with the same beginning."""
    if word is None:
        return True
    stem = word[: max(4, len(word) - 2)]
    folded = (
        piece for raw in tokenizer.split(text) for piece, _ in tokenizer.folded_pieces(raw)[1]
    )
    return any(piece.startswith(stem) for piece in folded)
