"""Headings of a text: the way to a line, sections, and the names that links give them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


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
