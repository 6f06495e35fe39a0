"""Messages of DuckDB about a query, without advice that cannot be followed here.

Settings are locked and extensions are shut out where a query runs, so `SET …`, `PRAGMA …` and
`INSTALL …` are no help.
"""

from __future__ import annotations

import re

_LINE = re.compile(r"^LINE \d+:", re.M)
"""Where the query is quoted, which may have any words in it."""

_KNOWN = (
    ("Max expression depth limit", "The query is nested too deeply. Break it up with WITH."),
    ("Pivot column limit", "PIVOT would give too many columns. Name fewer values with IN."),
)
"""What a message has in it, and what it means to the user."""

_ADVICE = re.compile(
    r"\b(SET|RESET|PRAGMA|INSTALL|LOAD|CALL) +['\"]?[a-z_]+|\bautoinstall_|\bautoload_"
    r"|\bSET the '|\b(configuration|setting) (option|['\"])|\bPossible solutions:|\brestart"
    r"|https?://(?:[a-z]+\.)*duckdb\.org",
)
"""What advice to change a setting, or to read about one, has in it."""

_SENTENCES = re.compile(r"(?<=[.!?;])\s+(?=[A-Z\"*])|\n+")


def without_advice(problem: str) -> str:
    """A message without sentences that tell to change a setting or to install something."""
    for mark, meaning in _KNOWN:
        if mark in problem:
            return meaning
    quoted = _LINE.search(problem)
    end = quoted.start() if quoted else len(problem)
    said = problem[:end]
    if not _ADVICE.search(said):
        return problem
    kept = [each for each in _SENTENCES.split(said) if each and not _ADVICE.search(each)]
    return "\n".join([*kept, problem[end:]] if quoted else kept) or "DuckDB cannot do this here."
