"""Sidecar of vectors: those of one model, with their codes, for processes to map.

It is used as far as it fits the tables: it has the state of the vectors that it was made of, and
the number and a hash of the sign bits of each vector. A number is never used for another vector of
the same model in the same index.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from qmd.errors import IndexNotWritable
from qmd.named_tuple import NamedTuple
from qmd.ranking.sidecar_file import Packed, Packer, SidecarFile
from qmd.ranking.sidecar_format import NO_FILE, TIMES, VECTORS, Stamp
from qmd.ranking.vector_blocks import Block, IndexedVectors, NotFinite, is_much, read_vectors
from qmd.ranking.vector_codes import Codes
from qmd.storage import cancellation
from qmd.storage.cursor import Cursor, Memory
from qmd.storage.file_version import is_settled

if TYPE_CHECKING:
    from numpy.typing import NDArray

LEAST = 10_000
"""Vectors from which on a file is worth it: fewer are read from the table in as little time."""

BLOCK = 32_768
"""Vectors of a block, which are in memory at once while the file is made."""


EACH = 20
"""Bytes of each vector in the file, besides its numbers and codes."""


class VectorsState(NamedTuple):
    """State of the vectors of one model in an index. See `embeddings/state`."""

    fingerprint: str
    created: str
    dimensions: int
    vectors: int
    digest: str

    @property
    def bytes(self) -> int:
        """Bytes of the vectors."""
        return 4 * self.vectors * self.dimensions

    @property
    def needed(self) -> int:
        """Bytes that a sidecar takes."""
        return self.vectors * (5 * self.dimensions + EACH)

    def is_of(self, other: VectorsState) -> bool:
        """Check that both are of the same model in the same index, at whatever time."""
        return self[:3] == other[:3]


class MappedVectors(NamedTuple):
    """Vectors of a sidecar.

    Attributes:
        release: releases the memory of what was read of the file, which later reads load again.
    """

    state: VectorsState
    blocks: tuple[Block, ...]
    release: Callable[[], None]


def vectors_state(cursor: Cursor, model_id: int) -> VectorsState | None:
    """Compute the state of the vectors of a model; None: the index does not have the model."""

    def made(rows: list[list[Any]]) -> VectorsState | None:
        return VectorsState(*rows[0]) if rows else None

    def read() -> object:
        return cursor.run("embeddings/state", model_id=model_id)

    return cursor.fact(f"vectors of model {model_id}", read, made)


def pack_vectors(
    cursor: Cursor,
    packer: Packer,
    *,
    model_id: int,
    state: VectorsState,
    goes_on: Callable[[], None],
) -> None:
    """Write the vectors of a model into a sidecar.

    Args:
        state: of the vectors now.
        goes_on: is called again and again, and may raise to end it.

    Raises:
        NotFinite: a vector has no finite length.
    """
    ids = IndexedVectors.of(cursor, model_id).ids
    starts = range(0, len(ids), BLOCK)
    for number, at in enumerate(starts):
        part = ids[at : at + BLOCK]
        block = read_vectors(cursor, model_id, part, everything=True, goes_on=goes_on)
        codes = Codes.of(block.vectors)
        arrays: dict[str, NDArray[Any]] = {
            "ids": block.chunk_ids,
            "signs": block.signs,
            "vectors": block.vectors.reshape(-1),
            "codes": codes.numbers.reshape(-1),
            "scales": codes.scales,
            "errors": codes.errors,
        }
        packer.add(**{f"{name}_{number}": array for name, array in arrays.items()})
        goes_on()
    packer.finish({"state": state, "blocks": len(starts)})


def unpacked_vectors(packed: Packed) -> MappedVectors | None:
    """Return the vectors of a sidecar; None if its arrays do not fit each other."""
    try:
        state = VectorsState(*packed.note["state"])
        blocks = tuple(
            _block(packed, number, state.dimensions) for number in range(packed.note["blocks"])
        )
        if sum(len(block.chunk_ids) for block in blocks) != state.vectors:
            return None
    except (KeyError, TypeError, ValueError, IndexError):
        return None  # another program made it
    return MappedVectors(state, blocks, packed.release)


def _block(packed: Packed, number: int, dimensions: int) -> Block:
    """Return a block of a sidecar.

    Raises:
        KeyError, ValueError: its arrays do not fit each other.
    """

    def array(name: str, kind: type[np.generic]) -> NDArray[Any]:
        found = packed.arrays[f"{name}_{number}"]
        if found.dtype != kind:
            raise ValueError(name)
        return found

    ids, signs = array("ids", np.uint32), array("signs", np.uint64)
    scales, errors = array("scales", np.float32), array("errors", np.float32)
    shape = len(ids), dimensions
    vectors = array("vectors", np.float32).reshape(shape)
    codes = array("codes", np.int8).reshape(shape)
    if not len(ids) == len(signs) == len(scales) == len(errors) or (ids[1:] <= ids[:-1]).any():
        raise ValueError(number)
    release = partial(packed.release_array, f"vectors_{number}")
    return Block(ids, signs, vectors, Codes(codes, scales, errors), None, release)


class VectorSidecar:
    """Sidecar of vectors of an index, as one process knows it.

    Args:
        index: the index file.
    """

    def __init__(self, index: Path) -> None:
        self.file = SidecarFile(index, VECTORS)
        self._known: tuple[Stamp, MappedVectors | None] = NO_FILE, None
        self._failed: VectorsState | None = None
        self._turn = threading.Lock()  # of searches and of a thread that makes it

    def current(self, memory: Memory) -> MappedVectors | None:
        """Map the sidecar, once while it is the same file; None if the file is no sidecar.

        A process that ends after one command trusts the checksum of a file that an earlier one
        has found to be right, by its stamp.

        Raises:
            Stopped: the caller has cancelled.
        """
        with cancellation.holding(self._turn):
            stamp = self.file.stamp()
            if stamp != self._known[0]:
                packed = None
                try:
                    packed = self._mapped(stamp, memory) if stamp != NO_FILE else None
                except OSError as error:
                    note_unused(error)
                self._known = stamp, packed and unpacked_vectors(packed)
            return self._known[1]

    def _mapped(self, stamp: Stamp, memory: Memory) -> Packed | None:
        if memory.facts is None or not is_settled(max(stamp[-TIMES:])):
            return self.file.mapped()
        found: list[Packed | None] = []

        def read() -> bool:
            found.append(self.file.mapped())
            return found[0] is not None

        name = f"vectors in {' '.join(map(str, stamp))}"
        is_right = memory.facts.get(name, read, bool)
        if found:
            return found[0]
        return self.file.mapped(checked=stamp) if is_right else None

    def make(
        self, cursor: Cursor, *, model_id: int, state: VectorsState, goes_on: Callable[[], None]
    ) -> MappedVectors | None:
        """Replace the sidecar by one of the current vectors.

        Raises:
            JobRunning: another process is at it.
            IndexNotWritable, OSError: it cannot be written, or could not be of the same vectors.
            Stopped: of `goes_on`.
        """
        if self.has_failed(state):
            raise IndexNotWritable(self.file.path, "it could not be before.")

        def write(packer: Packer) -> None:
            check_room(self.file.path, state)
            pack_vectors(cursor, packer, model_id=model_id, state=state, goes_on=goes_on)

        try:
            packed = self.file.save(write)
        except (IndexNotWritable, OSError):
            self._failed = state
            raise
        except NotFinite as error:
            self._failed = state
            raise IndexNotWritable(self.file.path, "a vector has no finite length.") from error
        made = packed and unpacked_vectors(packed)
        with self._turn:
            self._known = self.file.stamp(), made
        return made

    def has_failed(self, state: VectorsState) -> bool:
        """Check that this process could not write a sidecar of these vectors.

        On a full disk each try would write what there is room for.
        """
        return self._failed == state


def check_room(path: Path, state: VectorsState) -> None:
    """Check that the disk has room for a sidecar.

    Raises:
        IndexNotWritable: it has not.
    """
    import shutil

    free, needed = shutil.disk_usage(path.parent).free, state.needed
    if free < needed:
        raise IndexNotWritable(path, f"it takes {needed:,} bytes, and {free:,} are free.")


def lacks_little(cursor: Cursor, model_id: int, mapped: MappedVectors) -> bool:
    """Check that a sidecar has nearly all vectors: what it lacks is loaded besides."""
    known = IndexedVectors.of(cursor, model_id)
    blocks = [known.matched(block) for block in mapped.blocks]
    return not is_much(len(known.new()), blocks, len(known.ids))


class VectorSidecarState(NamedTuple):
    """State of a sidecar of vectors, compared with its index.

    Attributes:
        kind: `stale` if it was made of what has been changed since, `damaged` if it is no sidecar.
        size: bytes of it.
        needed: bytes that a new one takes; 0: the vectors are too few for one.
    """

    kind: Literal["none", "fits", "stale", "damaged"]
    size: int
    needed: int


def vector_sidecar_state(cursor: Cursor, index: Path, model_id: int) -> VectorSidecarState:
    """Compare the sidecar of an index with its tables."""
    now = vectors_state(cursor, model_id)
    few = now is None or now.vectors < LEAST
    needed = 0 if now is None or few else now.needed
    file = SidecarFile(index, VECTORS)
    try:
        packed = file.mapped()
    except FileNotFoundError:
        return VectorSidecarState("none", 0, needed)
    except OSError:
        return VectorSidecarState("damaged", 0, needed)
    known = packed and unpacked_vectors(packed)
    if packed is None or known is None:
        return VectorSidecarState("damaged", file.path.stat().st_size, needed)
    is_of = now is not None and known.state.is_of(now)
    fits = is_of and (known.state == now or lacks_little(cursor, model_id, known))
    return VectorSidecarState("fits" if fits else "stale", packed.file.size(), needed)


def note_unused(error: Exception) -> None:
    """Log why vectors are not mapped; few processes need the module for it."""
    import logging

    logging.getLogger("qmd.ranking").debug("Vectors are not mapped: %s", error)
