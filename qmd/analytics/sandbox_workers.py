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
import select
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qmd.analytics import channel
from qmd.analytics.sandbox import memory_of
from qmd.errors import SqlError, SqlOutOfMemory, SqlTimeout
from qmd.storage import cancellation, scratch

if TYPE_CHECKING:
    from qmd.analytics.channel import Heading
    from qmd.analytics.sandbox import Found, Limits
    from qmd.analytics.sandbox_worker import Index
    from qmd.analytics.search_calls import Parameters
    from qmd.analytics.statement_check import CheckedStatement

EXTRA_BYTES = 128 << 20
"""Bytes that a query may take beyond its memory: threads, plans, parts of files."""

MAX_GROWTH_BYTES = 256 << 20
"""Growth in bytes up to which a process is used again. Arrow takes about a third of them."""

SECONDS_BEFORE_YIELD = 3.0
"""Seconds for which a query runs before it yields to a writer."""

POLL_SECONDS = 0.02
"""Seconds between two checks of a process."""

_PAGE = os.sysconf("SC_PAGE_SIZE")

_START = """\
import sys
sys.path[:] = {path!r}
import pyarrow  # most that do not fork ask for Arrow; what a query takes is counted from here on
from qmd.analytics.sandbox_worker import serve_queries
serve_queries()
"""


class GaveWay(Exception):
    """A query was stopped for a waiting writer. It can be repeated on a copy."""


