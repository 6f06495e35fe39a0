"""Vocabulary of a batch: words and their term numbers, each looked up once."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from typing import TYPE_CHECKING

from qmd.text import tokenizer

if TYPE_CHECKING:
    from qmd.ingest.compiled.words import Words

Term = tuple[int, str]
"""A term's number in the index and its text."""

Pieces = tuple[int, list[tuple[int, int]]]
"""Tokens of a raw word: the positions it takes, and term_id and shift of each token."""


class Vocabulary:
    """Known words with their term numbers.

    Args:
        resolve: gives the terms of folded words never met before, in order.
        known: of those, the words that are not new: another process has added them.

    Attributes:
        compiled: the words, where their rules were compiled.
    """

    def __init__(
        self, resolve: Callable[[list[str]], list[Term]], known: Container[str] = frozenset()
    ) -> None:
        self.compiled: Words | None = None
        self._resolve = resolve
        self._elsewhere = known
        self._pieces: dict[str, tuple[int, tuple[tuple[str, int], ...]]] = {}
        self._folded: dict[str, int] = {}
        self._new: list[tuple[str, Term]] = []

    def term_ids(self, folded: Sequence[str]) -> list[int]:
        """Return the term numbers of folded words that are all new."""
        terms = self._resolve(list(folded))
        pairs = zip(folded, terms, strict=True)
        self._new += [(word, term) for word, term in pairs if word not in self._elsewhere]
        return [term_id for term_id, _ in terms]

    def learn(self, raw_words: Iterable[str]) -> None:
        """Add words, some of which may be new. Each is given once."""
        pieces = {word: tokenizer.pieces(word) for word in raw_words if word not in self._pieces}
        folded = dict.fromkeys(folded for _, parts in pieces.values() for folded, _ in parts)
        fresh = [word for word in folded if word not in self._folded]
        self._folded.update(zip(fresh, self.term_ids(fresh), strict=True))
        self._pieces.update(pieces)

    def pieces(self, raw_word: str) -> Pieces:
        """Return the tokens of a known word."""
        width, parts = self._pieces[raw_word]
        return width, [(self._folded[folded], shift) for folded, shift in parts]

    def take_new(self) -> list[tuple[str, Term]]:
        """Return the words new to the index since the last call, with their terms."""
        new, self._new = self._new, []
        return new
