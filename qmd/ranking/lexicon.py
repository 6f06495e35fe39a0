"""Word list of the index as sorted arrays, for prefix lookup."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from qmd.ranking.postings import Near

if TYPE_CHECKING:
    from numpy.typing import NDArray

ALIKE = 3
"""Common leading characters of words that can match each other."""

_LAST = b"\xff"
"""Byte after all bytes of UTF-8."""


class Strings:
    """Strings as one array of their bytes in UTF-8.

    Args:
        data: uint8: all of them, one after the other.
        bounds: where each starts, and where the last one ends.
    """

    def __init__(self, data: NDArray[np.uint8], bounds: NDArray[Any]) -> None:
        self._data = data.data
        self._bounds = bounds

    @classmethod
    def packed(cls, texts: Sequence[str]) -> tuple[NDArray[np.uint8], NDArray[np.uint32]]:
        """Return the arrays of some strings: data and bounds."""
        encoded = [text.encode() for text in texts]
        sizes = np.fromiter(map(len, encoded), np.int64, len(encoded))
        bounds = np.concatenate(([0], sizes.cumsum()))
        narrow = np.uint32 if bounds[-1] < 1 << 32 else np.int64
        return np.frombuffer(b"".join(encoded), np.uint8), bounds.astype(narrow)

    def __len__(self) -> int:
        return len(self._bounds) - 1

    @property
    def is_whole(self) -> bool:
        """True if each string lies within the bytes, after the one before it."""
        bounds = self._bounds
        if self._data.format != "B" or bounds.dtype.kind not in "iu" or not len(bounds):
            return False
        if bounds[0] != 0 or bounds[-1] > len(self._data):
            return False
        return bool((bounds[1:] >= bounds[:-1]).all())

    def __getitem__(self, at: int) -> str:
        return str(self._data[self._bounds[at] : self._bounds[at + 1]], "utf-8", "replace")

    def between(self, first: int, last: int) -> list[str]:
        """Return neighbours, without the last."""
        ends = self._bounds[first : last + 1]
        data = bytes(self._data[ends[0] : ends[-1]])
        bounds = (ends - ends[0]).tolist()
        if data.isascii():
            text = data.decode("ascii")
            return [text[begin:end] for begin, end in pairwise(bounds)]
        return [data[begin:end].decode(errors="replace") for begin, end in pairwise(bounds)]

    def first_from(self, key: bytes, low: int = 0) -> int:
        """Find the first of ascending strings that is not before some bytes."""
        high = len(self)
        data, bounds = self._data, self._bounds
        while low < high:
            middle = (low + high) // 2
            if bytes(data[bounds[middle] : bounds[middle + 1]]) < key:
                low = middle + 1
            else:
                high = middle
        return low


class Lexicon:
    """Words with their terms; see sql/search/variants, and `Postings.near`.

    Args:
        words: ascending.
        terms: int64[words]
    """

    def __init__(self, words: Strings, terms: NDArray[np.int64]) -> None:
        self._words = words
        self._terms = terms

    @property
    def is_whole(self) -> bool:
        """True if each word has a term, which is never below 0."""
        is_each = self._terms.dtype == np.int64 and len(self._words) == len(self._terms)
        return is_each and self._words.is_whole and bool((self._terms >= 0).all())

    def term_of(self, word: str) -> int | None:
        """Return the term of a word; None: it is not here."""
        begins, ends = self._beginning(word)
        return int(self._terms[begins]) if begins < ends and self._words[begins] == word else None

    def near(self, word: str, term: int | None) -> Near:
        """Return the words that may be forms of a word. See `Postings.near`.

        Args:
            term: of the word; None: no document has the word.
        """
        begins, ends = self._beginning(word)
        if len(word) < ALIKE:
            return self._at(begins, begins + 1) if self.term_of(word) is not None else []
        first, last = self._beginning(word[:ALIKE])
        if term is None:
            return self._at(first, last)
        same = first + np.flatnonzero(self._terms[first:last] == term)
        others = [at for at in same.tolist() if not begins <= at < ends]
        return [*self._at(begins, ends), *((self._words[at], term) for at in others)]

    def _beginning(self, start: str) -> tuple[int, int]:
        """Find the range of words with a prefix."""
        key = start.encode()
        first = self._words.first_from(key)
        return first, self._words.first_from(key + _LAST, first)

    def _at(self, first: int, last: int) -> Near:
        terms = self._terms[first:last].tolist()
        return list(zip(self._words.between(first, last), terms, strict=True))


def near(lexicons: Sequence[Lexicon], word: str) -> Near:
    """Return words of all lexicons that may be forms of a word. See `Postings.near`."""
    known = (each.term_of(word) for each in lexicons)
    term = next((each for each in known if each is not None), None)
    return [pair for each in lexicons for pair in each.near(word, term)]
