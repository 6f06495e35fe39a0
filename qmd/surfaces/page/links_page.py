"""Documents around one: what links to it, what it links to, and what is alike."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from qmd.errors import QmdError
from qmd.named_tuple import NamedTuple
from qmd.operations import reading
from qmd.operations.similar import similar
from qmd.operations.sql import sql
from qmd.surfaces.page.address import AddressedSearch, document_url
from qmd.surfaces.page.kept_results import kept_results
from qmd.surfaces.page.markdown_html import plain_text

if TYPE_CHECKING:
    from qmd.analytics.rows import Results, Table
    from qmd.surfaces.tools.dispatch import Toolbox
    from qmd.types import Result

MOST = 50
"""Links of each direction."""

SECONDS, LONGER = 8.0, 40.0
"""Time limits of a statement, and of one that may resolve all links."""

ALIKE = 8

LENGTH = 240
"""Characters of a similar passage."""

PAST = 10
"""Other versions of a text, and searches that found it."""

HISTORY = {
    "copy": "Same text",
    "version": "Nearly the same text",
    "search": "Searches that found it",
}
"""Heads of the lists, in their order."""


_NUMBERED = re.compile(r"\d+: ?")
"""Number of a line of a snippet."""


class Neighbour(NamedTuple):
    """A document, an address or a search that has to do with a document.

    Attributes:
        url: None: it is not there.
        note: further words, such as the text of the link.
        passage: words of it that are shown.
    """

    text: str
    url: str | None
    note: str = ""
    passage: str = ""


class NeighbourGroup(NamedTuple):
    """A list of neighbours.

    Attributes:
        total: how many there are, with those that are not listed.
        empty: what is said if there is none.
        notice: what is said below the list, or None.
    """

    title: str
    total: int
    items: list[Neighbour]
    empty: str = ""
    notice: str | None = None


class AroundView(NamedTuple):
    """Lists of what is around a document.

    Attributes:
        drawing: a drawing shows the same.
        problem: why lists are missing, or None.
    """

    file: str
    groups: list[NeighbourGroup]
    drawing: bool = False
    problem: str | None = None


async def links_view(toolbox: Toolbox, name: str) -> AroundView:
    """Find what links to a document, and what it links to.

    Raises:
        DocumentNotFound: there is no such document.
    """
    document = (await toolbox.look(reading.open_document, name)).document

    async def listed() -> AroundView:
        rows: Table = await toolbox.look(
            sql,
            page_statement("links"),
            {"file": document.name, "most": MOST},
            timeout=LONGER,
            takes_long=True,
        )
        return _listed(document.name, rows)

    try:
        known = kept_results(toolbox)
        kept = await known.get(toolbox, "links", listed, document=document.name)
    except QmdError as error:
        return AroundView(document.name, [], problem=error.told("tool"))
    return kept.result


def _listed(name: str, rows: Table) -> AroundView:
    """Arrange links to a document, and from it."""
    incoming, outgoing = [], []
    for row in rows:
        file, text = row["file"], row["text"]
        if row["incoming"]:
            incoming.append(Neighbour(row["title"], document_url(file), text))
        elif file is not None:
            outgoing.append(Neighbour(row["title"] or file, document_url(file)))
        else:
            outgoing.append(Neighbour(text or row["target"], None, row["target"]))
    groups = [
        NeighbourGroup("Links here", len(incoming), incoming, "No document links here."),
        NeighbourGroup("Links from here", len(outgoing), outgoing, "No links."),
    ]
    return AroundView(name, groups, drawing=bool(incoming or outgoing))


async def alike_view(toolbox: Toolbox, name: str) -> AroundView:
    """Find passages of other documents that are like a document, and what its past tells.

    Raises:
        DocumentNotFound: there is no such document.
    """
    document = (await toolbox.look(reading.open_document, name)).document
    return AroundView(document.name, await alike_groups(toolbox, document.name))


async def alike_groups(toolbox: Toolbox, name: str) -> list[NeighbourGroup]:
    """List similar passages, other versions of the text, and searches that found it.

    Args:
        name: `collection/path` of the document.
    """

    async def alike() -> NeighbourGroup:
        return _alike(await toolbox.look(similar, name, limit=ALIKE, length=LENGTH))

    async def versions() -> list[NeighbourGroup]:
        return await _history(toolbox, "versions", name)

    async def searches() -> list[NeighbourGroup]:
        return await _history(toolbox, "found_by", name)

    kept = kept_results(toolbox)
    passages = await kept.get(toolbox, "alike", alike, document=name)
    try:
        texts = await kept.get(toolbox, "versions", versions, document=name)
        asked = await kept.get(toolbox, "searches", searches, document=name, with_log=True)
    except QmdError as error:
        return [passages.result, NeighbourGroup("History", 0, [], error.told("tool"))]
    return [passages.result, *texts.result, *asked.result]


def _alike(near: Results) -> NeighbourGroup:
    """List similar passages."""
    passages = [
        Neighbour(
            each.title,
            document_url(each.file, line=each.line, fragment="hit" if each.line else ""),
            f"{round(100 * each.score)} %",
            _passage(each),
        )
        for each in near
    ]
    return NeighbourGroup(
        "Similar passages", len(passages), passages, "Nothing is alike.", near.notice
    )


def _passage(each: Result) -> str:
    """Return the words of a snippet, without a title that stands above them."""
    lines = [_NUMBERED.sub("", line) for line in each.snippet.splitlines()]
    if lines and lines[0].lstrip("# ").strip() == each.title:
        del lines[0]
    return plain_text("\n".join(lines))


async def _history(toolbox: Toolbox, statement: str, name: str) -> list[NeighbourGroup]:
    """List what a statement tells of the past of a document."""
    rows: Table = await toolbox.look(
        sql, page_statement(statement), {"file": name, "most": PAST}, timeout=SECONDS
    )
    found: dict[str, list[Neighbour]] = {part: [] for part in HISTORY}
    totals = {row["part"]: row["total"] for row in rows}
    for row in rows:
        day = f"{row['moment']:%Y-%m-%d}"
        if row["file"] is None:
            url = AddressedSearch(query=row["text"]).url()
            times = f", {row['times']} times" if row["times"] > 1 else ""
            found[row["part"]].append(Neighbour(row["text"], url, f"{day}{times}"))
        else:
            url = document_url(row["file"])
            found[row["part"]].append(Neighbour(row["text"], url, f"{day} · {row['file']}"))
    return [
        NeighbourGroup(title, totals[part], found[part])
        for part, title in HISTORY.items()
        if found[part]
    ]


def page_statement(name: str) -> str:
    """Return a statement of the page, which runs in the sandbox as those of people do."""
    from qmd.storage.statements import without_header

    return without_header(f"page/{name}")
