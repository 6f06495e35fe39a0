"""Parts of a Markdown text that are not shown: code, comments, formulas.

Sources: CommonMark 0.31.2 for code and HTML comments; Obsidian for `%% comments %%`.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import lru_cache

from qmd.named_tuple import NamedTuple
from qmd.patterns import pattern

CODE, COMMENT, FORMULA = "code", "comment", "formula"

# Without groups, a search passes over other bytes at once.
_MARK = pattern(rb"\\[^\n]|`++|~~~+|<!--|%%|\$\$")
_FENCE_MARK = pattern(rb"```++|~~~+")
_BACKTICKS = pattern(rb"```++")  # which is found six times as fast
_COMMENT_MARK = pattern(rb"<!--")  # by its first byte: twice as fast as `bytes.find`
_BEFORE_FENCE = pattern(rb"(?:[ \t>]|(?:[-*+]|\d{1,9}[.)])[ \t])*+")
_PAIRS = {b"<!--": (b"-->", COMMENT), b"%%": (b"%%", COMMENT), b"$$": (b"$$", FORMULA)}
HIDING, INDENTED, HTML, PROPERTIES = 1, 2, 4, 8
"""Hints, as bits: a comment or a formula that may hide a mark, indented code that may have one, an
attribute that may be a link, front matter that may have one."""

_ATTRIBUTE = pattern(rb"<[A-Za-z][^<>]*?\s(?:href|src)\s*+=", re.I)
_MOST_LINES = 500
"""Lines before indented ones that are looked at."""

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


def parts_not_shown(data: bytes, start: int = 0) -> list[Hidden]:
    """List the parts of a text that are not shown, in order. None is inside another.

    Args:
        start: where its front matter ends.
    """
    return list(hidden_parts(data, start))


def hidden_parts(data: bytes, start: int = 0) -> Iterator[Hidden]:
    """Find the parts of a text that are not shown, one by one. See `parts_not_shown`."""
    return _hidden(data, start, _MARK)


def hints(data: bytes, start: int = 0) -> int:
    """Return hints at what a text may have; `ingest/compiled/outlines.pyx` has the same.

    Without `HIDING` and `INDENTED`, `shown_parts` returns the text as it is; without `HTML`, no tag
    has a link, and without `PROPERTIES`, front matter has none.

    Args:
        start: where the front matter ends.
    """
    links = (data.find(part, 0, start) >= 0 for part in (b"[[", b"](", b"://"))
    return (
        HIDING * _may_hide_marks(data)
        | INDENTED * _may_indent_marks(data)
        | HTML * (_ATTRIBUTE.search(data) is not None)
        | PROPERTIES * any(links)
    )


def covers(parts: Sequence[Hidden], place: int) -> bool:
    """Check whether a place is in one of some parts, which are in order."""
    number = bisect_left(parts, (place + 1,)) - 1
    return number >= 0 and place < parts[number].end


def _hidden(data: bytes, start: int, marks: re.Pattern[bytes]) -> Iterator[Hidden]:
    closed: dict[bytes, int] = {}  # where the next end of each kind stands
    at = start
    while found := marks.search(data, at):
        first, at, mark = found.start(), found.end(), found[0]
        if mark[0] in b"`~":
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
    closing = _closing(mark)
    while (place := data.find(mark, at)) >= 0:
        line = data.rfind(b"\n", at, place) + 1  # 0: in that of the opening fence
        if line and (found := closing.match(data, line)):
            return found.end()
        at = data.find(b"\n", place)
        if at < 0:
            break
    return len(data)


@lru_cache(32)
def _closing(mark: bytes) -> re.Pattern[bytes]:
    escaped, more = re.escape(mark), re.escape(mark[:1])
    return pattern(rb"^[ \t>]*+" + escaped + more + rb"*+[ \t\r]*+$", re.M)


_CONTAINER = pattern(rb"[ \t]{0,3}(?:(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)|\[\^[^\]\n]+\]:|<)")


def shown_parts(data: bytes, start: int = 0, may_have: int | None = None) -> bytes:
    """Blank out comments, formulas and indented code with marks; all else stays in its place.

    Args:
        start: where the front matter ends.
        may_have: hints of the text, or None: they are looked for.
    """
    may_have = hints(data, start) if may_have is None else may_have
    is_indented, is_hidden = bool(may_have & INDENTED), bool(may_have & HIDING)
    if not is_indented and not is_hidden:
        return data
    fences = _FENCE_MARK if b"~~~" in data else _BACKTICKS
    parts = list(_hidden(data, start, _MARK if is_hidden else fences))
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


_OF_MARKS = pattern(rb"[\[#]|https?://|href|src")
"""Part of each link, tag or heading. Where there is none, nothing has to be blanked out."""

_INDENTED_PART = pattern(rb"\n\r?\n(?: {4}|\t)[^\n]*(?:\n[ \t\r]*(?=\n)|\n(?: {4}|\t)[^\n]*)*+")


def _may_hide_marks(data: bytes) -> bool:
    """Check cheaply whether a comment or a formula may have a link, a tag or a heading."""
    # To look for a single byte takes a fifth of the time.
    comment = _COMMENT_MARK.search(data) if b"<" in data else None
    while comment:
        end = data.find(b"-->", comment.start())
        if end < 0:
            break
        if _OF_MARKS.search(data, comment.start(), end):
            return True
        comment = _COMMENT_MARK.search(data, end)
    for mark in (b"%%", b"$$"):
        first = data.find(mark) if mark[:1] in data else -1
        if first >= 0 and _OF_MARKS.search(data, first, data.rfind(mark)):
            return True
    return False


def _may_indent_marks(data: bytes) -> bool:
    """Check cheaply whether indented code may have a link or a tag."""
    indents = [b"\n\n    "]
    if b"\t" in data:
        indents += [b"\n\n\t", b"\n\r\n\t"]
    if b"\r" in data:
        indents += [b"\n\r\n    "]
    if not any(indent in data for indent in indents):
        return False
    parts = _INDENTED_PART.finditer(data)
    return any(_OF_MARKS.search(data, *part.span()) for part in parts)


_NO_BREAK = pattern(rb"[^\r\n]")


def _indented(data: bytes, start: int, parts: Sequence[Hidden]) -> Iterator[Hidden]:
    """Yield indented code. What is indented in a list or in HTML is none."""
    for found in _INDENTED_PART.finditer(data, max(0, start - 1)):
        first = found.start() + 1
        if not covers(parts, first) and not _is_inside(data, first, start):
            yield Hidden(first, found.end(), CODE)


def _is_inside(data: bytes, at: int, start: int) -> bool:
    """Check whether the lines before a place belong to a list or to HTML."""
    for _ in range(_MOST_LINES):
        end = at
        while end > start and data[end - 1] in b" \t\r\n":
            end -= 1
        if end <= start:
            return False
        at = max(start, data.rfind(b"\n", start, end) + 1)
        line = data[at:end]
        if _CONTAINER.match(line):
            return True
        if line[:1] not in b" \t" and (
            at <= start
            or not data[max(start, data.rfind(b"\n", start, at - 1) + 1) : at - 1].strip()
        ):
            return False
    return True
