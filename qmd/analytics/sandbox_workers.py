"""Processes for queries of users, with hard limits on time and memory.

DuckDB checks its limits between two steps, and counts the memory of its buffers. A function of one
large value is a single step, and the value is in no buffer, so that neither limit applies. So a
query runs in a separate process (`sandbox_worker`), and its parent kills it when it exceeds its
time or memory.

The process is reused for the next query, unless it was killed or has grown. A command with a
single query forks it, which takes a few milliseconds; other programs start a new one.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qmd.analytics.sandbox import memory_of
from qmd.errors import SqlError, SqlOutOfMemory, SqlTimeout
from qmd.storage import cancellation, scratch
from qmd.workers import channel
from qmd.workers.process import OverMemory, OverTime, Process, ProcessEnded, Start, forked, spawned

if TYPE_CHECKING:
    from qmd.analytics.heading import Heading
    from qmd.analytics.sandbox import GatheredTable, Limits, SearchRow
    from qmd.analytics.sandbox_worker import IndexFile
    from qmd.analytics.search_calls import Parameters
    from qmd.analytics.statement_check import CheckedStatement

EXTRA_BYTES = 128 << 20
"""Bytes that a query may take beyond its memory: threads, plans, parts of files."""

MAX_GROWTH_BYTES = 256 << 20
"""Growth in bytes up to which a process is used again. Arrow takes about a third of them."""

SECONDS_BEFORE_YIELD = 3.0
"""Seconds for which a query runs before it yields to a writer."""

_START = """\
import pyarrow  # most that do not fork ask for Arrow; what a query takes is counted from here on
from qmd.analytics.sandbox_worker import serve_queries
serve_queries()
"""


_BY_THE_SYSTEM: tuple[int, ...] = ()
if sys.platform != "win32":
    _BY_THE_SYSTEM = signal.SIGKILL, signal.SIGABRT
    """Signals that end a process by the system, or for want of memory."""


class GaveWay(Exception):
    """A query stopped for a waiting writer; it can be repeated on a copy."""


class Worker(Process):
    """A process that runs one query at a time.

    Args:
        fork: this process, which has one thread, instead of starting another.
    """

    def __init__(self, *, fork: bool = False) -> None:
        super().__init__(_forked() if fork else spawned(_START))
        self._spill: Path | None = None
        self._least: int | None = None
        self._begun = False
        self._began = 0.0
        self._wanted: Callable[[], bool] = lambda: False
        self._interrupted = False

    @property
    def is_usable(self) -> bool:
        """True if the process is idle, alive, and within its memory limit."""
        if not self.is_alive:
            return False
        if not self._begun:
            return True
        if self.has_spoken:
            return False  # it has ended
        size = self.resident()
        return size is None or self._least is None or size - self._least < MAX_GROWTH_BYTES

    def read(self, index: Path, limits: Limits, text: str, given: Parameters) -> CheckedStatement:
        """Begin with a query: read the statement, and tell which searches it calls for.

        Raises:
            SqlError: it is not one query, or would do what a query may not.
        """
        self._limits = limits
        self.memory = memory_of(limits) + EXTRA_BYTES
        self.left = limits.timeout
        self._spill = scratch.spill_folder(index)
        if not self._begun:
            self._begun = self.is_within = True
            self._reply()
            self.left = limits.timeout
            self._least = self.resident()
        self.base = self.resident()
        folder = os.getcwd() if limits.files else ""  # noqa: PTH109  # a text, as it is
        found: CheckedStatement = self._asked(
            "read", index, limits, self._spill, folder, text, given
        )
        return found

    def answer(
        self,
        index: IndexFile,
        request: CheckedStatement,
        parameters: Parameters,
        found: list[SearchRow],
        log: list[str],
        wanted: Callable[[], bool] = lambda: False,
    ) -> tuple[tuple[Heading, ...], int]:
        """Run the statement in the process.

        Args:
            wanted: callback that checks for a waiting writer.

        Returns:
            The columns of the answer, and how many rows it has.

        Raises:
            SqlError: the query cannot be answered, or not within its limits.
            GaveWay: a writer waits, and the query has run for long.
            Stopped: the caller has cancelled.
        """
        self._wanted = wanted
        try:
            return self._run("answer", index, request, parameters, found, log)
        finally:
            self._wanted = lambda: False

    def merge(
        self,
        request: CheckedStatement,
        parameters: Parameters,
        found: list[SearchRow],
        tables: list[GatheredTable],
        across: Sequence[str],
        *,
        seconds: float,
    ) -> tuple[tuple[Heading, ...], int]:
        """Run the statement in the process, over rows of several indexes.

        Args:
            across: see `Sandbox.merge`.
            seconds: that it took to gather the rows, which count as the query's.

        Returns:
            See `answer`.

        Raises:
            SqlError: see `answer`.
        """
        self.left -= seconds
        return self._run("merge", request, parameters, found, tables, across)

    def _run(self, name: str, *given: object) -> tuple[tuple[Heading, ...], int]:
        stop = cancellation.CURRENT.get()
        with nullcontext() if stop is None else stop.over(self):
            return self._asked(name, *given)  # type: ignore[no-any-return]

    def pieces(self, name: str, *given: object) -> Iterator[Any]:
        """Yield the pieces of the result. No other request may be sent before their end."""
        self._ask(name, given)
        while (reply := self._reply())[0] == "piece":
            yield reply[1]

    def close(self) -> None:
        """Forget the query, so that the next can be asked; or end, if it is not over."""
        if self.is_within:
            self.kill()
        if self._process is not None:
            self._asked("close")

    # -- messages ------------------------------------------------------------------

    def _asked(self, name: str, *given: object) -> Any:
        self._ask(name, given)
        return self._reply()[1]

    def _ask(self, name: str, given: tuple[object, ...]) -> None:
        self._began = time.monotonic()
        try:
            self.ask(name, given)
        except channel.Unsendable as error:
            raise SqlError(f"A parameter is no value for a query: {error}") from error
        except ProcessEnded as error:
            raise self._gone(error.signal) from error

    def _reply(self) -> tuple[str, Any]:
        """Wait for the next message, within the time limit of the query."""
        try:
            return self.reply()
        except OverTime as error:
            raise SqlTimeout(self._limits.timeout) from error
        except OverMemory as error:
            raise SqlOutOfMemory(self._limits.memory) from error
        except ProcessEnded as error:
            raise self._gone(error.signal) from error

    def waited(self, now: float) -> None:
        """Give way to a writer that waits."""
        if now > self._began + SECONDS_BEFORE_YIELD and self._wanted():
            raise GaveWay

    # -- the process ---------------------------------------------------------------

    def interrupt(self) -> None:
        """End the process, from any thread: its query raises `Interrupted`."""
        self._interrupted = True
        super().interrupt()

    def kill(self) -> int | None:
        """Kill the process, and remove what it has put on the disk."""
        by = super().kill()
        if self._spill is not None:
            shutil.rmtree(self._spill, ignore_errors=True)
        return by

    def _gone(self, by: int | None) -> Exception:
        """Build the error for a process that has ended and so closed its pipes."""
        if self._interrupted:
            return cancellation.Interrupted("interrupted")
        if by in _BY_THE_SYSTEM:
            return SqlOutOfMemory(self._limits.memory)
        return SqlError(
            f"DuckDB failed at this query (signal {by}).\n\n"
            "The index is as it was. Ask in simpler terms, or in several steps."
        )


class Workers:
    """Pool of query processes, of which one is kept for the next query."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._idle: Worker | None = None

    def prepare(self) -> None:
        """Fork a process for the first query, if that is safe: this one has no other thread."""
        if sys.platform == "win32":
            return
        try:
            threads = len(os.listdir("/proc/self/task"))  # noqa: PTH208
        except OSError:
            return
        if threads == 1:
            self._idle = Worker(fork=True)

    def take(self) -> Worker:
        """Return an idle process."""
        with self._turn:
            worker, self._idle = self._idle, None
        if worker is not None and worker.owner == os.getpid():
            if worker.is_usable:
                return worker
            worker.kill()
        return Worker()

    def give_back(self, worker: Worker) -> None:
        """Keep a process for the next query, or end it."""
        try:
            worker.close()
            if worker.is_usable:
                with self._turn:
                    if self._idle is None:
                        self._idle = worker
                        return
        except BaseException:
            worker.kill()
            raise
        worker.kill()

    def close(self) -> None:
        """End the process that is kept."""
        with self._turn:
            worker, self._idle = self._idle, None
        if worker is not None and worker.owner == os.getpid():
            worker.kill()


def _forked() -> Start:
    from qmd.analytics import sandbox_worker as worker  # before the fork: what is loaded is shared

    return forked(worker.serve_queries)
