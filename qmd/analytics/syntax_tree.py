"""Syntax trees of statements, in one form for all versions of DuckDB."""

from __future__ import annotations

import json
from typing import Any

from qmd.errors import SqlError

QUERIES = frozenset("SELECT_NODE SET_OPERATION_NODE RECURSIVE_CTE_NODE CTE_NODE".split())
"""Types of nodes that are queries. DuckDB 2 has others in WITH, such as COPY_QUERY_NODE."""

_TYPES = {"INTEGER": "HUGEINT", "BOOLEAN": "BOOLEAN", "NUMERIC": "DECIMAL"}
"""Types of constants by the kinds that DuckDB 2 names; all others are texts."""

_DIGITS = 39
"""Characters of the longest integer that DuckDB has."""


def loaded(parsed: str) -> dict[str, Any]:
    """Load what DuckDB's json_serialize_sql returned.

    DuckDB 2 has the arguments of a function in `arguments`, with their names, and a constant as it
    was written; here they stand as in DuckDB 1: `children` with aliases, and `value`.

    Raises:
        SqlError: it is nested too deeply.
    """
    try:
        found = json.loads(parsed, object_hook=_of_duckdb_1)
    except RecursionError as error:
        raise SqlError("The query is nested too deeply. Break it up with WITH.") from error
    assert isinstance(found, dict)
    return found


def check_reads_only(node: dict[str, Any]) -> None:
    """Refuse a node that is a statement other than a query.

    Raises:
        SqlError: the node is such a statement.
    """
    kind = node.get("type")
    if isinstance(kind, str) and kind.endswith("_NODE") and kind not in QUERIES:
        name = kind.partition("_")[0]
        raise SqlError(f"A CTE needs a SELECT: qmd sql only reads, and {name} is no query.")


def _of_duckdb_1(node: dict[str, Any]) -> dict[str, Any]:
    """Bring a node into the form of DuckDB 1; those within it have been."""
    if "arguments" in node:
        node["children"] = [
            {**each["expression"], "alias": each.get("name") or each["expression"].get("alias", "")}
            for each in node.pop("arguments")
        ]
    if "literal" in node:
        node["value"] = _constant(**node.pop("literal"))
    return node


def _constant(kind: str, text: str = "") -> dict[str, Any]:
    if kind == "NULL_LITERAL":
        return {"type": {"id": "NULL"}, "is_null": True}
    value: object = text
    if kind == "INTEGER" and len(text) > _DIGITS:
        kind = "NUMERIC"
    elif kind == "INTEGER":
        value = int(text)
    elif kind == "BOOLEAN":
        value = text == "true"
    return {"type": {"id": _TYPES.get(kind, "VARCHAR")}, "is_null": False, "value": value}
