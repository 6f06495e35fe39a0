"""Findings of `doctor` about the sidecars of an index, which a search can do without."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING, Literal

from qmd.embedding import vectors
from qmd.embedding.vector_status import active_fingerprint
from qmd.ranking.postings_sidecar import sidecar_state
from qmd.wording import amount, size

if TYPE_CHECKING:
    from pathlib import Path

    from qmd.operations.index import Index
    from qmd.storage.cursor import Cursor

Told = tuple[Literal["ok", "warning"], str, str | None]
"""Status, detail, and the command that mends it, in words."""


def mapped_postings(index: Index) -> Told | None:
    """Say whether the sidecar of postings is used, and if not, why; None: there is no need of it.

    Raises:
        IndexFailure: the index cannot be read.
    """
    from qmd.ranking.sidecar_format import POSTINGS

    path = index.place.database
    state = index.read(lambda cursor: sidecar_state(cursor, path))
    if state.kind == "fits":
        more = f"; {amount(state.added, 'document')} came later" if state.added else ""
        return "ok", f"{size(state.size)}{more}", None
    problem = _unsaved(path.parent, state.needed)
    if problem is not None and state.is_large:
        reason, mend = problem
        detail = f"cannot be saved, so that each process reads them from the tables: {reason}"
        return "warning", detail, mend
    if state.kind == "damaged":
        detail = f"{path.name}.{POSTINGS.suffix} is damaged, or of another program, and not used"
        return "warning", detail, "Run 'qmd cleanup'."
    if not state.is_large:
        return None
    found = "of an earlier state" if state.kind == "stale" else "not made yet"
    return "ok", f"{found}: the next server, or an update of many files, makes them", None


def mapped_vectors(index: Index) -> Told | None:
    """Say whether the sidecar of vectors is used, and if not, why; None: there is no need of it.

    Raises:
        IndexFailure: the index cannot be read.
    """
    from qmd.ranking.sidecar_format import VECTORS
    from qmd.ranking.vector_sidecar import VectorSidecarState, vector_sidecar_state

    path, fingerprint = index.place.database, active_fingerprint(index)

    def compare(cursor: Cursor) -> VectorSidecarState | None:
        number = None if fingerprint is None else vectors.model_id(cursor, fingerprint)
        return None if number is None else vector_sidecar_state(cursor, path, number)

    state = index.read(compare)
    if state is None:
        return None
    if state.kind == "fits":
        return "ok", size(state.size), None
    problem = _unsaved(path.parent, state.needed) if state.needed else None
    if problem is not None:
        reason, mend = problem
        return "warning", f"cannot be saved, so that each process reads them: {reason}", mend
    if state.kind == "damaged":
        detail = f"{path.name}.{VECTORS.suffix} is damaged, or of another program, and not used"
        return "warning", detail, "Run 'qmd cleanup'."
    if not state.needed:
        return None
    found = "of an earlier state" if state.kind == "stale" else "not made yet"
    return "ok", f"{found}: the next server or 'qmd embed' makes them", None


def _unsaved(folder: Path, needed: int) -> tuple[str, str] | None:
    """Return why a new sidecar cannot be saved and what to do about it; None if it can be."""
    if not os.access(folder, os.W_OK):
        return "the folder cannot be changed", "Check the permissions."
    free = shutil.disk_usage(folder).free
    if free < needed:
        return f"they take {size(needed)}, and {size(free)} are free", "Make room."
    return None
