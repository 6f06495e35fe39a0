"""The lines of a document around its best match."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import NamedTuple

from qmd.text import words

_CHUNK = re.compile(r"\S+")
_NEAR = 1000
"""Characters of a chunk in which its next word is looked for."""


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


def matcher(wanted: Mapping[str, str]) -> Callable[[str], str | None]:
    """Gives for a raw word the word of the query that it stands for, or None.

    Args:
        wanted: for each folded word, the word of the query that it answers.
    """

    @lru_cache(maxsize=1 << 14)
    def match(raw: str) -> str | None:
        for folded, _ in words.pieces(raw)[1]:
            if folded in wanted:
                return wanted[folded]
        return None

    return match


def has(text: str, match: Callable[[str], str | None]) -> bool:
    """Whether a text has a word that matches."""
    return any(match(raw) for raw in words.split(text))


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
    body: str, match: Callable[[str], str | None], *, length: int, distinct: int | None = None
) -> Snippet:
    """The lines that match most, with what stands around them.

    The window is at most `length` characters, and at least one line; a line longer than
    that is cut around its first match.

    Args:
        match: see `matcher`.
        length: characters.
        distinct: words that a window could match at most: the first that has them all is
            taken, and the rest of the document not looked at.
    """
    lines = body.split("\n")
    (start, end), first_match = _best_window(_Matches(lines, match), length, distinct)
    shown = [line.rstrip("\r") for line in lines[start:end]]
    if len(shown) == 1 and len(shown[0]) > length:
        shown = [_cut(shown[0], match, length)]
    return Snippet(first_match + 1, start + 1, tuple(shown))


class _Matches:
    """The words of the query on each line, looked for when asked."""

    def __init__(self, lines: list[str], match: Callable[[str], str | None]) -> None:
        self.lines = lines
        self._match = match
        self._found: list[set[str]] = []

    def on(self, line: int) -> set[str]:
        """Those on a line, from 0."""
        while len(self._found) <= line:
            raw_words = words.split(self.lines[len(self._found)])
            self._found.append({word for raw in raw_words if (word := self._match(raw))})
        return self._found[line]


def _best_window(
    matches: _Matches, length: int, distinct: int | None
) -> tuple[tuple[int, int], int]:
    """The window (start, end) with the most different words, and its first matching line."""
    lines = matches.lines
    best, best_score = None, (0, 0)
    for place in range(len(lines)):
        if not matches.on(place):
            continue
        size, seen, count = 0, set[str](), 0
        end = place
        for at in range(place, len(lines)):
            size += len(lines[at]) + 1
            if at > place and size > length:
                break
            here = matches.on(at)
            seen |= here
            count += len(here)
            if here:
                end = at + 1
        if (len(seen), count) > best_score:
            best, best_score = (place, end), (len(seen), count)
        if len(seen) == distinct:
            break
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


def _first_match(line: str, match: Callable[[str], str | None]) -> int:
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


def _cut(line: str, match: Callable[[str], str | None], length: int) -> str:
    """`length` characters of a line, around its first match."""
    at = _first_match(line, match)
    start = max(0, min(at - length // 4, len(line) - length))
    end = start + length
    return ("…" if start else "") + line[start:end].strip() + ("…" if end < len(line) else "")
