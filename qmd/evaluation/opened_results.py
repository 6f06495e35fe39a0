"""Judged queries from the log: a document that was read after a search that found it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

from qmd.errors import UsageError
from qmd.evaluation.fixtures import MIN_DEPTH, Fixture, JudgedQuery

SOON = timedelta(minutes=30)
"""Time after a search in which a document that is read was found by it."""

NONE_OPENED = (
    "The log has no search whose result was read with 'qmd get' afterwards.\n\n"
    "Name a file with judged queries: see docs/bench.md."
)


def from_log(lines: Sequence[str]) -> Fixture:
    """Make judged queries of searches whose results were read.

    A document counts for the last search before it that found it, within half an hour.

    Args:
        lines: of the log, the oldest first; others are left out.

    Raises:
        UsageError: there is none.
    """
    judged: dict[str, dict[str, int]] = {}
    searches: list[tuple[datetime, str, frozenset[str]]] = []
    for line in lines:
        with suppress(ValueError, KeyError, TypeError):
            entry: dict[str, Any] = json.loads(line)
            if "opened_at" in entry:
                at, file = datetime.fromisoformat(entry["opened_at"]), str(entry["file"])
                query = _found_by(searches, at, file)
                if query is not None:
                    judged.setdefault(query, {})[file] = 1
            else:
                at = datetime.fromisoformat(entry["searched_at"])
                searches.append((at, str(entry["query"]), frozenset(entry["found"])))
    if not judged:
        raise UsageError(NONE_OPENED)
    questions = tuple(
        JudgedQuery(f"search {number}", text, files)
        for number, (text, files) in enumerate(judged.items(), start=1)
    )
    return Fixture("searches of the log", questions, depth=MIN_DEPTH, is_typed=True)


def _found_by(
    searches: Sequence[tuple[datetime, str, frozenset[str]]], at: datetime, file: str
) -> str | None:
    """Return the last search that found a document shortly before it was read."""
    for searched, query, found in reversed(searches):
        if at - searched > SOON:
            return None
        if file in found:
            return query
    return None
