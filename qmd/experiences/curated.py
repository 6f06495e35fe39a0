"""Experience records as the user keeps them: list, replace, set aside, take back, remove.

A record that is set aside has no document, so that no search finds it. It is kept in a setting of
the index, until it is taken back.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from qmd.experiences import table
from qmd.experiences.contract import Submission
from qmd.experiences.table import Record
from qmd.ingest import commit
from qmd.named_tuple import NamedTuple
from qmd.storage.cursor import Cursor

if TYPE_CHECKING:
    from qmd.ingest.commit import Batch

ASIDE = "retired_experiences"
"""Setting with the records that are set aside, as JSON."""


class Curated(NamedTuple):
    """A record, and what is known of it besides.

    Attributes:
        query_count: answers in which it was.
        document_id: of its document; None: it is set aside.
    """

    record: Record
    query_count: int
    document_id: int | None


def listed(cursor: Cursor, beginning: str | None = None) -> list[Curated]:
    """List records, those that are set aside last, each part the newest first.

    Args:
        beginning: of an id; None: of any.
    """
    rows = cursor.run("experiences/all", id=beginning)
    found = [
        Curated(Record(id_, Submission._make([*texts, tuple(keywords)]), made), count, number)
        for id_, *texts, keywords, made, number, count in rows
    ]
    aside = [each for each in _aside(cursor) if each.record.id.startswith(beginning or "")]
    return found + aside


def remove(cursor: Cursor, known: Curated) -> None:
    """Remove a record for good, or one that is set aside."""
    if known.document_id is None:
        _keep(cursor, [each for each in _aside(cursor) if each.record.id != known.record.id])
        return
    commit.remove(cursor, [known.document_id])
    cursor.run("experiences/remove", id=known.record.id)
    cursor.run("experiences/forget_count", id=known.record.id)


def set_aside(cursor: Cursor, known: Curated) -> None:
    """Keep a record where no search finds it."""
    remove(cursor, known)
    _keep(cursor, [known._replace(document_id=None), *_aside(cursor)])


def put(cursor: Cursor, known: Curated, record: Record, batch: Batch, *, now: datetime) -> None:
    """Put a record in the place of one that is there or set aside; its count stays.

    Args:
        batch: the document of the new one.
        now: UTC.
    """
    remove(cursor, known)
    table.add(cursor, [record], batch)
    moment = now.isoformat(sep=" ")
    cursor.run("experiences/put_count", id=record.id, count=known.query_count, now=moment)


def _aside(cursor: Cursor) -> list[Curated]:
    """Load the records that are set aside, the last one first."""
    rows = cursor.run("store/setting", name=ASIDE)
    found = []
    for each in json.loads(rows[0][0]) if rows else []:
        made = datetime.fromisoformat(each["created_at"])
        keywords = tuple(each["submission"].pop("keywords"))
        submission = Submission(**each["submission"], keywords=keywords)
        found.append(Curated(Record(each["id"], submission, made), each["query_count"], None))
    return found


def _keep(cursor: Cursor, records: Sequence[Curated]) -> None:
    cursor.run("store/forget_setting", name=ASIDE)
    if not records:
        return
    told = [
        {
            "id": each.record.id,
            "submission": each.record.submission._asdict(),
            "created_at": each.record.created_at.isoformat(),
            "query_count": each.query_count,
        }
        for each in records
    ]
    cursor.run("store/set_setting", name=ASIDE, value=json.dumps(told, ensure_ascii=False))
