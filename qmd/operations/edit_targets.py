"""Target of a write to a document: its place, its section, and others with its title."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from qmd.errors import UsageError
from qmd.operations.writable import DocumentPlace, place_of
from qmd.operations.writing import outline_of
from qmd.wording import on_one_line

if TYPE_CHECKING:
    from qmd.operations.index import Index
    from qmd.storage.cursor import Cursor

Section = tuple[int, int | None] | None
"""First line of a section and its lines; None for the second: to the end of the text."""

MOST_ALIKE = 5
"""Documents with the title of a new one that are named."""


def titled_alike(index: Index, place: DocumentPlace, text: str, title: str | None) -> list[str]:
    """Find documents of the collection that have the title of one that would be new.

    Returns:
        Nothing, if the document is there already.
    """
    from qmd.ingest.stored import find
    from qmd.operations.documents import below
    from qmd.text.markdown import of_document
    from qmd.text.markdown import title as title_of

    own = place.collection.name
    if index.read(partial(find, collection=own, path=place.path)) is not None:
        return []
    if all(each.name != own for each in index.collections()):
        return []
    wanted = (title or title_of(text, place.path, of_document(text, place.path))).strip().casefold()
    known = below(index, own)
    return [each.name for each in known if each.title.strip().casefold() == wanted][:MOST_ALIKE]


def place_and_heading(
    index: Index, name: str, collection: str | None, *, there: bool
) -> tuple[DocumentPlace, str | None]:
    """Find the place of a document, and the heading that stands behind its name.

    Args:
        there: the document has to be there.

    Raises:
        DocumentNotFound, Ambiguous: the name names none that is there, or several.
        UsageError: nothing may be written there.
    """
    from qmd.storage import document_lookup
    from qmd.text.paths import SCHEME

    bare, _, heading = name.rpartition("#")
    tries = [(name, None), (bare, heading)] if bare.strip("# ") else [(name, None)]

    def look(cursor: Cursor) -> tuple[str, str | None] | None:
        for tried, section in tries:
            wanted = f"{collection}/{tried}" if collection else tried
            for each in (wanted, f"{wanted}.md"):
                found = document_lookup.found(cursor, each)
                if found is not None:
                    return found.name, section
        if there:
            raise document_lookup.missing(cursor, name)
        return None

    found = index.read(look)
    if found is None:
        new, section = tries[-1]
        return place_of(index, new, collection), section
    file, section = found
    place = place_of(index, f"{SCHEME}{file}", None)
    if place.file != file:
        raise UsageError(
            f"{on_one_line(file)} cannot be changed: only Markdown and text (.txt) can be."
        )
    return place, section


def section_of(text: str, heading: str | None) -> Section:
    """Find the section of a heading; None: the whole text.

    Raises:
        UsageError: it has no such heading.
    """
    from qmd.text.editing import section_in

    if heading is None:
        return None
    outline = outline_of(text)
    found = section_in(outline, heading)
    if found is None:
        there = ", ".join(on_one_line(each.text) for each in outline[:12])
        raise UsageError(
            f"The document has no heading '{on_one_line(heading)}'.\n\n"
            + (f"It has: {there}." if there else "It has no headings.")
        )
    return found
