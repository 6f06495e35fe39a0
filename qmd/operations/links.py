"""Operation `links`: what a document links to, what links to it, and what is two steps away."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated

from qmd.analytics.rows import Rows
from qmd.declaration.operation import Parameter, operation
from qmd.named_tuple import NamedTuple
from qmd.operations.documents import CurrentFolder
from qmd.wording import on_one_line

if TYPE_CHECKING:
    from pathlib import Path

    from qmd.operations.index import Index
    from qmd.storage.cursor import Cursor
    from qmd.types import DocumentRow

MOST_LINKS = 100
"""Links of each direction."""

SECONDS = 60.0
"""Time limit of the statement. The first one after a change resolves all links of the index."""

LAST_LINE = 2_000_000_000
"""Line that no document has."""

LinkedName = Annotated[
    str,
    Parameter(
        help="collection/path, a docid, or a path; file#Heading for a section.",
        helps={"tool": "Path or #docid; file#Heading for a section."},
        json="file",
        metavar="FILE",
        aliases=("path", "docid", "id", "name", "uri", "document"),
        bare=True,
    ),
]

LinkSteps = Annotated[
    int,
    Parameter(
        help="2: also the documents around those that are linked.",
        helps={"tool": "2: also what those link to."},
        least=1,
        most=2,
        aliases=("depth", "hops"),
        bare=True,
    ),
]


class LinkedDocument(NamedTuple):
    """A document that is linked with another one.

    Attributes:
        direction: "out": it is linked to; "back": it links to the other; "two": it is linked with
            a document that is.
        file: `collection/path`; None: the link leads to no document.
        line: of the first link, in the document that has it, from 1; None: two steps away.
        text: of that link.
        target: as it is written.
        via: of a document that is two steps away: one that lies between.
        ways: links of this kind; of a document that is two steps away, documents between.
    """

    direction: str
    file: str | None
    title: str | None
    line: int | None
    text: str | None
    target: str | None
    via: str | None
    ways: int


@operation(
    title="Links of a document",
    sharded=True,
    description="Links of a document (or file#Heading), out and back; steps 2: also of those.",
    examples=(
        ("What a note links to, and what links to it", "qmd links notes/tea.md"),
        ("Of one section", "qmd links 'notes/coffee.md#Coffee'"),
        ("Also the documents around these, as JSON", "qmd links notes/tea.md --steps 2 --json"),
    ),
)
def links(
    index: Index, name: LinkedName, *, steps: LinkSteps = 1, folder: CurrentFolder = None
) -> Rows[LinkedDocument]:
    """List the links from a document and to it.

    Args:
        name: `collection/path`, a docid, a path, or the end of one; `file#Heading` for the links
            that stand in a section, and those that lead to its heading.
        steps: 2: also documents that are linked with those that are linked.
        folder: where paths such as `./tea.md` begin; see `document_lookup.found`.

    Returns:
        Each document once for each direction: those that it links to, those that link to it, and
        those two steps away, of which the ones with the most documents between come first.

    Raises:
        DocumentNotFound, Ambiguous: the name names no document, or several.
        UsageError: the document has no such heading.
    """
    from qmd.operations.sql import sql
    from qmd.storage.statements import without_header

    document, first, last, anchors = index.read(partial(_section, name, folder))
    given = {"file": document.name, "first": first, "last": last, "anchors": anchors}
    more = {"is_part": bool(anchors), "steps": steps, "most": MOST_LINKS}
    seconds = SECONDS + index.deadline  # of shards on other machines, as a call waits for them
    rows = sql(index, without_header("links/near"), given | more, timeout=seconds)
    return Rows(LinkedDocument, [LinkedDocument(**row) for row in rows])


def _section(
    name: str, folder: Path | None, cursor: Cursor
) -> tuple[DocumentRow, int, int, list[str]]:
    """Find a document, the lines that are meant, and the names of the heading above them."""
    from qmd.operations import document_parts
    from qmd.text import headings, paths

    document, asked = document_parts.resolved(cursor, paths.Range(name, None, None), folder)
    if asked.first is None:
        return document, 1, LAST_LINE, []
    last = LAST_LINE if asked.lines is None else asked.first + asked.lines - 1
    known = document_parts.headings_of(cursor, document)
    above = [each.text for each in known if each.line == asked.first]
    anchors = {spelled for text in above for spelled in (text.lower(), headings.slug(text))}
    return document, asked.first, last, sorted(anchors) or [""]


_TITLES = {"out": "Links to:", "back": "Linked from:", "two": "Two steps away:"}


def in_lines(found: Sequence[LinkedDocument]) -> Iterator[str]:
    """Write linked documents, a line each, below a line for each direction."""
    direction = None
    for each in found:
        if each.direction != direction:
            direction = each.direction
            yield _TITLES[direction]
        yield _in_line(each)


def _in_line(linked: LinkedDocument) -> str:
    text = on_one_line((linked.text or linked.target or "")[:80])
    if linked.file is None:
        return f"  {text} -> {on_one_line(linked.target or '')} (no document), line {linked.line}"
    name = f"  {on_one_line(linked.file)}"
    title = f" - {on_one_line(linked.title[:80])}" if linked.title else ""
    if linked.direction == "two":
        more = f", {linked.ways} ways" if linked.ways > 1 else ""
        return f"{name}{title} (via {on_one_line(linked.via or '')}{more})"
    if linked.direction == "back":
        return f"{name}:{linked.line}{title}"
    return f"{name}{title} (line {linked.line}: {text})"
