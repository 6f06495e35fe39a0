"""Times and places, as people read them; with counts and sizes."""

from __future__ import annotations

from datetime import date, datetime
from typing import TYPE_CHECKING

from qmd.visible import shown
from qmd.wording import amount, on_one_line, size

if TYPE_CHECKING:
    from qmd.reports import EmbedStep

__all__ = [
    "amount",
    "day",
    "duration",
    "embedded",
    "folder",
    "minute",
    "month",
    "size",
]

LONGEST_FILE = 60
"""Characters of the name of the file in hand."""


def embedded(step: EmbedStep) -> str:
    """Describe how far embedding is: documents, passages and the file in hand."""
    passages = f"{step.passages:,}"
    if step.total_passages > step.passages:
        passages += f" of about {step.total_passages:,}"
    words = f"{step.documents:,} of {step.total_documents:,} documents, {passages} passages"
    return f"{words}, {shown(on_one_line(step.file), most=LONGEST_FILE)}" if step.file else words


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
