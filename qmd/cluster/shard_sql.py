"""Queries in SQL on one shard: in the sandbox of every such query, within the same limits."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from qmd.analytics.sandbox import Limits
from qmd.analytics.sandbox_worker import IndexFile
from qmd.analytics.sandbox_workers import Worker, Workers
from qmd.errors import QmdError, SqlError
from qmd.errors.usage import MORE_MEMORY
from qmd.named_tuple import NamedTuple
from qmd.storage.database import Database
from qmd.workers.channel import packed_error

if TYPE_CHECKING:
    from qmd.analytics.heading import Heading
    from qmd.analytics.search_calls import Parameters


class ShardRows(NamedTuple):
    """Rows of a statement on one shard.

    Attributes:
        headings: the columns.
        data: the rows, as a stream of Arrow.
        error: why there are none, as `packed_error` makes it; an exception with arguments of its
            own could not be rebuilt at the coordinator.
    """

    headings: tuple[Heading, ...] = ()
    data: bytes = b""
    error: Any = None


class ShardSql:
    """Runs statements on a shard, each in a process of its own.

    Args:
        path: the file of the shard.
        database: of the same file, which lets go of it meanwhile.
        workers: processes for several shards; None: one is made for each statement, and ended, as
            a process of Python that waits takes 100 MB.
    """

    def __init__(self, path: Path, database: Database, workers: Workers | None) -> None:
        self._path = path
        self._database = database
        self._workers = workers

    def rows(self, text: str, parameters: Parameters, limits: Limits, most: int) -> ShardRows:
        """Run a statement.

        Args:
            most: bytes of rows.

        Returns:
            The rows, or the error.
        """
        try:
            return self._rows(text, parameters, limits, most)
        except QmdError as error:
            return ShardRows(error=packed_error(error))

    def _rows(self, text: str, parameters: Parameters, limits: Limits, most: int) -> ShardRows:
        workers = self._workers or Workers()
        worker = workers.take()
        try:
            request = worker.read(self._path, limits, text, parameters)
            file = IndexFile(self._path)
            headings, _ = self._database.apart(
                lambda _: worker.answer(file, request, parameters, [], [])
            )
            return ShardRows(headings, _received(worker, most, limits))
        finally:
            workers.give_back(worker)
            if self._workers is None:
                workers.close()


def _received(worker: Worker, most: int, limits: Limits) -> bytes:
    """Receive the rows of an answer.

    Raises:
        SqlError: there are more bytes of them.
    """
    found = bytearray()
    for piece in worker.pieces("arrow", None):
        found += piece
        if len(found) > most:
            raise too_many_rows(limits)
    return bytes(found)


def too_many_rows(limits: Limits) -> SqlError:
    """Build the error for more rows than a query may bring together from its shards."""
    return SqlError(
        f"The shards have more rows for this query than {limits.memory} of memory take.\n\n"
        "Name the columns that you need, choose rows with WHERE, or ask for aggregates that each "
        "shard can make: count, sum, min, max, avg, bool_and, bool_or, with GROUP BY.",
        advice=MORE_MEMORY,
    )
