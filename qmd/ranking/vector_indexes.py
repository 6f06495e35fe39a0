"""Vectors outside of DuckDB: those of a sidecar or in memory, and HNSW where neither can be."""

from __future__ import annotations

import threading
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from qmd.ranking.postings_loader import BackgroundReader
from qmd.storage import cancellation

if TYPE_CHECKING:
    from qmd.models.selection import Space
    from qmd.ranking.hnsw import Shortcut
    from qmd.ranking.nearest import Faster
    from qmd.ranking.vector_matrix import Matrix
    from qmd.storage.cursor import Cursor
    from qmd.storage.database import Database


OFTEN = 3
"""Times that writers stop the making of a sidecar, after which a search makes it."""


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
        self._maker = BackgroundReader(database, "qmd-vectors")

    def get(self, space: Space, model_id: int, vectors: int, dimensions: int) -> Faster | None:
        """Return what finds the nearest vectors faster than to compare all in the file.

        Vectors of a sidecar are used at once. They are read from the table, or a sidecar is made of
        them, from the second question on: to read all takes as long as to compare them several
        times, and a command asks only once. A server makes it in the background, and by a search
        only if that cannot be done or has been stopped by writers again and again.
        """
        from qmd.ranking import vector_matrix
        from qmd.ranking.nearest import Faster

        with self._making:
            held = self._matrix
            if held is None or held.fingerprint != space.fingerprint:
                held = vector_matrix.Matrix(space.fingerprint, self._place, may_read=False)
                self._matrix = held
            else:
                held.may_read = True
            held.makes = not self._stays or self._maker.failed or self._maker.stopped >= OFTEN
        if held.lacks_sidecar and held.may_read and self._stays:
            self._maker.prepare(partial(self._save, held, model_id))
        if 4 * vectors * dimensions > vector_matrix.MOST and self._maker.failed:
            return Faster(held, self._hnsw(space, model_id, vectors, dimensions))
        return Faster(held)

    def renew(self, space: Space) -> None:
        """Make the sidecar of many vectors, if there is none or many have changed.

        It is left to others if a writer waits, or another process is at it.

        Raises:
            Stopped: the caller has cancelled.
        """
        from qmd.embedding import vectors
        from qmd.ranking.vector_matrix import Matrix

        def work(cursor: Cursor) -> None:
            model_id = vectors.model_id(cursor, space.fingerprint)
            if model_id is not None:
                self._save(matrix, model_id, cursor)

        held = self._matrix
        is_of_space = held is not None and held.fingerprint == space.fingerprint
        matrix = held if held and is_of_space else Matrix(space.fingerprint, self._place)
        self._maker.run(work)
        cancellation.check()

    def _save(self, matrix: Matrix, model_id: int, cursor: Cursor) -> None:
        matrix.save(cursor, model_id=model_id, goes_on=self._maker.check)

    def settle(self) -> None:
        """Wait for the end of what is made in the background."""
        self._maker.settle()

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
        self._maker.close()
        with self._making:
            if self._shortcut is not None:
                self._shortcut[1].close()
                self._shortcut = None
            self._matrix = None
