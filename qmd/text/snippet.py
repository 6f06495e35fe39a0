"""The lines of a document around its best match."""

from __future__ import annotations

import heapq
import re
import string
from bisect import bisect_right
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from sys import maxsize
from typing import NamedTuple

from qmd.text import words

_CHUNK = re.compile(r"\S+")
_WORD = re.compile(r"\w+", re.ASCII)
_OF_WORDS = frozenset(string.ascii_letters + string.digits + "_")
_NEAR = 1000
"""Characters of a chunk in which its next word is looked for."""

SEPARATORS = "‘’“”–—…•→\u00a0"
"""Characters outside of ASCII that are common in English, and no part of any word."""


class Snippet(NamedTuple):
    """Lines of a document.

    Attributes:
        line: the first that matches, from 1; if none does, the first that is not blank.
        first: the first that is shown, from 1.
        lines: as they stand in the document.
    """

    line: int
    first: int
    lines: tuple[str, ...]

    @property
    def text(self) -> str:
        """The lines, each with its number."""
        return "\n".join(f"{self.first + at}: {line}" for at, line in enumerate(self.lines))

    def shifted(self, lines: int) -> Snippet:
        """The same, where the text begins so many lines into its document."""
        return self._replace(line=self.line + lines, first=self.first + lines)


class Matcher:
    """Gives for a raw word the word of the query that it stands for, or None.

    Args:
        wanted: for each folded word, the word of the query that it answers.
    """

    def __init__(self, wanted: Mapping[str, str]) -> None:
        self._wanted = wanted
        self._known: dict[str, str | None] = {}
        # Words that no other is the beginning of, each with what those that begin so stand for.
        self._starts: dict[str, set[str]] = {}
        start = None
        for word in sorted(filter(_WORD.fullmatch, wanted)):
            if start is None or not word.startswith(start):
                start = word
            self._starts.setdefault(start, set()).add(wanted[word])

    def __call__(self, raw: str) -> str | None:
        if raw not in self._known:
            folded = (word for word, _ in words.pieces(raw)[1] if word in self._wanted)
            self._known[raw] = next((self._wanted[word] for word in folded), None)
        return self._known[raw]

    def found_in(self, text: str) -> set[str]:
        """The words of the query that a text has."""
        if text.isascii():
            return self._taken(text, _Places(text.lower(), self._starts), len(text))
        return {word for raw in words.split(text) if (word := self(raw))}

    def lines_with(self, text: str, starts: Sequence[int]) -> Iterator[tuple[int, set[str]]]:
        """The lines that have words of the query, in order, each with these words.

        Args:
            starts: of each line in the text, and where one after the last would start.
        """
        lines = len(starts) - 1
        plain = text
        if not text.isascii():
            for mark in SEPARATORS:
                plain = plain.replace(mark, " ")
        lowered = plain.lower()
        others = iter(() if plain.isascii() else _other_lines(plain))
        if len(lowered) != len(text):
            lowered, others = "", iter(range(lines))
        places = _Places(lowered, self._starts)
        other = next(others, lines)
        while True:
            line = min(other, bisect_right(starts, places.next) - 1)
            if line == lines:
                break
            end = starts[line + 1]
            if line == other:
                found = self.found_in(text[starts[line] : end - 1])
                while places.next < end:
                    places.move(end)
                other = next(others, lines)
            else:
                found = self._taken(plain, places, end)
            if found:
                yield line, found

    def _taken(self, text: str, places: _Places, end: int) -> set[str]:
        """The words of the query that a text has from here to `end`, where all of it is ASCII.

        A word is indexed there as it is written, or as parts of that, but for case.

        Args:
            places: of what such a word may have; left with those at `end` and after.
        """
        found: set[str] = set()
        while places.next < end:
            if self._starts[places.word] <= found:
                places.move(end)
                continue
            raw, after = _word_at(text, places.next)
            word = self(raw)
            if word:
                found.add(word)
            places.move(after)
        return found


class _Places:
    """Where some words stand in a text, in order; each is looked for when it is asked for.

    Attributes:
        next: the first place that is left; after the end of the text: none is.
        word: that stands there.
    """

    def __init__(self, text: str, wanted: Iterable[str]) -> None:
        self._text = text
        self._ahead = [(at, word) for word in wanted if (at := text.find(word)) >= 0]
        self._ahead.append((maxsize, ""))
        heapq.heapify(self._ahead)
        self.next, self.word = self._ahead[0]

    def move(self, start: int) -> None:
        """Go on, with the word that stands there looked for from `start` on."""
        at = self._text.find(self.word, start)
        if at < 0:
            heapq.heappop(self._ahead)
        else:
            heapq.heapreplace(self._ahead, (at, self.word))
        self.next, self.word = self._ahead[0]


