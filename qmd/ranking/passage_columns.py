"""Columns of all passages, in memory: where the nearest ones stand is found without DuckDB.

A statement takes 4 ms for that among 81,000 passages, nearly all of them to plan and to read hashes
of texts, and the columns 8 ms.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from qmd.named_tuple import NamedTuple
from qmd.storage.statements import given
from qmd.types import Nearest

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from qmd.ranking.bm25 import Shelf
    from qmd.storage.cursor import Cursor

KIND, ASKED = "passages", "passages asked for"
"""Kinds of what is held while the index stays attached."""

MOST = 1_000_000
"""Passages up to which the columns are held, which take 24 bytes each. Copies of a text have the
same vectors, and passages of their own."""


class PassageColumns(NamedTuple):
    """Passages, ascending by the number of the chunk; each chunk in every document with its text.

    Attributes:
        chunk_id, document_id, seq, position, length, line: uint32[n]; see `search/passages`.
    """

    chunk_id: NDArray[np.uint32]
    document_id: NDArray[np.uint32]
    seq: NDArray[np.uint32]
    position: NDArray[np.uint32]
    length: NDArray[np.uint32]
    line: NDArray[np.uint32]

    def placed(
        self,
        scores: Sequence[tuple[int, float]],
        shelf: Shelf,
        *,
        among: Container[int] | None,
        limit: int,
        per_file: int,
    ) -> list[Nearest]:
        """Map scored chunks to documents. See `nearest.placed`."""
        chunks = np.array([chunk_id for chunk_id, _ in scores], np.uint32)
        first = self.chunk_id.searchsorted(chunks)
        counts = self.chunk_id.searchsorted(chunks, "right") - first
        starts = counts.cumsum() - counts
        rows = (first - starts).repeat(counts) + np.arange(counts.sum())
        worth = np.array([score for _, score in scores]).repeat(counts)
        documents = self.document_id[rows].tolist()
        order = self._ties_by_path(rows, worth, documents, shelf)
        taken = Counter[int]()
        kept: list[int] = []
        for at in order:
            if len(kept) == limit:
                break
            number = documents[at]
            if (among is None or number in among) and taken[number] < per_file:
                taken[number] += 1
                kept.append(at)
        places = np.array(kept, np.intp)
        chosen = rows[places]
        return [
            Nearest(*found)
            for found in zip(
                self.document_id[chosen].tolist(),
                worth[places].tolist(),
                self.position[chosen].tolist(),
                self.length[chosen].tolist(),
                self.line[chosen].tolist(),
                strict=True,
            )
        ]

    def _ties_by_path(
        self, rows: NDArray[Any], worth: NDArray[Any], documents: Sequence[int], shelf: Shelf
    ) -> Sequence[int]:
        """Order positions by score; equal ones go by path, and by their place in the text."""
        order = list(range(len(rows)))
        ends = np.flatnonzero(np.diff(worth, append=np.nan) != 0) + 1
        for start, end in zip([0, *ends.tolist()], ends.tolist(), strict=False):
            if end - start > 1:
                tied = order[start:end]
                paths = shelf.places({documents[at] for at in tied})
                tied.sort(
                    key=lambda at: (
                        paths.get(documents[at], ("", "")),
                        self.seq[rows[at]],
                        documents[at],
                    )
                )
                order[start:end] = tied
        return order


def held_passages(cursor: Cursor, vectors: int) -> PassageColumns | None:
    """Return the columns; None at the first call while the index stays attached, or if too many.

    For one search, a statement takes half as long.

    Args:
        vectors: of the index.
    """
    memory = cursor.memory
    if memory is None or vectors > MOST:
        return None
    if memory.held.get(ASKED) is None:
        memory.held[ASKED] = True
        return None
    if KIND not in memory.held:
        text, asked = given("held/passages", {"most": MOST + 1})
        columns = cursor.connection.execute(text, asked).fetchnumpy()
        found = PassageColumns(
            *(columns[name].astype(np.uint32, copy=False) for name in PassageColumns._fields)
        )
        memory.held[KIND] = found if len(found.chunk_id) <= MOST else None
    return cast("PassageColumns | None", memory.held[KIND])
