"""Vectors held in memory between searches: a matrix for exact search, HNSW for very many."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from qmd.models.selection import Space
    from qmd.ranking.hnsw import Shortcut
    from qmd.ranking.nearest import Faster
    from qmd.ranking.vector_matrix import Matrix
    from qmd.storage.database import Database


class VectorIndexes:
    """Vector indexes of one process, made when they pay.

    Args:
        place: the index file.
        stays: for a server: what takes minutes to make may be made in the background.
    """

    def __init__(self, database: Database, place: Path, *, stays: bool) -> None:
        self._database = database
        self._place = place
        self._stays = stays
        self._matrix: Matrix | None = None
        self._shortcut: tuple[str, Shortcut] | None = None
        self._making = threading.Lock()

    def get(self, space: Space, model_id: int, vectors: int, dimensions: int) -> Faster | None:
        """Return what finds the nearest vectors faster; None: compare with all in the file.

        A matrix is filled from the second question on: to read all vectors takes as long as to
        compare them several times, and a command asks only once.
        """
        from qmd.ranking import vector_matrix
        from qmd.ranking.nearest import Faster

        if 4 * vectors * dimensions > vector_matrix.MOST:
            self._matrix = None
            return Faster(shortcut=self._hnsw(space, model_id, vectors, dimensions))
        with self._making:
            held = self._matrix
            if held is None or held.fingerprint != space.fingerprint:
                self._matrix = vector_matrix.Matrix(space.fingerprint)
                return None
        return Faster(held)

    def _hnsw(self, space: Space, model_id: int, vectors: int, dimensions: int) -> Shortcut | None:
        """Return an HNSW index that is up to date; else None, and one is made in the background.

        None is made without DuckDB's vss extension: all vectors are compared.
        """
        from qmd.ranking import hnsw
        from qmd.storage.extensions import binary

        if not self._stays or vectors < hnsw.WORTH or binary("vss") is None:
            return None
        with self._making:
            if self._shortcut is None or self._shortcut[0] != space.fingerprint:
                if self._shortcut is not None:
                    self._shortcut[1].close()
                made = hnsw.Shortcut(self._place, space.fingerprint, dimensions)
                self._shortcut = space.fingerprint, made
            found = self._shortcut[1]
        if found.fits(vectors):
            return found
        found.prepare(self._database, model_id)
        return None

    def close(self) -> None:
        """Let go of the memory, and of files."""
        with self._making:
            if self._shortcut is not None:
                self._shortcut[1].close()
                self._shortcut = None
            self._matrix = None
