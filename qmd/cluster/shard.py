"""One shard: an index file that answers the requests of a coordinator."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qmd.named_tuple import NamedTuple
from qmd.storage.database import Database

if TYPE_CHECKING:
    from qmd.analytics.sandbox_workers import Workers
    from qmd.ranking.vector_matrix import Matrix
    from qmd.storage.cursor import Cursor, Value

ROWS = "rows"
"""Request for the rows of a statement: its name and its parameters."""

SQL = "sql"
"""Request for the rows of a user's statement: arguments of `ShardSql.rows`."""

NEAREST = "search/nearest"
"""Statement that a matrix in memory answers, too."""

LEAST_SECONDS = 0.01
"""Time of a user's statement for which none is left."""

POSTINGS = frozenset({"near", "documents", "any_of", "phrases", "ranked"})
"""Requests that are methods of the protocol `Postings`."""


class ShardRequest(NamedTuple):
    """Question of the coordinator to one shard.

    Attributes:
        kind: `ROWS`, `SQL`, or a method of `Postings`.
        arguments: of it.
        seconds: that it may take on top of the deadline of all requests.
    """

    kind: str
    arguments: tuple[Any, ...]
    seconds: float = 0.0

    def after(self, seconds: float) -> ShardRequest:
        """Return a request of kind `SQL` with the time that is left after waiting for a while."""
        text, parameters, limits, most = self.arguments
        left = limits._replace(timeout=max(LEAST_SECONDS, limits.timeout - seconds))
        return self._replace(arguments=(text, parameters, left, most))


class Shard:
    """Open shard, for a process that stays: postings and vectors are held in memory.

    Args:
        path: the index file. It is read, and never changed.
        in_memory: hold postings and vectors where they fit.
        workers: returns the processes for queries in SQL, which several shards share.
    """

    def __init__(
        self, path: Path, *, in_memory: bool = True, workers: Callable[[], Workers] | None = None
    ) -> None:
        from qmd.ranking.postings_loader import BackgroundReader, Holder

        self._database = Database(path, warm=True)
        self._maker = BackgroundReader(self._database, "qmd-vectors")
        self._holder = Holder(self._database)
        self._in_memory = in_memory
        if in_memory:
            self._database.missed = self._holder.missed
        self._matrices: dict[int, Matrix] = {}
        self._path = path
        self._workers = workers

    def answer(self, request: ShardRequest) -> Any:
        """Answer one request, about one state of the file.

        Raises:
            IndexFailure: the file cannot be read.
        """
        if request.kind == SQL:
            return self._asked_in_sql(request)
        return self._database.read(lambda cursor: self._answered(cursor, request))

    def _answered(self, cursor: Cursor, request: ShardRequest) -> Any:
        from qmd.ranking import bm25

        if request.kind in POSTINGS:
            return getattr(bm25.postings_of(cursor), request.kind)(*request.arguments)
        if request.kind != ROWS:
            raise ValueError(f"There is no request {request.kind!r}.")
        name, parameters = request.arguments
        if name == NEAREST and self._in_memory:
            found = self._nearest(cursor, parameters)
            if found is not None:
                return found
        return cursor.run(name, **parameters)

    def _asked_in_sql(self, request: ShardRequest) -> Any:
        from qmd.cluster.shard_sql import ShardSql

        shared = None if self._workers is None else self._workers()
        return ShardSql(self._path, self._database, shared).rows(*request.arguments)

    def _nearest(
        self, cursor: Cursor, parameters: Mapping[str, Value]
    ) -> list[tuple[int, float]] | None:
        """Find the nearest chunks by the matrix; None if it is too large, or yet to be made.

        The sidecar of many vectors is made in the background, and DuckDB compares them meanwhile.
        """
        import json

        import numpy as np

        from qmd.ranking import vector_matrix

        number = int(str(parameters["model_id"]))
        vector = np.array(json.loads(str(parameters["vector"])), np.float32)
        made = vector_matrix.Matrix(str(number), self._path)
        matrix = self._matrices.setdefault(number, made)
        matrix.makes = self._maker.failed
        chunks = parameters.get("chunks")
        compared = matrix.compared(
            cursor, vector, model_id=number, chunks=None if chunks is None else str(chunks)
        )
        if matrix.lacks_sidecar:
            self._maker.prepare(partial(self._save, matrix, number))
        return None if compared is None else compared.first(int(str(parameters["depth"])))

    def _save(self, matrix: Matrix, model_id: int, cursor: Cursor) -> None:
        matrix.save(cursor, model_id=model_id, goes_on=self._maker.check)

    def load(self) -> None:
        """Load the postings into memory, and wait for it."""
        if self._in_memory:
            self._holder.prepare()
            self.settle()

    def settle(self) -> None:
        """Wait for the end of what is loaded or made in the background."""
        self._holder.settle()
        self._maker.settle()

    def close(self) -> None:
        """Close the file."""
        self._maker.close()
        self._holder.close()
        self._database.close()
