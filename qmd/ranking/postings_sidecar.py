"""Sidecar of postings as a file of the index: whether it fits, and its removal."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from qmd.errors import IndexFailure
from qmd.named_tuple import NamedTuple
from qmd.ranking.postings_loader import LARGE, LOCK, part_path, sidecar_path
from qmd.storage.file_lock import errand

if TYPE_CHECKING:
    from qmd.storage.cursor import Cursor

BYTES_EACH = 5
"""Bytes of a sidecar for each occurrence of a term, rounded up: 4.1 to 4.3 with 7 to 38 million."""


class SidecarState(NamedTuple):
    """State of a sidecar, compared with its index.

    Attributes:
        kind: `stale` if it was made of what has been changed since, `damaged` if it is no sidecar.
        size: bytes of it.
        added: documents that the index has besides.
        needed: bytes that a new one takes.
        is_large: the index is so large that updates make one, too.
    """

    kind: Literal["none", "fits", "stale", "damaged"]
    size: int
    added: int
    needed: int
    is_large: bool


def sidecar_state(cursor: Cursor, index: Path) -> SidecarState:
    """Compare the sidecar of an index with its tables.

    Args:
        index: the path of the index file, which `cursor` reads.
    """
    from qmd.ranking import postings_file, postings_reader

    [(_, occurrences, _)] = cursor.run("held/size")

    def state(
        kind: Literal["none", "fits", "stale", "damaged"], size: int = 0, added: int = 0
    ) -> SidecarState:
        return SidecarState(kind, size, added, BYTES_EACH * occurrences, occurrences >= LARGE)

    path = sidecar_path(index)
    try:
        with postings_file.opened(path) as descriptor:
            packed = postings_file.mapped(descriptor)
    except FileNotFoundError:
        return state("none")
    except OSError:
        return state("damaged")
    known = packed and postings_reader.unpacked(packed)
    if packed is None or known is None:
        return state("damaged", path.stat().st_size)
    compared = postings_reader.compared(cursor, known)
    if compared is None or postings_reader.is_much(known, compared):
        return state("stale", packed.file.size())
    return state("fits", packed.file.size(), compared.new)


def discard_sidecar(index: Path, *, dry_run: bool = False) -> int:
    """Remove the sidecar of an index, which is made again when it is needed.

    Args:
        dry_run: leave it.

    Returns:
        Its bytes. 0 if there is none, or a process is about to make one.
    """
    paths = [path for path in (sidecar_path(index), part_path(index)) if path.is_file()]
    taken = sum(path.stat().st_size for path in paths)
    if dry_run or not paths:
        return taken
    try:
        with errand(index, LOCK):
            for path in paths:
                path.unlink(missing_ok=True)
    except (IndexFailure, OSError):
        return 0
    return taken
