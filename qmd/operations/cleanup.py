"""Removing what nothing needs any more."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from qmd.embedding import vectors
from qmd.errors import IndexFailure
from qmd.operations.engine import Engine
from qmd.storage import compaction, maintenance, scratch
from qmd.storage.cursor import Cursor
from qmd.storage.file_lock import errand, is_at_work
from qmd.storage.maintenance import Waste


@dataclass(frozen=True, slots=True)
class Cleaned:
    """What was removed, or would be.

    Attributes:
        waste: in the index.
        leftovers: bytes of what processes that were killed have left beside it.
        before: bytes of the DuckDB file.
        after: of it now.
        notice: why that is not as small as it could be, or None.
    """

    waste: Waste
    leftovers: Mapping[Path, int]
    before: int
    after: int
    notice: str | None = None


def clean(engine: Engine, *, dry_run: bool = False) -> Cleaned:
    """Remove what nothing needs any more, and make the file of the index small.

    Args:
        dry_run: only say what would be removed.

    Raises:
        IndexFailure: the index is busy, or cannot be read or written.
        JobRunning: another process is at it.
    """
    path = engine.place.database
    leftovers = (scratch.left_behind if dry_run else scratch.clear)(path)
    before = engine.read(lambda _: path.stat().st_size)
    if dry_run:
        unused = partial(_unused_models, path=path, space=engine.in_use())
        waste = engine.read(lambda cursor: maintenance.waste(cursor, unused_models=unused(cursor)))
        return Cleaned(waste, leftovers, before, before)
    with errand(path, "cleanup"):
        waste, notice = remove_waste(engine), None
        try:
            if not compaction.compact(engine.database):
                notice = "Other processes write, so that the file stays as it is: try again."
        except IndexFailure as error:
            notice = f"What it had is removed, but the file stays as it is. {error}"
    return Cleaned(waste, leftovers, before, path.stat().st_size, notice)


def remove_waste(engine: Engine) -> Waste:
    """Remove what nothing needs any more, and leave the size of the file as it is.

    Returns:
        What was removed.
    """
    return maintenance.clean(
        engine.database,
        unused_models=partial(_unused_models, path=engine.place.database, space=engine.in_use()),
        remove_model=lambda cursor, model_id: vectors.remove(cursor, model_id=model_id),
    )


def _unused_models(cursor: Cursor, *, path: Path, space: str | None) -> list[int]:
    # A process that makes vectors holds its lock before it writes: it is asked for here, within
    # the transaction.
    return vectors.unused(cursor, space, at_work=is_at_work(path, "embed"))
