"""Exact vector search outside of DuckDB, by vectors in memory or mapped from a sidecar.

The comparison with all vectors of a model is the product of a matrix and a vector. Vectors of a
sidecar are compared by their codes, and those that can be among the nearest in full.

Each time the index has been attached, the numbers and a hash of the sign bits of its vectors are
compared with those that are held, and only new vectors are loaded. A number is never reused,
unless another file replaces the index: then all are loaded.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from qmd import processes
from qmd.errors import IndexNotWritable, JobRunning
from qmd.ranking import vector_sidecar
from qmd.ranking.vector_blocks import (
    Block,
    IndexedVectors,
    NotFinite,
    is_much,
    joined_blocks,
    read_vectors,
)
from qmd.ranking.vector_codes import CodedQuery
from qmd.ranking.vector_sidecar import (
    MappedVectors,
    VectorSidecar,
    VectorsState,
    lacks_little,
    vectors_state,
)
from qmd.ranking.vector_sums import rounded_scores, summed_in_order
from qmd.storage import cancellation
from qmd.storage.cursor import Cursor, Memory

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST = 400_000_000
"""Bytes of vectors that a process holds by itself: 260,000 vectors of 384 numbers."""

MUCH = 32_000_000
"""Bytes of vectors that DuckDB need not keep as well once they are loaded."""

TOGETHER = 8_000_000
"""Numbers of vectors from which on several threads compare them."""

MOST_THREADS = 4
"""Threads that compare vectors at most: the memory has no more to give."""

GROUPS = 4
"""Groups of vectors for each one to find: the best of each group give a bound more quickly than
all vectors."""

PART = 65_536
"""Candidates that are compared in full at once: their vectors are copied."""

ROUNDING = 2.0**-23
"""Difference of two sums of the same products of numbers of 32 bits, for each product, where the
vectors have the length 1: twice the half of the last bit."""

SHOWN = 1e-6
"""Difference of scores that are shown as equal."""

KIND = "matrix"
"""Kind of the cached matrix, while the index stays attached."""

LEFT = "vectors left to DuckDB"
"""Kind of the cached number of a model that has a vector without a finite length."""


class Compared:
    """Similarities of all vectors to one.

    Args:
        blocks: the vectors.
        vector: of length 1.
        chunks: JSON array of chunk_id: no others.
        is_fused: whether DuckDB rounds once for each number. See `summed_in_order`.
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
        self._rows: list[NDArray[np.int64] | None] = [None] * len(blocks)
        if chunks is not None:
            among = np.unique(np.array(json.loads(chunks), np.uint32))
            self._rows = [block.rows_of(among) for block in blocks]
        pairs = zip(blocks, self._rows, strict=True)
        counts = [len(block.chunk_ids if rows is None else rows) for block, rows in pairs]
        self._starts = np.cumsum([0, *counts])
        self._near = np.empty(self._starts[-1], np.float32)
        self._least, self._most = self._bounds(CodedQuery(vector))

    def _bounds(self, coded: CodedQuery) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Compute the least and the greatest score that each vector can have."""

        def compare(number: int) -> None:
            out = self._near[self._starts[number] : self._starts[number + 1]]
            self._blocks[number].compare(self._vector, coded, out, self._rows[number])

        _run_together(compare, range(len(self._blocks)), len(self._near) * len(self._vector))
        errors = np.zeros(len(self._near), np.float32)
        for number, (block, rows) in enumerate(zip(self._blocks, self._rows, strict=True)):
            found = block.errors(rows)
            if found is not None:
                part = errors[self._starts[number] : self._starts[number + 1]]
                np.multiply(found, np.float32(coded.length), out=part)
                part += np.float32(coded.error * 2)  # of vectors of length 1, and of their codes
        errors += np.float32((len(self._vector) + 8) * ROUNDING + SHOWN)
        return self._near - errors, self._near + errors

    def first(self, depth: int) -> list[tuple[int, float]]:
        """Return (chunk_id, cosine to six places) of the nearest chunks; ties go by number."""
        places = np.flatnonzero(self._most >= _threshold(self._least, depth))
        if depth < len(places):
            best = self._least[places]
            places = places[self._most[places] >= np.partition(best, -depth)[-depth]]
        places = places[self._near[places] > -np.inf]
        parts = [self._scored(places[at : at + PART]) for at in range(0, len(places), PART)]
        if not parts:
            return []
        ids, scores = (np.concatenate(each) for each in zip(*parts, strict=True))
        order = np.lexsort((ids, -scores))[:depth]
        return list(zip(ids[order].tolist(), scores[order].tolist(), strict=True))

    def _scored(self, places: NDArray[np.int64]) -> tuple[NDArray[np.uint32], NDArray[np.float64]]:
        """Return numbers and scores of the vectors at some positions, ascending."""
        ids, vectors = self._at(places)
        return ids, rounded_scores(summed_in_order(vectors, self._vector, is_fused=self._is_fused))

    def _at(self, places: NDArray[np.int64]) -> tuple[NDArray[np.uint32], NDArray[np.float32]]:
        """Gather numbers and vectors at some positions, ascending."""
        bounds = np.searchsorted(places, self._starts)
        ids, vectors = [np.empty(0, np.uint32)], [np.empty((0, len(self._vector)), np.float32)]
        for number, (block, rows) in enumerate(zip(self._blocks, self._rows, strict=True)):
            inside = places[bounds[number] : bounds[number + 1]] - self._starts[number]
            chosen = inside if rows is None else rows[inside]
            ids.append(block.chunk_ids[chosen])
            vectors.append(block.vectors[chosen])
            if block.release is not None and len(chosen):
                block.release()
        return np.concatenate(ids), np.concatenate(vectors)


def _threshold(least: NDArray[np.float32], depth: int) -> np.float32:
    """Return a bound that at least so many reach: the best of each group stand for all."""
    if depth >= len(least):
        return np.float32(-np.inf)
    size = len(least) // (GROUPS * depth)
    best = least
    if size > 1:
        best = least[: len(least) // size * size].reshape(-1, size).max(axis=1)
    found: np.float32 = np.partition(best, -depth)[-depth]
    return found


def _run_together(work: Callable[[int], None], numbers: range, size: int) -> None:
    """Run `work` with each number, by several threads if that pays."""
    threads = min(processes.cores(), MOST_THREADS, len(numbers))
    if threads < 2 or size < TOGETHER:
        for number in numbers:
            work(number)
        return
    with ThreadPoolExecutor(threads, thread_name_prefix="qmd-vectors") as pool:
        for _ in pool.map(work, numbers):
            pass


class Matrix:
    """Vectors of one model in the index, outside of DuckDB.

    Args:
        fingerprint: of the model.
        index: the index file, whose sidecar is used; None: none is.
        may_read: vectors that are in no sidecar are read from the table.
        makes: a search makes the sidecar where it would read all vectors.

    Attributes:
        lacks_sidecar: there is none, or one that lacks much, and no search makes it.
    """

    def __init__(
        self,
        fingerprint: str,
        index: Path | None = None,
        *,
        may_read: bool = True,
        makes: bool = True,
    ) -> None:
        self.fingerprint = fingerprint
        self.may_read = may_read
        self.makes = makes
        self.lacks_sidecar = False
        self._sidecar = None if index is None else VectorSidecar(index)
        self._turn = threading.Lock()
        self._file: int | None = None
        self._held: list[Block] = []  # of this process alone
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

        None outside of a read, or if they are neither in a sidecar nor to be read.

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

    def save(
        self, cursor: Cursor, *, model_id: int, goes_on: Callable[[], None]
    ) -> MappedVectors | None:
        """Make the sidecar, unless there is one that lacks little.

        Args:
            goes_on: is called again and again, and may raise to end it.

        Raises:
            JobRunning: another process is at it.
            IndexNotWritable, OSError: it cannot be written.
        """
        memory = cursor.memory
        state = None if memory is None else _state(cursor, memory, model_id)
        if memory is None or state is None or self._sidecar is None:
            return None
        mapped = self._mapped(memory, state)
        if mapped is not None and (mapped.state == state or lacks_little(cursor, model_id, mapped)):
            return mapped
        if state.vectors < vector_sidecar.LEAST:
            return None
        return self._sidecar.make(cursor, model_id=model_id, state=state, goes_on=goes_on)

    def _current(self, cursor: Cursor, model_id: int) -> list[Block] | None:
        """Return the current vectors of the index; None outside of a read."""
        memory = cursor.memory
        if memory is None or memory.held.get(LEFT) == model_id:
            return None
        known: list[Block] | None = memory.of(KIND).get(model_id)
        if known is None:
            with cancellation.holding(self._turn):  # the others want the same vectors
                known = memory.of(KIND).get(model_id)
                if known is None:
                    known = self._bring_up_to_date(cursor, memory, model_id)
                    if known is not None:
                        memory.add(KIND, {model_id: known}, 1, most=2)
        return known

    def _bring_up_to_date(
        self, cursor: Cursor, memory: Memory, model_id: int
    ) -> list[Block] | None:
        """Hold the vectors that the index has, and no others."""
        file = memory.version.inode if memory.version else None
        if file != self._file:
            self._held.clear()  # what other files have under the same numbers may be anything
        self._file = file
        state = _state(cursor, memory, model_id) if self._sidecar is not None else None
        mapped = None if state is None else self._mapped(memory, state)
        if mapped is not None and mapped.state == state:
            self.lacks_sidecar = False
            self._held.clear()
            return self._shared(memory, mapped)
        if mapped is None:
            is_left = state is not None and self._is_left(state)
            self.lacks_sidecar = is_left and not self._has_failed(state)
            if is_left or not self.may_read:
                return None
        return self._joined(cursor, memory, model_id, state, mapped)

    def _mapped(self, memory: Memory, state: VectorsState) -> MappedVectors | None:
        """Return the vectors of the sidecar if they are of this model in this index."""
        found = self._sidecar.current(memory) if self._sidecar is not None else None
        return found if found is not None and found.state.is_of(state) else None

    def _shared(self, memory: Memory, mapped: MappedVectors) -> list[Block]:
        """Use the vectors of a sidecar, whose pages need not be in the memory of DuckDB as well."""
        size = sum(block.vectors.nbytes for block in mapped.blocks)
        if size > MUCH:
            memory.stands_for_file = True
            memory.sheds.append(mapped.release)
        return list(mapped.blocks)

    def _joined(
        self,
        cursor: Cursor,
        memory: Memory,
        model_id: int,
        state: VectorsState | None,
        mapped: MappedVectors | None,
    ) -> list[Block] | None:
        """Compare what is held with the tables, and load what is new."""
        known = IndexedVectors.of(cursor, model_id)
        shared = [known.matched(block) for block in (mapped.blocks if mapped is not None else ())]
        own = [known.matched(block).compacted() for block in self._held]
        ids, new = known.ids, known.new()
        self._held.clear()  # before there are others
        self.lacks_sidecar = False
        if is_much(len(new), shared, len(ids)):
            if not self.may_read:
                return None
            made = self._made(cursor, model_id, state)
            if made is not None:
                return self._shared(memory, made)
            if mapped is None:
                own, new = [], ids
            is_left = state is not None and self._is_left(state)
            self.lacks_sidecar = is_left and not self._has_failed(state)
        if state is not None and len(new) * state.bytes > MOST * state.vectors:
            return None
        if len(new):
            everything = len(new) == len(ids)
            try:
                read = read_vectors(
                    cursor, model_id, new, everything=everything, goes_on=cancellation.check
                )
            except NotFinite:
                memory.held[LEFT] = model_id
                return None
            memory.stands_for_file |= read.vectors.nbytes > MUCH
            own.append(read)
        self._held = joined_blocks(own)
        if mapped is not None:
            self._shared(memory, mapped)
        return [*shared, *self._held]

    def _has_failed(self, state: VectorsState | None) -> bool:
        """Check that the sidecar could not be written: it is made when the vectors change."""
        if state is None or self._sidecar is None:
            return False
        return self._sidecar.has_failed(state)

    def _is_left(self, state: VectorsState) -> bool:
        """Check that the sidecar is left to a thread: no search waits for so many vectors."""
        is_many = state.bytes > MOST
        return is_many or (not self.makes and state.vectors >= vector_sidecar.LEAST)

    def _made(
        self, cursor: Cursor, model_id: int, state: VectorsState | None
    ) -> MappedVectors | None:
        """Make the sidecar where the vectors would be read into memory; None if it cannot be."""
        if self._sidecar is None or state is None or state.vectors < vector_sidecar.LEAST:
            return None
        if self._is_left(state):
            return None
        try:
            return self._sidecar.make(
                cursor, model_id=model_id, state=state, goes_on=cancellation.check
            )
        except (JobRunning, IndexNotWritable, OSError) as error:
            vector_sidecar.note_unused(error)
            return None


def _state(cursor: Cursor, memory: Memory, model_id: int) -> VectorsState | None:
    """Return the state of the vectors of a model, which is computed once while it cannot change."""
    name = f"{KIND} {model_id}"
    if name not in memory.held:
        memory.held[name] = vectors_state(cursor, model_id)
    found: object = memory.held[name]
    return found if isinstance(found, VectorsState) else None
