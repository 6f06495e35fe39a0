"""Exact vector search in memory, for long-running processes.

The comparison with all vectors of a model is the product of a matrix and a vector.

Measured over 92,621 vectors of 384 numbers: 14 ms, where DuckDB takes 63 from its own memory.

Each time the index has been attached, the numbers and a hash of the sign bits of its vectors are
compared with those in memory, and only new vectors are loaded. A number is never reused, unless
another file replaces the index: then all are loaded.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from qmd.named_tuple import NamedTuple
from qmd.storage import cancellation
from qmd.storage.arrow import fetched
from qmd.storage.cursor import Cursor, Memory, as_json
from qmd.storage.statements import given

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

MOST = 400_000_000
"""Bytes of vectors that are held: 260,000 vectors of 384 numbers."""

FEW = 0.1
"""Share of new vectors up to which they are loaded by number: beyond, all are loaded again."""

MUCH = 32_000_000
"""Bytes of vectors that DuckDB need not keep as well once they are loaded."""

AT_ONCE = 4096
"""Vectors that are loaded at once."""

BLOCKS = 8
"""Blocks of vectors at most: each takes a product of its own."""

SOME = 0.2
"""Share of the vectors up to which they are copied to be compared: beyond, comparing all is
quicker."""

CLOSE = 2e-6
"""Difference of two sums of the same products in different order, and of scores shown as equal."""

KIND = "matrix"
"""Kind of the cached matrix, while the index stays attached."""


class Block(NamedTuple):
    """A block of vectors.

    Attributes:
        chunk_ids: uint32[n]
        signs: uint64[n], hashes.
        vectors: float32[n, dimensions]
    """

    chunk_ids: NDArray[np.uint32]
    signs: NDArray[np.uint64]
    vectors: NDArray[np.float32]

    def of(self, chosen: NDArray[np.bool_]) -> Block:
        """Select some of the vectors."""
        return Block(self.chunk_ids[chosen], self.signs[chosen], self.vectors[chosen])


class Compared:
    """Similarities of all vectors to one.

    Args:
        blocks: the vectors.
        vector: of length 1.
        chunks: JSON array of chunk_id: no others.
        is_fused: whether DuckDB rounds once for each number. See `_summed_in_order`.
    """

    def __init__(
        self,
        blocks: Sequence[Block],
        vector: NDArray[np.float32],
        chunks: str | None,
        *,
        is_fused: bool = False,
    ) -> None:
        self._blocks = blocks
        self._vector = vector
        self._is_fused = is_fused
        self._starts = np.cumsum([0, *(len(block.chunk_ids) for block in blocks)])
        self._places: NDArray[np.int64] | None = None  # None: all of them
        if chunks is not None and blocks:
            among = np.array(json.loads(chunks), np.uint32)
            ids = np.concatenate([block.chunk_ids for block in blocks])
            self._places = np.flatnonzero(np.isin(ids, among))
        if self._places is not None and len(self._places) < SOME * self._starts[-1]:
            self._near = self._at(self._places)[1] @ vector
            return
        self._near = np.empty(self._starts[-1], np.float32)
        for start, block in zip(self._starts[:-1], blocks, strict=True):
            np.dot(block.vectors, vector, out=self._near[start : start + len(block.chunk_ids)])
        if self._places is not None:
            self._near = self._near[self._places]

    def first(self, depth: int) -> list[tuple[int, float]]:
        """Return (chunk_id, cosine to six places) of the nearest chunks; ties go by number."""
        places = np.arange(len(self._near))
        if depth < len(self._near):
            last = np.partition(self._near, -depth)[-depth]
            places = np.flatnonzero(self._near >= last - CLOSE)
        if self._places is not None:
            places = self._places[places]
        ids, vectors = self._at(places)
        scores = _rounded(_summed_in_order(vectors, self._vector, is_fused=self._is_fused))
        order = np.lexsort((ids, -scores))[:depth]
        return list(zip(ids[order].tolist(), scores[order].tolist(), strict=True))

    def _at(self, places: NDArray[np.int64]) -> tuple[NDArray[np.uint32], NDArray[np.float32]]:
        """Gather numbers and vectors at some positions, ascending."""
        bounds = np.searchsorted(places, self._starts)
        ids, vectors = [np.empty(0, np.uint32)], [np.empty((0, len(self._vector)), np.float32)]
        for number, block in enumerate(self._blocks):
            inside = places[bounds[number] : bounds[number + 1]] - self._starts[number]
            ids.append(block.chunk_ids[inside])
            vectors.append(block.vectors[inside])
        return np.concatenate(ids), np.concatenate(vectors)


def _summed_in_order(
    vectors: NDArray[np.float32], vector: NDArray[np.float32], *, is_fused: bool
) -> NDArray[np.float32]:
    """Compute dot products as DuckDB does: one number after another in 32 bits.

    A query gets the same scores from either.

    Args:
        is_fused: whether products are added before they are rounded, which DuckDB 2 does. A product
            of two numbers of 32 bits is exact in 64.
    """
    wide = np.float64 if is_fused else np.float32
    summed = np.zeros(len(vectors), np.float32)
    for numbers, factor in zip(np.ascontiguousarray(vectors.T), vector, strict=True):
        summed = (summed + numbers.astype(wide) * wide(factor)).astype(np.float32)
    return summed


def _rounded(scores: NDArray[np.float32]) -> NDArray[np.float64]:
    """Round to six places, halves away from 0, as DuckDB does."""
    millionths = scores.astype(np.float64) * 1e6
    whole = np.trunc(millionths)
    is_half = np.abs(millionths - whole) == 0.5
    rounded: NDArray[np.float64] = np.where(
        is_half, whole + np.sign(millionths), np.rint(millionths)
    )
    return rounded / 1e6


class Matrix:
    """Matrix of the vectors of one model in the index.

    Args:
        fingerprint: of the model.
    """

    def __init__(self, fingerprint: str) -> None:
        self.fingerprint = fingerprint
        self._turn = threading.Lock()
        self._file: int | None = None
        self._held: list[Block] = []
        self._is_fused: bool | None = None

    def compared(
        self,
        cursor: Cursor,
        vector: NDArray[np.float32],
        *,
        model_id: int,
        chunks: str | None = None,
    ) -> Compared | None:
        """Compare the vectors of a model with one of length 1.

        None outside of a read.

        Args:
            chunks: JSON array of chunk_id: no others.

        Raises:
            Stopped: the caller has cancelled.
        """
        blocks = self._current(cursor, model_id)
        if blocks is None:
            return None
        if self._is_fused is None:
            self._is_fused = cursor.one("search/is_fused")
        return Compared(blocks, vector, chunks, is_fused=bool(self._is_fused))

    def _current(self, cursor: Cursor, model_id: int) -> list[Block] | None:
        """Return the current vectors of the index; None outside of a read."""
        memory = cursor.memory
        if memory is None:
            return None
        known: list[Block] | None = memory.of(KIND).get(model_id)
        if known is None:
            with cancellation.holding(self._turn):  # the others want the same vectors
                known = memory.of(KIND).get(model_id)
                if known is None:
                    known = self._bring_up_to_date(cursor, memory, model_id)
                    memory.add(KIND, {model_id: known}, 1, most=2)
        return known

    def _bring_up_to_date(self, cursor: Cursor, memory: Memory, model_id: int) -> list[Block]:
        """Hold the vectors that the index has, and no others."""
        table = _table(cursor, "embeddings/signs", model_id=model_id)
        ids, signs = table["chunk_id"].to_numpy(), table["sign"].to_numpy()
        order = np.argsort(ids, kind="stable")  # nearly sorted already
        ids, signs = ids[order], signs[order]
        if memory.file != self._file:
            self._held.clear()  # what other files have under the same numbers may be anything
        self._file = memory.file
        is_held = np.zeros(len(ids), np.bool_)
        kept = []
        for block in self._held:
            place, same = _found(ids, signs, block)
            is_held[place[same]] = True
            kept.append(same)
        new = ids[~is_held]
        everything = len(new) > FEW * len(ids)
        if everything:
            self._held.clear()  # before there are others
            new = ids
        else:
            pairs = zip(self._held, kept, strict=True)
            self._held = [block if same.all() else block.of(same) for block, same in pairs]
        if len(new):
            read = _read(cursor, model_id, new, everything=everything)
            memory.stands_for_file |= read.vectors.nbytes > MUCH
            self._held.append(read)
        self._held = _joined(self._held)
        return list(self._held)


def _found(
    ids: NDArray[np.uint32], signs: NDArray[np.uint64], block: Block
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Find the positions of the vectors in a block, and those that are present."""
    if not len(ids):
        return np.zeros(len(block.chunk_ids), np.int64), np.zeros(len(block.chunk_ids), np.bool_)
    place = np.minimum(np.searchsorted(ids, block.chunk_ids), len(ids) - 1)
    return place, (ids[place] == block.chunk_ids) & (signs[place] == block.signs)


