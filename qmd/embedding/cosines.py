"""Cosines of passages that have nothing to do with each other, which differ from model to model.

Two passages taken at random have a cosine near 0.15 with one model and near 0.80 with another. So a
cosine tells how near two texts are only beside those of passages of the same index.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from qmd.named_tuple import NamedTuple
from qmd.storage.cursor import Cursor

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from qmd.models.selection import Space
    from qmd.storage.database import Database

FEWEST, MOST = 30, 256
"""Texts that are compared with each other: fewer tell too little, and no more are taken."""

QUESTIONS, BEGINNING = 64, 40
"""Passages whose beginnings are asked as questions, at most, and characters of a beginning. With
model e5 these give a mean within .015 of that of real questions on four judged sets, where pairs of
passages are off by up to .045."""

LEAST_SPREAD = 1e-3
"""Spread below which all passages say the same, and their cosines tell nothing."""


Ask = Callable[[Sequence[str]], "NDArray[np.float32]"]


class Cosines(NamedTuple):
    """The distribution of cosines of passages with questions, or other passages, at random.

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
"""Cosines of the embedded model, over judged sets (docs/relevance.md), and of an index with too few
passages."""


def of(cursor: Cursor, model_id: int) -> Cosines:
    """Return the cosines of the passages of a model."""

    def read(unknown: list[int]) -> dict[int, Cosines]:
        return {
            number: next(iter(cursor.rows(Cosines, "embeddings/cosines", model_id=number)), USUAL)
            for number in unknown
        }

    return cursor.each("cosines", [model_id], read)[model_id]


def measured(
    rows: Sequence[tuple[str, Sequence[float]]], *, usual: Cosines = USUAL, ask: Ask | None = None
) -> Cosines:
    """Measure the cosines of the passages of a model; return `usual` if there are too few.

    A model that has another prompt for questions puts these elsewhere: beginnings of passages are
    then asked, and compared with the other passages.

    Args:
        rows: the beginning of each passage, and its vector.
        ask: gives the vectors of questions; None if they are those of passages.
    """
    import numpy as np

    vectors = np.array([vector for _, vector in rows], np.float32)
    if len(vectors) < FEWEST:
        return usual
    if ask is None:
        each = (vectors @ vectors.T)[np.triu_indices(len(vectors), 1)]
    else:
        asked = ask([text or "?" for text, _ in rows[:QUESTIONS]])
        table = asked @ vectors.T
        each = table[np.eye(*table.shape) == 0]  # not with itself
    mean, spread = float(each.mean()), float(each.std())
    return Cosines(mean, spread) if spread >= LEAST_SPREAD else usual


def measured_for(rows: Sequence[tuple[str, Sequence[float]]], space: Space, ask: Ask) -> Cosines:
    """Measure the cosines of the passages of a model, with its prompts. See `measured`."""
    model = space.model
    usual = Cosines(*model.cosines) if model.cosines else USUAL
    same = model.query == model.document
    return measured(rows, usual=usual, ask=None if same else ask)


def keep(cursor: Cursor, found: Cosines, *, model_id: int) -> None:
    """Store the cosines of a model in the index."""
    cursor.run("embeddings/forget_cosines", model_id=model_id)
    cursor.run("embeddings/keep_cosines", model_id=model_id, **found._asdict())


def measure_again(database: Database, space: Space, ask: Ask) -> None:
    """Measure the cosines of what has vectors now; write them only if they have changed.

    Those of the embedded model are known (`USUAL`). Texts are taken by their hash: the same texts
    give the same figures, whenever they came.

    Args:
        ask: gives the vectors of questions, with the prompt that the model wants.
    """
    from qmd.embedding import vectors
    from qmd.models.registry import MINILM

    model = space.model
    if model.name == MINILM.name:
        return

    def passages(cursor: Cursor) -> list[tuple[str, list[float]]]:
        number = vectors.model_id(cursor, space.fingerprint)
        if number is None:
            return []
        return cursor.run("embeddings/first_passages", model_id=number, limit=MOST, count=BEGINNING)

    found = measured_for(database.read(passages), space, ask)

    def changed(cursor: Cursor) -> int | None:
        number = vectors.model_id(cursor, space.fingerprint)
        return number if number is not None and found != of(cursor, number) else None

    def write(cursor: Cursor) -> None:
        if (number := changed(cursor)) is not None:
            keep(cursor, found, model_id=number)

    if database.read(changed) is not None:
        database.write(write)
