"""Prepared statements of one connection.

DuckDB (1.5) plans a statement on each run, which takes a search as long as its execution. PREPARE
keeps a plan. EXECUTE reuses it under these conditions, and silently plans again otherwise:

- Its tables are still attached.
- The arguments have exactly the types of the parameters.
- Each parameter occurs once, with a type, and not alone in a condition or a list function.

A plan also depends on the content of the tables, so that they must not change while it is kept.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

import _duckdb

from qmd.named_tuple import NamedTuple
from qmd.patterns import pattern
from qmd.storage.statements import given, literal, statement, without_header

MAX_PREPARED = 16
"""Plans that a connection keeps: one takes up to 0.8 MB, and there is one for each limit."""

_DECLARED = pattern(r"^-- in +\$(\w+) +(\w+)", re.M)
_CUT = pattern(r"limit \$(\w+)")
_PARAMETER = pattern(r"\$([a-z]\w*)")
_AS_TEXT = ("text", "json")


def _to_plan(name: str, parameters: Mapping[str, object]) -> tuple[str, Mapping[str, object]]:
    """Prepare the text of a statement for planning, and list its parameters."""
    text, taken = given(name, parameters)
    cut = _cut(text)
    if cut is not None:
        text = text.replace(f"limit ${cut}", f"limit {literal(taken[cut])}")
    return text, taken


@cache
def _cut(text: str) -> str | None:
    """Find the parameter of the final limit of a statement."""
    found = _CUT.search(text) if "limit $" in text else None
    return found[1] if found else None


class _Plan(NamedTuple):
    """A prepared statement.

    Attributes:
        kinds: the type of each parameter.
    """

    name: str
    kinds: Mapping[str, str]


class PreparedStatements:
    """Prepared statements of a connection. Discard them before their tables are detached."""

    def __init__(self, connection: _duckdb.DuckDBPyConnection) -> None:
        self._connection = connection
        self._known: dict[str, _Plan | None] = {}  # None: the statement has run once
        self._made = 0

    def run(self, name: str, parameters: Mapping[str, object]) -> list[tuple[Any, ...]] | None:
        """Run a prepared statement; None on its first use.

        To plan it for one run would take longer than the run without. Where rows are cut off
        decides how it is planned, and is put in as text.
        """
        text, taken = _to_plan(name, parameters)
        if text not in self._known:
            self._note(text, None)
            return None
        plan = self._known[text] = self._known[text] or self._make(name, text)
        arguments = ", ".join(
            f'"{key}" := {literal(taken[key])}::{kind}' for key, kind in plan.kinds.items()
        )
        return self._do("store/run_plan", plan=plan.name, arguments=arguments).fetchall()

    def make(self, name: str, parameters: Mapping[str, object]) -> None:
        """Prepare a statement before its first run."""
        text, _ = _to_plan(name, parameters)
        if self._known.get(text) is None:
            self._note(text, self._make(name, text))

    def _note(self, text: str, plan: _Plan | None) -> None:
        if len(self._known) >= MAX_PREPARED:
            self.forget()
        self._known[text] = plan

    def forget(self) -> None:
        """Discard all prepared statements."""
        known, self._known = self._known, {}
        for plan in filter(None, known.values()):
            self._do("store/forget_plan", plan=plan.name)

    def _make(self, name: str, text: str) -> _Plan:
        declared = dict(_DECLARED.findall(statement(name)))
        kinds = {
            key: "varchar" if declared[key] in _AS_TEXT else declared[key]
            for key in _PARAMETER.findall(text)
        }
        typed = _PARAMETER.sub(lambda found: f"{found[0]}::{kinds[found[1]]}", text)
        self._made += 1
        plan = _Plan(f"plan_{self._made}", kinds)
        self._do("store/plan", plan=plan.name, statement=typed)
        return plan

    def _do(self, name: str, **parts: str) -> _duckdb.DuckDBPyConnection:
        text = _PARAMETER.sub(lambda found: parts[found[1]], without_header(name))
        return self._connection.execute(text)
