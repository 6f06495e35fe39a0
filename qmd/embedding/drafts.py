"""Draft vectors: a full rebuild beside the vectors in use, published when complete."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qmd.embedding import vectors
from qmd.errors import VectorsRemoved
from qmd.storage.cursor import Cursor

if TYPE_CHECKING:
    from qmd.models.selection import Space


def draft(space: Space) -> Space:
    """Return the vector space of the draft that rebuilds another space."""
    return space._replace(fingerprint=f"{space.fingerprint}{vectors.DRAFT}")


def put_in_place(cursor: Cursor, space: Space, dimensions: int) -> None:
    """Replace the vectors of rebuilt texts by those of the draft.

    A text that has vectors, and has not got all of its new ones, keeps those. Chunks get new
    numbers: an HNSW copy that knows all up to one lacks these.

    Raises:
        VectorsRemoved: another process has removed the draft.
    """
    draft_id = vectors.model_id(cursor, draft(space).fingerprint)
    if draft_id is None:
        raise VectorsRemoved(space.model.name)
    both = {"model_id": vectors.meet(cursor, space, dimensions), "draft_id": draft_id}
    cursor.run("embeddings/remove_unfinished", **both)
    cursor.run("embeddings/remove_replaced", **both)
    cursor.run("embeddings/remove_embeddings")
    [(first, count)] = cursor.run("embeddings/numbers", model_id=draft_id)
    cursor.run("embeddings/take_embeddings", **both, first=first)
    cursor.run("embeddings/take_chunks", **both, first=first)
    cursor.run("embeddings/count_up", count=count)
    cursor.run("embeddings/forget_model", model_id=draft_id)
