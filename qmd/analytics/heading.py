"""Columns of an answer, in a module that loads nothing: both processes know it."""

from __future__ import annotations

from qmd.named_tuple import NamedTuple


class Heading(NamedTuple):
    """A column of an answer, with its type as DuckDB names it."""

    name: str
    kind: str
