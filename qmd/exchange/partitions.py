"""Partitions of a table: one file for each range of row numbers, with a digest to detect changes.

Rows are assigned to files by their numbers, so that most files stay unchanged when rows are added.
"""

from __future__ import annotations

import hashlib
import json
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from urllib.parse import quote

from qmd.exchange import parquet
from qmd.exchange.parquet import ExportTable, FileColumn, RowRange
from qmd.named_tuple import NamedTuple
from qmd.storage.cursor import Cursor

MAX_FILES = 128
"""Files of a table at most; beyond, each has more rows."""


class Partition(NamedTuple):
    """A range of rows with a file of its own.

    Attributes:
        first, last: their numbers.
        digest: of the rows, and of how they are written.
    """

    table: ExportTable
    collection: str | None
    first: int
    last: int
    rows: int
    digest: str

    @property
    def path(self) -> str:
        """Path of the file, below the folder of the export."""
        folder = self.table.name
        if self.collection is not None:
            folder += f"/collection={quote(self.collection, safe='')}"
        return f"{folder}/{self.first:010}.parquet"


def plan_partitions(
    cursor: Cursor, table: ExportTable, *, by_collection: bool
) -> tuple[list[FileColumn], list[Partition]]:
    """Plan the partitions of a table; return its columns and partitions.

    Args:
        by_collection: files of one collection each.
    """
    columns = parquet.columns(cursor, table)
    groups: dict[str | None, list[RowRange]] = {}
    for group in parquet.digests(cursor, table, parted=by_collection):
        groups.setdefault(group.collection, []).append(group)
    spans = []
    for collection, own in (groups or {None: []}).items():
        described = [
            parquet.rows_of(table),
            parquet.copying(parted=collection is not None),
            columns,
            collection,
        ]
        for first, last, some in split_ranges(own, width=table.width, rows=table.rows):
            text = json.dumps([described, some])
            digest = hashlib.sha256(text.encode()).hexdigest()[:32]
            rows = sum(group.rows for group in some)
            spans.append(Partition(table, collection, first, last, rows, digest))
    return columns, spans


def split_ranges(
    groups: Sequence[RowRange], *, width: int, rows: int
) -> Iterator[tuple[int, int, list[RowRange]]]:
    """Partition rows among files: halve the range of numbers while a part is too large.

    So earlier files stay unchanged when rows are added after them, and few rows that are left of
    many share a file. No rows at all make one file.

    Args:
        groups: by `cell`.
        width: numbers in a group.
        rows: in a file at most, unless a group has more or there would be too many files.

    Returns:
        The first number of each file, the last, and its groups.
    """
    while sum(group.rows for group in groups) > MAX_FILES * rows:
        rows *= 2
    cells = [group.cell for group in groups]

    def halved(first: int, count: int) -> Iterator[tuple[int, int, list[RowRange]]]:
        some = groups[bisect_left(cells, first) : bisect_left(cells, first + count)]
        if count == 1 or sum(group.rows for group in some) <= rows:
            if some:
                yield first * width, (first + count) * width - 1, list(some)
            return
        yield from halved(first, count // 2)
        yield from halved(first + count // 2, count // 2)

    if groups:
        yield from halved(0, parquet.MAX_NUMBERS // width)
    else:
        yield 0, parquet.MAX_NUMBERS - 1, []
