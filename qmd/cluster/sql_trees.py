"""Syntax trees of statements: parts of them, and statements made of parts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from copy import deepcopy
from functools import cached_property
from typing import Any, NamedTuple

from qmd.errors import SqlError
from qmd.storage.cursor import Cursor
from qmd.storage.statements import without_header

Node = dict[str, Any]


class Statement(NamedTuple):
    """A query.

    Attributes:
        parameters: names of those that it has.
    """

    text: str
    parameters: tuple[str, ...]


class SyntaxTrees:
    """Reader and writer of statements, by DuckDB's own parser.

    Args:
        cursor: of an engine without tables.
    """

    def __init__(self, cursor: Cursor) -> None:
        self._cursor = cursor

    def loaded(self, text: str) -> Node:
        """Parse a query.

        Raises:
            SqlError: it has no tree.
            RecursionError: it is nested too deeply.
        """
        parsed = json.loads(self._cursor.one("sandbox/tree", text=text))
        if parsed["error"]:
            raise SqlError(parsed.get("error_message") or "This is no query.")
        node: Node = parsed["statements"][0]["node"]
        return node

    def written(self, node: Node) -> Statement:
        """Write a query."""
        found = (each["identifier"] for each in nodes(node) if each.get("class") == "PARAMETER")
        names = tuple(dict.fromkeys(found))
        statement = {
            "node": node,
            "named_param_map": [{"key": key, "value": at} for at, key in enumerate(names, 1)],
        }
        tree = json.dumps({"error": False, "statements": [statement]})
        return Statement(self._cursor.one("sandbox/written", tree=tree), names)

    def expression(self, node: Node) -> str:
        """Write an expression, as DuckDB names a column that has it."""
        lone = {**self._model, "select_list": [{**node, "alias": ""}]}
        return self.written(lone).text.removeprefix("SELECT ").removesuffix(" FROM part")

    def column(self, name: str, *, alias: str = "") -> Node:
        """Make the reference of a column."""
        [found] = (each for each in nodes(self.merged["any_value"]) if is_column(each))
        return {**deepcopy(found), "column_names": [name], "alias": alias}

    def distinct(self) -> list[Node]:
        """Make the modifiers of SELECT DISTINCT."""
        return [{"type": "DISTINCT_MODIFIER", "distinct_on_targets": []}]

    def model(self) -> Node:
        """Return a statement with one table and nothing else."""
        return deepcopy(self._model)

    @cached_property
    def merged(self) -> dict[str, Node]:
        """Expressions of sandbox/merged, by name."""
        return {each["alias"]: each for each in self._model["select_list"]}

    @cached_property
    def _model(self) -> Node:
        return self.loaded(without_header("sandbox/merged"))

    @cached_property
    def _kinds(self) -> dict[str, tuple[bool, bool]]:
        rows = self._cursor.run("sandbox/function_kinds")
        return {name: (is_aggregate, consistent) for name, is_aggregate, consistent in rows}

    def is_aggregate(self, name: str) -> bool:
        """Tell whether a function is an aggregate."""
        return self._kinds.get(name.lower(), (False, False))[0]

    def is_consistent(self, name: str) -> bool:
        """Tell whether a function gives the same for the same values, on any machine."""
        return self._kinds.get(name.lower(), (False, False))[1]


def nodes(tree: Any) -> Iterator[Node]:
    """Yield all nodes of a tree."""
    waiting = [tree]
    while waiting:
        each = waiting.pop()
        if isinstance(each, dict):
            yield each
            waiting += each.values()
        elif isinstance(each, list):
            waiting += each


def is_column(node: Node) -> bool:
    """Tell whether a node is the name of a column."""
    return node.get("class") == "COLUMN_REF"


def column_names(node: Node) -> list[str]:
    """Return the parts of the name of a column, in lower case."""
    return [name.lower() for name in node["column_names"]]


def select_of(trees: SyntaxTrees, table: str, columns: Sequence[Node]) -> Node:
    """Make a statement that selects columns of a table."""
    found = trees.model()
    found["select_list"] = list(columns)
    found["from_table"]["table_name"] = table
    return found
