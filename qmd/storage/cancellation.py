"""Cancellation of waiting reads and running statements across threads."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol

import _duckdb

Interrupted = _duckdb.InterruptException

CANCEL_POLL_SECONDS = 0.03
"""Seconds between two checks for cancellation."""


class Stopped(Exception):
    """The work was cancelled."""


class Interruptible(Protocol):
    """Protocol of an object whose work another thread can interrupt."""

    def interrupt(self) -> None:
        """Make the running statement raise `Interrupted`."""


class Stop:
    """Cancellation token of all reads that begin under it.

    Work is under it while `CURRENT` holds it; worker threads inherit that from the task that
    starts them. Asking takes effect within milliseconds, from any thread.
    """

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._running: list[Interruptible] = []
        self._asked = False

    def ask(self) -> None:
        """Cancel running and future work under this token."""
        with self._turn:
            self._asked = True
            for connection in self._running:
                connection.interrupt()

    @property
    def is_over_something(self) -> bool:
        """True while any cancellable read runs."""
        return bool(self._running)

    def check(self) -> None:
        """Raise `Stopped` if the token is cancelled.

        Raises:
            Stopped: it is cancelled.
        """
        if self._asked:
            raise Stopped

    @contextmanager
    def over(self, connection: Interruptible) -> Iterator[None]:
        """Make work on a connection, or in another process, cancellable.

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
"""Token of the reads of this task and of the threads it starts."""


def check() -> None:
    """Raise `Stopped` if the task of this work is cancelled.

    Raises:
        Stopped: the task is cancelled.
    """
    stop = CURRENT.get()
    if stop is not None:
        stop.check()


@contextmanager
def holding(lock: threading.Lock) -> Iterator[None]:
    """Hold a lock; the wait for it can be cancelled.

    Raises:
        Stopped: it was.
    """
    while not lock.acquire(timeout=CANCEL_POLL_SECONDS):
        check()
    try:
        yield
    finally:
        lock.release()
