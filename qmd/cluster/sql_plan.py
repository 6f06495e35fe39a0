"""Plan of a query in SQL over shards: what each shard is asked, and how the rows are merged.

A view whose rows come from one document each has, over all shards, the rows of each shard together.
So the shards give the rows of the views that a statement names, and the statement runs over them,
at the coordinator. What can be done by the shards before is done there, if the result is the same:

- the choice of columns; with one view also that of rows (WHERE);
- aggregates that can be merged, for each group;
- DISTINCT, where rows that are there twice change nothing;
- the first rows of an order (ORDER BY … LIMIT).

Views that compare documents are computed there, too: see `sql_across`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from qmd.analytics.statement_check import nodes
from qmd.analytics.views import View, views
from qmd.cluster.sql_across import ACROSS, INDEX, read_across, tables_below
from qmd.cluster.sql_aggregates import PARTS, merged_groups
from qmd.cluster.sql_trees import (
    Statement,
    SyntaxTrees,
    column_names,
    is_column,
    select_of,
    whole_number,
    with_number,
)
from qmd.errors import SqlError
from qmd.named_tuple import NamedTuple

if TYPE_CHECKING:
    from qmd.analytics.statement_check import CheckedStatement
    from qmd.storage.cursor import Cursor

Node = dict[str, Any]

IN_SHARDS = frozenset(
    """
    documents frontmatter chunks headings marks tags places embeddings postings near_duplicates
    experiences
    """.split()
)
"""Views of which each row comes from one document."""

IDS = frozenset({"document_id", "chunk_id"})
"""Columns that number rows of one shard; over all shards they get other numbers."""

_SAME_TWICE = frozenset("min max bool_and bool_or any_value".split())
"""Aggregates for which a row that is there twice counts once."""


class SqlPlan(NamedTuple):
    """Statements that together are a query over shards.

    Attributes:
        tables: for the shards, by the name of the table that their rows make.
        merged: for the coordinator, over these tables; None: the query as it is.
        below: for the shards, by the name of the table of an index that their rows make.
        across: views that are computed of both.
    """

    tables: dict[str, Statement]
    merged: Statement | None = None
    below: Mapping[str, Statement] = MappingProxyType({})
    across: tuple[str, ...] = ()


def plan(request: CheckedStatement, cursor: Cursor) -> SqlPlan:
    """Plan a query that has been checked.

    Args:
        cursor: of an engine without tables.

    Raises:
        SqlError: it needs what cannot be merged over shards.
    """
    _check(request)
    trees = SyntaxTrees(cursor)
    try:
        node = trees.loaded(request.query)
        _check_tables(node)
        across = read_across(request)
        readers = [(request.names, node)]
        readers += [(frozenset(view.needs), trees.loaded(view.query)) for view in across]
        read = frozenset[str]().union(*(names for names, _ in readers)) & IN_SHARDS
        sources = [view for view in views() if view.name in read]
        if len(sources) == 1 and not across and _is_plain(node, sources[0], trees):
            return _narrowed(node, sources[0], trees)
        found = {}
        for view in sources:
            trees_of = [tree for names, tree in readers if view.name in names]
            columns = {name for tree in trees_of for name in _columns(tree, view)}
            ordered = [each.name for each in view.columns if each.name in columns]
            found[view.name] = trees.written(_rows(trees, view, ordered))
        below = tables_below(trees, across)
    except RecursionError as error:
        raise SqlError("The query is nested too deeply for an index of shards.") from error
    return SqlPlan(found, None, below, tuple(view.name for view in across))


def _check(request: CheckedStatement) -> None:
    """Refuse what needs one index.

    Raises:
        SqlError: it does.
    """
    if request.manner != "answer":
        raise SqlError(
            "EXPLAIN, DESCRIBE, SHOW and SUMMARIZE need one index, and this one is in shards.\n\n"
            "Ask them of the index of a few of these documents, without --engine."
        )
    others = {view.name for view in views() if not view.is_macro} - IN_SHARDS - ACROSS.keys()
    if across := sorted((request.names & others) - request.own):
        raise SqlError(
            f"{across[0]} cannot be merged from shards: a row of it comes from more than one "
            "document.\n\nOver shards a query reads "
            f"{', '.join(sorted(IN_SHARDS | ACROSS.keys()))}, and the searches. Without --engine, "
            "it is asked of the index of this machine."
        )


def _check_tables(node: Node) -> None:
    for each in nodes(node):
        if INDEX in (each.get("catalog_name"), each.get("schema_name")):
            raise SqlError(
                "An index of shards has no tables in qmd_index.\n\n"
                "Ask the views, such as documents: see 'qmd sql --tables'."
            )


def _is_plain(node: Node, view: View, trees: SyntaxTrees) -> bool:
    """Check that a statement is one SELECT from one view, whose parts are the same on any shard."""
    table = node.get("from_table") or {}
    if node["type"] != "SELECT_NODE" or table.get("type") != "BASE_TABLE":
        return False
    if table["table_name"].lower() != view.name or table.get("column_name_alias"):
        return False
    if node["cte_map"]["map"] or any(node.get(name) for name in ("qualify", "sample")):
        return False
    if table.get("sample") or table.get("at_clause"):
        return False
    for each in nodes(node):
        if each.get("class") in ("SUBQUERY", "WINDOW", "LAMBDA", "POSITIONAL_REFERENCE"):
            return False
        if each.get("class") == "FUNCTION" and not trees.is_consistent(each["function_name"]):
            return False
        if is_column(each) and IDS.intersection(column_names(each)):
            return False
    return True


def _narrowed(node: Node, view: View, trees: SyntaxTrees) -> SqlPlan:
    """Plan a plain SELECT: as much of it as the result allows is done by the shards."""
    known = _known(node, view)
    where = node["where_clause"]
    pushes = where is None or known(where)
    if pushes:
        groups = merged_groups(node, view, trees, known)
        if groups is not None:
            return SqlPlan({PARTS: trees.written(groups.asked)}, trees.written(groups.merged))
    left = {**node, "where_clause": None} if pushes else node
    asked = _rows(trees, view, _columns(left, view))
    asked["from_table"] = node["from_table"]
    asked["where_clause"] = where if pushes else None
    if _counts_once(node, trees):
        asked["modifiers"] = trees.distinct()
    elif pushes and not _is_aggregated(node, trees):
        asked["modifiers"] = _first(node, known)
    # A statement that is left as it was keeps its text: messages show lines of it.
    merged = trees.written(left) if pushes and where is not None else None
    return SqlPlan({view.name: trees.written(asked)}, merged)


def _rows(trees: SyntaxTrees, view: View, names: list[str]) -> Node:
    """Make the statement for columns of a view."""
    return select_of(trees, view.name, [trees.column(name) for name in names])


def _columns(node: Node, view: View) -> list[str]:
    """List the columns of a view that a statement may read; one at least, as rows count."""
    every = [column.name for column in view.columns]
    mentioned: set[str] = set()
    tables: set[str] = set()
    for each in nodes(node):
        kind = each.get("type")
        if each.get("class") == "STAR" or kind in ("POSITIONAL_REFERENCE", "PIVOT"):
            return every
        if each.get("ref_type") == "NATURAL":
            return every
        if kind == "BASE_TABLE":
            if each.get("column_name_alias"):
                return every
            tables |= {each["table_name"].lower(), each.get("alias", "").lower()}
        mentioned.update(name.lower() for name in each.get("using_columns") or ())
        if is_column(each):
            mentioned.update(column_names(each))
    if mentioned & tables and any(
        is_column(each) and len(column_names(each)) == 1 and column_names(each)[0] in tables
        for each in nodes(node)
    ):
        return every  # a row as a value
    return [name for name in every if name in mentioned] or every[:1]


def _known(node: Node, view: View) -> Callable[[Any], bool]:
    """Return a check that a part of a statement names columns of the view alone."""
    columns = {column.name for column in view.columns}
    table = node["from_table"]
    named = (table.get("alias") or table["table_name"]).lower()

    def check(part: Any) -> bool:
        for each in nodes(part):
            if each.get("class") == "STAR":
                return False
            if is_column(each):
                first, *more = column_names(each)
                if first not in columns and not (first == named and more and more[0] in columns):
                    return False
        return True

    return check


def _aggregates(node: Node, trees: SyntaxTrees) -> Iterator[Node]:
    for each in nodes(node):
        if each.get("class") == "FUNCTION" and trees.is_aggregate(each["function_name"]):
            yield each


def _is_aggregated(node: Node, trees: SyntaxTrees) -> bool:
    grouped = node["group_expressions"] or node["aggregate_handling"] != "STANDARD_HANDLING"
    return bool(grouped) or any(True for _ in _aggregates(node, trees))


def _counts_once(node: Node, trees: SyntaxTrees) -> bool:
    """Check that a row which is there twice changes nothing."""
    if _is_aggregated(node, trees):
        return all(
            each["distinct"] or each["function_name"].lower() in _SAME_TWICE
            for each in _aggregates(node, trees)
        )
    return any(each["type"] == "DISTINCT_MODIFIER" for each in node["modifiers"])


def _first(node: Node, known: Callable[[Any], bool]) -> list[Node]:
    """Return the order and the limit for each shard; none if the result could differ."""
    order = [each for each in node["modifiers"] if each["type"] == "ORDER_MODIFIER"]
    limits = [each for each in node["modifiers"] if each["type"] == "LIMIT_MODIFIER"]
    if len(limits) != 1 or len(order) + 1 != len(node["modifiers"]):
        return []
    aliases = {each["alias"].lower() for each in node["select_list"]} - {""}
    for each in (each["expression"] for part in order for each in part["orders"]):
        names = {name for part in nodes(each) if is_column(part) for name in column_names(part)}
        if not names or not known(each) or names & aliases:
            return []
    [limit] = limits
    counts = [whole_number(limit[part]) if limit[part] else 0 for part in ("limit", "offset")]
    if limit["limit"] is None or None in counts:
        return []
    most = with_number(limit["limit"], sum(each for each in counts if each is not None))
    return [*order, {**limit, "limit": most, "offset": None}]
