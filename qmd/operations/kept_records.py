"""Operations on experience records for the user: list, correct, retire, restore and remove."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Annotated

from qmd.analytics.rows import Rows
from qmd.declaration.operation import Parameter, Surface, operation
from qmd.errors import NotFound, UsageError
from qmd.named_tuple import NamedTuple
from qmd.types import EXPERIENCES
from qmd.wording import on_one_line

if TYPE_CHECKING:
    from qmd.experiences.curated import Curated
    from qmd.experiences.table import Record
    from qmd.operations.index import Index
    from qmd.storage.cursor import Cursor

OF_THE_USER: dict[Surface, str] = {
    "tool": "The user decides which records stay, not an agent.",
    "python": "A program reads the documents of records; the user keeps them.",
}

_NAME = re.compile(rf"(?:qmd://)?(?:{EXPERIENCES}/)?(?P<id>[0-9A-Fa-f-]{{4,36}})(?:\.md)?")

RecordName = Annotated[
    str, Parameter(help="Its id, the beginning of it, or experiences/ID.md.", metavar="ID")
]
NewTitle = Annotated[str | None, Parameter(help="Its title.", metavar="WORDS")]
NewProblem = Annotated[str | None, Parameter(help="The problem.", metavar="WORDS")]
NewCause = Annotated[
    str | None, Parameter(help="The cause of the problem; '' for none.", metavar="WORDS")
]
NewSolution = Annotated[str | None, Parameter(help="What solves it.", metavar="WORDS")]
NewContext = Annotated[
    str | None,
    Parameter(help="Where it happened; '' for nothing.", flags=("--context",), metavar="WORDS"),
]
Retired = Annotated[bool, Parameter(help="Only those that are retired.")]


class KeptRecord(NamedTuple):
    """An experience record.

    Attributes:
        id: UUID.
        query_count: answers in which it was.
        created_at: UTC.
        retired: no search finds it.
    """

    id: str
    title: str
    problem_description: str
    root_cause: str | None
    solution: str
    context: str | None
    keywords: tuple[str, ...]
    query_count: int
    created_at: datetime
    retired: bool

    @classmethod
    def of(cls, known: Curated) -> KeptRecord:
        """Make it of a stored record."""
        record = known.record
        return cls(
            record.id,
            *record.submission,
            known.query_count,
            record.created_at,
            known.document_id is None,
        )


class RecordNotFound(NotFound):
    """No experience record has this name."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"No experience record is called {on_one_line(name)}.\n\n"
            "'qmd experiences list' shows all of them."
        )


@operation(
    name="experiences list",
    title="Experience records",
    absent=OF_THE_USER,
    examples=(
        ("List the records that agents have submitted", "qmd experiences list"),
        ("With all of their texts, as JSON", "qmd experiences list --json"),
    ),
)
def list_records(index: Index, *, retired: Retired = False) -> Rows[KeptRecord]:
    """List the records that agents have submitted, the newest first.

    Args:
        retired: only those that no search finds.
    """
    from qmd.experiences.curated import listed

    found = [KeptRecord.of(each) for each in index.read(listed)]
    return Rows(KeptRecord, [each for each in found if each.retired or not retired])


@operation(
    name="experiences correct",
    title="Correct an experience record",
    writes=True,
    absent=OF_THE_USER,
    examples=(
        (
            "Say what really solves it",
            "qmd experiences correct 3f2a91c4 --solution 'Raise the timeout.'",
        ),
        ("Leave the cause out", "qmd experiences correct 3f2a91c4 --cause ''"),
    ),
)
def correct_record(
    index: Index,
    name: RecordName,
    *,
    title: NewTitle = None,
    problem: NewProblem = None,
    cause: NewCause = None,
    solution: NewSolution = None,
    surroundings: NewContext = None,
) -> KeptRecord:
    """Change texts of a record; its id, date and use stay, and a retired one is restored.

    Args:
        name: its id, or the beginning of it.
        title: None: as it is; so are the others.
        problem: what went wrong.
        cause: of the problem; '' for none.
        solution: what solves it.
        surroundings: context of the problem; '' for nothing.

    Raises:
        RecordNotFound: no record has this name.
        UsageError: several have it, nothing is to be changed, or a text cannot be taken.
        IndexFailure: the index is busy or cannot be written.
    """
    given = {
        "title": title,
        "problem_description": problem,
        "root_cause": cause,
        "solution": solution,
        "context": surroundings,
    }
    changes = {field: text for field, text in given.items() if text is not None}
    if not changes:
        raise UsageError(
            "Say what is to be changed: --title, --problem, --cause, --solution or --context."
        )
    from qmd.experiences import contract

    known = index.read(partial(_named, name))
    texts = {**known.record.submission._asdict(), **changes}
    for field in ("root_cause", "context"):
        texts[field] = texts[field] or None
    try:
        submission = contract.submission(texts)
    except contract.ContractViolations as refusal:
        raise UsageError("\n".join(each.message for each in refusal.violations)) from refusal
    return _put(index, name, known.record._replace(submission=submission))


