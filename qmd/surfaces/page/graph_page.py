"""Page of the links around a document: a drawing, and the same as lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import anyio

from qmd.errors import QmdError
from qmd.named_tuple import NamedTuple
from qmd.operations import reading
from qmd.operations.sql import sql
from qmd.surfaces.page.address import document_url
from qmd.surfaces.page.kept_results import kept_results
from qmd.surfaces.page.link_graph import LinkGraph, link_graph
from qmd.surfaces.page.links_page import (
    LONGER,
    Neighbour,
    NeighbourGroup,
    alike_groups,
    page_statement,
)

if TYPE_CHECKING:
    from qmd.analytics.rows import Table
    from qmd.surfaces.tools.dispatch import Toolbox

MOST = 24
"""Documents of each step."""

BETWEEN = 3
"""Documents that are named between two."""

GROUPS = {
    (-1, True): "Links here",
    (0, True): "Linked both ways",
    (1, True): "Linked from here",
    (1, False): "Leads to no document",
    (-2, True): "Two links before",
    (2, True): "Two links on",
}
"""Heads of the lists, by step, and whether there is a document."""


class GraphView(NamedTuple):
    """The documents around one.

    Attributes:
        problem: why links are missing, or None.
    """

    file: str
    title: str
    url: str
    graph: LinkGraph | None
    groups: list[NeighbourGroup]
    problem: str | None = None


async def graph_view(toolbox: Toolbox, name: str) -> GraphView:
    """Find the documents around one, one and two links away.

    Raises:
        DocumentNotFound: there is no such document.
    """
    document = (await toolbox.look(reading.open_document, name)).document
    view = GraphView(document.name, document.title, document_url(document.name), None, [])
    alike: list[NeighbourGroup] = []
    failures: list[Exception] = []

    async def listed() -> None:
        try:
            alike.extend(await alike_groups(toolbox, document.name))
        except Exception as error:
            failures.append(error)

    # Similar passages are found in this process, links in another.
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(listed)
        view = await _linked(toolbox, view)
    if failures:
        raise failures[0]
    return view._replace(groups=[*view.groups, *alike])


async def _linked(toolbox: Toolbox, view: GraphView) -> GraphView:
    """Add the drawing, and the lists of what it shows."""

    async def drawn() -> tuple[LinkGraph | None, list[NeighbourGroup]]:
        rows: Table = await toolbox.look(
            sql,
            page_statement("graph"),
            {"file": view.file, "most": MOST},
            timeout=LONGER,
            takes_long=True,
        )
        found = list(rows)
        return link_graph(view.file, view.title, found), _groups(found)

    try:
        known = kept_results(toolbox)
        kept = await known.get(toolbox, "graph", drawn, document=view.file)
    except QmdError as error:
        return view._replace(problem=error.told("tool"))
    graph, groups = kept.result
    return view._replace(graph=graph, groups=groups)


def _groups(rows: Sequence[Mapping[str, Any]]) -> list[NeighbourGroup]:
    titles = {row["file"]: row["title"] or row["file"] for row in rows}
    groups = []
    for (step, is_there), title in GROUPS.items():
        of = [row for row in rows if row["step"] == step and (row["file"] is not None) == is_there]
        if of:
            items = [_neighbour(row, titles) for row in of]
            groups.append(NeighbourGroup(title, of[0]["total"], items))
    return groups


def _neighbour(row: Mapping[str, Any], titles: Mapping[str, str]) -> Neighbour:
    if row["file"] is None:
        return Neighbour(row["text"] or row["target"], None, row["target"])
    title, url = titles[row["file"]], document_url(row["file"])
    if row["via"]:
        named = [titles[each] for each in row["via"][:BETWEEN]]
        more = len(row["via"]) - len(named)
        note = "by " + ", ".join(named) + (f" and {more} more" if more else "")
        return Neighbour(title, url, note)
    return Neighbour(title, url, row["text"])
