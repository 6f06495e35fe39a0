"""Aggregates over shards: those of each shard for each group, and the ones that these merge to."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from typing import Any

from qmd.analytics.statement_check import nodes
from qmd.analytics.views import View
from qmd.cluster.sql_trees import (
    Node,
    SyntaxTrees,
    column_names,
    is_column,
    select_of,
    whole_number,
)
from qmd.named_tuple import NamedTuple

PARTS = "part"
"""Table with the groups of all shards."""

KEY, PART = "qmd_key_", "qmd_part_"
"""Columns of the parts: expressions of groups, and aggregates; a number follows."""

_MERGED = {
    **{name: name for name in ("sum", "min", "max", "bool_and", "bool_or", "any_value")},
    **{name: name for name in ("bit_and", "bit_or", "bit_xor")},
    **{"count": "count", "count_star": "count", "avg": "avg", "mean": "avg"},
}
"""Aggregates that can be merged, with the column of sandbox/merged that does it."""

_WHOLE = frozenset("bigint uinteger integer utinyint usmallint ubigint double".split())
"""Types of columns whose mean is the sum by the count."""


class _Parts:
    """Groups and aggregates of one statement, as columns of the parts.

    Args:
        groups: expressions of the groups.
        known: check that an expression names columns of the view alone.
    """

    def __init__(
        self, view: View, trees: SyntaxTrees, groups: list[Node], known: Callable[[Any], bool]
    ) -> None:
        self._kinds = {column.name: column.bare for column in view.columns}
        self._trees = trees
        self._known = known
        self.groups = groups
        self._keys = {_canonical(each): f"{KEY}{at}" for at, each in enumerate(groups)}
        self._names: dict[str, str] = {}
        self.aggregates: list[Node] = []

    def merged(self, node: Any) -> Any:
        """Rewrite a part of the statement over the columns of the parts.

        Raises:
            _CannotMerge: an aggregate of it cannot be merged.
        """
        if isinstance(node, list):
            return [self.merged(each) for each in node]
        if not isinstance(node, dict):
            return node
        if "class" in node and (key := self._keys.get(_canonical(node))):
            return self._trees.column(key, alias=node["alias"])
        if node.get("class") == "FUNCTION" and self._trees.is_aggregate(node["function_name"]):
            return self._aggregate(node)
        return {name: self.merged(part) for name, part in node.items()}

    def _aggregate(self, node: Node) -> Node:
        name = _MERGED.get(node["function_name"].lower())
        arguments = node["children"]
        if name is None or node["distinct"] or node["order_bys"]["orders"] or not self._known(node):
            raise _CannotMerge
        if len(arguments) > 1:
            raise _CannotMerge
        if name == "avg":
            self._check_mean(arguments)
            columns = {
                "part": self._column({**node, "function_name": "sum"}),
                "parts": self._column({**node, "function_name": "count"}),
            }
        else:
            columns = {"part": self._column(node)}
        found = deepcopy(self._trees.merged[name])
        for each in nodes(found):
            if is_column(each):
                each["column_names"] = [columns[each["column_names"][0]]]
        return {**found, "alias": node["alias"]}

    def _check_mean(self, arguments: list[Node]) -> None:
        """Refuse the mean of anything but a column of numbers: it may be computed otherwise."""
        [argument] = arguments
        if not is_column(argument) or self._kinds.get(column_names(argument)[-1]) not in _WHOLE:
            raise _CannotMerge

    def _column(self, node: Node) -> str:
        """Return the column of the parts that has an aggregate."""
        name = self._names.setdefault(_canonical(node), f"{PART}{len(self._names)}")
        if len(self.aggregates) < len(self._names):
            self.aggregates.append({**node, "alias": name})
        return name


class _CannotMerge(Exception):
    """An aggregate needs the rows themselves."""


class _Statements(NamedTuple):
    """Statement for the shards, and the one over their rows."""

    asked: Node
    merged: Node


def merged_groups(
    node: Node, view: View, trees: SyntaxTrees, known: Callable[[Any], bool]
) -> _Statements | None:
    """Plan a SELECT with aggregates or groups from one view; None: it needs the rows themselves."""
    try:
        groups = _groups(node, trees, known)
        parts = _Parts(view, trees, groups, known)
        if any(each.get("class") == "STAR" for each in nodes(node)) or _shadows(node, view):
            return None
        selected = [_named(each, trees, parts) for each in node["select_list"]]
        having, modifiers = parts.merged(node["having"]), parts.merged(node["modifiers"])
    except _CannotMerge:
        return None
    aliases = {each["alias"].lower() for each in node["select_list"]}
    if (not groups and not parts.aggregates) or _reads_rows([selected, having, modifiers], aliases):
        return None
    keys = [{**deepcopy(each), "alias": f"{KEY}{at}"} for at, each in enumerate(groups)]
    asked = select_of(trees, view.name, [*keys, *parts.aggregates])
    asked["from_table"] = node["from_table"]
    asked["where_clause"] = node["where_clause"]
    asked["group_expressions"] = [{**each, "alias": ""} for each in groups]
    merged = select_of(trees, PARTS, selected)
    merged["group_expressions"] = [trees.column(f"{KEY}{at}") for at in range(len(groups))]
    for each in (asked, merged):
        each["group_sets"] = [list(range(len(groups)))] if groups else []
    merged["having"], merged["modifiers"] = having, modifiers
    return _Statements(asked, merged)


def _groups(node: Node, trees: SyntaxTrees, known: Callable[[Any], bool]) -> list[Node]:
    """Return the expressions of the groups, each with columns of the view alone.

    Raises:
        _CannotMerge: there are several sets of groups, or one is no expression of rows.
    """
    selected = node["select_list"]
    if node["aggregate_handling"] == "FORCE_AGGREGATES":
        found = [
            each
            for each in selected
            if not any(
                part.get("class") == "FUNCTION" and trees.is_aggregate(part["function_name"])
                for part in nodes(each)
            )
        ]
    else:
        written = node["group_expressions"]
        if written and node["group_sets"] != [list(range(len(written)))]:
            raise _CannotMerge
        found = [_resolved(each, selected, known) for each in written]
    if any(each["class"] == "CONSTANT" or not known(each) for each in found):
        raise _CannotMerge
    return found


def _resolved(node: Node, selected: list[Node], known: Callable[[Any], bool]) -> Node:
    """Resolve the place or the alias of a selected expression."""
    if node["class"] == "CONSTANT":
        place = whole_number(node)
        if place is None or not 0 < place <= len(selected):
            raise _CannotMerge
        return selected[place - 1]
    if is_column(node) and not known(node) and len(node["column_names"]) == 1:
        [name] = column_names(node)
        for each in selected:
            if each["alias"].lower() == name:
                return each
    return node


def _named(node: Node, trees: SyntaxTrees, parts: _Parts) -> Node:
    """Rewrite a selected expression, and keep the name that its column has."""
    name = node["alias"]
    if not name:
        name = node["column_names"][-1] if is_column(node) else trees.expression(node)
    found: Node = parts.merged(node)
    return {**found, "alias": name}


def _shadows(node: Node, view: View) -> bool:
    """Check whether an alias is the name of another column, so that names mean two things."""
    columns = {column.name for column in view.columns}
    return any(
        each["alias"].lower().startswith((KEY, PART))
        or (
            each["alias"].lower() in columns
            and not (is_column(each) and column_names(each)[-1] == each["alias"].lower())
        )
        for each in node["select_list"]
    )


def _reads_rows(merged: Any, aliases: set[str]) -> bool:
    """Check whether a rewritten part still names a column of the view."""
    for each in nodes(merged):
        if is_column(each):
            first = each["column_names"][0]
            if not first.startswith((KEY, PART)) and first.lower() not in aliases:
                return True
    return False


def _canonical(node: Node) -> str:
    """Write an expression without its place in the text and its alias, to compare it."""

    def bare(part: Any) -> Any:
        if isinstance(part, list):
            return [bare(each) for each in part]
        if not isinstance(part, dict):
            return part
        found = {key: bare(each) for key, each in part.items() if key != "query_location"}
        if is_column(part):
            found["column_names"] = column_names(part)
        return found

    return json.dumps({**bare(node), "alias": ""}, sort_keys=True)
