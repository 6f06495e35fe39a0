"""Operations that change documents: append, edit, move, undo, journal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Annotated, NamedTuple

from qmd.analytics.rows import Rows
from qmd.declaration.operation import Parameter, operation
from qmd.errors import UsageError
from qmd.operations.put import DocumentText, Expected, ItsCollection
from qmd.operations.writable import DocumentPlace, dated, place_of
from qmd.operations.writing import (
    apply,
    carry_on,
    check_expected,
    current,
    docid_of,
    existing,
    journal_of,
    outline_of,
    settled,
    written,
)
from qmd.wording import amount, on_one_line

if TYPE_CHECKING:
    from qmd.ingest.journal import DocumentEdit, JournalEntry
    from qmd.operations.index import Index
    from qmd.storage.cursor import Cursor

Section = tuple[int, int | None] | None
"""First line of a section and its lines; None for the second: to the end of the text."""


class DocumentChange(NamedTuple):
    """A write that was done.

    Attributes:
        number: in the journal; `undo` takes it.
        file: `collection/path` of the document, afterwards.
        docid: of it, afterwards; '' if it has gone.
        also: other documents that were changed, such as those with links to a moved one.
    """

    number: int
    action: str
    file: str
    docid: str
    also: tuple[str, ...]
    when: datetime


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

JournalNumber = Annotated[
    int | None,
    Parameter(help="Number of the write; the last one without.", metavar="NUMBER", least=1),
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
        return editing.appended(before, text, _section(before, section))

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
        within = _section(known, section)
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
    return _told(entry)


@operation(
    title="Undo a write",
    description="Undo the last write to a document, or the one of a number.",
    writes=True,
    idempotent=False,
    guarded=True,
    destructive=True,
    examples=(
        ("Undo the last write", "qmd undo"),
        ("Undo one that `qmd journal` lists", "qmd undo 1"),
    ),
)
async def undo(index: Index, number: JournalNumber = None) -> DocumentChange:
    """Undo a write to documents: put, append, edit, move, remove, and undo itself.

    Args:
        number: of the write in the journal; None: the last one that is not undone.

    Raises:
        WriteConflict: a document has been changed since.
        UsageError: there is nothing to undo, or no write has the number.
    """
    journal = journal_of(index)

    def chosen() -> JournalEntry:
        from qmd.ingest.journal import active

        entries = journal.entries()
        found = entries if number is not None else active(entries)
        fitting = [each for each in found if number in (None, each.number)]
        if not fitting:
            raise UsageError(
                "There is nothing to undo." if number is None else f"No write has number {number}."
            )
        return fitting[-1]

    def find() -> DocumentPlace:
        with journal.locked():
            carry_on(index, journal)
        first = chosen().edits[0]
        return place_of(index, f"qmd://{first.file}", None)

    def work(_: DocumentPlace) -> JournalEntry:
        with journal.locked():
            carry_on(index, journal)
            entry = chosen()
            backwards = [each.reversed for each in reversed(entry.edits)]
            for each in backwards:
                place = place_of(index, f"qmd://{each.file}", None)
                text = current(index, place)
                if text != each.before:
                    check_expected(
                        place.file, text, "new" if each.before is None else docid_of(each.before)
                    )
            return journal.carry_out("undo", backwards, partial(apply, index), undoes=entry.number)

    _, entry = await settled(index, find, work)
    return _told(entry)


@operation(
    title="Journal of writes",
    absent={"tool": "An agent knows what it has written, and undo tells what it undoes."},
    examples=(
        ("What was written to documents, the last first", "qmd journal"),
        ("For a program", "qmd journal --json"),
    ),
)
def journal(index: Index) -> Rows[DocumentChange]:
    """List the writes to documents that can be undone, the last one first."""
    return Rows(DocumentChange, [_told(each) for each in reversed(journal_of(index).entries())])


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
    """DocumentChange the text of one document.

    Args:
        change: is given the text and the heading of the section that is meant.
        there: the document has to be there.
    """
    section = heading

    def find() -> DocumentPlace:
        nonlocal section
        place, named = _resolved(index, name, collection, there=there)
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
    return _told(entry)


def _place(index: Index, name: str, collection: str | None, *, there: bool) -> DocumentPlace:
    return _resolved(index, name, collection, there=there)[0]


def _resolved(
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


def _section(text: str, heading: str | None) -> Section:
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


def _told(entry: JournalEntry) -> DocumentChange:
    main = _main(entry.edits)
    others = [each.file for each in entry.edits if each is not main and each.after is not None]
    docid = docid_of(main.after) if main.after is not None else ""
    return DocumentChange(entry.number, entry.action, main.file, docid, tuple(others), entry.when)


def _main(edits: Sequence[DocumentEdit]) -> DocumentEdit:
    """Return the edit of the document that was meant: of a moved one, that at its new path."""
    return next((each for each in edits if each.before is None), edits[0])


def in_words(done: DocumentChange) -> str:
    """Say what was done, and how it is undone, in a line for people and models."""
    verb = {
        "append": "Appended to",
        "edit": "Edited",
        "move": "Moved to",
        "undo": "Undid the write to",
    }.get(done.action, done.action.capitalize())
    docid = f" ({done.docid})" if done.docid else ""
    also = f"; {amount(len(done.also), 'other document')} changed" if done.also else ""
    return f"{verb} {on_one_line(done.file)}{docid}{also}. Undo: {done.number}"