class Worker:
    """A process that runs one query at a time.

    Args:
        fork: this process, which has one thread, instead of starting another.
    """

    def __init__(self, *, fork: bool = False) -> None:
        self.owner = os.getpid()
        theirs_in, self._requests = os.pipe()
        self._answers, theirs_out = os.pipe()
        try:
            self._process: int | None = (_forked if fork else _spawned)(theirs_in, theirs_out)
        finally:
            os.close(theirs_in)
            os.close(theirs_out)
        self._turn = threading.Lock()
        self._poll = select.poll()
        self._poll.register(self._answers, select.POLLIN)
        self._spill: Path | None = None
        self._base: int | None = None
        self._least: int | None = None
        self._begun = False
        self._began = self._looked = 0.0
        self._wanted: Callable[[], bool] = lambda: False
        self._interrupted = False
        self.is_within = False

    @property
    def is_usable(self) -> bool:
        """True if the process is idle, alive, and within its memory limit."""
        if self._process is None or self.is_within:
            return False
        if not self._begun:
            return True
        if self._poll.poll(0):
            return False  # it has ended
        size = self._resident()
        return size is None or self._least is None or size - self._least < MAX_GROWTH_BYTES

    def read(self, index: Path, limits: Limits, text: str, given: Parameters) -> CheckedStatement:
        """Begin with a query: read the statement, and tell which searches it calls for.

        Raises:
            SqlError: it is not one query, or would do what a query may not.
        """
        self._limits = limits
        self._memory = memory_of(limits)
        self._left = limits.timeout
        self._spill = scratch.spill_folder(index)
        if not self._begun:
            self._begun = self.is_within = True
            self._reply()
            self._left = limits.timeout
            self._least = self._resident()
        self._base = self._resident()
        folder = os.getcwd() if limits.files else ""  # noqa: PTH109  # a text, as it is
        found: CheckedStatement = self._asked(
            "read", index, limits, self._spill, folder, text, given
        )
        return found

    def answer(
        self,
        index: Index,
        request: CheckedStatement,
        parameters: Parameters,
        found: list[Found],
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
        stop = cancellation.CURRENT.get()
        self._wanted = wanted
        try:
            if stop is None:
                return self._asked("answer", index, request, parameters, found, log)  # type: ignore[no-any-return]
            with stop.over(self):
                return self._asked("answer", index, request, parameters, found, log)  # type: ignore[no-any-return]
        finally:
            self._wanted = lambda: False

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
        self.is_within = True
        try:
            channel.send(self._requests, (name, given))
        except channel.Unsendable as error:
            self.is_within = False
            raise SqlError(f"A parameter is no value for a query: {error}") from error
        except BrokenPipeError as error:
            raise self._gone() from error

    def _reply(self) -> tuple[str, Any]:
        """Wait for the next message, within the time limit of the query."""
        began = time.monotonic()
        self._end = began + self._left
        try:
            kind, value = channel.receive(self._answers, self._wait)
        except EOFError as error:
            raise self._gone() from error
        except BaseException:
            self.kill()
            raise
        self._left = max(0.0, self._end - time.monotonic())
        if kind != "piece":
            self.is_within = False
        if kind == "failed":
            raise channel.unpacked(value)
        return kind, value

    def _wait(self) -> None:
        """Wait for bytes, as long as the query stays within its limits."""
        while True:
            come = self._poll.poll(1000 * POLL_SECONDS)
            now = time.monotonic()
            if come and now < self._looked + POLL_SECONDS:
                return
            self._looked = now
            used, base = self._resident(), self._base
            if used is not None and base is not None and used - base > self._memory + EXTRA_BYTES:
                raise SqlOutOfMemory(self._limits.memory)
            if now > self._end:
                raise SqlTimeout(self._limits.timeout)
            if come:
                return
            if now > self._began + SECONDS_BEFORE_YIELD and self._wanted():
                raise GaveWay

    def _resident(self) -> int | None:
        """Return the resident bytes of the process; None where the system does not tell."""
        try:
            with open(f"/proc/{self._process}/statm", "rb") as file:
                return int(file.read().split()[1]) * _PAGE
        except (OSError, IndexError):
            return None

    # -- the process ---------------------------------------------------------------

    def interrupt(self) -> None:
        """End the process, from any thread: its query raises `Interrupted`."""
        self._interrupted = True
        with self._turn:
            if self._process is not None:
                os.kill(self._process, signal.SIGKILL)

    def kill(self) -> int | None:
        """End it, with what it has put on the disk.

        Returns:
            The number of the signal that has ended it; None: it had ended by itself.
        """
        with self._turn:
            if self._process is None:
                return None
            status = 0
            try:
                os.kill(self._process, signal.SIGKILL)
                _, status = os.waitpid(self._process, 0)
            except (ProcessLookupError, ChildProcessError):
                pass  # the program that qmd is part of does not want to know of its children
            self._process = None
        os.close(self._requests)
        os.close(self._answers)
        if self._spill is not None:
            shutil.rmtree(self._spill, ignore_errors=True)
        return os.WTERMSIG(status) if os.WIFSIGNALED(status) else None

    def _gone(self) -> Exception:
        """Build the error for a process that has ended and so closed its pipes."""
        by = self.kill()
        if self._interrupted:
            return cancellation.Interrupted("interrupted")
        if by in (signal.SIGKILL, signal.SIGABRT):  # by the system, or for want of memory
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
        """End the one that is kept."""
        with self._turn:
            worker, self._idle = self._idle, None
        if worker is not None and worker.owner == os.getpid():
            worker.kill()


def _forked(requests: int, answers: int) -> int:
    from qmd.analytics import sandbox_worker as worker  # before the fork: what is loaded is shared

    process = os.fork()
    if process:
        return process
    try:
        os.dup2(requests, 0)
        os.dup2(answers, 1)
        os.closerange(3, 1 << 16)
        worker.serve_queries()
    finally:
        os._exit(1)


def _spawned(requests: int, answers: int) -> int:
    actions = [
        (os.POSIX_SPAWN_DUP2, requests, 0),
        (os.POSIX_SPAWN_DUP2, answers, 1),
        (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
    ]
    start = [sys.executable, "-c", _START.format(path=sys.path)]
    return os.posix_spawn(sys.executable, start, os.environ, file_actions=actions)
