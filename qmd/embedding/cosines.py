"""Cosines of passages that have nothing to do with each other, which differ from model to model.

Two passages taken at random have a cosine near 0.15 with one model and near 0.80 with another. So a
cosine tells how near two texts are only beside those of passages of the same index.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from qmd.storage.cursor import Cursor

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from qmd.models.selection import Space
    from qmd.storage.database import Database

FEWEST, MOST = 30, 256
"""Texts that tell something, at least, and that are compared with each other, at most."""

LEAST_SPREAD = 1e-3
"""Spread below which all passages say the same, and nothing is told."""


class Cosines(NamedTuple):
    """The distribution of cosines of random passages.

    Attributes:
        spread: their standard deviation.
    """

    mean: float
    spread: float

    def similarity(self, cosine: float) -> float:
        """Convert a cosine to a similarity from 0 to 1, on the scale of the usual distribution."""
        usual = (cosine - self.mean) / self.spread * USUAL.spread + USUAL.mean
        return min(max(usual, 0.0), 1.0)


USUAL = Cosines(0.15, 0.12)
"""Of the embedded model, over judged sets (docs/relevance.md); also where too little is known."""


def of(cursor: Cursor, model_id: int) -> Cosines:
    """Those of the passages of a model."""

    def read(unknown: list[int]) -> dict[int, Cosines]:
        return {
            number: next(iter(cursor.rows(Cosines, "embeddings/cosines", model_id=number)), USUAL)
            for number in unknown
        }

    return cursor.each("cosines", [model_id], read)[model_id]


def measured(cursor: Cursor, *, model_id: int) -> Cosines:
    """Measure those of the passages of a model.

    Texts are taken by their hash: the same texts give the same figures, whenever they came.
    """
    import numpy as np

    rows = cursor.run("embeddings/first_passages", model_id=model_id, limit=MOST)
    return of_vectors(np.array([vector for (vector,) in rows], np.float32)) or USUAL


def keep(cursor: Cursor, found: Cosines, *, model_id: int) -> None:
    """Keep those of a model in the index."""
    cursor.run("embeddings/forget_cosines", model_id=model_id)
    cursor.run("embeddings/keep_cosines", model_id=model_id, **found._asdict())


def measure_again(database: Database, space: Space) -> None:
    """Measure the cosines of what has vectors now; write them only if they have changed.

    Those of the embedded model are known (`USUAL`).
    """
    from qmd.embedding import vectors
    from qmd.models.registry import MINILM

    if space.model.name == MINILM.name:
        return

    def changed(cursor: Cursor) -> tuple[int, Cosines] | None:
        number = vectors.model_id(cursor, space.fingerprint)
        if number is None:
            return None
        found = measured(cursor, model_id=number)
        return (number, found) if found != of(cursor, number) else None

    def write(cursor: Cursor) -> None:
        if (found := changed(cursor)) is not None:
            keep(cursor, found[1], model_id=found[0])

    if database.read(changed) is not None:
        database.write(write)


def of_vectors(vectors: NDArray[np.float32]) -> Cosines | None:
    """Compute those of vectors of length 1, each with each; None if there are too few."""
    import numpy as np

    if len(vectors) < FEWEST:
        return None
    each = (vectors @ vectors.T)[np.triu_indices(len(vectors), 1)]
    mean, spread = float(each.mean()), float(each.std())
    return Cosines(mean, spread) if spread >= LEAST_SPREAD else None
