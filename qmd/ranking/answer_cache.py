"""Answers of models that are worth keeping: a bounded cache in the index."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from qmd.storage.cursor import Cursor, as_json

MOST = 20_000
"""Answers that are kept; the oldest go first."""


def kept(cursor: Cursor, keys: Sequence[str]) -> dict[str, object]:
    """The answers that are there, by key."""
    rows = cursor.run("cache/kept", keys=as_json(list(keys)))
    return {key: json.loads(value) for key, value in rows}


def keep(cursor: Cursor, kind: str, answers: Mapping[str, object]) -> None:
    """Keep answers.

    Args:
        kind: 'expansion' or 'rerank'.
    """
    rows = [{"key": key, "kind": kind, "value": value} for key, value in answers.items()]
    cursor.run("cache/keep", answers=as_json(rows))
    cursor.run("cache/trim", most=MOST)
