"""Parts of a Markdown text that are not shown: code, comments, formulas.

Sources: CommonMark 0.31.2 for code and HTML comments; Obsidian for `%% comments %%`.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import NamedTuple

CODE, COMMENT, FORMULA = "code", "comment", "formula"

_MARK = re.compile(rb"\\[^\n]|(?P<ticks>`++)|(?P<tildes>~{3,}+)|<!--|%%|\$\$")
_BEFORE_FENCE = re.compile(rb"(?:[ \t>]|(?:[-*+]|\d{1,9}[.)])[ \t])*+")
_PAIRS = {b"<!--": (b"-->", COMMENT), b"%%": (b"%%", COMMENT), b"$$": (b"$$", FORMULA)}
_LONGEST_SPAN = 10_000
"""Bytes in which the end of a code span is looked for."""


class Hidden(NamedTuple):
    """A part of a text that is not shown.

    Attributes:
        start, end: bytes before it, and before what follows it.
        kind: `CODE`, `COMMENT` or `FORMULA`.
    """

    start: int
    end: int
    kind: str


def has_comments(data: bytes) -> bool:
    """Check cheaply whether a text may have comments or formulas."""
    return b"<!--" in data or b"%%" in data or b"$$" in data


def hidden(data: bytes, start: int = 0) -> list[Hidden]:
    """List the parts of a text that are not shown, in order. None is inside another.

    Args:
        start: where its front matter ends.
    """
    return list(_hidden(data, start))


def covers(parts: Sequence[Hidden], place: int) -> bool:
    """Check whether a place is in one of some parts, which are in order."""
    number = bisect_left(parts, (place + 1,)) - 1
    return number >= 0 and place < parts[number].end


def _hidden(data: bytes, start: int) -> Iterator[Hidden]:
    closed: dict[bytes, int] = {}  # where the next end of each kind stands
    at = start
    while found := _MARK.search(data, at):
        first, at, mark = found.start(), found.end(), found[0]
        if found["ticks"] or found["tildes"]:
            end = _after_code(data, first, at, closed)
            if end:
                yield Hidden(first, end, CODE)
                at = end
        elif mark in _PAIRS:
            closing, kind = _PAIRS[mark]
            if closed.get(mark, at) < 0:
                continue
            end = closed[mark] = data.find(closing, at)
            if end >= 0:
                at = end + len(closing)
                yield Hidden(first, at, kind)


def _after_code(data: bytes, first: int, last: int, closed: dict[bytes, int]) -> int:
    """Find the end of the code that a mark begins; 0: it begins none."""
    mark = data[first:last]
    line = data.rfind(b"\n", 0, first) + 1
    if last - first >= 3 and _BEFORE_FENCE.fullmatch(data, line, first):
        rest = data[last : data.find(b"\n", last) % (len(data) + 1)]
        if mark[:1] == b"~" or b"`" not in rest:
            return _after_fence(data, last, mark)
    if mark[:1] == b"~":
        return 0
    if closed.get(mark, last) < last:
        return 0
    blank = data.find(b"\n\n", last, last + _LONGEST_SPAN)
    limit = blank if blank >= 0 else min(len(data), last + _LONGEST_SPAN)
    end = data.find(mark, last, limit)
    while end >= 0:
        after = end + len(mark)
        if data[end - 1 : end] != b"`" and data[after : after + 1] != b"`":
            return after
        while data[after : after + 1] == b"`":
            after += 1
        end = data.find(mark, after, limit)
    return 0


def _after_fence(data: bytes, at: int, mark: bytes) -> int:
    """Find the end of a code block; an unclosed one goes to the end of the text."""
    closing = re.compile(
        rb"^[ \t>]*+" + re.escape(mark) + re.escape(mark[:1]) + rb"*+[ \t\r]*+$", re.M
    )
    found = closing.search(data, at)
    return found.end() if found else len(data)


_INDENTS = (b"\n\n    ", b"\n\n\t", b"\n\r\n    ", b"\n\r\n\t")
_CONTAINER = re.compile(rb"[ \t]{0,3}(?:(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)|\[\^[^\]\n]+\]:|<)")


def shown(data: bytes, start: int = 0) -> bytes:
    """Blank out comments, formulas and indented code; all else stays in its place.

    Args:
        start: where the front matter ends.
    """
    is_indented = any(indent in data for indent in _INDENTS)
    if not is_indented and not has_comments(data):
        return data
    parts = hidden(data, start)
    gone = [part for part in parts if part.kind != CODE]
    if is_indented:
        gone = sorted([*gone, *_indented(data, start, parts)])
    if not gone:
        return data
    pieces, at = [], 0
    for part in gone:
        first = max(part.start, at)
        if first < part.end:
            pieces += [data[at:first], _NO_BREAK.sub(b" ", data[first : part.end])]
            at = part.end
    return b"".join([*pieces, data[at:]])


_NO_BREAK = re.compile(rb"[^\r\n]")


def _indented(data: bytes, start: int, parts: Sequence[Hidden]) -> Iterator[Hidden]:
    """Yield the lines of indented code. What is indented in a list or in HTML is none."""
    is_inside = is_code = False
    after_blank = True
    at = start
    while at < len(data):
        end = data.find(b"\n", at) + 1 or len(data)
        line = data[at:end]
        if not line.strip():
            after_blank = True
        elif not covers(parts, at):
            if line.startswith((b"    ", b"\t")):
                is_code = is_code or (after_blank and not is_inside)
                if is_code:
                    yield Hidden(at, end, CODE)
            else:
                is_code = False
                if _CONTAINER.match(line):
                    is_inside = True
                elif after_blank and line[:1] not in b" \t":
                    is_inside = False
            after_blank = False
        at = end