@operation(
    name="experiences retire",
    title="Retire an experience record",
    writes=True,
    absent=OF_THE_USER,
    examples=(
        ("Let no search find a record any more", "qmd experiences retire 3f2a91c4"),
        ("One of a search", "qmd experiences retire experiences/3f2a91c4.md"),
    ),
)
def retire_record(index: Index, name: RecordName) -> KeptRecord:
    """Let no search find a record, until it is restored.

    Args:
        name: its id, or the beginning of it.

    Raises:
        RecordNotFound: no record has this name.
        UsageError: several have it, or it is retired already.
        IndexFailure: the index is busy or cannot be written.
    """
    from qmd.experiences import curated

    def work(cursor: Cursor) -> KeptRecord:
        known = _named(name, cursor)
        if known.document_id is None:
            raise UsageError(f"{known.record.id} is retired already.")
        curated.set_aside(cursor, known)
        return KeptRecord.of(known._replace(document_id=None))

    return index.database.write(work)


@operation(
    name="experiences restore",
    title="Restore an experience record",
    writes=True,
    absent=OF_THE_USER,
    examples=(
        ("Let searches find a retired record again", "qmd experiences restore 3f2a91c4"),
        ("As a search named it", "qmd experiences restore experiences/3f2a91c4.md"),
    ),
)
def restore_record(index: Index, name: RecordName) -> KeptRecord:
    """Let searches find a retired record again.

    Args:
        name: its id, or the beginning of it.

    Raises:
        RecordNotFound: no record has this name.
        UsageError: several have it, or it is not retired.
        IndexFailure: the index is busy or cannot be written.
    """
    known = index.read(partial(_named, name))
    if known.document_id is not None:
        raise UsageError(f"{known.record.id} is not retired.")
    return _put(index, name, known.record)


@operation(
    name="experiences remove",
    title="Remove an experience record",
    writes=True,
    destructive=True,
    absent=OF_THE_USER,
    examples=(
        ("Remove a record for good", "qmd experiences remove 3f2a91c4"),
        ("One of a search", "qmd experiences remove experiences/3f2a91c4.md"),
    ),
)
def remove_record(index: Index, name: RecordName) -> KeptRecord:
    """Remove a record for good.

    Args:
        name: its id, or the beginning of it.

    Raises:
        RecordNotFound: no record has this name.
        UsageError: several have it.
        IndexFailure: the index is busy or cannot be written.
    """
    from qmd.experiences import curated

    def work(cursor: Cursor) -> KeptRecord:
        known = _named(name, cursor)
        curated.remove(cursor, known)
        return KeptRecord.of(known)

    return index.database.write(work)


def _named(name: str, cursor: Cursor) -> Curated:
    """Find a record.

    Raises:
        RecordNotFound: no record has this name.
        UsageError: several have it.
    """
    from qmd.experiences.curated import listed

    written = _NAME.fullmatch(name.strip())
    found = listed(cursor, written["id"].lower()) if written else []
    if not found:
        raise RecordNotFound(name)
    if len(found) > 1:
        raise UsageError(
            f"{len(found)} records begin with {on_one_line(name)}; write more of the id.\n\n"
            + "\n".join(_line(each) for each in found[:10])
        )
    return found[0]


def _line(known: Curated) -> str:
    return f"  {known.record.id} {on_one_line(known.record.submission.title)}"


def _put(index: Index, name: str, record: Record) -> KeptRecord:
    """Put a record in the place of the one of the same id."""
    from qmd.experiences import curated
    from qmd.experiences.documents import prepared
    from qmd.operations.experiences import now
    from qmd.storage import maintenance

    batch = prepared([record])

    def work(cursor: Cursor) -> KeptRecord:
        known: Sequence[Curated] = curated.listed(cursor, record.id)
        if not known:
            raise RecordNotFound(name)  # another process has just removed it
        curated.put(cursor, known[0], record, batch, now=now())
        return KeptRecord.of(curated.listed(cursor, record.id)[0])

    kept = index.database.write(work)
    maintenance.merge(index.database)
    return kept
