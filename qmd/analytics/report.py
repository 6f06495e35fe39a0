"""All statistics of one report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Protocol, TypeVar

from qmd.analytics import statistics
from qmd.analytics.rows import Rows
from qmd.analytics.statistics import CollectionShare, FrequentTerm, Long, Month, SizeBucket
from qmd.storage import catalog
from qmd.storage.cursor import Cursor

T = TypeVar("T")

TERMS, LONGEST = 20, 10
"""Terms and documents that are listed."""


@dataclass(frozen=True, slots=True)
class Stats:
    """Statistics of the documents.

    Attributes:
        bytes: of their files.
        first: the earliest date of one, UTC.
        last: the latest.
        median: bytes of a file.
        largest: bytes.
        months: with documents, by their dates, for each collection.
        sizes: in steps of 1, 2, 5, 10, 20, 50 … bytes.
        collections: those with most documents first.
        terms: the most frequent first; without those that say nothing.
        longest: documents, the longest first.
    """

    documents: int
    bytes: int
    first: datetime | None
    last: datetime | None
    median: int | None
    largest: int | None
    months: Rows[Month]
    sizes: Rows[SizeBucket]
    collections: Rows[CollectionShare]
    terms: Rows[FrequentTerm]
    longest: Rows[Long]


class StatisticsSource(Protocol):
    """The part of an open index that statistics need."""

    def read(self, work: Callable[[Cursor], T]) -> T:
        """Run `work` on one state of the index."""


def gather(
    index: StatisticsSource,
    names: Sequence[str] = (),
    *,
    terms: int = TERMS,
    longest: int = LONGEST,
) -> Stats:
    """Collect the statistics of some collections, or of all.

    Raises:
        CollectionNotFound: no collection has one of the names.
    """
    return index.read(partial(_gather, names=names, terms=terms, longest=longest))


def _gather(cursor: Cursor, *, names: Sequence[str], terms: int, longest: int) -> Stats:
    catalog.check_collections(cursor, names)
    return Stats(
        *statistics.document_totals(cursor, names),
        Rows(Month, statistics.months(cursor, names)),
        Rows(SizeBucket, statistics.sizes(cursor, names)),
        Rows(CollectionShare, statistics.collection_shares(cursor, names)),
        Rows(FrequentTerm, statistics.terms(cursor, names, limit=terms)),
        Rows(Long, statistics.longest(cursor, names, limit=longest)),
    )
