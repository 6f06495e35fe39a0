"""Matcher of the words of a query in lines of text."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate, chain
from typing import TYPE_CHECKING

from qmd.patterns import pattern
from qmd.text import tokenizer

if TYPE_CHECKING:
    from types import ModuleType

_compiled: ModuleType | None = None

_TEXT = pattern(r"[^\w\s](?:[^\w]*[^\w\s])?|(?a:[.@$#]\w+|--\w+|\w+(?:\+\+?|[#*])|\w+-\w+)")
"""Terms that are found as they stand: symbols, words with marks, words joined by a hyphen."""

_WORD = pattern(r"\w+", re.ASCII)
_SMALL = frozenset("abcdefghijklmnopqrstuvwxyz")
_CAPITAL = frozenset(map(str.upper, _SMALL))
_OF_WORDS = _SMALL | _CAPITAL | frozenset("0123456789_")

AT_ONCE = 16_384
"""Characters of lines that are searched for all words together."""

FIRST = 2_048
"""Characters of the first of these lines: many texts have all words in one of them."""

COMPILED_WORDS = 64
"""Words of a query up to which each has a bit of a number of the compiled loops."""

SEPARATORS = "‘’“”–—…•→\u00a0"
"""Separators outside of ASCII that are common in English, and no part of any word."""


_compound = lru_cache(maxsize=4096)(tokenizer.compound)
"""Pieces of names, which texts of one subject share."""


@lru_cache(maxsize=4)
def _matcher(wanted: tuple[tuple[str, str], ...]) -> Matcher:
    return Matcher(dict(wanted))


def matcher_of(wanted: Mapping[str, str]) -> Matcher:
    """Return the matcher of some words: that of the snippets of an answer is that of its reply.

    Args:
        wanted: see `Matcher`.
    """
    return _matcher(tuple(wanted.items()))


def load_compiled() -> None:
    """Load the compiled loops, if there are any, for matchers that are made from now on.

    It takes a millisecond, which is what they save in a search: for a process that stays.
    """
    global _compiled
    try:
        from qmd.ranking.compiled import line_words
    except ImportError:
        return  # the same in plain Python
    _compiled = line_words


class Matcher:
    """Mapping of raw words to the query words that they match, or None.

    Args:
        wanted: for each folded word, the word of the query that it answers.

    Attributes:
        compiled: module with the compiled loops; None: plain Python is used.
    """

    def __init__(self, wanted: Mapping[str, str]) -> None:
        self._wanted = wanted
        self._bits = {word: 1 << at for at, word in enumerate(dict.fromkeys(wanted.values()))}
        self._known: dict[str, int] = {}
        self._bit_of = {word: self._bits[asked] for word, asked in wanted.items()}
        self._separators = [mark for mark in SEPARATORS if mark not in wanted]
        self._texts = [
            (text, self._bits[asked]) for text, asked in wanted.items() if _TEXT.fullmatch(text)
        ]
        # Words that no other is the beginning of, each with what those that begin so stand for.
        self._starts: dict[str, int] = {}
        start = None
        for word in sorted(filter(_WORD.fullmatch, wanted)):
            if start is None or not word.startswith(start):
                start = word
            self._starts[start] = self._starts.get(start, 0) | self._bits[wanted[word]]
        self._parts = _least(map(tokenizer.fold, wanted))
        self.compiled = _compiled if len(self._bits) <= COMPILED_WORDS else None

    def __call__(self, raw: str) -> str | None:
        """Return the query word that a raw word matches, or None."""
        return next(iter(self.named(self._bit(raw))), None)

    def has(self, raw: str) -> bool:
        """Check that a raw word matches a word of the query."""
        return self._bit(raw) > 0

    def named(self, bits: int) -> set[str]:
        """Return the query words of some bits; see `lines_with`."""
        return {word for word, bit in self._bits.items() if bits & bit}

    def _bit(self, raw: str) -> int:
        """Return the bit of the query word that a raw word matches; 0 for none."""
        known = self._known.get(raw)
        if known is None:
            raw_start, bit_of = raw[: tokenizer.LONGEST], self._bit_of
            alone = tokenizer.plain(raw_start)
            if alone is not None:
                known = bit_of.get(alone, 0)
            else:
                pieces = _compound(raw_start)[1]
                known = next((bit_of[word] for word, _ in pieces if word in bit_of), 0)
            self._known[raw] = known
        return known

    def found_in(self, text: str) -> set[str]:
        """Find the query words in a text."""
        return self.named(self._bits_in(text))

    def _bits_in(self, text: str) -> int:
        if text.isascii():
            return self._met(text, text.lower(), (0, len(text) + 1), range(1)).get(0, 0)
        return self._bits_of(text, tokenizer.fold(text.replace(tokenizer.SOFT_HYPHEN, "")))

    def _bits_of(self, text: str, folded: str) -> int:
        bits = 0
        if any(part in folded for part in self._parts):
            known = self._known
            for word in tokenizer.split(text, segmented=False):
                bits |= known[word] if word in known else self._bit(word)
        if self._texts:
            lowered = text.lower()
            for wanted, bit in self._texts:
                if next(_places_of(wanted, lowered, 0, len(lowered)), None) is not None:
                    bits |= bit
        return bits

    def first_text(self, line: str) -> int | None:
        """Find the first word with marks, as it stands; None without one."""
        lowered = line.lower()
        places = (next(_places_of(text, lowered, 0, len(lowered)), None) for text, _ in self._texts)
        return min((at for at in places if at is not None), default=None)

    def lines_with(self, text: str, starts: Sequence[int]) -> Iterator[tuple[int, int]]:
        """Yield the lines with query words, in order, each with the bits of these words.

        Args:
            starts: see `parts_with`.
        """
        return chain.from_iterable(self.parts_with(text, starts))

    def parts_with(self, text: str, starts: Sequence[int]) -> Iterator[list[tuple[int, int]]]:
        """Yield the same as `lines_with`, in lists for parts of the text, one after the other.

        Args:
            starts: of each line in the text, and where one after the last would start.
        """
        lines = len(starts) - 1
        plain = text
        if not text.isascii():
            for mark in self._separators:
                plain = plain.replace(mark, " ")
        lowered = plain.lower()
        others = [] if plain.isascii() else list(_other_lines(plain))
        if len(lowered) != len(text):
            lowered, others = "", list(range(lines))
        apart = frozenset(others)
        end, room = 0, FIRST
        while end < lines:
            begin = end
            end = max(begin + 1, bisect_right(starts, starts[begin] + room) - 1)
            room = min(2 * room, AT_ONCE)
            found = self._met(plain, lowered, starts, range(begin, end), apart)
            first, last = bisect_left(others, begin), bisect_left(others, end)
            if first < last:
                found |= self._met_in_others(text, starts, others[first:last])
            yield sorted(found.items())

    def _met_in_others(
        self, text: str, starts: Sequence[int], numbers: Sequence[int]
    ) -> dict[int, int]:
        """Return the bits of query words in some lines, at least one, with any characters.

        They are folded together, which takes a fifth of the time that folding each would. What
        stands in one of them does so when it is folded, too: few have to be looked at.
        """
        lines = [text[starts[line] : starts[line + 1] - 1] for line in numbers]
        folded = tokenizer.fold("\n".join(lines).replace(tokenizer.SOFT_HYPHEN, ""))
        within = folded.split("\n")
        found = {}
        for at in _lines_with(self._parts, folded):
            line = lines[at]
            bits = self._bits_in(line) if line.isascii() else self._bits_of(line, within[at])
            if bits:
                found[numbers[at]] = bits
        return found

    def _met(
        self,
        text: str,
        lowered: str,
        starts: Sequence[int],
        lines: range,
        apart: Container[int] = (),
    ) -> dict[int, int]:
        """Return the bits of query words in ASCII lines.

        A word is indexed there as it is written, or as parts of that, but for case. What begins
        like it is looked for in all lines, one beginning after the other.

        Args:
            lowered: the text in small letters.
            starts: see `lines_with`.
            apart: lines to leave out.
        """
        found: dict[int, int] = {}
        first, stop = lines.start, lines.stop
        for wanted, own in self._texts:
            for place in _places_of(wanted, lowered, starts[first], starts[stop]):
                line = bisect_right(starts, place, first, stop) - 1
                if line not in apart:
                    found[line] = found.get(line, 0) | own
        given = (
            text,
            lowered,
            starts,
            first,
            stop,
            apart,
            self._starts,
            self._known,
            self._bit,
            found,
        )
        if self.compiled is None:
            plainly_add_words(*given)
        else:
            self.compiled.add_words(*given, self._bit_of, tokenizer.LONGEST)
        return found


def plainly_add_words(
    text: str,
    lowered: str,
    starts: Sequence[int],
    first: int,
    stop: int,
    apart: Container[int],
    begins: dict[str, int],
    known: dict[str, int],
    unknown: Callable[[str], int],
    found: dict[int, int],
) -> None:
    """Add the bits of words that begin in some ways to those of their lines, in plain Python.

    Args:
        first, stop: the first line, and the one after the last.
        begins: beginnings in small letters, none of which begins with another one, each with the
            bits of all words that begin so.
        known: bits of raw words.
        unknown: returns the bits of another raw word, and adds them to `known`.
        found: bits of lines, by number.
    """
    find, word_from = lowered.find, _WORD.match
    end = starts[stop]
    for start, bits in begins.items():
        line = first
        at = find(start, starts[line], end)
        while at >= 0:
            if at and text[at - 1] in _SMALL and text[at] not in _CAPITAL:
                at = find(start, at + 1, end)  # within a word or a part of one
                continue
            line = bisect_right(starts, at, line, stop) - 1
            met = found.get(line, 0)
            after = starts[line + 1]
            if bits & ~met and line not in apart:
                while at and text[at - 1] in _OF_WORDS:
                    at -= 1
                raw = word_from(text, at)[0]  # type: ignore[index]  # one character at least
                bit = known.get(raw)
                if bit is None:
                    bit = unknown(raw)
                if bit:
                    found[line] = met = met | bit
                if bits & ~met:
                    after = at + len(raw)  # the line may have another word that begins so
            at = find(start, after, end)


def _least(words: Iterable[str]) -> list[str]:
    """Choose words such that each of them all has one of these in it."""
    chosen: list[str] = []
    for word in sorted(set(words), key=len):
        if not any(other in word for other in chosen):
            chosen.append(word)
    return chosen


def _lines_with(wanted: Iterable[str], text: str) -> set[int]:
    """Find the lines of a text that have one of some strings in them."""
    found: set[int] = set()
    ends: list[int] = []
    for each in wanted:
        at = text.find(each)
        while at >= 0:
            ends = ends or list(accumulate(len(line) + 1 for line in text.split("\n")))
            line = bisect_right(ends, at)
            found.add(line)
            at = text.find(each, ends[line])
    return found


def _places_of(wanted: str, lowered: str, start: int, end: int) -> Iterator[int]:
    """Yield where a word with marks stands in a text, and not inside of another word."""
    at = lowered.find(wanted, start, end)
    while at >= 0:
        if not (wanted[0] in _OF_WORDS and at and lowered[at - 1] in _OF_WORDS):
            yield at
        at = lowered.find(wanted, at + 1, end)


def _other_lines(text: str) -> Iterator[int]:
    """Yield the lines with characters outside of ASCII."""
    return (at for at, line in enumerate(text.split("\n")) if not line.isascii())
