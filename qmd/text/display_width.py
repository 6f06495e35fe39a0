"""Display width of text on a terminal."""

from __future__ import annotations

from unicodedata import combining, east_asian_width


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
