"""Statements by name: `sql/<subject>/<name>.sql` is "subject/name"."""

from __future__ import annotations

from functools import cache
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent.parent


def shipped(folder: str) -> Path:
    """`sql` or `migrations`: inside the installed package, or beside `qmd/` in a checkout."""
    inside = _PACKAGE / folder
    return inside if inside.is_dir() else _PACKAGE.parent / folder


@cache
def statement(name: str) -> str:
    """The text of a statement.

    Raises:
        FileNotFoundError: there is none of this name.
    """
    return (shipped("sql") / f"{name}.sql").read_text(encoding="utf-8")