def _word_at(text: str, at: int) -> tuple[str, int]:
    """The raw word that has the character at `at`, and where it ends, in ASCII."""
    while at and text[at - 1] in _OF_WORDS:
        at -= 1
    found = _WORD.match(text, at)
    assert found is not None  # at least that character
    return found[0][: words.LONGEST], found.end()


def _other_lines(text: str) -> Iterator[int]:
    """The lines that are not in ASCII."""
    return (at for at, line in enumerate(text.split("\n")) if not line.isascii())


def whole_lines(body: str, start: int, end: int, *, most: int = 300) -> str:
    """A part of a text, with the rest of the lines that it cuts, if that is not much.

    Args:
        start: characters before the part.
        end: characters before what follows it.
        most: characters of the rest of a line.
    """
    first = body.rfind("\n", max(0, start - most), start) + 1
    last = body.find("\n", end, end + most)
    if not first and start > most:
        first = start
    return body[first : end if last < 0 else last]


def snippet(
    body: str,
    match: Matcher,
    *,
    length: int,
    choice: int | None = None,
    distinct: int | None = None,
) -> Snippet:
    """The lines that match most, with what stands around them.

    The window is at most `length` characters, and at least one line; a line longer than
    that is cut around its first match.

    Args:
        match: see `Matcher`.
        length: characters.
        choice: characters of the lines that match most, if what stands around them is to get the
            rest: so long a snippet and a longer one have the same.
        distinct: words that a window could match at most: the first that has them all is
            taken, and the rest of the document not looked at.
    """
    lines = body.split("\n")
    before = accumulate(map(len, lines), initial=0)
    starts = [size + breaks for breaks, size in enumerate(before)]
    matching = match.lines_with(body, starts)
    size = min(length, choice or length)
    (start, end), first_match = _best_window(lines, starts, matching, size, distinct)
    start, end = _grown(lines, start, end, length)
    shown = [line.rstrip("\r") for line in lines[start:end]]
    if len(shown) == 1 and len(shown[0]) > length:
        shown = [cut(shown[0], match, length)]
    return Snippet(first_match + 1, start + 1, tuple(shown))


def _best_window(
    lines: list[str],
    starts: list[int],
    matching: Iterator[tuple[int, set[str]]],
    length: int,
    distinct: int | None,
) -> tuple[tuple[int, int], int]:
    """The window (start, end) with the most different words, and its first matching line.

    Args:
        starts: of each line, and where one after the last would start.
        matching: lines that match, in order, with their words of the query.
    """
    ahead: deque[tuple[int, set[str]]] = deque()  # matching lines of the window
    best, best_score = None, (0, 0)
    coming = next(matching, None)
    while True:
        while coming and (not ahead or starts[coming[0] + 1] - starts[ahead[0][0]] <= length):
            ahead.append(coming)
            coming = next(matching, None)
        if not ahead:
            break
        place, end = ahead[0][0], ahead[-1][0] + 1
        seen = set[str]().union(*(found for _, found in ahead))
        count = sum(len(found) for _, found in ahead)
        if (len(seen), count) > best_score:
            best, best_score = (place, end), (len(seen), count)
        if len(seen) == distinct:
            break
        ahead.popleft()
    if best is None:
        start = next((at for at, line in enumerate(lines) if line.strip()), 0)
        return (start, start + 1), start
    return best, best[0]


def _grown(lines: list[str], start: int, end: int, length: int) -> tuple[int, int]:
    """A window with lines added after and before it, in turn, while there is room."""
    size = sum(len(line) + 1 for line in lines[start:end])
    while True:
        grown = False
        if end < len(lines) and size + len(lines[end]) + 1 <= length:
            size += len(lines[end]) + 1
            end += 1
            grown = True
        if start > 0 and size + len(lines[start - 1]) + 1 <= length:
            start -= 1
            size += len(lines[start]) + 1
            grown = True
        if not grown:
            break
    while end - start > 1 and not lines[end - 1].strip():
        end -= 1
    while end - start > 1 and not lines[start].strip():
        start += 1
    return start, end


def _first_match(line: str, match: Matcher) -> int:
    """Where the first word that matches begins; 0 if none does."""
    for chunk in _CHUNK.finditer(line):
        at = 0
        for word in words.split(chunk[0]):
            # A word is not in the chunk as it is if its characters are written decomposed.
            at = max(at, chunk[0].find(word, at, at + _NEAR))
            if match(word):
                return chunk.start() + at
            at += 1 if words.is_gram(word) else len(word)
    return 0


def cut(line: str, match: Matcher, length: int) -> str:
    """`length` characters of a line, around its first match."""
    at = _first_match(line, match)
    start = max(0, min(at - length // 4, len(line) - length))
    end = start + length
    return ("…" if start else "") + line[start:end].strip() + ("…" if end < len(line) else "")
