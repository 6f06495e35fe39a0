"""Statements that one connection plans once and runs often.

DuckDB (1.5) plans a statement each time it runs, which for a search takes as long as to carry it
out. PREPARE keeps a plan, and EXECUTE uses it if what it reads is still attached, the arguments
have the very types that the parameters had when it was made, and every parameter stands in one
place, with a type, and not by itself in a condition or a function of lists; otherwise it plans
anew, without a word. A plan also relies on what the tables held when it was made, so that nobody
may write to them meanwhile.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

import _duckdb

from qmd.storage.statements import bare, given, literal, statement

MOST = 16
"""Plans that a connection keeps: one takes up to 0.8 MB, and there is one for each limit."""

_DECLARED = re.compile(r"^-- in +\$(\w+) +(\w+)", re.M)
_CUT = re.compile(r"limit \$(\w+)")
_PARAMETER = re.compile(r"\$([a-z]\w*)")
_AS_TEXT = ("text", "json")


def _to_plan(name: str, parameters: Mapping[str, object]) -> tuple[str, Mapping[str, object]]:
    """A statement as it is planned, and the parameters that it takes."""
    text, taken = given(name, parameters)
    cut = _cut(text)
    if cut is not None:
        text = text.replace(f"limit ${cut}", f"limit {literal(taken[cut])}")
    return text, taken


@cache
def _cut(text: str) -> str | None:
    """The parameter that says where the rows of a statement are cut off."""
    found = _CUT.search(text)
    return found[1] if found else None


class _Plan(NamedTuple):
    """A plan that has been made.

    Attributes:
        kinds: the type of each parameter.
    """

    name: str
    kinds: Mapping[str, str]


class Plans:
    """The plans of one connection. All have to be forgotten before what they read is detached."""

    def __init__(self, connection: _duckdb.DuckDBPyConnection) -> None:
        self._connection = connection
        self._known: dict[str, _Plan | None] = {}  # None: the statement has run once
        self._made = 0

    def run(self, name: str, parameters: Mapping[str, object]) -> list[tuple[Any, ...]] | None:
        """All rows of a statement; None when it is asked for the first time.

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
        """Plan a statement before it runs for the first time."""
        text, _ = _to_plan(name, parameters)
        if self._known.get(text) is None:
            self._note(text, self._make(name, text))

    def _note(self, text: str, plan: _Plan | None) -> None:
        if len(self._known) >= MOST:
            self.forget()
        self._known[text] = plan

    def forget(self) -> None:
        """Forget all plans."""
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
        text = _PARAMETER.sub(lambda found: parts[found[1]], bare(name))
        return self._connection.execute(text)
