"""Messages of DuckDB about a query, without advice that does not apply here.

Queries run with locked settings and without extensions, so advice to use `SET …`, `PRAGMA …` or
`INSTALL …` does not help.
"""

from __future__ import annotations

import re

_LINE = re.compile(r"^LINE \d+:", re.M)
"""Start of the quoted query, which may contain any words."""

_KNOWN = (
    ("Max expression depth limit", "The query is nested too deeply. Break it up with WITH."),
    ("Pivot column limit", "PIVOT would give too many columns. Name fewer values with IN."),
)
"""Text in a message, and its meaning for the user."""

_ADVICE = re.compile(
    r"\b(SET|RESET|PRAGMA|INSTALL|LOAD|CALL) +['\"]?[a-z_]+|\bautoinstall_|\bautoload_"
    r"|\bSET the '|\b(configuration|setting) (option|['\"])|\bPossible solutions:|\brestart"
    r"|https?://(?:[a-z]+\.)*duckdb\.org",
)
"""Text that marks advice to change a setting or to read about one."""

_SENTENCES = re.compile(r"(?<=[.!?;])\s+(?=[A-Z\"*])|\n+")


def without_advice(problem: str) -> str:
    """Remove the sentences that advise to change a setting or to install something."""
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
