"""Markdown structure: links, tags and headings.

`ingest/compiled/outlines.pyx` implements the same rules, and calls `block_marks` for blocks that
are not plain; a property test holds the two equal. Both work on the bytes of UTF-8.

    text ──▸ lines ─▸ without frontmatter and blocks of code ─▸ headings
                                                             ─▸ regions ─▸ blocks ─▸ links, tags

- A region is the text between blank lines or code blocks; a block is a part of it that no link and
  no code span crosses: a list item, a row of a table, a heading, a paragraph.
- A link in a code span is none, and neither is an escaped one. Of nested links the inner counts, of
  nested pictures the outer.
- `[text][label]`, `[label][]` and `[label]` are links where the text defines the label.

Sources: CommonMark 0.31.2 for links, references, autolinks and code spans, with parentheses nested
once in a target, and HTML taken as text; GFM for bare URLs; Obsidian for wiki links, embeds, and
tags, which need a blank before them and a letter in them.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping

from qmd.named_tuple import NamedTuple
from qmd.patterns import pattern
from qmd.text.tokenizer import is_run

BETWEEN = b"\x1e"
"""Separator between the parts of an outline, in none of them: ASCII's record separator."""

INLINE, REFERENCE, WIKI, AUTOLINK, IMAGE, EMBED, TAG = b"irwapet"
"""Kinds of marks, besides headings, which are `1` to `6`."""


class Mark(NamedTuple):
    """A link, a tag or a heading: its line, and the positions of its text and target.

    Attributes:
        kind: a byte: see `INLINE`; of a heading the digit of its level.
        at: where it begins.
        target: where it ends; 0 and 0: it has none.
    """

    kind: int
    at: int
    text: int
    text_end: int
    target: int = 0
    target_end: int = 0


class Definitions:
    """Link reference definitions of a text.

    Attributes:
        targets: where the target of a label stands.
        ends: where a definition that begins at a place ends.
    """

    def __init__(self, targets: Mapping[bytes, tuple[int, int]], ends: Mapping[int, int]) -> None:
        self.targets = targets
        self.ends = ends
        self._left = REFERRED

    def target(self, label: bytes) -> tuple[int, int] | None:
        """Return the target of a label, if it is defined and the limit is not used up."""
        found = self.targets.get(label)
        if found is not None:
            self._left -= found[1] - found[0]
        return found if self._left >= 0 else None


REFERRED = 1_000_000
"""Bytes of all targets that the references of a text may copy: a small text could name a long
target so often that its outline would fill the memory."""

NO_DEFINITIONS = Definitions({}, {})

FENCE = pattern(
    rb"(?:[ \t>]|(?:[-*+]|\d{1,9}[.)])[ \t])*+(?P<mark>`{3,}+(?=[^`\n]*+(?:\n|\Z))|~{3,}+)"
)
"""Opening line of a code block, also in a quote or a list."""

FENCE_END = pattern(rb"[ \t>]*+(?P<mark>`{3,}+|~{3,}+)[ \t\r]*+(?:\n|\Z)")

_ATX = pattern(rb" {0,3}(?P<level>\#{1,6}+)(?![^ \t\r\n])(?P<text>[^\n]*+)")
_SETEXT = pattern(
    rb" {0,3}(?P<text>(?!(?:[-*+]|\d{1,9}[.)])(?:[ \t]|\r?\n)|[>|]|\#{1,6}[ \t\r\n]"
    rb"|(?:[-*_=][ \t]*){3,}\r?\n|=+[ \t]*\r?\n)[^\s][^\n]*+)\n"
    rb" {0,3}(?P<line>=+|-+)[ \t]*\r?(?:\n|\Z)"
)
_BLANK = pattern(rb"[ \t\r]*+(?:\n|\Z)")
_BLOCK = pattern(
    rb"\n(?=[ \t\r]*+\n|[ \t>]*+(?:[-*+]|\d{1,9}[.)])[ \t]|[ \t]*+\|| {0,3}\#{1,6}[ \t\r\n])"
)
"""The end of a line after which a new block begins."""

