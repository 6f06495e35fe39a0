"""Operations `undo` and `journal`: writes to documents that can be taken back."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated

from qmd.analytics.rows import Rows
from qmd.declaration.operation import Parameter, operation
from qmd.errors import UsageError
from qmd.operations.document_changes import DocumentChange, change_of
from qmd.operations.writable import DocumentPlace, place_of
from qmd.operations.writing import (
    apply,
    carry_on,
    check_expected,
    current,
    docid_of,
    journal_of,
    settled,
)

if TYPE_CHECKING:
    from qmd.ingest.journal import JournalEntry
    from qmd.operations.index import Index

JournalNumber = Annotated[
    int | None,
    Parameter(help="Number of the write; the last one without.", metavar="NUMBER", least=1),
]


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
    return change_of(entry)


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
    return Rows(DocumentChange, [change_of(each) for each in reversed(journal_of(index).entries())])
