"""A way to end work in other threads: reads that wait for the file, statements that run."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol

import _duckdb

Interrupted = _duckdb.InterruptException

LOOK = 0.03
"""Seconds between two looks at whether what waits is still wanted."""


class Stopped(Exception):
    """The work was asked to stop, and has."""


class Interruptible(Protocol):
    """Runs something that can be interrupted from another thread."""

    def interrupt(self) -> None:
        """Have it raise `Interrupted`."""


class Stop:
    """Says to all reads that were begun under it that nobody waits for them any more.

    Work is under it while `CURRENT` holds it; worker threads inherit that from the task that
    starts them. Asking takes effect within milliseconds, from any thread.
    """

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._running: list[Interruptible] = []
        self._asked = False

    def ask(self) -> None:
        """Stop what runs, and whatever would begin."""
        with self._turn:
            self._asked = True
            for connection in self._running:
                connection.interrupt()

    @property
    def is_over_something(self) -> bool:
        """Whether any read runs that can be stopped."""
        return bool(self._running)

    def check(self) -> None:
        """Go on only if nobody has asked.

        Raises:
            Stopped: somebody has.
        """
        if self._asked:
            raise Stopped

    @contextmanager
    def over(self, connection: Interruptible) -> Iterator[None]:
        """Let what runs on a connection, or in another process, be stopped.

        Raises:
            Stopped: it was.
        """
        with self._turn:
            self.check()
            self._running.append(connection)
        try:
            yield
        except Interrupted:
            self.check()
            raise
        finally:
            with self._turn:
                self._running.remove(connection)


CURRENT: ContextVar[Stop | None] = ContextVar("stop", default=None)
"""What may stop the reads of this task and of the threads it starts."""


def check() -> None:
    """Go on only if the work of this task is still wanted.

    Raises:
        Stopped: it is not.
    """
    stop = CURRENT.get()
    if stop is not None:
        stop.check()


@contextmanager
def holding(lock: threading.Lock) -> Iterator[None]:
    """Hold a lock that others may hold for long: the wait for it can be stopped.

    Raises:
        Stopped: it was.
    """
    while not lock.acquire(timeout=LOOK):
        check()
    try:
        yield
    finally:
        lock.release()
