"""Figures and rows of tables as Markdown."""

from __future__ import annotations


def number(value: float) -> str:
    """Format a number with three significant digits, without an exponent."""
    return f"{value:,.0f}" if value >= 100 else f"{float(f'{value:.3g}'):g}"


def cells(*texts: str) -> str:
    """Make a row of a table."""
    return f"| {' | '.join(texts)} |"