# Each alternative begins with a byte of its own: then a search passes over others at once.
_TOKEN = pattern(
    rb"\\."
    rb"|`(?P<code>`*+)"
    rb"|<(?P<auto>[A-Za-z][A-Za-z0-9+.-]{1,31}://[^\s<>]++)>"
    rb"|\[\[(?P<wiki>[^\[\]|\n]++)(?:\|(?P<label>[^\[\]\n]*+))?\]\](?!\()"
    rb"|!\[\[(?P<embed>[^\[\]|\n]++)(?:\|(?P<caption>[^\[\]\n]*+))?\]\](?!\()"
    rb"|!(?P<picture>\[)"
    rb"|\[(?P<opening>)"
    rb"|\](?P<closing>)"
    rb"|h(?<![A-Za-z0-9]h)(?P<url>ttps?://[^\s<>\[\]`|\"\\^{}]++)"
    rb"|\#(?<!\S\#)(?P<tag>[0-9/_-]*+[A-Za-z\x80-\xff][\w/\x80-\xff-]*+)"
)
_DESTINATION = pattern(
    rb"\(\s*+(?:<(?P<angled>[^<>\n]*+)>"
    rb"|(?!<)(?P<plain>(?:[^\s()\\]|\\[^\n]|\((?:[^\s()\\]|\\[^\n])*+\))*+))"
    rb"(?:\s++(?:\"(?:[^\"\\]|\\.)*+\"|'(?:[^'\\]|\\.)*+'|\((?:[^()\\]|\\.)*+\)))?\s*+\)",
    re.S,
)
_LABEL = pattern(rb"\[(?P<label>[^\[\]\\]*+)\]")
_DEFINITION = pattern(
    rb"^ {0,3}\[(?P<label>(?!\^)[^\[\]\\\n]++)\]:[ \t]*+"
    rb"(?:<(?P<angled>[^<>\n]*+)>|(?P<plain>[^\s<]\S*+))"
    rb"(?=[ \t]*+(?:[\"'(][^\n]*+)?\r?(?:\n|\Z))",
    re.M,
)
_RUN = pattern(rb"`+")
_AFTER_URL = b"?!.,:;*_~'\""


def outline(data: bytes, start: int = 0) -> list[Mark]:
    """List the links, tags and headings of a text, in order.

    Args:
        start: where its frontmatter ends.
    """
    found: list[Mark] = []
    fence = b""
    regions: list[tuple[int, int]] = []
    at, first = start, -1
    while at < len(data):
        end = line_end(data, at)
        opening = FENCE.match(data, at, end)
        closing = FENCE_END.match(data, at, end) if fence else None
        coded = bool(fence) or opening is not None
        if closing and closing["mark"].startswith(fence):
            fence = b""
        elif opening and not fence:
            fence = opening["mark"]
        if coded or _BLANK.match(data, at, end):
            if first >= 0:
                regions.append((first, at))
            first = -1
        elif first < 0:
            first = at
        at = end
    if first >= 0:
        regions.append((first, len(data)))
    defined = definitions(data, regions)
    for first, last in regions:
        at = first
        while at < last:
            heading = atx(data, at) or setext(data, at, last)
            if heading is not None:
                found.append(heading)
            at = line_end(data, at)
        found += marks(data, first, last, defined)
    return sorted(found, key=lambda mark: mark.at)


def line_end(data: bytes, at: int) -> int:
    """Find the start of the next line."""
    return data.find(b"\n", at) + 1 or len(data)


def atx(data: bytes, at: int) -> Mark | None:
    """Parse the ATX heading (`## text`) of a line."""
    found = _ATX.match(data, at)
    if found is None:
        return None
    first, last = without_blanks(data, *found.span("text"))
    if data[first:last].endswith(b"#"):
        bare = data[first:last].rstrip(b"#")
        if not bare or bare.endswith((b" ", b"\t")):
            last = first + len(bare.rstrip(b" \t"))
    if first >= last:
        return None
    return Mark(ord("0") + len(found["level"]), at, first, last)


def setext(data: bytes, at: int, last: int) -> Mark | None:
    """Parse the setext heading of a line: `=` or `-` in the next line."""
    found = _SETEXT.match(data, at, last)
    if found is None:
        return None
    level = b"1" if found["line"].startswith(b"=") else b"2"
    return Mark(level[0], at, *without_blanks(data, *found.span("text")))


def without_blanks(data: bytes, first: int, last: int) -> tuple[int, int]:
    """Strip blanks from the bounds of a text."""
    text = data[first:last]
    first += len(text) - len(text.lstrip(b" \t\r"))
    return first, max(first, last - len(text) + len(text.rstrip(b" \t\r")))


def definitions(data: bytes, regions: list[tuple[int, int]]) -> Definitions:
    """Collect the link reference definitions of some regions. The first of two counts."""
    targets: dict[bytes, tuple[int, int]] = {}
    ends: dict[int, int] = {}
    for first, last in regions:
        for found in _DEFINITION.finditer(data, first, last):
            kind = "plain" if found["plain"] is not None else "angled"
            targets.setdefault(_folded(found["label"]), found.span(kind))
            ends[data.index(b"[", found.start())] = line_end(data, found.start())
    return Definitions(targets, ends) if targets else NO_DEFINITIONS


def marks(data: bytes, first: int, last: int, defined: Definitions) -> Iterator[Mark]:
    """Yield the links and tags of a region."""
    begin = first
    for found in _BLOCK.finditer(data, first, last):
        yield from _marks_from(data, begin, found.end(), defined)
        begin = found.end()
    yield from _marks_from(data, begin, last, defined)


def _marks_from(data: bytes, at: int, last: int, defined: Definitions) -> list[Mark]:
    """List the links and tags of a block, or of a heading and the block after it."""
    if _ATX.match(data, at, last):
        end = min(line_end(data, at), last)
        if end < last:
            return block_marks(data, at, end, defined) + block_marks(data, end, last, defined)
    return block_marks(data, at, last, defined)


