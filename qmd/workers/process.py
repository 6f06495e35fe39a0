"""Process that answers requests, one at a time, and is watched while it does.

The parent looks at it again and again, and kills it when its time is up or when it has more memory
than it may: no code of its own can prevent that.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from qmd.workers import channel, children
from qmd.workers.children import Child

POLL_SECONDS = 0.02
"""Seconds between two looks at a process that is waited for."""

Start = Callable[[int, int], Child]
"""Starts a process that takes requests from one pipe and answers to the other."""


class OverTime(Exception):
    """A request that exceeded its time."""


class OverMemory(Exception):
    """A request that exceeded its memory."""


class ProcessEnded(Exception):
    """A process that ended in the middle of a request.

    Attributes:
        signal: that has ended it, or None.
    """

    def __init__(self, by: int | None) -> None:
        self.signal = by
        super().__init__(f"signal {by}")


class Process:
    """A process that does one thing at a time.

    Args:
        group: it leads a group of processes, which is ended with it.

    Attributes:
        owner: number of the process that has started it.
        left: seconds that are left for the request.
        memory: bytes that it may have more than `base`.
        base: bytes that it had when the request began; None: its memory is not looked at.
        is_within: it is at a request.
    """

    def __init__(self, start: Start, *, group: bool = False) -> None:
        self.owner = os.getpid()
        self._group = group
        theirs_in, self._requests = children.pipe()
        self._answers, theirs_out = children.pipe()
        try:
            self._process: Child | None = start(theirs_in, theirs_out)
        finally:
            os.close(theirs_in)
            os.close(theirs_out)
        self._turn = threading.Lock()
        self._looked = 0.0
        self.left = 0.0
        self.memory = 0
        self.base: int | None = None
        self.is_within = False

    @property
    def is_alive(self) -> bool:
        """True if the process is idle and was not killed."""
        return self._process is not None and not self.is_within

    @property
    def has_spoken(self) -> bool:
        """True if the process has sent a message, or has ended."""
        return children.has_bytes(self._answers, 0)

    def ask(self, name: str, given: tuple[object, ...]) -> None:
        """Send a request.

        Raises:
            channel.Unsendable: an argument is nothing that another process can be given.
            ProcessEnded: the process is not there any more.
        """
        self.is_within = True
        try:
            channel.send(self._requests, (name, given))
        except channel.Unsendable:
            self.is_within = False
            raise
        except BrokenPipeError as error:
            raise ProcessEnded(self.kill()) from error

    def reply(self, *, most: int | None = None) -> tuple[str, Any]:
        """Receive the next message; the time until it comes is the request's.

        Args:
            most: bytes of it.

        Raises:
            OverTime, OverMemory, ProcessEnded, channel.TooLong: it is killed.
        """
        self._end = time.monotonic() + self.left
        try:
            kind, value = channel.receive(self._answers, self._wait, most=most)
        except EOFError as error:
            raise ProcessEnded(self.kill()) from error
        except BaseException:
            self.kill()
            raise
        self.left = max(0.0, self._end - time.monotonic())
        if kind != "piece":
            self.is_within = False
        if kind == "failed":
            raise channel.unpacked_error(value)
        return kind, value

    def _wait(self) -> None:
        """Wait for bytes, as long as the request stays within its limits."""
        while True:
            come = children.has_bytes(self._answers, POLL_SECONDS)
            now = time.monotonic()
            if come and now < self._looked + POLL_SECONDS:
                return
            self._looked = now
            used, base = self.resident(), self.base
            if used is not None and base is not None and used - base > self.memory:
                raise OverMemory
            if now > self._end:
                raise OverTime
            if come:
                return
            self.waited(now)

    def waited(self, now: float) -> None:
        """Look around while nothing comes; may raise to give up.

        Args:
            now: seconds, as `time.monotonic` counts.
        """

    def resident(self) -> int | None:
        """Return the bytes that it has in memory; None where the system does not tell."""
        return None if self._process is None else self._process.resident()

    def interrupt(self) -> None:
        """End the process, from any thread, while another one waits for it."""
        with self._turn:
            if self._process is not None:
                self._process.kill(group=self._group)

    def kill(self) -> int | None:
        """End it.

        Returns:
            The number of the signal that has ended it; None: it had ended by itself.
        """
        with self._turn:
            if self._process is None:
                return None
            by = self._process.end(group=self._group)
            self._process = None
        os.close(self._requests)
        os.close(self._answers)
        return by


def spawned(program: str, *, group: bool = False) -> Start:
    """Start another Python.

    Args:
        program: that it runs, after `sys.path` has become that of this one.
        group: it leads a group of processes.
    """
    code = f"import sys\nsys.path[:] = {sys.path!r}\n{program}"
    return partial(children.spawn, [sys.executable, "-c", code], group=group)


def forked(serve: Callable[[], object]) -> Start:
    """Fork this process, which has one thread: it takes a few milliseconds."""
    return partial(children.fork, serve)