def _joined(blocks: list[Block]) -> list[Block]:
    """Merge vectors into few blocks. The largest block is kept as it is."""
    blocks = [block for block in blocks if len(block.chunk_ids)]
    if len(blocks) <= BLOCKS:
        return blocks
    blocks.sort(key=lambda block: len(block.chunk_ids), reverse=True)
    return [blocks[0], Block(*map(np.concatenate, zip(*blocks[1:], strict=True)))]


def _read(cursor: Cursor, model_id: int, wanted: NDArray[np.uint32], *, everything: bool) -> Block:
    """Load vectors of the index in parts.

    Args:
        wanted: their numbers, ascending.
        everything: there are no others.

    Raises:
        Stopped: the caller has cancelled.
    """
    count = len(wanted)
    ids, signs = np.empty(count, np.uint32), np.empty(count, np.uint64)
    vectors = np.empty((0, 0), np.float32)
    for at in range(0, count, AT_ONCE):
        cancellation.check()
        some = wanted[at : at + AT_ONCE]
        table = _table(
            cursor,
            "embeddings/vectors",
            model_id=model_id,
            first=int(some[0]),
            last=int(some[-1]),
            chunks=None if everything else as_json(some.tolist()),
        ).combine_chunks()
        read = table["vector"].chunk(0).flatten().to_numpy().reshape(len(some), -1)
        if not at:
            vectors = np.empty((count, read.shape[1]), np.float32)
        part = slice(at, at + len(some))
        ids[part], signs[part], vectors[part] = table["chunk_id"], table["sign"], read
    return Block(ids, signs, vectors)


def _table(cursor: Cursor, name: str, **parameters: int | str | None) -> pa.Table:
    """Fetch all rows as an Arrow table. A stream read in part would keep the file open."""
    text, taken = given(name, parameters)
    return fetched(cursor.connection, text, taken).read_all()
