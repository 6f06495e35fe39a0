"""Words of a query in HTML, each in a `<mark>`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from html import escape

from qmd.named_tuple import NamedTuple
from qmd.text.tokenizer import runs
from qmd.visible import visible

IsMatch = Callable[[str], object]

_HARMLESS = re.compile("([\u00ad\u061c\u200e\u200f])")
"""Soft hyphens, and marks of direction of a single place, which texts from right to left need."""


def displayed(text: str) -> str:
    """Escape characters that hide or reorder text, but for those that a browser shows rightly."""
    parts = _HARMLESS.split(text)
    return "".join(part if at % 2 else visible(part) for at, part in enumerate(parts))


class NumberedLine(NamedTuple):
    """A line of a text, as HTML."""

    number: int
    html: str


def highlighted(text: str, is_match: IsMatch | None) -> str:
    """Escape a text for HTML, with the words that match in `<mark>`."""
    if is_match is None:
        return escape(displayed(text))
    return "".join(
        f"<mark>{escape(part)}</mark>" if is_hit else escape(displayed(part))
        for part, is_hit in marked_pieces(text, is_match)
    )


def marked_pieces(text: str, is_match: IsMatch) -> Iterator[tuple[str, bool]]:
    """Split a text into parts, each with whether it is a word that matches."""
    at = 0
    for start, end in runs(text):
        if is_match(text[start:end]):
            if start > at:
                yield text[at:start], False
            yield text[start:end], True
            at = end
    if at < len(text):
        yield text[at:], False


def snippet_lines(snippet: str, is_match: IsMatch | None) -> list[NumberedLine]:
    """Split a snippet, whose lines have their numbers, into lines of HTML without blank ones."""
    found: list[NumberedLine] = []
    number = 0
    for line in snippet.splitlines():
        label, colon, text = line.partition(":")
        if colon and label.isdecimal():
            number = int(label)
        else:
            text = line
        if text.strip():
            found.append(NumberedLine(number, highlighted(text.strip(), is_match)))
    return found
