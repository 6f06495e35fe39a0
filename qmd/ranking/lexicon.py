"""Word list of the index as sorted arrays, for prefix lookup."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from qmd.named_tuple import NamedTuple
from qmd.ranking.postings import Near

if TYPE_CHECKING:
    from numpy.typing import NDArray

ALIKE = 3
"""Common leading characters of words that can match each other."""

RANGES = 10_000
"""Ranges of words that begin alike whose places are cached."""

KEY = 8
"""First bytes of a string that are compared as a number."""

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
        self._each = bounds.data  # gives numbers of Python, in a third of the time

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
        return str(self._data[self._each[at] : self._each[at + 1]], "utf-8", "replace")

    def between(self, first: int, last: int) -> list[str]:
        """Return neighbours, without the last."""
        ends = self._bounds[first : last + 1]
        data = bytes(self._data[ends[0] : ends[-1]])
        bounds = (ends - ends[0]).tolist()
        if data.isascii():
            text = data.decode("ascii")
            return [text[begin:end] for begin, end in pairwise(bounds)]
        return [data[begin:end].decode(errors="replace") for begin, end in pairwise(bounds)]

    def among(self, texts: Collection[str]) -> Iterator[tuple[int, str]]:
        """Yield the places of strings that are among some texts, each with its string.

        They are sorted once: of a million, which takes 12 MB, some are found in microseconds.
        """
        if not texts:
            return
        keys, places = self._sorted
        wanted = np.frombuffer(b"".join(_key(each.encode()) for each in texts), np.uint64)
        firsts, lasts = (keys.searchsorted(wanted, side).tolist() for side in ("left", "right"))
        for text, first, last in zip(texts, firsts, lasts, strict=True):
            for place in places[first:last].tolist() if first < last else ():
                if self[place] == text:
                    yield place, text

    @cached_property
    def _sorted(self) -> tuple[NDArray[np.uint64], NDArray[np.uint32]]:
        """First bytes of all strings, as ascending numbers, and the places of these strings."""
        sizes = np.diff(self._bounds)
        size = int(sizes[0]) if len(sizes) else 0
        if size >= KEY and (sizes == size).all():
            data = np.frombuffer(self._data, np.uint8)[int(self._bounds[0]) :]
            rows = data[: size * len(sizes)].reshape(-1, size)
            keys = np.ascontiguousarray(rows[:, :KEY]).view(np.uint64).ravel()
        else:
            every = self.between(0, len(self))
            keys = np.frombuffer(b"".join(_key(each.encode()) for each in every), np.uint64)
        order = keys.argsort()
        return keys[order], order.astype(np.uint32)

    def beginning(self, start: str, low: int, high: int) -> tuple[int, int]:
        """Find the range of ascending strings with a prefix, among some that are neighbours."""
        key = start.encode()
        first = self._first_from(key, low, high)
        return first, self._first_from(key + _LAST, first, high)

    def _first_from(self, key: bytes, low: int, high: int) -> int:
        """Find the first of ascending strings that is not before some bytes."""
        data, bounds = self._data, self._each
        while low < high:
            middle = (low + high) // 2
            if bytes(data[bounds[middle] : bounds[middle + 1]]) < key:
                low = middle + 1
            else:
                high = middle
        return low


def _key(encoded: bytes) -> bytes:
    """Return the first bytes of a string, which are compared as a number."""
    return encoded[:KEY].ljust(KEY)


class StringsBuilder:
    """Builder of the arrays of `Strings`, from some strings at a time."""

    def __init__(self) -> None:
        self._data = bytearray()
        self._sizes = array("q", [0])

    def add(self, texts: Iterable[str]) -> None:
        """Append strings."""
        encoded = [text.encode() for text in texts]
        self._data += b"".join(encoded)
        self._sizes.extend(map(len, encoded))

    def arrays(self) -> tuple[NDArray[np.uint8], NDArray[Any]]:
        """Return data and bounds of all strings."""
        bounds = np.frombuffer(self._sizes, np.int64).cumsum()
        narrow = np.uint32 if bounds[-1] < 1 << 32 else np.int64
        return np.frombuffer(self._data, np.uint8), bounds.astype(narrow)


class WordRange(NamedTuple):
    """Places of a word in a lexicon.

    Attributes:
        first, last: range of words with the same beginning.
        begins, ends: range of words that begin with it.
        term: of the word; None: it is not here.
    """

    first: int
    last: int
    begins: int
    ends: int
    term: int | None


class Lexicon:
    """Words with their terms; see sql/search/variants, and `Postings.near`.

    Args:
        words: ascending.
        terms: int64[words]
    """

    def __init__(self, words: Strings, terms: NDArray[np.int64]) -> None:
        self._words = words
        self._terms = terms
        self._ranges: dict[str, tuple[int, int]] = {}

    @property
    def is_whole(self) -> bool:
        """True if each word has a term, which is never below 0."""
        is_each = self._terms.dtype == np.int64 and len(self._words) == len(self._terms)
        return is_each and self._words.is_whole and bool((self._terms >= 0).all())

    @property
    def pairs(self) -> list[tuple[str, int]]:
        """All words with their terms."""
        words = self._words.between(0, len(self._words))
        return list(zip(words, self._terms.tolist(), strict=True))

    def found(self, word: str) -> WordRange:
        """Find a word, and where those that begin like it are."""
        first, last = self._range(word[:ALIKE])
        begins, ends = self._words.beginning(word, first, last)
        is_there = begins < ends and self._words[begins] == word
        return WordRange(first, last, begins, ends, int(self._terms[begins]) if is_there else None)

    def _range(self, begin: str) -> tuple[int, int]:
        """Find the words that begin alike; many questions have words that do."""
        found = self._ranges.get(begin)
        if found is None:
            if len(self._ranges) >= RANGES:
                self._ranges.clear()
            found = self._words.beginning(begin, 0, len(self._words))
            self._ranges[begin] = found
        return found

    def near(self, found: WordRange, term: int | None, *, longer: bool) -> Near:
        """Return the words that may be forms of a word. See `Postings.near`.

        Args:
            term: of the word; None: no document has the word.
            longer: with all words that begin with it.
        """
        first, last, begins, ends, _ = found
        if term is None:
            return self._at(first, last)
        same = first + np.flatnonzero(self._terms[first:last] == term)
        if not longer:
            return [(self._words[at], term) for at in same.tolist()]
        others = [at for at in same.tolist() if not begins <= at < ends]
        return [*self._at(begins, ends), *((self._words[at], term) for at in others)]

    def own(self, found: WordRange) -> Near:
        """Return the word itself, if it is here."""
        return [] if found.term is None else self._at(found.begins, found.begins + 1)

    def one_with(self, begin: str, found: WordRange) -> Near:
        """Return a word with a beginning, if there is one.

        Args:
            found: place of a word that begins so.
        """
        first, last = self._words.beginning(begin, found.first, found.last)
        return self._at(first, min(first + 1, last))

    def _at(self, first: int, last: int) -> Near:
        terms = self._terms[first:last].tolist()
        return list(zip(self._words.between(first, last), terms, strict=True))


def merged(lexicons: Iterable[Lexicon]) -> Lexicon:
    """Merge lexicons, of which none has a word of another."""
    pairs = sorted(chain.from_iterable(each.pairs for each in lexicons))
    words = StringsBuilder()
    words.add(word for word, _ in pairs)
    return Lexicon(Strings(*words.arrays()), np.array([term for _, term in pairs], np.int64))


def near(lexicons: Sequence[Lexicon], word: str, longer: Callable[[int], bool]) -> Near:
    """Return words of all lexicons that may be forms of a word. See `Postings.near`.

    Args:
        longer: tells of the term of the word whether longer words are wanted, too.
    """
    found = [(each, each.found(word)) for each in lexicons]
    if len(word) < ALIKE:
        return [pair for each, at in found for pair in each.own(at)]
    term = next((at.term for _, at in found if at.term is not None), None)
    is_whole = term is None or longer(term)
    return [pair for each, at in found for pair in each.near(at, term, longer=is_whole)]


def own_or_like(lexicons: Sequence[Lexicon], word: str, begin: str) -> Near:
    """Return a word as it is in lexicons, or one of each that has its beginning.

    Args:
        begin: of the word.
    """
    pairs: list[tuple[str, int]] = []
    for each in lexicons:
        found = each.found(word)
        pairs += each.own(found) or ([] if len(word) < ALIKE else each.one_with(begin, found))
    return pairs
