"""Operation `cleanup`: remove unused data, and compact the file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from qmd.declaration.operation import Parameter, operation
from qmd.embedding import vectors
from qmd.embedding.vector_status import active_fingerprint
from qmd.errors import IndexFailure
from qmd.storage import compaction, maintenance, scratch
from qmd.storage.cursor import Cursor
from qmd.storage.file_lock import errand, is_at_work
from qmd.storage.maintenance import Waste

if TYPE_CHECKING:
    from qmd.operations.index import Index

DryRun = Annotated[bool, Parameter(help="Only say what would be removed.")]


@dataclass(frozen=True, slots=True)
class Cleaned:
    """Report of a cleanup: what was removed, or would be.

    Attributes:
        waste: in the index.
        leftovers: bytes of what processes that were killed have left beside it.
        before: bytes of the DuckDB file.
        after: of it now.
        notice: why that is not as small as it could be, or None.
        postings: bytes of the file of mapped postings, which is made again when it is needed.
        mapped_vectors: likewise.
    """

    waste: Waste
    leftovers: Mapping[Path, int]
    before: int
    after: int
    notice: str | None = None
    postings: int = 0
    mapped_vectors: int = 0


@operation(
    title="Clean up",
    writes=True,
    absent={"tool": "It holds the index for long, which is for the user to decide."},
    examples=(
        ("Remove what is unused", "qmd cleanup"),
        ("Only show what would be removed", "qmd cleanup --dry-run"),
    ),
)
def cleanup(index: Index, *, dry_run: DryRun = False) -> Cleaned:
    """Remove unused data, put the index in order, and make its file small.

    Args:
        dry_run: only say what would be removed.

    Raises:
        IndexFailure: the index is busy, or cannot be read or written.
        JobRunning: another process is at it.
    """
    path = index.place.database
    leftovers = (scratch.left_behind if dry_run else scratch.clear)(path)
    before = index.read(lambda _: path.stat().st_size)
    if dry_run:
        unused = partial(_unused_models, path=path, space=active_fingerprint(index))
        waste = index.read(lambda cursor: maintenance.waste(cursor, unused_models=unused(cursor)))
        return Cleaned(waste, leftovers, before, before, None, *_discarded(path, dry_run=True))
    with errand(path, "cleanup"):
        waste, notice = remove_waste(index), None
        try:
            if not compaction.compact(index.database):
                notice = "Other processes write, so that the file stays as it is: try again."
        except IndexFailure as error:
            notice = f"What it had is removed, but the file stays as it is. {error}"
    return Cleaned(waste, leftovers, before, path.stat().st_size, notice, *_discarded(path))


def _discarded(path: Path, *, dry_run: bool = False) -> tuple[int, int]:
    """Remove the sidecars of postings and of vectors, and return the bytes of each."""
    from qmd.ranking.sidecar_file import SidecarFile
    from qmd.ranking.sidecar_format import POSTINGS, VECTORS

    postings, vectors = (
        SidecarFile(path, kind).discard(dry_run=dry_run) for kind in (POSTINGS, VECTORS)
    )
    return postings, vectors


def remove_waste(index: Index) -> Waste:
    """Remove what nothing needs any more, and leave the size of the file as it is.

    Returns:
        Report of what was removed.
    """
    return maintenance.clean(
        index.database,
        unused_models=partial(
            _unused_models, path=index.place.database, space=active_fingerprint(index)
        ),
        remove_model=lambda cursor, model_id: vectors.remove(cursor, model_id=model_id),
    )


def _unused_models(cursor: Cursor, *, path: Path, space: str | None) -> list[int]:
    # A process that makes vectors holds its lock before it writes: it is asked for here, within
    # the transaction.
    return vectors.unused(cursor, space, at_work=is_at_work(path, "embed"))
