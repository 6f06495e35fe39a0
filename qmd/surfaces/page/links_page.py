"""Documents around one: what links to it, what it links to, and what is alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from qmd.errors import QmdError
from qmd.operations import reading
from qmd.operations.similar import similar
from qmd.operations.sql import sql
from qmd.surfaces.page.address import document_url

if TYPE_CHECKING:
    from qmd.analytics.rows import Results, Table
    from qmd.surfaces.tools.dispatch import Toolbox

MOST = 50
"""Links of each direction."""

SECONDS = 8.0
"""Time limit of the statement that resolves all links."""

ALIKE = 8


class Neighbour(NamedTuple):
    """A document, or an address, that is linked to another document.

    Attributes:
        url: None: it is not there.
        note: further words, such as the text of the link.
    """

    text: str
    url: str | None
    note: str = ""


class LinksView(NamedTuple):
    """Documents around one.

    Attributes:
        problem: why links are missing, or None.
    """

    file: str
    title: str
    incoming: list[Neighbour]
    outgoing: list[Neighbour]
    alike: list[Neighbour]
    problem: str | None = None


async def links_view(toolbox: Toolbox, name: str) -> LinksView:
    """Find the documents around one.

    Raises:
        DocumentNotFound: there is no such document.
    """
    opened = await toolbox.look(reading.open_document, name)
    document = opened.document
    alike = await similar_documents(toolbox, document.name)
    view = LinksView(document.name, document.title, [], [], alike)
    try:
        rows: Table = await toolbox.look(
            sql, page_statement("links"), {"file": document.name, "most": MOST}, timeout=SECONDS
        )
    except QmdError as error:
        return view._replace(problem=error.told("tool"))
    for row in rows:
        file, text = row["file"], row["text"]
        if row["incoming"]:
            view.incoming.append(Neighbour(row["title"], document_url(file), text))
        elif file is not None:
            view.outgoing.append(Neighbour(row["title"] or file, document_url(file)))
        else:
            view.outgoing.append(Neighbour(text or row["target"], None, row["target"]))
    return view


async def similar_documents(toolbox: Toolbox, name: str) -> list[Neighbour]:
    """List the documents that are most alike, with the score of each."""
    near: Results = await toolbox.look(similar, name, limit=ALIKE, length=1)
    return [
        Neighbour(each.title, document_url(each.file), f"{round(100 * each.score)} %")
        for each in near
    ]


def page_statement(name: str) -> str:
    """Return a statement of the page, which runs in the sandbox as those of people do."""
    from qmd.storage.statements import without_header

    return without_header(f"page/{name}")