def block_marks(data: bytes, at: int, last: int, defined: Definitions) -> list[Mark]:
    """List the links and tags of a block that contains no heading."""
    return _Block(data, last, defined).marks(at)


class _Block:
    """Parser state of one block.

    Args:
        last: where it ends.
    """

    def __init__(self, data: bytes, last: int, defined: Definitions) -> None:
        self._data = data
        self._last = last
        self._defined = defined
        self._found: list[Mark] = []
        self._opened: list[tuple[int, int]] = []  # where, and how many marks there were
        self._linked = 0  # no `[` before this can still begin a link
        self._runs: dict[int, list[int]] | None = None

    def marks(self, at: int) -> list[Mark]:
        """List the links and tags of the block, from a position on."""
        data, last, found = self._data, self._last, self._found
        while token := _TOKEN.search(data, at, last):
            start, at, kind = token.start(), token.end(), token.lastgroup
            if kind == "code":
                at = self._after_code(at, at - start)
            elif kind == "closing":
                at = self._close(at)
            elif kind == "opening" and start in self._defined.ends:
                at = min(last, self._defined.ends[start])
            elif kind in ("opening", "picture"):
                self._opened.append((start, len(found)))
            elif kind in ("wiki", "label"):
                found.append(_doubled(data, WIKI, start, token.span("wiki"), token.span("label")))
            elif kind in ("embed", "caption"):
                spans = token.span("embed"), token.span("caption")
                found.append(_doubled(data, EMBED, start, *spans))
            elif kind == "auto":
                found.append(Mark(AUTOLINK, start, *token.span("auto"), *token.span("auto")))
            elif kind == "url":
                at = start + len(_bare_url(token[0]))
                found.append(Mark(AUTOLINK, start, start, at, start, at))
            elif kind == "tag":
                first, end = _tag(data, *token.span("tag"))
                if first < end:
                    found.append(Mark(TAG, start, first, end))
        return found

    def _after_code(self, at: int, length: int) -> int:
        """Find the end of the code span whose backticks end here, or the same position."""
        if self._runs is None:
            self._runs = {}
            for run in _RUN.finditer(self._data, at, self._last):
                self._runs.setdefault(len(run[0]), []).append(run.end())
        ends = self._runs.get(length, [])
        number = bisect_right(ends, at)
        return ends[number] if number < len(ends) else at

    def _close(self, at: int) -> int:
        """Make a link of the text that a `]` closes, if it is one.

        Returns:
            Where to go on.
        """
        if not self._opened:
            return at
        data, defined, found = self._data, self._defined, self._found
        start, before = self._opened.pop()
        image = data[start] == ord("!")
        if start < self._linked and not image:
            return at
        text = start + (2 if image else 1), at - 1
        kind, end = INLINE, at
        destination = _DESTINATION.match(data, at, self._last)
        if destination:
            angled = destination["plain"] is None
            target, end = destination.span("angled" if angled else "plain"), destination.end()
        elif defined.targets:
            kind = REFERENCE
            label = _LABEL.match(data, at, self._last)
            known = defined.target(_folded((label and label["label"]) or data[slice(*text)]))
            if known is None:
                return at
            target, end = known, label.end() if label else at
        else:
            return at
        # No link in a link: what was found inside are pictures, or nothing. That of a picture is
        # shown as mere text.
        kept = () if image else (IMAGE, EMBED)
        found[before:] = [each for each in found[before:] if each.kind in kept]
        if not image:
            self._linked = end
        if target[0] < target[1]:
            found.append(Mark(IMAGE if image else kind, start, *text, *target))
        return end


def _doubled(
    data: bytes, kind: int, at: int, target: tuple[int, int], text: tuple[int, int]
) -> Mark:
    r"""Parse a wiki link. In a table the `|` before its text is written `\|`.

    Args:
        text: empty, or before the text: it is that of the target.
    """
    first, last = target
    if text[0] >= 0 and data[last - 1] == ord("\\"):
        last -= 1
    target = without_blanks(data, first, last)
    return Mark(kind, at, *(without_blanks(data, *text) if text[0] < text[1] else target), *target)


def _bare_url(url: bytes) -> bytes:
    """Strip punctuation of the sentence from a bare URL."""
    spare = url.count(b")") - url.count(b"(")
    while True:
        url = url.rstrip(_AFTER_URL)
        if spare <= 0 or not url.endswith(b")"):
            return url
        kept = url.rstrip(b")")
        closed = min(spare, len(url) - len(kept))
        url, spare = url[: len(url) - closed], spare - closed


def _tag(data: bytes, first: int, last: int) -> tuple[int, int]:
    """Find the bounds of a tag. Beyond ASCII, letters are told from other characters."""
    text = data[first:last]
    if not text.isascii():
        decoded = text.decode(errors="replace")
        others = (at for at, each in enumerate(decoded) if each not in "/-" and not is_run(each))
        text = decoded[: next(others, None)].encode()
    return first, first + len(text.rstrip(b"/-"))


def _folded(label: bytes) -> bytes:
    """Normalize a reference label: without case, with single blanks."""
    return b" ".join(label.decode(errors="replace").casefold().encode().split())
