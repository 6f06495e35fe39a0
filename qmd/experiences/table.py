"""Table of experience records: insert, ranked query, use counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from qmd.experiences.contract import Submission, record_markdown
from qmd.ingest import commit
from qmd.named_tuple import NamedTuple
from qmd.storage.catalog import collections
from qmd.storage.cursor import Cursor, as_json
from qmd.types import EXPERIENCES

if TYPE_CHECKING:
    from qmd.ingest.commit import Batch

UNREVIEWED = (
    "Records of solved problems, submitted by agents and not reviewed: check before you rely on "
    "one."
)
"""Warning shown with every record."""


class Record(NamedTuple):
    """A submitted record of a solved problem.

    Attributes:
        id: UUID.
        created_at: UTC.
    """

    id: str
    submission: Submission
    created_at: datetime

    @property
    def path(self) -> str:
        """Path of the document of the record, in the collection of records."""
        return f"{self.id}.md"


class RankedRecord(NamedTuple):
    """A record that matches a query.

    Attributes:
        query_count: answers in which it was before.
        relevance: 0 to 1.
    """

    record: Record
    query_count: int
    relevance: float


class Page(NamedTuple):
    """A page of matching records, best first, and their total."""

    total: int
    found: list[RankedRecord]


def add(cursor: Cursor, records: Sequence[Record], batch: Batch) -> None:
    """Add records with their documents.

    Args:
        batch: their documents; `learnt` are all of their words, known or not.
    """
    if all(each.name != EXPERIENCES for each in collections(cursor)):
        cursor.run("experiences/add_collection")
        cursor.run("experiences/add_context", body=UNREVIEWED)
    known = commit.known_words(cursor, [word for word, _ in batch.learnt])
    new = [learnt for learnt in batch.learnt if learnt[0] not in known]
    commit.put(cursor, batch._replace(learnt=new))
    rows = [_row(record) for record in records]
    cursor.run("experiences/add", records=as_json(rows))


def _row(record: Record) -> dict[str, object]:
    submitted = record.submission
    parts = record_markdown(submitted).parts
    return {
        "id": record.id,
        "title": submitted.title,
        **{field: {"start": start, "length": length} for field, (start, length) in parts.items()},
        "keywords": submitted.keywords,
        "created_at": record.created_at.isoformat(sep=" "),
    }


def models(cursor: Cursor) -> frozenset[str]:
    """List the fingerprints of the models with a vector of some record."""
    return frozenset(fingerprint for (fingerprint,) in cursor.run("experiences/models"))


def ranked(
    cursor: Cursor,
    terms: Sequence[int],
    *,
    model_id: int | None = None,
    vector: str | None = None,
    uncounted: Mapping[str, int],
    now: datetime,
    limit: int,
    offset: int,
) -> Page:
    """Rank the records of a query and return one page.

    Args:
        terms: term_id of the words that are looked for.
        model_id: of the vectors to compare; None: none.
        vector: of the query, as DuckDB writes a list.
        uncounted: answers in which records were, by id, that are not in the index yet.
        now: UTC.
        offset: records before the page.
    """
    rows = cursor.run(
        "experiences/ranked",
        terms=as_json(list(terms)),
        model_id=model_id,
        vector=vector,
        uncounted=_counts(uncounted),
        now=now.isoformat(sep=" "),
        limit=limit,
        offset=offset,
    )
    found = [
        RankedRecord(
            Record(id_, Submission._make([*texts, tuple(keywords)]), created_at),
            query_count,
            relevance,
        )
        for _, id_, *texts, keywords, created_at, query_count, relevance in rows
        if id_ is not None
    ]
    return Page(rows[0][0], found)


def count(cursor: Cursor, counted: Mapping[str, int], *, now: datetime) -> None:
    """Count answers in which records were.

    Args:
        counted: how many, by id.
        now: UTC.
    """
    cursor.run("experiences/count", counted=_counts(counted), now=now.isoformat(sep=" "))


def _counts(counts: Mapping[str, int]) -> str:
    return as_json([{"id": id_, "count": count} for id_, count in counts.items()])
