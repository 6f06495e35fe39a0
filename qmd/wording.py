"""Counts and sizes, for whoever tells of them: errors as well as commands."""

from __future__ import annotations


def amount(count: float, noun: str) -> str:
    """`1 document`, `2 documents`, `0.5 seconds`."""
    text = str(count) if isinstance(count, int) else f"{count:g}"
    return f"{text} {noun}" if text == "1" else f"{text} {noun}s"


DIGITS = 2
"""Of a score, behind the point, as it is shown."""


def reaches(score: float, least: float, digits: int = DIGITS) -> bool:
    """Whether a score is shown as one that is high enough."""
    return round(score, digits) >= least


def lowest_shown_as(least: float, digits: int = DIGITS) -> float:
    """Return a bound below which no score is shown as `least` or more."""
    return least - 0.5 / float(10**digits)


def size(count: int) -> str:
    """Bytes for people: `1.4 MB`."""
    value = float(count)
    for unit in ("B", "KB", "MB", "GB"):
        if value < 1000 or unit == "GB":
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1000
    raise AssertionError
