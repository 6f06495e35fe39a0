"""Titles: the first heading of a Markdown text, and the name of its file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from pathlib import PurePosixPath

from qmd.patterns import pattern
from qmd.text import hidden

_NO_PARAGRAPH = (
    r"(?:[-*+]|\d{1,9}[.)])(?:[ \t]|\r?$)"  # list
    r"|[>|#]"  # quote, table, heading
    r"|(?:[-*_=][ \t]*){3,}\r?$"  # rule
)
# Nothing here is tried at more than one length: a line takes time in proportion to its own.
_ATX = pattern(r" {0,3}#(?![^ \t\r\n])(?P<text>[^\r\n]*)")
_UNDERLINE = pattern(r" {0,3}=+[ \t]*\r?(?:\n|\Z)")
_UNDERLINED = pattern(rf" {{0,3}}(?!{_NO_PARAGRAPH})(?P<text>\S[^\r\n]*)\r?\n", re.M)
_TAG_H1 = pattern(r"<h1(?:\s[^<>]{0,1000})?>", re.I)
_END_H1 = pattern(r"</h1", re.I)
_MARKS = ("\n#", "\n #", "\n  #", "\n   #", "\n=", "\n =", "\n  =", "\n   =", "<h1", "<H1")
_HIDING = ("`", "~~~", "<!--", "%%", "$$")
_LONGEST = 2000
"""Characters of a heading that are looked at."""

_ELEMENTS = (
    "a|abbr|b|big|br|center|cite|code|del|div|em|font|h1|i|img|ins|kbd|mark|p|picture|q|s|samp|"
    "small|source|span|strong|sub|sup|svg|tt|u|var|wbr"
)
_TAG = pattern(rf"</?(?:{_ELEMENTS})(?:\s[^<>]*)?/?>|<[A-Za-z][^<>]*/>", re.I)
_COMMENT = pattern(r"<!--.*?-->|%%.*?%%", re.S)
_IMAGE = pattern(r"!\[[^\[\]]*\](?:\([^()]*(?:\([^()]*\)[^()]*)*\)|\[[^\[\]]*\])|!\[\[[^\[\]]*\]\]")
_WIKI = pattern(r"\[\[(?:[^\[\]|]*\|)?([^\[\]|]*)\]\]")
_LINK = pattern(r"\[([^\[\]]*)\](?:\([^()]*(?:\([^()]*\)[^()]*)*\)|\[[^\[\]]*\])")
_CODE = pattern(r"(?<!`)(`{1,3})(?!`)(.+?)(?<!`)\1(?!`)")
_STRONG = pattern(r"(?<![\w*\\])(\*{1,3})(?=[^\s*])([^*]*?[^\s*\\])\1(?![\w*])")
_UNDERSCORED = pattern(r"(?<![\w\\])(_{1,3})(?=[^\s_])([^_]*(?:\w_+\w[^_]*)*[^\s_\\])\1(?!\w)")
_STRUCK = pattern(r"(~~|==)(?=\S)([^~=]*?\S)\1")
_ATTRIBUTES = pattern(r"\s*\{\s*(?:[#.:][^{}]*|/\*[^{}]*\*/)\}\s*$")
_FOOTNOTE = pattern(r"\[\^[^\[\]]+\]")
_ESCAPED = pattern(r"\\([!-/:-@\[-`{-~])")
_MARKUP = pattern(r"[\[<*_`~={\\&%]")

_MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()
_JOURNAL = pattern(
    r"(?:^|/)journals/(?P<year>\d{4})_(?P<month>\d\d)_(?P<day>\d\d)\.(?:md|markdown|org)$", re.I
)
_IN_NAMESPACE = pattern(r"(?<=[^_])___(?=[^_])")
_ENCODED = pattern(r"%(?:2F|3A|3F|22|23|25|2A|3C|3E|5C|7C)", re.I)
_NOTION = pattern(r"(?<=\S) [0-9a-f]{32}(?:_all)?$")
_PAGE = pattern(r"\.(?:md|markdown|org)$", re.I)


def of_name(path: str) -> str:
    """Return the title that the name of a file stands for: the name without its last extension.

    Source: Logseq writes `/` in the name of a page as `___`, characters that are not allowed in
    names of files as %3A, and a day as `journals/2024_05_17.md`, which it shows as May 17th, 2024.
    Notion adds the id of the page to the names of the files that it exports.
    """
    if day := _of_journal(path):
        return day
    name = _NOTION.sub("", PurePosixPath(path).stem)
    if _PAGE.search(path):
        if "___" in name:
            name = _IN_NAMESPACE.sub("/", name)
        if "%" in name:
            name = _ENCODED.sub(lambda found: chr(int(found[0][1:], 16)), name)
    return name


def _of_journal(path: str) -> str | None:
    """Return the title of a page in a journal of Logseq; None for other files."""
    found = _JOURNAL.search(path) if "journals/" in path else None
    if found is None:
        return None
    try:
        day = date(int(found["year"]), int(found["month"]), int(found["day"]))
    except ValueError:
        return None
    number = day.day
    ending = "th" if 10 < number < 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{_MONTHS[day.month - 1]} {number}{ending}, {day.year}"


def first_heading(text: str, start: int) -> str | None:
    """Return the first heading of level 1 that has text and is no code or comment; None: no such.

    Args:
        start: where the front matter ends.
    """
    hiding = _Hiding(text, start)
    for at in _candidates(text, start):
        found = _heading(text, at)
        if found is not None and not hiding.covers(at):
            heading = without_markup(found)
            if heading:
                return heading
    return None


class _Hiding:
    """Code and comments of a text, which are looked for when there may be some.

    Places are asked for in order, so that each part of the text is looked at once, and none behind
    the last place.
    """

    def __init__(self, text: str, start: int) -> None:
        self._text = text
        self._start = self._seen = start
        self._parts: Iterator[hidden.Hidden] | None = None
        self._part: hidden.Hidden | None = None
        self._bytes = 0

    def covers(self, at: int) -> bool:
        """Check whether a place is hidden."""
        text, seen = self._text, self._seen
        self._seen = at
        if self._parts is None:
            if not any(text.find(mark, seen, at) >= 0 for mark in _HIDING):
                return False
            self._bytes = len(text[: self._start].encode(errors="replace"))
            self._parts = hidden.hidden_parts(text.encode(errors="replace"), self._bytes)
            self._part = next(self._parts, None)
            seen = self._start
        self._bytes += len(text[seen:at].encode(errors="replace"))
        while self._part is not None and self._part.end <= self._bytes:
            self._part = next(self._parts, None)
        return self._part is not None and self._part.start <= self._bytes


def _candidates(text: str, start: int) -> Iterator[int]:
    """Yield the places at which a heading may begin, in order."""
    if start == 0 or text[start - 1] == "\n":
        yield start
    at = start
    following = dict.fromkeys(_MARKS, -2)
    while True:
        for mark, place in following.items():
            if place != -1 and place < at:
                following[mark] = text.find(mark, at)
        nearest = min((place for place in following.values() if place >= 0), default=-1)
        if nearest < 0:
            return
        yield nearest + (text[nearest] == "\n")
        at = nearest + 1


def _heading(text: str, at: int) -> str | None:
    """Return the text of the heading that begins at a place, or whose underline does."""
    if text.startswith("<", at):
        opening = _TAG_H1.match(text, at)
        end = _END_H1.search(text, opening.end(), opening.end() + _LONGEST) if opening else None
        return text[opening.end() : end.start()] if opening and end else None
    if found := _ATX.match(text, at):
        return _unclosed(found["text"])
    if at and _UNDERLINE.match(text, at):
        line = text.rfind("\n", 0, at - 1) + 1
        above = _UNDERLINED.match(text, line)
        return above["text"] if above and above.end() == at else None
    return None


def _unclosed(heading: str) -> str:
    """Strip the closing `##` of an ATX heading."""
    whole = heading.strip()
    text = whole.rstrip("#")
    return text if text.endswith((" ", "\t")) or not text else whole


def without_markup(heading: str) -> str:
    """Take the markup off a heading. Pictures count as markup: they are no text."""
    if not _MARKUP.search(heading) or len(heading) > _LONGEST:
        return " ".join(heading.split())
    text = _COMMENT.sub("", _ATTRIBUTES.sub("", heading))
    kept: list[str] = []

    def keep(code: re.Match[str]) -> str:
        kept.append(code[2])
        return f"\0{len(kept) - 1}\0"

    text = _CODE.sub(keep, text.replace("\0", " "))
    text = _TAG.sub("", _IMAGE.sub("", text))
    text = _FOOTNOTE.sub("", _LINK.sub(r"\1", _WIKI.sub(r"\1", text)))
    for marked in (_STRONG, _UNDERSCORED, _STRUCK, _STRONG):
        text = marked.sub(r"\2", text)
    import html  # its table of names is large

    text = html.unescape(_ESCAPED.sub(r"\1", text))
    text = re.sub(r"\0(\d+)\0", lambda code: kept[int(code[1])], text)
    return " ".join(text.split())
