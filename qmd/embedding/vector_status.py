"""Vector space in use: which documents have vectors in it, and which vectors there are."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import partial
from typing import TYPE_CHECKING, Protocol, TypeVar

from qmd.errors import ModelError

if TYPE_CHECKING:
    from qmd.embedding import vectors
    from qmd.models.loader import Models
    from qmd.models.selection import Space
    from qmd.storage.cursor import Cursor

Found = TypeVar("Found")


class IndexWithModels(Protocol):
    """Open index with the models that are used with it."""

    @property
    def models(self) -> Models:
        """Models of the index."""
        ...

    def read(self, work: Callable[[Cursor], Found], *, key: Hashable | None = None) -> Found:
        """Run `work` on one state of the index."""


def vector_status(
    index: IndexWithModels, collections: tuple[str, ...] | None = None
) -> tuple[Space, vectors.Pending]:
    """Return the vector space that is searched, and how much has no vectors in it.

    Args:
        collections: of whose documents; None means all.

    Raises:
        ModelMissing: the file of the model is not here.
    """
    from qmd.embedding import vectors

    space = index.models.space()
    work = partial(vectors.pending, fingerprint=space.fingerprint, collections=collections)
    return space, index.read(work, key=("pending", space.fingerprint, collections))


def active_fingerprint(index: IndexWithModels) -> str | None:
    """Return the fingerprint of the vectors that are searched; None: their model is not here."""
    try:
        return index.models.space().fingerprint
    except ModelError:
        return None


def other_vectors_notice(index: IndexWithModels) -> str:
    """Say whose vectors the index has, where those of the model in use are missing."""
    from qmd.embedding import vectors

    stored = [each for each in index.read(vectors.models) if each.embeddings]
    if not stored:
        return ""
    names = ", ".join(dict.fromkeys(each.name for each in stored))
    return f"The index has vectors of {names}, made with other settings than those in use now."
