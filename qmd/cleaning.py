"""Removing what nothing needs any more."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from qmd.engine import Engine
from qmd.errors import IndexFailure
from qmd.operations.vectors import active_fingerprint
from qmd.store import compaction, maintenance, workplaces
from qmd.store.gate import is_at_work
from qmd.store.maintenance import Waste


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
    """
    path = engine.place.database
    leftovers = (workplaces.left_behind if dry_run else workplaces.clear)(path)
    before = engine.read(lambda _: path.stat().st_size)
    space = active_fingerprint(engine)
    if dry_run:
        waste = engine.read(
            partial(maintenance.waste, space=space, at_work=is_at_work(path, "embed"))
        )
        return Cleaned(waste, leftovers, before, before)
    waste, notice = maintenance.clean(engine.database, space=space), None
    try:
        if not compaction.compact(engine.database):
            notice = "Other processes write, so that the file stays as it is: try again."
    except IndexFailure as error:
        notice = f"What it had is removed, but the file stays as it is. {error}"
    return Cleaned(waste, leftovers, before, path.stat().st_size, notice)
