"""Thread pool with one DuckDB connection for each worker."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from queue import SimpleQueue
from typing import TypeVar

from qmd import processes
from qmd.exchange import parquet
from qmd.storage.cursor import Cursor

T = TypeVar("T")

MAX_WORKERS = 8
"""Statements that run at the same time."""


class WorkerPool:
    """Threads that share an engine, each with its own connection.

    One statement is one thread's work: files are many enough to keep all busy.
    """

    def __init__(self, cursor: Cursor) -> None:
        count = min(processes.cores(), MAX_WORKERS)
        self._cursors = [parquet.second_connection(cursor) for _ in range(count)]
        self._free: SimpleQueue[Cursor] = SimpleQueue()
        for each in self._cursors:
            self._free.put(each)
        self._threads = ThreadPoolExecutor(count, thread_name_prefix="qmd-export")

    def __enter__(self) -> WorkerPool:
        return self

    def __exit__(self, *_: object) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
        for each in self._cursors:
            each.connection.interrupt()
        self._threads.shutdown()
        for each in self._cursors:
            each.connection.close()

    def begin(self, work: Callable[[Cursor], T]) -> Future[T]:
        """Submit work, to run after earlier work."""
        return self._threads.submit(self._run, work)

    def _run(self, work: Callable[[Cursor], T]) -> T:
        cursor = self._free.get()
        try:
            return work(cursor)
        finally:
            self._free.put(cursor)


def followed(works: Sequence[Future[T]], progress: Callable[[int, int], None] | None) -> None:
    """Wait for work, report its progress, and raise the first failure."""
    for done, work in enumerate(as_completed(works), 1):
        work.result()
        if progress is not None:
            progress(done, len(works))
