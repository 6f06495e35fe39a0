"""Page to look at the index as a whole: documents over time, by folder and tag, and loose ends."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import TYPE_CHECKING

from qmd.errors import QmdError, SqlOutOfMemory
from qmd.named_tuple import NamedTuple
from qmd.operations.sql import sql
from qmd.surfaces.page.address import AddressedSearch, document_url
from qmd.surfaces.page.kept_results import kept_results
from qmd.surfaces.page.links_page import (
    LONGER,
    SECONDS,
    Neighbour,
    NeighbourGroup,
    page_statement,
)

if TYPE_CHECKING:
    from qmd.analytics.rows import Table
    from qmd.surfaces.tools.dispatch import Toolbox

MOST_PERIODS = 120
"""Bars over time: ten years of months."""

MOST_SHARES = 15

SPARING, LITTLE, MUCH = "200MB", "1GB", "2GB"
"""Memory of a statement over all links, of another, and of one over links that has failed for want
of it. DuckDB fills what it may have with parts of the index: a million links need the first."""

MOST_ENDS = 20
"""Loose ends of each sort that are shown; `qmd sql` shows all."""

WIDE, HIGH = 10, 100
"""Of a bar over time with the room around it, and of the drawing, in units of its view box."""

LABELS = 12
"""Labels under the drawing at most."""

PARTS = {
    "collection": "Collections",
    "folder": "Folders",
    "tag": "Tags",
    "kind": "Kinds of file",
}

OF_LINKS = {
    "broken": ("Broken links", "Every link leads somewhere."),
    "orphan": ("No document links here", "Every document is linked to."),
}

OF_SEARCHES = {
    "vain": ("Searches without a result", "Every search in the log has found something."),
    "unfound": ("Never found", "Searches have found every document."),
}


class Period(NamedTuple):
    """A bar over time.

    Attributes:
        x: its left side.
        height: in the same units; at least one unit where there is a document.
        url: of a search for its documents.
    """

    label: str
    documents: int
    x: int
    height: float
    url: str


class Share(NamedTuple):
    """Documents with something in common.

    Attributes:
        percent: of the largest share of its group.
    """

    name: str
    documents: int
    percent: float
    url: str


class LookView(NamedTuple):
    """The index at a glance.

    Attributes:
        width: of the drawing over time.
        groups: names, with shares.
        problem: why it is not there.
    """

    periods: list[Period]
    labels: list[tuple[int, str]]
    width: int
    groups: list[tuple[str, list[Share]]]
    problem: str | None = None


class EndsView(NamedTuple):
    """Loose ends."""

    groups: list[NeighbourGroup]
    problem: str | None = None


async def look_view(toolbox: Toolbox) -> LookView:
    """Count documents over time, by collection, folder, tag and kind of file."""

    async def counted() -> LookView:
        times = await _rows(toolbox, "over_time", MOST_PERIODS)
        return _counted(times, await _rows(toolbox, "shares", MOST_SHARES))

    try:
        return (await kept_results(toolbox).get(toolbox, "look", counted)).result
    except QmdError as error:
        return LookView([], [], 0, [], problem=error.told("tool"))


def _counted(times: Table, shares: Table) -> LookView:
    """Arrange periods and shares."""
    periods = _periods(times)
    step = -(-len(periods) // LABELS) or 1
    groups: dict[str, list[Share]] = {part: [] for part in PARTS}
    for row in shares:
        group = groups[row["part"]]
        most = group[0].documents if group else row["documents"]
        percent = round(100 * row["documents"] / most, 2)
        url = _search(row["part"], row["name"]).url()
        group.append(Share(row["name"], row["documents"], percent, url))
    return LookView(
        periods,
        [(each.x, each.label) for each in periods[::step]],
        WIDE * len(periods),
        [(PARTS[part], group) for part, group in groups.items() if group],
    )


async def ends_view(toolbox: Toolbox) -> EndsView:
    """List broken links, searches in vain, and documents that nothing leads to."""
    kept = kept_results(toolbox)

    async def of_links() -> list[NeighbourGroup]:
        given = "loose_ends", MOST_ENDS
        try:
            rows = await _rows(toolbox, *given, is_long=True, memory=SPARING)
        except SqlOutOfMemory:
            rows = await _rows(toolbox, *given, is_long=True, memory=MUCH)
        return _ends(rows, OF_LINKS)

    async def of_searches() -> list[NeighbourGroup]:
        return _ends(await _rows(toolbox, "search_ends", MOST_ENDS, is_long=True), OF_SEARCHES)

    try:
        links = await kept.get(toolbox, "loose ends", of_links)
        searches = await kept.get(toolbox, "ends of searches", of_searches, with_log=True)
    except QmdError as error:
        return EndsView([], error.told("tool"))
    return EndsView([*links.result, *searches.result])


def _ends(rows: Table, parts: Mapping[str, tuple[str, str]]) -> list[NeighbourGroup]:
    """Group loose ends by their parts."""
    found: dict[str, list[Neighbour]] = {part: [] for part in parts}
    totals = dict.fromkeys(parts, 0)
    for row in rows:
        part, file = row["part"], row["file"]
        totals[part] = row["total"]
        if file is None:
            url = AddressedSearch(query=row["text"]).url()
        else:
            url = document_url(file, line=row["line"] or 0, fragment="hit" if row["line"] else "")
        note = f"{file} → {row['note']}" if part == "broken" else file or f"{row['note']} ×"
        found[part].append(Neighbour(row["text"] or row["note"], url, note))
    return [
        NeighbourGroup(title, totals[part], found[part], empty)
        for part, (title, empty) in parts.items()
    ]


async def _rows(
    toolbox: Toolbox, name: str, most: int, *, is_long: bool = False, memory: str = LITTLE
) -> Table:
    rows: Table = await toolbox.look(
        sql,
        page_statement(name),
        {"most": most},
        timeout=LONGER if is_long else SECONDS,
        memory=memory,
        asks_models=is_long,
    )
    return rows


def _search(part: str, name: str) -> AddressedSearch:
    match part:
        case "collection":
            return AddressedSearch(collections=(name,))
        case "folder":
            return AddressedSearch(folder=name)
        case "tag":
            return AddressedSearch(tags=(name,))
        case _:
            return AddressedSearch(kind=name)


def _periods(rows: Table) -> list[Period]:
    """Arrange bars by time, with gaps where there are no documents."""
    counts = {row["starts"]: (row["ends"], row["documents"], row["is_year"]) for row in rows}
    if not counts:
        return []
    most = max(documents for _, documents, _ in counts.values())
    is_year = next(iter(counts.values()))[2]
    found: list[Period] = []
    start, last = min(counts), max(counts)
    while start <= last:
        end, documents, _ = counts.get(start, (_after(start, is_year), 0, is_year))
        label = f"{start.year:04}" if is_year else f"{start.year:04}-{start.month:02}"
        url = AddressedSearch(since=start.isoformat(), before=end.isoformat()).url()
        height = max(round(HIGH * documents / most, 2), 1) if documents else 0
        found.append(Period(label, documents, 0, height, url))
        start = end
    shown = found[-MOST_PERIODS:]
    return [each._replace(x=WIDE * at) for at, each in enumerate(shown)]


def _after(start: date, is_year: bool) -> date:
    """Return the first day of the next period."""
    if is_year or start.month == 12:
        return date(start.year + 1, 1, 1)
    return date(start.year, start.month + 1, 1)
