"""Sidecar of postings as a file of the index: whether it fits."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from qmd.named_tuple import NamedTuple
from qmd.ranking.postings_loader import LARGE

if TYPE_CHECKING:
    from qmd.storage.cursor import Cursor

BYTES_EACH = 5
"""Bytes of a sidecar for each occurrence of a term, rounded up: 4.1 to 4.3 with 7 to 38 million."""


class SidecarState(NamedTuple):
    """State of a sidecar, compared with its index.

    Attributes:
        kind: `stale` if it was made of what has been changed since, or by an earlier version of
            qmd; `damaged` if it is no sidecar.
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
    from qmd.ranking import postings_reader
    from qmd.ranking.sidecar_file import SidecarFile
    from qmd.ranking.sidecar_format import POSTINGS

    [(_, occurrences, _)] = cursor.run("held/size")

    def state(
        kind: Literal["none", "fits", "stale", "damaged"], size: int = 0, added: int = 0
    ) -> SidecarState:
        return SidecarState(kind, size, added, BYTES_EACH * occurrences, occurrences >= LARGE)

    file = SidecarFile(index, POSTINGS)
    try:
        packed = file.mapped()
    except FileNotFoundError:
        return state("none")
    except OSError:
        return state("damaged")
    if packed is None:
        return state("damaged", file.path.stat().st_size)
    known = postings_reader.unpacked(packed)  # None: an earlier version made it
    compared = known and postings_reader.compared(cursor, known)
    if known is None or compared is None or postings_reader.is_much(known, compared):
        return state("stale", packed.file.size())
    return state("fits", packed.file.size(), compared.new)
