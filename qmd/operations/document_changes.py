"""Writes to documents, as they are told to people, models and programs."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from qmd.named_tuple import NamedTuple
from qmd.operations.writing import docid_of
from qmd.wording import amount, on_one_line

if TYPE_CHECKING:
    from qmd.ingest.journal import DocumentEdit, JournalEntry


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


def change_of(entry: JournalEntry) -> DocumentChange:
    """Describe a write of the journal by its main document."""
    main = _main(entry.edits)
    others = [each.file for each in entry.edits if each is not main and each.after is not None]
    docid = docid_of(main.after) if main.after is not None else ""
    return DocumentChange(entry.number, entry.action, main.file, docid, tuple(others), entry.when)


def _main(edits: Sequence[DocumentEdit]) -> DocumentEdit:
    """Return the edit of the document that was meant: of a moved one, that at its new path."""
    return next((each for each in edits if each.before is None), edits[0])


def change_in_words(done: DocumentChange) -> str:
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
