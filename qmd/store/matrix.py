"""All vectors of a model in memory, for a process that stays: to compare every one of them with
that of a query is then the product of a matrix and a vector.

Measured over 92,621 vectors of 384 numbers: 14 ms, where DuckDB takes 75 from its own memory.

Each time the index has been attached, the numbers and the signs of its vectors are compared with
what is held, which tells those apart that another file has under the same numbers: only what is
new is read.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from qmd.store import stopping
from qmd.store.cursor import Cursor, as_json
from qmd.store.statements import given

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

MOST = 400_000_000
"""Bytes of vectors that are held: 260,000 vectors of 384 numbers."""

FEW = 0.1
"""Share of the vectors that are new up to which they are asked for by number: beyond, all are read
anew."""

MUCH = 32_000_000
"""Bytes of vectors that DuckDB need not hold as well once they have been read."""

AT_ONCE = 2048
"""Vectors that are read at once."""

CLOSE = 2e-6
"""By how much two ways of adding up the same products may differ, and scores shown as equal."""

KIND = "matrix"
"""What a snapshot is remembered as, while the index stays attached."""


class Block(NamedTuple):
    """Some vectors.

    Attributes:
        chunk_ids: uint32[n]
        signs: uint64[n], hashes.
        vectors: float32[n, dimensions]
    """

    chunk_ids: NDArray[np.uint32]
    signs: NDArray[np.uint64]
    vectors: NDArray[np.float32]


class Compared:
    """All vectors beside one.

    Args:
        blocks: the vectors.
        vector: of length 1.
        chunks: JSON array of chunk_id: no others.
    """

    def __init__(
        self, blocks: Sequence[Block], vector: NDArray[np.float32], chunks: str | None
    ) -> None:
        self._blocks = blocks
        self._vector = vector
        self._starts = np.cumsum([0, *(len(block.chunk_ids) for block in blocks)])
        self._places: NDArray[np.int64] | None = None  # None: all of them
        self._near = np.empty(self._starts[-1], np.float32)
        for start, block in zip(self._starts[:-1], blocks, strict=True):
            np.dot(block.vectors, vector, out=self._near[start : start + len(block.chunk_ids)])
        if chunks is not None and blocks:
            among = np.array(json.loads(chunks), np.uint32)
            ids = np.concatenate([block.chunk_ids for block in blocks])
            self._places = np.flatnonzero(np.isin(ids, among))
            self._near = self._near[self._places]

    def first(self, depth: int) -> list[tuple[int, float]]:
        """(chunk_id, cosine to six places) of the nearest, those equally near by number."""
        places = np.arange(len(self._near))
        if depth < len(self._near):
            last = np.partition(self._near, -depth)[-depth]
            places = np.flatnonzero(self._near >= last - CLOSE)
        if self._places is not None:
            places = self._places[places]
        ids, vectors = self._at(places)
        scores = _summed_in_order(vectors, self._vector).astype(np.float64).round(6)
        order = np.lexsort((ids, -scores))[:depth]
        return list(zip(ids[order].tolist(), scores[order].tolist(), strict=True))

    def _at(self, places: NDArray[np.int64]) -> tuple[NDArray[np.uint32], NDArray[np.float32]]:
        """Numbers and vectors of some of all; ascending."""
        bounds = np.searchsorted(places, self._starts)
        ids, vectors = [np.empty(0, np.uint32)], [np.empty((0, len(self._vector)), np.float32)]
        for number, block in enumerate(self._blocks):
            inside = places[bounds[number] : bounds[number + 1]] - self._starts[number]
            ids.append(block.chunk_ids[inside])
            vectors.append(block.vectors[inside])
        return np.concatenate(ids), np.concatenate(vectors)


def _summed_in_order(
    vectors: NDArray[np.float32], vector: NDArray[np.float32]
) -> NDArray[np.float32]:
    """The products of vectors with one, as DuckDB has them: number after number in 32 bits, so that
    a question gets the same answer whoever compared."""
    summed = np.zeros(len(vectors), np.float32)
    for numbers, factor in zip(np.ascontiguousarray(vectors.T), vector, strict=True):
        summed += numbers * factor
    return summed


class Matrix:
    """The vectors of one model, as the index has them.

    Args:
        fingerprint: of the model.
    """

    def __init__(self, fingerprint: str) -> None:
        self.fingerprint = fingerprint
        self._turn = threading.Lock()
        self._held: list[Block] = []

    def compared(
        self,
        cursor: Cursor,
        vector: NDArray[np.float32],
        *,
        model_id: int,
        chunks: str | None = None,
    ) -> Compared | None:
        """The vectors of a model beside one of length 1.

        None to who does not read but write.

        Args:
            chunks: JSON array of chunk_id: no others.

        Raises:
            Stopped: nobody waits for it any more.
        """
        blocks = self._current(cursor, model_id)
        if blocks is None:
            return None
        return Compared(blocks, vector, chunks)

    def _current(self, cursor: Cursor, model_id: int) -> list[Block] | None:
        if cursor.memory is None:
            return None
        known: list[Block] | None = cursor.memory.of(KIND).get(model_id)
        if known is not None:
            return known
        with self._turn:
            known = cursor.memory.of(KIND).get(model_id)
            if known is None:
                held, known = self._held, _current(cursor, model_id, self._held)
                self._held = known
                read = sum(block.vectors.nbytes for block in known if not _is_in(held, block))
                cursor.memory.stands_for_file |= read > MUCH
                cursor.memory.add(KIND, {model_id: known}, 1, most=2)
        return known


def _current(cursor: Cursor, model_id: int, held: list[Block]) -> list[Block]:
    """The vectors that the index has, of which some are held."""
    table = _answer(cursor, "embeddings/signs", model_id=model_id).read_all()
    ids, signs = table["chunk_id"].to_numpy(), table["sign"].to_numpy()
    if not len(ids):
        return []
    order = np.argsort(ids, kind="stable")  # nearly as they are
    ids, signs = ids[order], signs[order]
    kept = []
    is_held = np.zeros(len(ids), np.bool_)
    for block in held:
        place = np.minimum(np.searchsorted(ids, block.chunk_ids), len(ids) - 1)
        same = (ids[place] == block.chunk_ids) & (signs[place] == block.signs)
        is_held[place[same]] = True
        kept.append(block if same.all() else Block(*(part[same] for part in block)))
    new = ids[~is_held]
    if len(new) > FEW * len(ids):
        return [_read(cursor, model_id, None, len(ids))]
    return [*kept, _read(cursor, model_id, new, len(new))] if len(new) else kept


def _is_in(blocks: Sequence[Block], block: Block) -> bool:
    return any(block is each for each in blocks)


def _read(cursor: Cursor, model_id: int, new: NDArray[np.uint32] | None, count: int) -> Block:
    """Some vectors of the index.

    Args:
        new: their numbers; None: all.
        count: how many they are.
    """
    chunks = None if new is None else as_json(new.tolist())
    ids, signs = np.empty(count, np.uint32), np.empty(count, np.uint64)
    vectors = np.empty((0, 0), np.float32)
    at = 0
    for batch in _answer(cursor, "embeddings/vectors", model_id=model_id, chunks=chunks):
        stopping.check()
        part = slice(at, at + batch.num_rows)
        read = batch.column(2).flatten().to_numpy().reshape(batch.num_rows, -1)
        if not at:
            vectors = np.empty((count, read.shape[1]), np.float32)
        ids[part], signs[part], vectors[part] = batch.column(0), batch.column(1), read
        at = part.stop
    return Block(ids, signs, vectors)


def _answer(cursor: Cursor, name: str, **parameters: int | str | None) -> pa.RecordBatchReader:
    text, taken = given(name, parameters)
    return cursor.connection.execute(text, taken).to_arrow_reader(AT_ONCE)
