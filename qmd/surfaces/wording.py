"""Times and places, as people read them; with counts and sizes."""

from __future__ import annotations

from datetime import date, datetime

from qmd.wording import amount, size

__all__ = ["amount", "day", "duration", "folder", "minute", "month", "size"]


def folder(root: str) -> str:
    """Return the folder of a collection; one that is stored in the index has none."""
    return root or "(in the index)"


def day(moment: date) -> str:
    """`2025-03-14`, with four digits of any year."""
    return moment.isoformat()[:10]


def month(moment: date) -> str:
    """`2025-03`."""
    return moment.isoformat()[:7]


def minute(moment: datetime) -> str:
    """`2025-03-14 09:26`."""
    return moment.isoformat(sep=" ")[:16]


def duration(seconds: float) -> str:
    """Format a duration for people."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
