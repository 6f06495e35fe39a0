"""Words for counts, sizes, names and long values in messages and output."""

from __future__ import annotations

import re

from qmd.patterns import pattern

_CONTROL = pattern(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")

MOST_OF_VALUE = 300
"""Characters of a value without spaces, such as a path, that a message repeats."""

MOST_OF_LINE = 1200
"""Characters of a line of a message."""


def shortened(text: str, most: int) -> str:
    """Shorten a text in the middle to `most` characters and say how much is missing."""
    if len(text) <= most:
        return text
    left = max(0, most - len(f"[… {len(text)} characters …]"))  # the mark has no more digits
    mark = f"[… {len(text) - left} characters …]"
    return text[: left - left // 2] + mark + text[len(text) - left // 2 :]


def readable(message: str) -> str:
    """Shorten values that would fill a screen, such as paths of 4,000 characters."""
    if len(message) <= MOST_OF_VALUE:
        return message
    return "\n".join(
        shortened(
            " ".join(shortened(word, MOST_OF_VALUE) for word in line.split(" ")), MOST_OF_LINE
        )
        for line in message.split("\n")
    )


def amount(count: float, noun: str) -> str:
    """Format a count with its noun: `1 document`, `2 documents`, `0.5 seconds`."""
    text = str(count) if isinstance(count, int) else f"{count:g}"
    return f"{text} {noun}" if text == "1" else f"{text} {noun}s"


DIGITS = 2
"""Decimal places of a displayed score."""


def reaches(score: float, least: float, digits: int = DIGITS) -> bool:
    """Check that a score, rounded as it is shown, reaches a minimum."""
    return round(score, digits) >= least


def lowest_shown_as(least: float, digits: int = DIGITS) -> float:
    """Return a bound below which no score is shown as `least` or more."""
    return least - 0.5 / float(10**digits)


def size(count: int) -> str:
    """Format a number of bytes: `1.4 MB`."""
    value = float(count)
    for unit in ("B", "KB", "MB", "GB"):
        if value < 1000 or unit == "GB":
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1000
    raise AssertionError


def on_one_line(name: str) -> str:
    """Write a name on one line, as lists of files show it and `get` accepts it.

    Characters that break a line or give orders to a terminal are percent-encoded, and, if there
    are such, `%` as well.
    """
    if not _CONTROL.search(name):
        return name
    from urllib.parse import quote

    return re.sub(f"%|{_CONTROL.pattern}", lambda mark: quote(mark[0]), name)


def bounds(least: float | None, most: float | None) -> str:
    """Return the bounds of a number in words: `1 or more`, `0 to 1`."""
    return f"{least or 0:g} to {most:g}" if most is not None else f"{least or 0:g} or more"
