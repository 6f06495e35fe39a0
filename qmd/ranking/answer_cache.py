"""Cache of model answers in the index, bounded in size."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from qmd.storage.cursor import Cursor, as_json

MOST = 20_000
"""Cached answers at most; the oldest are removed first."""


def kept(cursor: Cursor, keys: Sequence[str]) -> dict[str, object]:
    """Load the cached answers, by key."""
    rows = cursor.run("cache/kept", keys=as_json(list(keys)))
    return {key: json.loads(value) for key, value in rows}


def keep_answers(cursor: Cursor, kind: str, answers: Mapping[str, object]) -> None:
    """Keep answers.

    Args:
        kind: 'expansion' or 'rerank'.
    """
    rows = [{"key": key, "kind": kind, "value": value} for key, value in answers.items()]
    cursor.run("cache/keep", answers=as_json(rows))
    cursor.run("cache/trim", most=MOST)
