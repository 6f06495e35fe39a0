"""Child processes with two pipes: start, memory, end."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from typing import Any

LOOK_SECONDS = 0.002
"""Seconds between two looks at a pipe, where the system cannot wait for one."""

if sys.platform == "win32":
    from qmd import windows

    Child = windows.JobProcess
else:
    import select
    import signal

    class Child:
        """A process that this one has started."""

        def __init__(self, pid: int) -> None:
            self.pid = pid

        def resident(self) -> int | None:
            """Return the bytes that it has in memory; None where the system does not tell."""
            try:
                with open(f"/proc/{self.pid}/statm", "rb") as file:
                    return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
            except (OSError, IndexError):
                return None

        def kill(self, *, group: bool) -> None:
            """End it, from any thread, and wait for nothing."""
            if group:
                os.killpg(self.pid, signal.SIGKILL)
            else:
                os.kill(self.pid, signal.SIGKILL)

        def end(self, *, group: bool) -> int | None:
            """End it, and release what the system keeps of it.

            Returns:
                The number of the signal that has ended it; None: it had ended by itself.
            """
            status = 0
            try:
                self.kill(group=group)
                _, status = os.waitpid(self.pid, 0)
            except (ProcessLookupError, ChildProcessError):
                pass  # the program that qmd is part of does not want to know of its children
            return os.WTERMSIG(status) if os.WIFSIGNALED(status) else None


def spawn(arguments: list[str], requests: int, answers: int, *, group: bool) -> Child:
    """Start a program.

    Args:
        requests: descriptor that becomes its stdin.
        answers: descriptor that becomes its stdout.
        group: it leads a group of processes, which is ended with it. On Windows it always does.
    """
    if sys.platform == "win32":
        return Child(arguments, requests, answers)
    actions = [
        (os.POSIX_SPAWN_DUP2, requests, 0),
        (os.POSIX_SPAWN_DUP2, answers, 1),
        (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
    ]
    more: dict[str, Any] = {"setpgroup": 0} if group else {}
    process = os.posix_spawn(arguments[0], arguments, os.environ, file_actions=actions, **more)
    return Child(process)


def fork(serve: Callable[[], object], requests: int, answers: int) -> Child:
    """Fork this process, which must have one thread, and let the child serve."""
    if sys.platform == "win32":
        raise NotImplementedError
    process = os.fork()
    if process:
        return Child(process)
    try:
        os.dup2(requests, 0)
        os.dup2(answers, 1)
        os.closerange(3, 1 << 16)
        serve()
    finally:
        os._exit(1)


def pipe() -> tuple[int, int]:
    """Make a pipe that carries bytes as they are; return the ends to read and to write."""
    reader, writer = os.pipe()
    if sys.platform == "win32":
        windows.binary(reader)
        windows.binary(writer)
    return reader, writer


def has_bytes(descriptor: int, seconds: float) -> bool:
    """Wait until a pipe has bytes, or is closed at its other end.

    Returns:
        False: the time is over, and it has none.
    """
    if sys.platform == "win32":
        until = time.monotonic() + seconds
        while not (found := windows.is_readable(descriptor)) and time.monotonic() < until:
            time.sleep(LOOK_SECONDS)
    else:
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        found = bool(poll.poll(1000 * seconds))
    return found
