"""Blocks of vectors with their numbers, read from the table or mapped from a sidecar."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from qmd.named_tuple import NamedTuple
from qmd.ranking import vector_codes
from qmd.storage.arrow import fetched
from qmd.storage.cursor import Cursor, as_json
from qmd.storage.statements import given

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from qmd.ranking.vector_codes import CodedQuery, Codes

FEW = 0.1
"""Share of new and lost vectors up to which those are loaded by number: beyond, all are loaded
again."""

AT_ONCE = 4096
"""Vectors that are loaded at once."""

BLOCKS = 8
"""Blocks in the memory of this process at most: each takes a product of its own."""

SOME = 0.2
"""Share of the vectors up to which they are copied to be compared: beyond, comparing all is
quicker."""


class NotFinite(ArithmeticError):
    """A vector has no finite length, for which no bound of its similarity would hold.

    Models, `embed` and `import` refuse such vectors.
    """


class Block(NamedTuple):
    """A block of vectors.

    Attributes:
        chunk_ids: uint32[n], ascending.
        signs: uint64[n], hashes.
        vectors: float32[n, dimensions]
        codes: of the vectors; None: they are compared themselves.
        gone: bool[n]: those that are not in the index any more; None: there are none.
        release: releases the memory of what was read of the vectors; None: it is no file's.
    """

    chunk_ids: NDArray[np.uint32]
    signs: NDArray[np.uint64]
    vectors: NDArray[np.float32]
    codes: Codes | None = None
    gone: NDArray[np.bool_] | None = None
    release: Callable[[], None] | None = None

    def present(self, ids: NDArray[np.uint32], signs: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Find the vectors of the index in this block.

        Args:
            ids: numbers of those of the index, ascending, with their `signs`.

        Returns:
            int64[n]: position of each vector of this block in `ids`; -1 if it is not there.
        """
        if not len(ids):
            return np.full(len(self.chunk_ids), -1)
        places = np.minimum(np.searchsorted(ids, self.chunk_ids), len(ids) - 1)
        same = (ids[places] == self.chunk_ids) & (signs[places] == self.signs)
        return np.where(same, places, -1)

    def compacted(self) -> Block:
        """Return this block with copies of the vectors that are not gone."""
        if self.gone is None:
            return self
        kept = ~self.gone
        return Block(self.chunk_ids[kept], self.signs[kept], self.vectors[kept])

    def rows_of(self, among: NDArray[np.uint32]) -> NDArray[np.int64]:
        """Find the rows of some numbers, ascending; others are left out."""
        if not len(self.chunk_ids):
            return np.empty(0, np.int64)
        ends = self.chunk_ids[0], self.chunk_ids[-1]
        inside = among[among.searchsorted(ends[0]) : among.searchsorted(ends[1], "right")]
        rows = self.chunk_ids.searchsorted(inside)
        found: NDArray[np.int64] = rows[self.chunk_ids[rows] == inside]
        return found

    def compare(
        self,
        vector: NDArray[np.float32],
        coded: CodedQuery,
        out: NDArray[np.float32],
        rows: NDArray[np.int64] | None,
    ) -> None:
        """Write the similarity of each vector into `out`; without one: minus infinity.

        Args:
            coded: code of the vector, for blocks that have codes.
            rows: those to compare; None: all.
        """
        if self.codes is not None and vector_codes.is_compiled():
            coded.compare(self.codes, out, rows)
        elif rows is None:
            np.dot(self.vectors, vector, out=out)
        elif len(rows) < SOME * len(self.chunk_ids):
            np.dot(self.vectors[rows], vector, out=out)
        else:
            out[:] = (self.vectors @ vector)[rows]
        if self.gone is not None:
            out[self.gone if rows is None else self.gone[rows]] = -np.inf

    def errors(self, rows: NDArray[np.int64] | None) -> NDArray[np.float32] | None:
        """Return the length of what the code of each vector lacks; None: nothing."""
        if self.codes is None or not vector_codes.is_compiled():
            return None
        return self.codes.errors if rows is None else self.codes.errors[rows]


def joined_blocks(blocks: list[Block]) -> list[Block]:
    """Merge vectors into few blocks. The largest block is kept as it is."""
    blocks = [block for block in blocks if len(block.chunk_ids)]
    if len(blocks) <= BLOCKS:
        return blocks
    blocks.sort(key=lambda block: len(block.chunk_ids), reverse=True)
    ids, signs, vectors = (np.concatenate(each) for each in list(zip(*blocks[1:], strict=True))[:3])
    order = np.argsort(ids, kind="stable")
    return [blocks[0], Block(ids[order], signs[order], vectors[order])]


class IndexedVectors(NamedTuple):
    """Vectors of a model that the index has.

    Attributes:
        ids: uint32[n], ascending.
        signs: uint64[n], a hash of the signs of each.
        held: bool[n]: those that a block has.
    """

    ids: NDArray[np.uint32]
    signs: NDArray[np.uint64]
    held: NDArray[np.bool_]

    @classmethod
    def of(cls, cursor: Cursor, model_id: int) -> IndexedVectors:
        """Load the numbers and signs of all vectors of a model."""
        table = _table(cursor, "embeddings/signs", model_id=model_id)
        ids, signs = table["chunk_id"].to_numpy(), table["sign"].to_numpy()
        order = np.argsort(ids, kind="stable")  # nearly sorted already
        return cls(ids[order], signs[order], np.zeros(len(ids), np.bool_))

    def matched(self, block: Block) -> Block:
        """Return a block without the vectors that the index lacks, or that another block has.

        Those that it has are held from then on.
        """
        places = block.present(self.ids, self.signs)
        there = places >= 0
        there[there] = ~self.held[places[there]]
        self.held[places[there]] = True
        return block._replace(gone=None if there.all() else ~there)

    def new(self) -> NDArray[np.uint32]:
        """Return the numbers of those that no block has."""
        return self.ids[~self.held]


def is_much(new: int, blocks: Sequence[Block], count: int) -> bool:
    """Check that so much is new, or gone from mapped blocks, that a new sidecar is better.

    Args:
        new: vectors that no block has.
        count: vectors of the index.
    """
    lost = sum(int(block.gone.sum()) for block in blocks if block.gone is not None)
    return new + lost > FEW * count


def read_vectors(
    cursor: Cursor,
    model_id: int,
    wanted: NDArray[np.uint32],
    *,
    everything: bool,
    goes_on: Callable[[], None],
) -> Block:
    """Load vectors of the index in parts.

    Args:
        wanted: their numbers, ascending.
        everything: there are no others between the first and the last one.
        goes_on: is called before each part, and may raise to end it.

    Raises:
        NotFinite: a vector has no finite length.
    """
    count = len(wanted)
    ids, signs = np.empty(count, np.uint32), np.empty(count, np.uint64)
    vectors = np.empty((0, 0), np.float32)
    for at in range(0, count, AT_ONCE):
        goes_on()
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
        if not np.isfinite(np.einsum("ij,ij->i", read, read)).all():
            raise NotFinite("A vector has no finite length.")
        if not at:
            vectors = np.empty((count, read.shape[1]), np.float32)
        part = slice(at, at + len(some))
        ids[part], signs[part], vectors[part] = table["chunk_id"], table["sign"], read
    return Block(ids, signs, vectors)


def _table(cursor: Cursor, name: str, **parameters: int | str | None) -> pa.Table:
    """Fetch all rows as an Arrow table. A stream read in part would keep the file open."""
    text, taken = given(name, parameters)
    return fetched(cursor.connection, text, taken).read_all()
