"""Syntax trees of statements: parts of them, and statements made of parts.

Trees have the form of DuckDB 1.5. One of DuckDB 2 differs in three ways: the arguments of a
function have names, names of tables and functions are a path besides, and constants are text.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from copy import deepcopy
from functools import cached_property
from typing import Any

from qmd.analytics.statement_check import nodes
from qmd.errors import SqlError
from qmd.named_tuple import NamedTuple
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
        node: Node = _common(parsed["statements"][0]["node"])
        return node

    def written(self, node: Node) -> Statement:
        """Write a query."""
        found = (each["identifier"] for each in nodes(node) if each.get("class") == "PARAMETER")
        names = tuple(dict.fromkeys(found))
        statement = {
            "node": _of_duckdb_2(node) if self._is_2 else node,
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
    def _is_2(self) -> bool:
        """True where DuckDB 2 or later reads the trees."""
        text = self._cursor.one("sandbox/tree", text=without_header("sandbox/merged"))
        return "qualified_name" in json.loads(text)["statements"][0]["node"]["from_table"]

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


def whole_number(node: Node) -> int | None:
    """Return a constant whole number; None: it is none."""
    if node.get("class") != "CONSTANT":
        return None
    literal, value = node.get("literal"), node.get("value")
    if isinstance(literal, dict):
        return int(literal["text"]) if literal["kind"] == "INTEGER" else None
    if not isinstance(value, dict) or value["type"]["id"] not in ("INTEGER", "BIGINT"):
        return None
    found = value.get("value")
    return found if isinstance(found, int) else None


def with_number(node: Node, number: int) -> Node:
    """Make a constant of another whole number."""
    if "literal" in node:
        return {**node, "literal": {**node["literal"], "text": str(number)}}
    return {**node, "value": {**node["value"], "value": number}}


_NAMES = {"BASE_TABLE": ("catalog_name", "schema_name", "table_name")}
_OF_FUNCTION = ("catalog", "schema", "function_name")


def _common(tree: Any) -> Any:
    """Give a tree of DuckDB 2 the form of one of DuckDB 1.5, so that it can be written again.

    `analytics.syntax_tree`, which only reads, gives constants their values; here they stay text.
    """
    if isinstance(tree, list):
        return [_common(each) for each in tree]
    if not isinstance(tree, dict):
        return tree
    dropped = ("qualified_name", "query_location_length")
    found = {name: _common(part) for name, part in tree.items() if name not in dropped}
    if found.get("class") == "FUNCTION" and "arguments" in found:
        arguments = found.pop("arguments")
        found["children"] = [each["expression"] for each in arguments]
        found["argument_names"] = [each["name"] for each in arguments]
    return found


def _of_duckdb_2(tree: Any) -> Any:
    """Give a tree the form that DuckDB 2 reads; see `_common`."""
    if isinstance(tree, list):
        return [_of_duckdb_2(each) for each in tree]
    if not isinstance(tree, dict):
        return tree
    found = {name: _of_duckdb_2(part) for name, part in tree.items()}
    if found.get("class") == "FUNCTION":
        children = found.pop("children")
        names = found.pop("argument_names", None) or [""] * len(children)
        found["arguments"] = [
            {"name": name, "expression": child} for name, child in zip(names, children, strict=True)
        ]
    parts = _OF_FUNCTION if found.get("class") == "FUNCTION" else _NAMES.get(found.get("type", ""))
    if parts:
        path = [found[part] for part in parts if found[part]]
        found["qualified_name"] = {"path": path}
    return found


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
