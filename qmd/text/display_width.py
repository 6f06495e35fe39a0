"""How much room text takes on a terminal."""

from __future__ import annotations

from unicodedata import combining, east_asian_width


def columns_of(text: str) -> int:
    """The columns that a text takes: Chinese, Japanese and Korean characters take two."""
    if text.isascii():
        return len(text)
    return sum(
        0 if combining(mark) else 2 if east_asian_width(mark) in "WF" else 1 for mark in text
    )


def padded(text: str, width: int, *, right: bool = False) -> str:
    """A text with blanks up to a width; before it, if it is to be on the right."""
    blanks = " " * (width - columns_of(text))
    return blanks + text if right else text + blanks
