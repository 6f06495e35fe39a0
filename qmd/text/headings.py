"""Headings of a text: the way to a line, sections, and the names that links give them."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from qmd.named_tuple import NamedTuple
from qmd.patterns import pattern

_MARKUP = pattern(r"!\[[^\]]*\]\([^)]*\)|<[^>]*>")
_LINK = pattern(r"\[([^\]]*)\]\([^)]*\)")
_ANCHOR = pattern(r"\{(?::?\s*(?:\.[\w-]+\s+)*#|/\*\s*#?)([^{}\s*]+)(?:\s*\*/|[^{}]*)\}\s*$")
"""Anchor that a heading is given: {#name}, { #name .class }, {: #name}; in MDX {/*name*/}."""

_NUMBERED = pattern(r"(.+)-([0-9]{1,4})")

BELOW = " > "
"""Between a heading and one below it, in a name of a section."""


class SectionHeading(NamedTuple):
    """A heading of a text.

    Attributes:
        line: from 1.
        level: 1 to 6.
        text: without its marks.
    """

    line: int
    level: int
    text: str


def stored_headings(kinds: str, lines: str, texts: str) -> list[SectionHeading]:
    """Read the headings of an outline as it is stored; see migrations/0005_links.sql."""
    rows = zip(kinds, lines.split(" "), texts.split("\x1e"), strict=False)
    return [
        SectionHeading(int(line), int(kind), text) for kind, line, text in rows if kind in "123456"
    ]


def path_at(headings: Sequence[SectionHeading], line: int) -> tuple[str, ...]:
    """Return the headings above a line, the top one first, without one in the line itself."""
    way: list[SectionHeading] = []
    for each in headings:
        if each.line >= line:
            break
        while way and way[-1].level >= each.level:
            way.pop()
        way.append(each)
    at = next((each for each in headings if each.line == line), None)
    return tuple(each.text for each in way if at is None or each.level < at.level)


def without_anchor(text: str) -> str:
    """Return a heading without the anchor that it is given."""
    return _ANCHOR.sub("", text).rstrip()


def slug(text: str) -> str:
    """Return the name that a link has for a heading. Source: GitHub; see sql/views/headings.sql."""
    anchor = _ANCHOR.search(text)
    bare = anchor[1] if anchor else _LINK.sub(r"\1", _MARKUP.sub("", text)).strip()
    kept = (
        mark
        for mark in bare.lower()
        if mark in " -" or unicodedata.category(mark)[:1] in "LMN" or mark == "_"
    )
    return "".join(kept).replace(" ", "-")


def section(headings: Sequence[SectionHeading], name: str) -> tuple[int, int | None] | None:
    """Find the section of a heading, with the sections below it.

    Args:
        name: text or slug of the heading, in any case; `slug-1` for the second that has it, and
            `Brewing > Pots` for one below another.

    Returns:
        Its first line, and how many there are; None: as far as the text goes. None without one.
    """
    way = [slug(part) for part in name.split(BELOW)]
    found = _matching(headings, way)
    numbered = _NUMBERED.fullmatch(way[-1])
    if not found and numbered:
        found = _matching(headings, [*way[:-1], numbered[1]])[int(numbered[2]) :]
    if not found:
        return None
    heading = found[0]
    after = (
        each.line for each in headings if each.line > heading.line and each.level <= heading.level
    )
    end = next(after, None)
    return heading.line, None if end is None else end - heading.line


def _names(text: str) -> tuple[str, str]:
    """Return the slug of a heading, and that without an anchor of its own."""
    return slug(text), slug(without_anchor(text))


def _matching(headings: Sequence[SectionHeading], way: Sequence[str]) -> list[SectionHeading]:
    """List the headings with a name, and with the others of a way above them, in their order."""
    found = []
    for each in headings:
        if not way[-1] or way[-1] not in _names(each.text):
            continue
        above = iter(map(_names, path_at(headings, each.line)))
        if all(any(part in names for names in above) for part in way[:-1]):
            found.append(each)
    return found
