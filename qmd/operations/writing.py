"""Writes to documents under a lock, noted in a journal before they are done."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from qmd.errors import DocumentNotFound, UsageError, WriteConflict
from qmd.operations.writable import place_of
from qmd.wording import on_one_line

if TYPE_CHECKING:
    from qmd.ingest.journal import DocumentEdit, JournalEntry, WriteJournal
    from qmd.operations.index import Index
    from qmd.operations.writable import DocumentPlace
    from qmd.text.headings import SectionHeading

Done = TypeVar("Done")

NEW = "new"
"""Expectation that there is no document yet."""

_LOSSLESS = "surrogateescape"
"""Bytes that are not UTF-8 come back as they were."""


def journal_of(index: Index) -> WriteJournal:
    """Return the journal beside the index."""
    from qmd.ingest.journal import WriteJournal

    return WriteJournal(index.place.database)


def written(
    index: Index,
    action: str,
    place: DocumentPlace,
    change: Callable[[str | None], str | None],
    *,
    expected: str | None = None,
) -> JournalEntry:
    """Write one document, or remove it.

    Args:
        action: name of the operation, for the journal.
        change: is given the text as it is now, or None, and returns the new one, or None.
        expected: docid of the text that `change` is meant for; `new`: none; None: any.

    Raises:
        WriteConflict: the document is not what is expected.
        UsageError: it cannot be read or written.
        IndexFailure: the journal or the index cannot be written.
    """
    from qmd.ingest.journal import DocumentEdit

    journal = journal_of(index)
    with journal.locked():
        carry_on(index, journal)
        before = current(index, place)
        check_expected(place.file, before, expected)
        edit = DocumentEdit(place.collection.name, place.path, before, change(before))
        return journal.carry_out(action, [edit], partial(apply, index))


async def settled(
    index: Index, find: Callable[[], DocumentPlace], work: Callable[[DocumentPlace], Done]
) -> tuple[DocumentPlace, Done]:
    """Write in a thread, and bring the index up to date with the folder.

    It is brought up to date after a conflict as well, so that the document can be read as it is.

    Args:
        find: finds the document that is written.
        work: writes it, and others of the same collection.
    """
    from anyio import to_thread

    from qmd.operations.update import run_update

    place = await to_thread.run_sync(find)
    names = [place.collection.name]
    try:
        done = await to_thread.run_sync(partial(work, place))
    except WriteConflict:
        if place.collection.root:
            await run_update(index, names)
        raise
    if place.collection.root:
        await run_update(index, names)
    return place, done


def current(index: Index, place: DocumentPlace) -> str | None:
    """Return the text of a document as it is now: of its file, or of the index.

    Raises:
        UsageError: the file cannot be read, or is none.
    """
    from qmd.ingest import folder_files, stored
    from qmd.storage import document_lookup

    if place.collection.root:
        data = folder_files.read(place.collection, place.path)
        return None if data is None else data.decode("utf-8", _LOSSLESS)
    document = index.read(partial(stored.find, collection=place.collection.name, path=place.path))
    if document is None:
        return None
    return index.read(partial(document_lookup.bodies, hashes=[document.hash]))[document.hash]


def docid_of(text: str) -> str:
    """Return the docid that a text has in the index."""
    from qmd.text.hashes import DOCID_DIGITS, content_hash

    data = text.removeprefix("\ufeff").encode("utf-8", _LOSSLESS)
    return f"#{content_hash(data)[:DOCID_DIGITS]}"


def check_expected(file: str, before: str | None, expected: str | None) -> None:
    """Refuse to write over another version than the one that was read.

    Raises:
        WriteConflict: the document is not what is expected.
        UsageError: that is no docid.
    """
    from qmd.text.hashes import parse_docid

    if expected is None:
        return
    if expected.strip().casefold() == NEW:
        if before is None:
            return
        raise WriteConflict(
            f"{on_one_line(file)} is there already, as {docid_of(before)}.\n\n"
            "Nothing was written. Read it, and change it, or choose another name."
        )
    digits = parse_docid(expected)
    if digits is None:
        raise UsageError(f"'{on_one_line(expected)}' is no docid such as #abc123, and not 'new'.")
    if before is None:
        raise WriteConflict(f"{on_one_line(file)} has been removed since.\n\nNothing was written.")
    now = docid_of(before)
    if now.lstrip("#") != digits[: len(now) - 1].lower():
        raise WriteConflict(
            f"{on_one_line(file)} has been changed since: it is {now} now, not #{digits[:6]}.\n\n"
            "Nothing was written. Read it again, and decide anew."
        )


def apply(index: Index, edit: DocumentEdit) -> None:
    """Change one document as an edit says.

    Raises:
        WriteConflict: another program has just written it.
        UsageError: it cannot be written, or its collection must not be.
    """
    from qmd.ingest import folder_files, stored
    from qmd.text.paths import SCHEME

    if edit.before == edit.after:
        return
    collection = place_of(index, f"{SCHEME}{edit.file}", None).collection
    if not collection.root:
        if edit.after is not None:
            stored.store(index.database, edit.collection, edit.path, edit.after)
            _merge(index)
            return
        find = partial(stored.find, collection=edit.collection, path=edit.path)
        while (document := index.read(find)) is not None:
            stored.remove(index.database, document)
        return
    before = None if edit.before is None else edit.before.encode("utf-8", _LOSSLESS)
    if edit.after is None:
        folder_files.remove(collection, edit.path, before=before)
    else:
        after = edit.after.encode("utf-8", _LOSSLESS)
        folder_files.write(collection, edit.path, after, before=before)


def state_of(index: Index, edits: Iterable[DocumentEdit]) -> list[str | None]:
    """Return the texts of documents of edits as they are now.

    Raises:
        UsageError: one cannot be read, or its collection must not be written any more.
    """
    from qmd.text.paths import SCHEME

    return [current(index, place_of(index, f"{SCHEME}{each.file}", None)) for each in edits]


def carry_on(index: Index, journal: WriteJournal) -> None:
    """Finish or drop what a process that was killed has begun."""
    for entry in journal.pending():
        done = False
        with suppress(UsageError):  # not writable any more: what is there stays
            states = state_of(index, entry.edits)
            pairs: Sequence[tuple[DocumentEdit, str | None]] = list(
                zip(entry.edits, states, strict=True)
            )
            done = any(now == edit.after != edit.before for edit, now in pairs)
            for edit, now in pairs:
                if done and now == edit.before:
                    apply(index, edit)
        if done:
            journal.settle(entry)
        else:
            journal.drop(entry)


def existing(index: Index, place: DocumentPlace, text: str | None) -> str:
    """Return the text of a document that has to be there.

    Raises:
        DocumentNotFound: the document does not exist.
        UsageError: it is no UTF-8, so that it cannot be edited.
    """
    from qmd.storage import document_lookup

    if text is None:
        missing: DocumentNotFound = index.read(partial(document_lookup.missing, name=place.file))
        raise missing
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise UsageError(f"{on_one_line(place.file)} is not UTF-8 text.") from error
    return text


def _merge(index: Index) -> None:
    from qmd.storage import maintenance

    maintenance.merge(index.database)


def outline_of(text: str) -> list[SectionHeading]:
    """Return the headings of a text as they would be indexed."""
    from qmd.ingest import outlines
    from qmd.text.front_matter import frontmatter
    from qmd.text.headings import stored_headings

    outline = outlines.outline_of_text(text, frontmatter(text).block)
    return stored_headings(outline.kinds, outline.lines, outline.texts)
