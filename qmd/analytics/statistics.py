"""Statistics of documents: totals, months, sizes, frequent terms."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from typing import TYPE_CHECKING

from qmd.named_tuple import NamedTuple
from qmd.ranking.query import STOP_WORDS
from qmd.storage.cursor import Cursor, as_json

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class DocumentTotals(NamedTuple):
    """Totals of the documents.

    Attributes:
        bytes: of the files.
        first: the earliest date, UTC.
        last: the latest.
        median: bytes of a file.
    """

    documents: int
    bytes: int
    first: datetime | None
    last: datetime | None
    median: int | None
    largest: int | None


class Month(NamedTuple):
    """Documents of a month in a collection.

    Attributes:
        month: its first day.
    """

    month: date
    collection: str
    documents: int
    bytes: int


class SizeBucket(NamedTuple):
    """Size bucket: documents of similar file size, in bytes."""

    at_least: int
    below: int
    documents: int


class CollectionShare(NamedTuple):
    """Share of a collection. See `Totals`."""

    name: str
    documents: int
    bytes: int
    first: datetime | None
    last: datetime | None


class FrequentTerm(NamedTuple):
    """A frequent term, named by its shortest word.

    Attributes:
        documents: with the term.
    """

    term: str
    documents: int
    occurrences: int


class Long(NamedTuple):
    """A long document.

    Attributes:
        file: `collection/path`.
        bytes: of the file.
    """

    docid: str
    file: str
    title: str
    bytes: int


class Mapped(NamedTuple):
    """A document with vectors.

    Attributes:
        total: all that have some.
    """

    document_id: int
    collection: str
    path: str
    title: str
    hash: str
    total: int


def document_totals(cursor: Cursor, names: Sequence[str]) -> DocumentTotals:
    """Count the documents, their words and bytes.

    Args:
        names: of collections; none means all, here and below.
    """
    return cursor.rows(DocumentTotals, "stats/totals", collections=_names(names))[0]


def months(cursor: Cursor, names: Sequence[str]) -> list[Month]:
    """Count the documents of each month, by their date, for each collection."""
    return cursor.rows(Month, "stats/months", collections=_names(names))


def sizes(cursor: Cursor, names: Sequence[str]) -> list[SizeBucket]:
    """Count the documents by size, in steps of 1, 2, 5, 10, 20, 50 … bytes."""
    return cursor.rows(SizeBucket, "stats/sizes", collections=_names(names))


def collection_shares(cursor: Cursor, names: Sequence[str]) -> list[CollectionShare]:
    """List the collections, the largest first."""
    return cursor.rows(CollectionShare, "stats/collections", collections=_names(names))


def terms(cursor: Cursor, names: Sequence[str], *, limit: int) -> list[FrequentTerm]:
    """List the most frequent terms, without stop words."""
    return cursor.rows(
        FrequentTerm, "stats/terms", collections=_names(names), without=_WITHOUT, limit=limit
    )


def longest(cursor: Cursor, names: Sequence[str], *, limit: int) -> list[Long]:
    """List the longest documents."""
    return cursor.rows(Long, "stats/longest", collections=_names(names), limit=limit)


def mapped(cursor: Cursor, names: Sequence[str], *, model_id: int, limit: int) -> list[Mapped]:
    """List documents with vectors of a model, by path: all, or a fixed sample."""
    return cursor.rows(
        Mapped, "stats/mapped", model_id=model_id, collections=_names(names), limit=limit
    )


def means(
    cursor: Cursor, hashes: Sequence[str], *, model_id: int, dimensions: int
) -> NDArray[np.float32]:
    """Compute the mean of the chunk vectors of each text, of length 1: (texts, dimensions)."""
    import numpy as np
    import pyarrow as pa

    from qmd.storage.arrow import fetched
    from qmd.storage.statements import statement

    distinct = {text: number for number, text in enumerate(dict.fromkeys(hashes))}
    texts = pa.table({"number": pa.array(distinct.values(), pa.int32()), "hash": list(distinct)})
    sums = np.zeros((len(distinct), dimensions), np.float64)
    with cursor.staged(texts=texts):
        found = fetched(
            cursor.connection,
            statement("stats/vectors"),
            {"model_id": model_id},
            batch_rows=BATCH_VECTORS,
        )
        for batch in found:
            vectors = batch["vector"].flatten().to_numpy(zero_copy_only=False)
            numbers = batch["number"].to_numpy()
            # Vectors of a text follow each other; `np.add.at` takes many times as long.
            begins = np.flatnonzero(np.diff(numbers, prepend=-1))
            rows = vectors.reshape(len(numbers), dimensions)
            sums[numbers[begins]] += np.add.reduceat(rows, begins, axis=0, dtype=np.float64)
    lengths = np.linalg.norm(sums, axis=1, keepdims=True)
    order = [distinct[text] for text in hashes]
    unit: NDArray[np.float64] = sums / np.maximum(lengths, 1e-12)
    return unit[order].astype(np.float32)


def distinguishing_terms(
    cursor: Cursor, document_ids: Sequence[int], groups: Sequence[int], *, limit: int
) -> dict[int, list[str]]:
    """Find the terms that distinguish each group of documents, best first.

    Args:
        groups: the number of the group of each document.
        limit: terms of each group.
    """
    import pyarrow as pa

    grouped = pa.table(
        {
            "document_id": pa.array(document_ids, pa.uint32()),
            "number": pa.array(groups, pa.int32()),
        }
    )
    with cursor.staged(grouped=grouped):
        rows = cursor.run("stats/telling", without=_WITHOUT, limit=limit)
    found: dict[int, list[str]] = {}
    for number, term in rows:
        found.setdefault(number, []).append(term)
    return found


BATCH_VECTORS = 8192
"""Vectors that are summed at once."""

_WITHOUT = as_json(sorted(STOP_WORDS))


def _names(names: Sequence[str]) -> str | None:
    return as_json(list(names)) if names else None
