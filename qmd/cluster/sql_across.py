"""Views whose rows compare documents: over shards they are computed where the command runs.

The shards give the rows that such a view reads, of all documents: those of other views, and columns
of tables. The view itself is the same as over one index.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from qmd.analytics.views import View, needed, views
from qmd.cluster.sql_trees import Statement, SyntaxTrees, select_of

if TYPE_CHECKING:
    from qmd.analytics.statement_check import CheckedStatement

INDEX = "qmd_index"
"""Catalog of the tables of an index."""

ACROSS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "links": {
        "documents": tuple("document_id collection path title aliases metadata reader".split())
    },
    "backlinks": {},
    "broken_links": {
        "documents": ("collection", "path", "hash"),
        "content": ("hash", "body"),
        "text_pieces": ("hash", "number", "text"),
    },
    "orphans": {},
}
"""Such views, with the columns of tables that each reads itself."""


def read_across(request: CheckedStatement) -> list[View]:
    """List the views of this kind that a query reads, each after those that it depends on."""
    names = needed(request.names - request.own)
    return [view for view in views() if view.name in names and view.name in ACROSS]


def tables_below(trees: SyntaxTrees, across: list[View]) -> dict[str, Statement]:
    """Make the statements for the columns of tables, by table."""
    wanted: dict[str, list[str]] = {}
    for view in across:
        for table, columns in ACROSS[view.name].items():
            wanted.setdefault(table, []).extend(columns)
    found = {}
    for table, names in wanted.items():
        node = select_of(trees, table, [trees.column(each) for each in dict.fromkeys(names)])
        node["from_table"]["schema_name"] = INDEX
        found[table] = trees.written(node)
    return found
