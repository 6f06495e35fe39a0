"""The lines of a document around its best match."""

from __future__ import annotations

import heapq
import re
from bisect import bisect_right
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

from qmd.text import words

_CHUNK = re.compile(r"\S+")
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
        self._starts: list[str] = []
        for word in sorted(filter(str.isascii, wanted)):
            if not self._starts or not word.startswith(self._starts[-1]):
                self._starts.append(word)
        either = "|".join(map(re.escape, self._starts))
        self._around = re.compile(rf"\b\w*(?:{either})\w*", re.ASCII | re.IGNORECASE)

    def __call__(self, raw: str) -> str | None:
        if raw not in self._known:
            folded = (word for word, _ in words.pieces(raw)[1] if word in self._wanted)
            self._known[raw] = next((self._wanted[word] for word in folded), None)
        return self._known[raw]

    def found_in(self, text: str) -> set[str]:
        """The words of the query that a text has."""
        if text.isascii():
            # A word is indexed as it is written there, or as parts of that, but for case.
            lowered = text.lower()
            if not any(start in lowered for start in self._starts):
                return set()
            raw_words = [raw[: words.LONGEST] for raw in self._around.findall(text)]
        else:
            raw_words = words.split(text)
        return {word for raw in raw_words if (word := self(raw))}

    def likely_in(self, text: str, starts: Sequence[int]) -> Iterator[int]:
        """The lines that may have a word of the query, in order: no others have one.

        Args:
            starts: of each line in the text, and where one after the last would start.
        """
        for mark in SEPARATORS:
            text = text.replace(mark, " ")
        lowered = text.lower()
        if len(lowered) != len(text):
            yield from range(len(starts) - 1)
            return

        def having(word: str) -> Iterator[int]:
            at = lowered.find(word)
            while at >= 0:
                line = bisect_right(starts, at) - 1
                yield line
                at = lowered.find(word, starts[line + 1])

        each = [having(word) for word in self._starts]
        if not text.isascii():
            lines = enumerate(text.split("\n"))
            each.append(at for at, line in lines if not line.isascii())
        last = -1
        for line in heapq.merge(*each):
            if line != last:
                yield line
            last = line


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


def snippet(body: str, match: Matcher, *, length: int, distinct: int | None = None) -> Snippet:
    """The lines that match most, with what stands around them.

    The window is at most `length` characters, and at least one line; a line longer than
    that is cut around its first match.

    Args:
        match: see `Matcher`.
        length: characters.
        distinct: words that a window could match at most: the first that has them all is
            taken, and the rest of the document not looked at.
    """
    lines = body.split("\n")
    starts = list(accumulate((len(line) + 1 for line in lines), initial=0))
    likely = match.likely_in(body, starts)
    matching = ((at, found) for at in likely if (found := match.found_in(lines[at])))
    (start, end), first_match = _best_window(lines, starts, matching, length, distinct)
    shown = [line.rstrip("\r") for line in lines[start:end]]
    if len(shown) == 1 and len(shown[0]) > length:
        shown = [_cut(shown[0], match, length)]
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
        return _grown(lines, start, start + 1, length), start
    return _grown(lines, *best, length), best[0]


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


def _cut(line: str, match: Matcher, length: int) -> str:
    """`length` characters of a line, around its first match."""
    at = _first_match(line, match)
    start = max(0, min(at - length // 4, len(line) - length))
    end = start + length
    return ("…" if start else "") + line[start:end].strip() + ("…" if end < len(line) else "")
