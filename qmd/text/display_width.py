"""Display width of text on a terminal."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from unicodedata import combining, east_asian_width

_UNSPACED = "\u2e80-\ua4cf\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef\U00020000-\U0003ffff"
"""Characters of scripts without blanks between words: a line may end after each."""


@cache
def _piece() -> re.Pattern[str]:
    """Compile the pattern of what a line is not broken in, which few commands need."""
    return re.compile(rf"\s*(?:[{_UNSPACED}]|[^\s{_UNSPACED}]+)")


def columns_of(text: str) -> int:
    """Count the terminal columns of a text: Chinese, Japanese and Korean characters take two."""
    if text.isascii():
        return len(text)
    return sum(
        0 if combining(mark) else 2 if east_asian_width(mark) in "WF" else 1 for mark in text
    )


def padded(text: str, width: int, *, right: bool = False) -> str:
    """Pad a text with blanks to a width, on its left if `right`."""
    blanks = " " * (width - columns_of(text))
    return blanks + text if right else text + blanks


def cut_to(text: str, width: int) -> str:
    """Cut a text to a width, with `…` for what is missing."""
    if columns_of(text) <= width:
        return text
    return next(_broken(text, width - 1), "") + "…"


def cut_before(text: str, width: int) -> str:
    """Cut a text to its end of a width, with `…` for what is missing before it."""
    if columns_of(text) <= width:
        return text
    return "…" + next(_broken(text[::-1], width - 1), "")[::-1]


def folded_rows(text: str, width: int) -> list[str]:
    """Fold a text between words to rows of a width; a word that is longer is broken.

    Args:
        width: columns, 2 or more.
    """
    rows, row, used = [], "", 0
    for piece in _piece().findall(text):
        wide = columns_of(piece)
        if used + wide <= width:
            row, used = row + piece, used + wide
            continue
        if row.strip():
            rows.append(row)
        *full, row = _broken(piece.lstrip(), width)
        rows += full
        used = columns_of(row)
    return [*rows, row]


def _broken(text: str, width: int) -> Iterator[str]:
    """Break a text after each `width` columns."""
    start, used = 0, 0
    for at, mark in enumerate(text):
        wide = columns_of(mark)
        if used + wide > width:
            yield text[start:at]
            start, used = at, 0
        used += wide
    yield text[start:]
