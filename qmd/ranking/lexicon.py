"""Word list of the index in memory, sorted for prefix lookup."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from qmd.ranking.postings import Near

if TYPE_CHECKING:
    from numpy.typing import NDArray

ALIKE = 3
"""Common leading characters of words that can match each other."""

_LAST = "\U0010ffff"
"""Character after all characters of words."""


class Lexicon:
    """Words with their terms; see sql/search/variants, and `Postings.near`.

    Args:
        words: ascending.
        terms: int64[words]
    """

    def __init__(self, words: Sequence[str], terms: NDArray[np.int64]) -> None:
        self._words = words
        self._terms = terms

    def near(self, word: str) -> Near:
        """See `Postings`."""
        begins, ends = self._beginning(word)
        is_known = begins < ends and self._words[begins] == word
        if len(word) < ALIKE:
            return self._at([begins]) if is_known else []
        first, last = self._beginning(word[:ALIKE])
        if not is_known:
            return self._at(range(first, last))
        same = first + np.flatnonzero(self._terms[first:last] == self._terms[begins])
        others = [at for at in same.tolist() if not begins <= at < ends]
        return self._at([*range(begins, ends), *others])

    def _beginning(self, start: str) -> tuple[int, int]:
        """Find the range of words with a prefix."""
        first = bisect_left(self._words, start)
        return first, bisect_left(self._words, start + _LAST, first)

    def _at(self, places: Sequence[int]) -> Near:
        terms = self._terms[places].tolist()
        return [(self._words[at], term) for at, term in zip(places, terms, strict=True)]
