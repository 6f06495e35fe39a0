"""Links besides those of Markdown: in properties and in HTML."""

from __future__ import annotations

import re
from collections.abc import Iterator

from qmd.named_tuple import NamedTuple
from qmd.patterns import pattern
from qmd.text import hidden
from qmd.text.outline import AUTOLINK, EMBED, IMAGE, INLINE, TAG, WIKI

_IN_PROPERTIES = pattern(
    rb"(?P<embed>!)?\[\[(?P<wiki>[^\[\]|\n]+)(?:\|(?P<label>[^\[\]\n]*))?\]\]"
    rb"|\[(?P<text>[^\[\]\n]*)\]\((?P<target>[^()\s]+)\)"
    rb"|(?P<url>https?://[^\s\"'<>\[\]()]+)"
)
_COMMENT = pattern(rb"^[ \t]*#[^\n]*|[ \t]#[ \t][^\n]*", re.M)
_ATTRIBUTE = pattern(
    rb"<(?P<tag>[A-Za-z][\w.:-]{0,50})(?=\s)(?P<before>[^<>]{0,2000}?)\s(?P<name>href|src)\s*+=\s*+"
    rb"(?:\"(?P<double>[^\"\n]*)\"|'(?P<single>[^'\n]*)'|(?P<bare>[^\s\"'<>`={]+))",
    re.I,
)
_INNER = pattern(rb"[^<>]{0,500}>(?P<text>[^<\n]{0,200})")
_ALT = pattern(rb"[^<>]{0,500}?\balt\s*+=\s*+[\"'](?P<text>[^\"'\n]{0,200})", re.I)
_TAG = pattern(rb"#(?<!\S#)\[\[(?P<tag>[^\[\]|#\n]+)\]\]")
_ELSEWHERE = (b"http://", b"https://", b"data:", b"javascript:")


class Link(NamedTuple):
    """A link that the outline does not have.

    Attributes:
        at: bytes before it.
        kind: as in `text/outline.py`.
    """

    at: int
    kind: int
    text: bytes
    target: bytes


def in_properties(block: bytes) -> Iterator[Link]:
    """Yield the links in the values of front matter; those in its comments are none."""
    if b"[[" not in block and b"](" not in block and b"://" not in block:
        return
    block = _COMMENT.sub(lambda comment: b" " * len(comment[0]), block)
    for found in _IN_PROPERTIES.finditer(block):
        if found["wiki"] is not None:
            kind = EMBED if found["embed"] else WIKI
            target = found["wiki"].strip()
            yield Link(found.start(), kind, (found["label"] or target).strip(), target)
        elif found["target"] is not None:
            yield Link(found.start(), INLINE, found["text"], found["target"])
        else:
            url = found["url"].rstrip(b".,;")
            yield Link(found.start(), AUTOLINK, url, url)


def in_html(data: bytes, start: int) -> Iterator[Link]:
    """Yield the targets of `href` and `src`, except for URLs, which the outline has.

    Args:
        data: without comments.
        start: where the front matter ends.
    """
    # The pattern, which goes from `<` to `<`, passes over a text faster than `bytes.find` does.
    if b"<" not in data or not _ATTRIBUTE.search(data, start):
        return
    if b"href" not in data and b"src" not in data:
        return
    parts: list[hidden.Hidden] | None = None
    for found in _ATTRIBUTE.finditer(data, start):
        target = (found["double"] or found["single"] or found["bare"] or b"").strip()
        if not target or target.lower().startswith(_ELSEWHERE):
            continue
        if parts is None:
            parts = hidden.parts_not_shown(data, start)
        if not hidden.covers(parts, found.start()):
            is_picture = found["name"].lower() == b"src"
            text = (_ALT if is_picture else _INNER).match(data, found.end())
            shown = b" ".join(text["text"].split()) if text else b""
            yield Link(found.start(), IMAGE if is_picture else INLINE, shown, _unescaped(target))


def tags_in_brackets(data: bytes, start: int) -> Iterator[Link]:
    """Yield the tags in brackets, as Logseq writes those with blanks: `#[[green tea]]`.

    Args:
        data: without comments.
        start: where the front matter ends.
    """
    if b"#[[" not in data:
        return
    parts = hidden.parts_not_shown(data, start)
    for found in _TAG.finditer(data, start):
        tag = b" ".join(found["tag"].split())
        if tag and not hidden.covers(parts, found.start()):
            yield Link(found.start(), TAG, tag, b"")


def _unescaped(target: bytes) -> bytes:
    return target.replace(b"&amp;", b"&")
