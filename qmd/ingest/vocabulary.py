"""Vocabulary of a batch: words and their term numbers, each looked up once."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from typing import TYPE_CHECKING

from qmd.text import tokenizer

if TYPE_CHECKING:
    from qmd.ingest.compiled.words import FoldedWords, Words

Term = tuple[int, str]
"""A term's number in the index and its text."""

Pieces = tuple[int, list[tuple[int, int]]]
"""Tokens of a raw word: the positions it takes, and term_id and shift of each token."""


def pieces_in(word: str, code: str) -> tuple[int, tuple[tuple[str, int], ...]]:
    """Return the tokens of a raw word, and its stem in a language.

    The stem is a further token at the same position, unless its term is that of the word: its
    occurrence would count twice.

    Args:
        code: of the language; empty: none.
    """
    width, parts = tokenizer.pieces(word)
    if not code or width != 1 or not parts or tokenizer.is_gram(word) or "_" in word:
        return width, parts
    from qmd.text.stems import stem, terms

    stemmed = stem(tokenizer.spelt(word), code)
    if not stemmed or not (stemmed.isalnum() or tokenizer.is_alphabetic(stemmed)):
        return width, parts
    further, *own = terms([stemmed, *(folded for folded, _ in parts)])
    return width, parts if further in own else (*parts, (stemmed, 0))


class Vocabulary:
    """Known words with their term numbers.

    Args:
        resolve: gives the terms of folded words never met before, in order.
        known: of those, the words that are not new: another process has added them.

    Attributes:
        compiled: the words of each language, where their rules were compiled.
        folded: the words that those of all languages are indexed as, where they were compiled.
    """

    def __init__(
        self, resolve: Callable[[list[str]], list[Term]], known: Container[str] = frozenset()
    ) -> None:
        self.compiled: dict[str, Words] = {}
        self.folded: FoldedWords | None = None
        self._resolve = resolve
        self._elsewhere = known
        self._pieces: dict[tuple[str, str], tuple[int, tuple[tuple[str, int], ...]]] = {}
        self._folded: dict[str, int] = {}
        self._new: list[tuple[str, Term]] = []

    def resolved(self, folded: Sequence[str]) -> list[int]:
        """Return the term numbers of folded words that were never met before, none twice."""
        terms = self._resolve(list(folded))
        pairs: Iterable[tuple[str, Term]] = zip(folded, terms, strict=True)
        if self._elsewhere:
            pairs = (pair for pair in pairs if pair[0] not in self._elsewhere)
        self._new += pairs
        return [term_id for term_id, _ in terms]

    def learn(self, raw_words: Iterable[str], code: str = "") -> None:
        """Add words, some of which may be new. Each is given once.

        Args:
            code: of the language whose stems they have, besides English ones; empty: of none.
        """
        pieces = {
            (code, word): pieces_in(word, code)
            for word in raw_words
            if (code, word) not in self._pieces
        }
        folded = dict.fromkeys(folded for _, parts in pieces.values() for folded, _ in parts)
        fresh = [word for word in folded if word not in self._folded]
        self._folded.update(zip(fresh, self.resolved(fresh), strict=True))
        self._pieces.update(pieces)

    def pieces(self, raw_word: str, code: str = "") -> Pieces:
        """Return the tokens of a known word."""
        width, parts = self._pieces[code, raw_word]
        return width, [(self._folded[folded], shift) for folded, shift in parts]

    def take_new(self) -> list[tuple[str, Term]]:
        """Return the words new to the index since the last call, with their terms."""
        new, self._new = self._new, []
        return new
