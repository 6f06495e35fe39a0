"""Operations that change documents: append, edit, move."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Annotated

from qmd.declaration.operation import Parameter, operation
from qmd.errors import UsageError
from qmd.operations.document_changes import DocumentChange, change_of
from qmd.operations.edit_targets import place_and_heading, section_of
from qmd.operations.put import DocumentText, Expected, ItsCollection
from qmd.operations.writable import DocumentPlace, dated
from qmd.operations.writing import existing, settled, written
from qmd.wording import on_one_line

if TYPE_CHECKING:
    from qmd.ingest.journal import JournalEntry
    from qmd.operations.index import Index

ChangedName = Annotated[
    str,
    Parameter(
        help="collection/path, a docid, or a path; file#Heading for a section.",
        helps={"tool": "Path or #docid; file#Heading for a section."},
        metavar="NAME",
        longest=1000,
        json="file",
        aliases=("name", "path", "id", "document", "filename"),
    ),
]

ItsHeading = Annotated[
    str | None,
    Parameter(
        help="Its section of this heading.",
        metavar="HEADING",
        longest=1000,
        aliases=("section",),
        bare=True,
    ),
]

OldPassage = Annotated[
    str | None,
    Parameter(
        help="A passage that occurs once, in whose place the text is put.",
        helps={"tool": "A passage that occurs once, to be replaced."},
        longest=100_000,
        metavar="WORDS",
        aliases=("oldText", "oldString", "find", "search"),
    ),
]

NewName = Annotated[
    str | None,
    Parameter(
        help="Its new path in the collection.",
        metavar="NAME",
        longest=1000,
        aliases=("newName", "newPath", "destination", "target"),
    ),
]

NewDocumentTitle = Annotated[
    str | None, Parameter(help="Its new title.", longest=1000, metavar="WORDS")
]


@operation(
    title="Append to a document",
    description="Append a text to a document, or to the section of a heading; one that is not "
    "there is made. @today in the name is the date.",
    writes=True,
    idempotent=False,
    guarded=True,
    examples=(
        ("Append to a note", "echo '- Oolong: 90 °C' | qmd append ideas/tea"),
        ("To one of its sections", "echo '- Rinse it.' | qmd append 'ideas/tea#Pots'"),
        ("To the note of today", "echo '- Called Ann.' | qmd append 'log/@today'"),
    ),
)
async def append(
    index: Index,
    name: ChangedName,
    text: DocumentText,
    *,
    heading: ItsHeading = None,
    collection: ItsCollection = None,
    expected: Expected = None,
) -> DocumentChange:
    """Append a text to a document, which is made if it is not there.

    Args:
        name: a document, as `get` takes it, or a new one, as `put` takes it; `@today` in it is
            the date of today.
        text: Markdown.
        heading: of the section at whose end it is put; None: at the end of the document.
        collection: of a new document; None: `inbox`.
        expected: docid of the version that was read; `new`: there must be none; None: any.

    Raises:
        WriteConflict: the document is not what `expected` says, or has just been written.
        UsageError: it has no such heading, or its collection is not writable.
    """
    from qmd.text import composing, editing

    composing.with_metadata(text)  # refuses what is no text

    def change(before: str | None, section: str | None) -> str:
        if before is None:
            if section is not None:
                raise UsageError(f"'{on_one_line(name)}' is not there, so it has no sections.")
            return text if text.endswith("\n") else f"{text}\n"
        return editing.appended(before, text, section_of(before, section))

    asked = dated(name)
    return await _changed(index, "append", asked, collection, heading, change, expected)


@operation(
    title="Edit a document",
    description="Replace a section (by heading) or one passage (old) of a document by a text.",
    writes=True,
    guarded=True,
    destructive=True,
    examples=(
        ("Replace a section", "echo 'Glass is best.' | qmd edit 'ideas/tea#Pots'"),
        ("Replace a passage", "echo '75 °C' | qmd edit ideas/tea --old '80 °C'"),
    ),
)
async def edit(
    index: Index,
    name: ChangedName,
    text: DocumentText,
    *,
    heading: ItsHeading = None,
    old: OldPassage = None,
    expected: Expected = None,
) -> DocumentChange:
    """Replace a section or a passage of a document.

    Args:
        name: a document, as `get` takes it; `file#Heading` names a section.
        text: in place of what is below the heading, or of the passage; with a heading of its own,
            it replaces the old heading, too.
        heading: of the section that is replaced.
        old: a passage that occurs once; if a section is named, in that section.
        expected: docid of the version that was read; None: any.

    Raises:
        DocumentNotFound: there is no such document.
        WriteConflict: the document is not what `expected` says, or has just been written.
        UsageError: it has no such heading or passage, or its collection is not writable.
    """
    from qmd.text import editing

    def change(before: str | None, section: str | None) -> str:
        known = before or ""
        if old is not None:
            return editing.with_passage(known, old, text.removesuffix("\n"))
        within = section_of(known, section)
        if within is None:
            raise UsageError(
                "Say what is replaced: a section as file#Heading, or a passage with old.\n\n"
                "`put` replaces a whole document."
            )
        return editing.with_section(known, within, text)

    return await _changed(index, "edit", name, None, heading, change, expected, there=True)


@operation(
    title="Move or retitle a document",
    description="Rename or move a document in its collection, or give it another title; links "
    "to it are repaired.",
    writes=True,
    guarded=True,
    destructive=True,
    examples=(
        ("Rename a note; links to it follow", "qmd move ideas/tea drinks/green-tea"),
        ("Give it another title", "qmd move ideas/tea --title 'Green tea'"),
    ),
)
async def move(
    index: Index,
    name: ChangedName,
    to: NewName = None,
    *,
    title: NewDocumentTitle = None,
    expected: Expected = None,
) -> DocumentChange:
    """Move a document to another path of its collection, or give it another title.

    Links to it in documents of the collection are repaired, and so are its own.

    Args:
        name: a document, as `get` takes it.
        to: its new path; a suffix `.md` is added. None: it stays where it is.
        title: in its front matter if that has one, else its first heading.
        expected: docid of the version that was read; None: any.

    Raises:
        DocumentNotFound: there is no such document.
        WriteConflict: it is not what `expected` says, or there is a document at the new path.
        UsageError: nothing is to be changed, or the collection is not writable.
    """
    from qmd.operations import moving

    if to is None and not (title and title.strip()):
        raise UsageError("Say where it moves to, or its new title.")

    def work(place: DocumentPlace) -> JournalEntry:
        return moving.moved(index, place, to, title, expected)

    _, entry = await settled(index, partial(_place, index, name, None, there=True), work)
    return change_of(entry)


async def _changed(
    index: Index,
    action: str,
    name: str,
    collection: str | None,
    heading: str | None,
    change: Callable[[str | None, str | None], str],
    expected: str | None,
    *,
    there: bool = False,
) -> DocumentChange:
    """Change the text of one document.

    Args:
        change: is given the text and the heading of the section that is meant.
        there: the document has to be there.
    """
    section = heading

    def find() -> DocumentPlace:
        nonlocal section
        place, named = place_and_heading(index, name, collection, there=there)
        if named and heading and named != heading:
            raise UsageError("Name one heading: behind the file, or on its own.")
        section = named or heading
        return place

    def work(place: DocumentPlace) -> JournalEntry:
        def changed(before: str | None) -> str:
            known = existing(index, place, before) if there or before is not None else None
            return change(known, section)

        return written(index, action, place, changed, expected=expected)

    _, entry = await settled(index, find, work)
    return change_of(entry)


def _place(index: Index, name: str, collection: str | None, *, there: bool) -> DocumentPlace:
    return place_and_heading(index, name, collection, there=there)[0]
