"""Counts with what is counted, for whoever tells of them: errors as well as commands."""

from __future__ import annotations


def amount(count: float, noun: str) -> str:
    """`1 document`, `2 documents`, `0.5 seconds`."""
    text = str(count) if isinstance(count, int) else f"{count:g}"
    return f"{text} {noun}" if text == "1" else f"{text} {noun}s"
