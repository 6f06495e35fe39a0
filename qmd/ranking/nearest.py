"""Vector search: documents with the chunks nearest to a query."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Container, Sequence
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING

from qmd.embedding.vectors import as_text, signs_of
from qmd.named_tuple import NamedTuple
from qmd.storage.cursor import Cursor, as_json
from qmd.types import Nearest

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from qmd.ranking.hnsw import Shortcut
    from qmd.ranking.vector_matrix import Matrix

TWO_STAGES = 2_000_000
"""Vectors from which on sign bits are compared first: up to a million, comparing all takes not much
longer. Measured: docs/models.md."""

CANDIDATES, CANDIDATE_SHARE = 400, 0.004
"""Candidates that are compared in full after their sign bits, at least, and as a share of all."""

PASSAGES = 20_000
"""Chunks whose documents are cached while the index stays attached."""

FILTERED = 40_000_000
"""Characters of the numbers of chunks that filters let through, cached likewise."""

DEPTH = 100
"""Chunks to find at first, at least."""


class Faster(NamedTuple):
    """Vector indexes in memory, for long-running processes.

    Attributes:
        matrix: holds all of them.
        shortcut: HNSW index, if there is a current one.
    """

    matrix: Matrix | None = None
    shortcut: Shortcut | None = None


def nearest(
    cursor: Cursor,
    vector: NDArray[np.float32],
    *,
    model_id: int,
    vectors: int,
    documents: str | None,
    limit: int,
    per_file: int = 1,
    two_stages: int = TWO_STAGES,
    faster: Faster | None = None,
) -> list[Nearest]:
    """Find the documents with the chunks nearest to a vector, best first.

    Args:
        vector: of length 1: (dimensions,).
        vectors: that the model has in this index.
        documents: JSON array of the document_id that may answer; None: all.
        limit: chunks at most.
        per_file: chunks of one document at most.
        two_stages: vectors to compare from which on their signs come first.
        faster: than to compare all in DuckDB.
    """
    chunks, compared, allowed = None, vectors, None
    if documents is not None:
        allowed = frozenset[int](json.loads(documents))
        chunks, compared = _chunks_of(cursor, model_id, documents)
    matrix = faster.matrix if faster else None
    beside = matrix and matrix.compared(cursor, vector, model_id=model_id, chunks=chunks)
    first = (
        beside.first
        if beside
        else partial(
            _first,
            cursor,
            vector,
            model_id=model_id,
            chunks=chunks,
            compared=compared,
            two_stages=two_stages,
            shortcut=faster.shortcut if faster else None,
        )
    )
    placed = (_columns(cursor, vectors) if beside else None) or partial(_placed, cursor)
    most = max(DEPTH, compared)
    # To look again is nearly all to do again where DuckDB compares, and little beside a matrix.
    depth = min(max(DEPTH, (2 if beside else 4) * limit * per_file), most)
    while True:
        scores = first(depth)
        found = placed(scores, among=allowed, limit=limit, per_file=per_file)
        # And no other is as near as the last.
        is_full = bool(found) and len(found) >= limit and scores[-1][1] < found[-1].score
        if is_full or depth >= compared:
            return found
        # Twice as many as would do if those that follow have as many documents.
        depth = min(depth * 2 * limit // max(1, len(found)), most)


def _columns(cursor: Cursor, vectors: int) -> Callable[..., list[Nearest]] | None:
    """Return what does the same as `_placed` in memory, where all that it needs is held."""
    from qmd.ranking import bm25, passage_columns

    postings = bm25.held(cursor)
    if postings is None:
        return None
    columns = passage_columns.held_passages(cursor, vectors)
    return partial(columns.placed, shelf=postings.shelf) if columns else None


def _chunks_of(cursor: Cursor, model_id: int, documents: str) -> tuple[str, int]:
    """Fetch the chunks of some documents, as a JSON array, and their number."""

    def read(unknown: list[str]) -> dict[str, tuple[str, int]]:
        return {
            each: cursor.run("search/chunks_of", model_id=model_id, documents=each)[0]
            for each in unknown
        }

    kind = f"chunks of {model_id}"
    found = cursor.each(kind, [documents], read, most=FILTERED, size=lambda row: len(row[0]))
    return found[documents]


def _first(
    cursor: Cursor,
    vector: NDArray[np.float32],
    depth: int,
    *,
    model_id: int,
    chunks: str | None,
    compared: int,
    two_stages: int,
    shortcut: Shortcut | None,
) -> list[tuple[int, float]]:
    """Fetch (chunk_id, cosine) of the nearest chunks from DuckDB.

    Args:
        depth: chunks to find.
        chunks: JSON array of chunk_id: no others.
        compared: how many those are.
    """
    text = as_text(vector)
    among, near = chunks, None
    if shortcut is not None and chunks is None and 4 * depth < compared:
        near = shortcut.nearest(text, 2 * depth)
    if near is not None:
        among = cursor.one(
            "search/chunks_after",
            model_id=model_id,
            after=near.last,
            known=as_json(near.chunk_ids),
        )
    elif compared > max(two_stages, 4 * depth):
        among = cursor.one(
            "search/by_signs",
            model_id=model_id,
            chunks=chunks,
            signs=signs_of(vector),
            candidates=max(CANDIDATES, 4 * depth, int(CANDIDATE_SHARE * compared)),
        )
    return cursor.run("search/nearest", model_id=model_id, chunks=among, vector=text, depth=depth)


def _placed(
    cursor: Cursor,
    scores: Sequence[tuple[int, float]],
    *,
    among: Container[int] | None,
    limit: int,
    per_file: int,
) -> list[Nearest]:
    """Map scored chunks to documents; each chunk counts for every document with its text.

    Args:
        scores: (chunk_id, cosine), best first.
        among: documents that may answer: others may have the same text; None: all.
    """

    def read(unknown: list[int]) -> dict[int, list[_Place]]:
        places: dict[int, list[_Place]] = {chunk_id: [] for chunk_id in unknown}
        for chunk_id, *place in cursor.again("search/passages", chunks=as_json(unknown)):
            places[chunk_id].append(_Place(*place))
        return places

    def add_places(part: Sequence[tuple[int, float]]) -> None:
        """Fetch the places of some chunks."""
        asked = (chunk_id for chunk_id, _ in part)
        known = cursor.each("passages", asked, read, most=PASSAGES, size=lambda row: 1 + len(row))
        places.update(known)

    places: dict[int, list[_Place]] = {}
    found: list[tuple[float, _Place]] = []
    taken = Counter[int]()
    seen = 0
    for score, equal in groupby(scores, key=lambda row: row[1]):
        if len(found) >= limit:
            break
        chunks = [chunk_id for chunk_id, _ in equal]
        seen += len(chunks)
        if seen > len(places):  # at first as many as are likely to do, then the others
            add_places(scores[len(places) :] if places else scores[: max(seen, 3 * limit)])
        for place in sorted(place for chunk_id in chunks for place in places[chunk_id]):
            if among is not None and place.document_id not in among:
                continue
            if taken[place.document_id] < per_file:
                taken[place.document_id] += 1
                found.append((score, place))
    return [
        Nearest(place.document_id, score, place.position, place.length, place.line)
        for score, place in found[:limit]
    ]


class _Place(NamedTuple):
    """Position of a chunk, ordered as documents of equal similarity are."""

    collection: str
    path: str
    seq: int
    document_id: int
    position: int
    length: int
    line: int
