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
    if not stemmed or not stemmed.isalnum():
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
    """

    def __init__(
        self, resolve: Callable[[list[str]], list[Term]], known: Container[str] = frozenset()
    ) -> None:
        self.compiled: dict[str, Words] = {}
        self._resolve = resolve
        self._elsewhere = known
        self._pieces: dict[tuple[str, str], tuple[int, tuple[tuple[str, int], ...]]] = {}
        self._folded: dict[str, int] = {}
        self._new: list[tuple[str, Term]] = []

    def term_ids(self, folded: Sequence[str]) -> list[int]:
        """Return the term numbers of folded words that are all new."""
        fresh = [word for word in folded if word not in self._folded]
        terms = self._resolve(fresh)
        pairs = list(zip(fresh, terms, strict=True))
        self._new += [(word, term) for word, term in pairs if word not in self._elsewhere]
        self._folded.update((word, term_id) for word, (term_id, _) in pairs)
        return [self._folded[word] for word in folded]

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
        self.term_ids(list(folded))
        self._pieces.update(pieces)

    def pieces(self, raw_word: str, code: str = "") -> Pieces:
        """Return the tokens of a known word."""
        width, parts = self._pieces[code, raw_word]
        return width, [(self._folded[folded], shift) for folded, shift in parts]

    def take_new(self) -> list[tuple[str, Term]]:
        """Return the words new to the index since the last call, with their terms."""
        new, self._new = self._new, []
        return new
