"""Drawing of the links around a document, from the left to the right.

Columns keep names readable, which a drawing with springs does not, and each line runs from left
to right as the link does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from qmd.named_tuple import NamedTuple
from qmd.surfaces.page.address import document_url, links_url
from qmd.text.display_width import cut_to

WIDE, HIGH, GAP, LINE = 196, 26, 54, 32
"""Width and height of a name, the room between columns, and the height of a row, in units of the
view box, which are pixels on a wide screen."""

TOP = 34
"""Room for the heads of the columns."""

MOST = 20
"""Names of a column."""

NAME = 24
"""Columns of text that fit into a name: letters of 12 units are about 7 wide."""

HEADS = {
    -2: "Two links before",
    -1: "Links here",
    0: "This document",
    1: "Linked from here",
    2: "Two links on",
}

Place = tuple[int, float]


class GraphLine(NamedTuple):
    """A link of the drawing.

    Attributes:
        path: from the left to the right.
        is_mutual: it has an arrow at both ends.
    """

    path: str
    is_mutual: bool


class GraphNode(NamedTuple):
    """A document of the drawing.

    Attributes:
        x, y: of its left upper corner.
        step: column, from -2 to 2.
        label: its title, cut.
        url: of the links around it; of the middle one, of the document.
        lines: to it, or from it, towards the middle.
    """

    x: int
    y: float
    step: int
    label: str
    title: str
    file: str
    url: str
    lines: list[GraphLine]


class LinkGraph(NamedTuple):
    """Drawing of the links around a document.

    Attributes:
        heads: places and texts of the heads of columns.
        nodes: column by column.
    """

    width: int
    height: int
    heads: list[tuple[int, str]]
    nodes: list[GraphNode]


class _Drawn(NamedTuple):
    """A document that is drawn, and those towards the middle that it has lines to."""

    file: str
    title: str
    towards: tuple[str, ...] = ()
    is_mutual: bool = False


def link_graph(file: str, title: str, rows: Iterable[Mapping[str, Any]]) -> LinkGraph | None:
    """Arrange the documents around one; None: there are none.

    Args:
        rows: of the statement `page/graph`.
    """
    columns = _columns(file, title, [row for row in rows if row["file"] is not None])
    if len(columns) == 1:
        return None
    most = max(map(len, columns.values()))
    at: dict[str, Place] = {}
    for step in sorted(columns, key=abs):
        x = list(columns).index(step) * (WIDE + GAP)
        _place(columns[step], at, x, TOP + (most - len(columns[step])) * LINE / 2)
    return LinkGraph(
        len(columns) * (WIDE + GAP) - GAP,
        TOP + most * LINE,
        [(number * (WIDE + GAP), HEADS[step]) for number, step in enumerate(columns)],
        [_node(each, step, at) for step, column in columns.items() for each in column],
    )


def _columns(file: str, title: str, rows: Sequence[Mapping[str, Any]]) -> dict[int, list[_Drawn]]:
    """Choose the documents of each column; columns without any are left out."""
    found: dict[int, list[_Drawn]] = {step: [] for step in HEADS}
    found[0].append(_Drawn(file, title))
    for row in sorted((row for row in rows if abs(row["step"]) < 2), key=lambda row: row["step"]):
        # What is linked both ways stands at the right, before the others.
        found[row["step"] or 1].append(_Drawn(row["file"], row["title"], (file,), not row["step"]))
    for row in rows:
        if abs(row["step"]) == 2:
            shown = {each.file for each in found[row["step"] // 2][:MOST]}
            between = tuple(each for each in row["via"] if each in shown)
            if between:
                found[row["step"]].append(_Drawn(row["file"], row["title"], between))
    return {step: column[:MOST] for step, column in found.items() if column}


def _place(column: list[_Drawn], at: dict[str, Place], x: int, y: float) -> None:
    """Place a column; documents of the second step stand beside those that they have lines to."""

    def beside(each: _Drawn) -> float:
        return sum(at[other][1] for other in each.towards) / (len(each.towards) or 1)

    column.sort(key=beside)
    for number, each in enumerate(column):
        at[each.file] = (x, y + number * LINE)


def _node(drawn: _Drawn, step: int, at: Mapping[str, Place]) -> GraphNode:
    here = at[drawn.file]
    lines = [
        GraphLine(_curve(here, at[each]) if step < 0 else _curve(at[each], here), drawn.is_mutual)
        for each in drawn.towards
    ]
    url = links_url(drawn.file) if step else document_url(drawn.file)
    title = drawn.title or drawn.file
    return GraphNode(*here, step, cut_to(title, NAME), title, drawn.file, url, lines)


def _curve(start: Place, end: Place) -> str:
    """Draw a curve from the right side of a name to the left side of another."""
    left, right = start[0] + WIDE + 3, end[0] - 3
    middle = (left + right) / 2
    high, low = start[1] + HIGH / 2, end[1] + HIGH / 2
    return f"M{left} {high:g}C{middle:g} {high:g} {middle:g} {low:g} {right} {low:g}"
