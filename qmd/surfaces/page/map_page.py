"""Page with the map of documents: near points are alike in meaning."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from starlette.datastructures import QueryParams

from qmd.errors import QmdError
from qmd.named_tuple import NamedTuple
from qmd.operations import statistics
from qmd.surfaces.page.address import AddressedSearch, document_url
from qmd.surfaces.page.kept_results import kept_results
from qmd.surfaces.page.links_page import Neighbour
from qmd.surfaces.page.map_points import HEIGHT, WIDTH, GroupLabel, MapDrawing, map_drawing
from qmd.surfaces.page.search_page import found_documents

if TYPE_CHECKING:
    from qmd.surfaces.page.kept_results import KeptResult
    from qmd.surfaces.tools.dispatch import Toolbox

HITS = 20
"""Results that are lit up."""

_AT = re.compile(r"([0-9]{1,4})[, ]([0-9]{1,4})")


class MapHit(NamedTuple):
    """A result of the search.

    Attributes:
        spot: its place, or None: it has no vectors.
    """

    number: int
    title: str
    file: str
    url: str
    spot: tuple[int, int] | None


class MapView(NamedTuple):
    """The map as it is shown.

    Attributes:
        at: place that was chosen, or None.
        near: documents around that place.
        labels: with addresses of their places.
        version: of the picture, which its address holds: a browser keeps it until it changes.
        problem: why there is no map, or no results.
    """

    asked: AddressedSearch
    drawing: MapDrawing | None
    at: tuple[int, int] | None
    near: list[Neighbour]
    hits: list[MapHit]
    labels: list[tuple[GroupLabel, str]]
    version: str = ""
    notice: str | None = None
    problem: str | None = None


async def kept_map(toolbox: Toolbox) -> KeptResult[MapDrawing]:
    """Return the map of a server, computed if the index has changed.

    Raises:
        QmdError: there are no vectors, or the index cannot be read.
    """

    async def drawn() -> MapDrawing:
        return map_drawing(await toolbox.look(statistics.map, asks_models=True))

    return await kept_results(toolbox).get(toolbox, "map", drawn)


async def map_view(toolbox: Toolbox, given: QueryParams) -> MapView:
    """Draw the map, and search in it."""
    asked = AddressedSearch.read(given)
    found = _AT.fullmatch(given.get("at", ""))
    at = (min(int(found[1]), WIDTH), min(int(found[2]), HEIGHT)) if found else None
    view = MapView(asked, None, at, [], [], [])
    try:
        kept = await kept_map(toolbox)
    except QmdError as error:
        return view._replace(problem=error.told("tool"))
    drawing = kept.result
    view = view._replace(
        drawing=drawing,
        version=kept.state,
        labels=[(each, map_url(asked, (round(each.x), round(each.y)))) for each in drawing.labels],
        near=_near(drawing, at),
    )
    if not asked.query.strip():
        return view
    try:
        results = await found_documents(toolbox, asked, HITS)
    except QmdError as error:
        return view._replace(problem=error.told("tool"))
    numbers = {file: number for number, file in enumerate(drawing.files)}
    hits = []
    for rank, each in enumerate(results, 1):
        number = numbers.get(each.file)
        x, y = drawing.places[number].tolist() if number is not None else (0, 0)
        url = document_url(
            each.file, fragment="hit" if each.line else "", q=asked.query, line=each.line
        )
        spot = (x, y) if number is not None else None
        hits.append(MapHit(rank, each.title, each.file, url, spot))
    return view._replace(hits=hits, notice=results.notice)


async def near_view(toolbox: Toolbox, given: QueryParams) -> MapView:
    """List the documents around a place of the map, without a search."""
    return await map_view(toolbox, QueryParams({"at": given.get("at", "")}))


def map_url(asked: AddressedSearch, at: tuple[int, int] | None = None) -> str:
    """Return the address of the map with a search, and a place that is chosen."""
    query = asked.parameters()
    if at is None:
        return f"/map{query}"
    return f"/map{query}{'&' if query else '?'}at={at[0]},{at[1]}"


def _near(drawing: MapDrawing, at: tuple[int, int] | None) -> list[Neighbour]:
    if at is None:
        return []
    return [
        Neighbour(drawing.titles[each], document_url(drawing.files[each]), drawing.files[each])
        for each in drawing.near(*at)
    ]
