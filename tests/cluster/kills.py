"""Processes of a Ray cluster, to be killed in tests; those of this PID namespace alone."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path


def processes(*parts: str) -> list[int]:
    """Find the processes whose command lines have all of some parts."""
    found = []
    for place in Path("/proc").iterdir():
        if place.name.isdigit() and int(place.name) != os.getpid():
            try:
                words = (place / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            except OSError:
                continue
            if all(part in words for part in parts):
                found.append(int(place.name))
    return found


def uses(process: int, library: str) -> bool:
    """Return whether a process has a library in memory."""
    try:
        return library in Path(f"/proc/{process}/maps").read_text()
    except OSError:
        return False


def parent(process: int) -> int:
    """Return the parent of a process; 0 if it has ended, also where none has asked how."""
    try:
        state, number = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[:2]
    except OSError:
        return 0
    return 0 if state == "Z" else int(number)


def ended(numbers: list[int], seconds: float = 120) -> bool:
    """Wait until processes have ended; False if they have not."""
    end = time.monotonic() + seconds
    while any(parent(each) for each in numbers):
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


class Killer(threading.Thread):
    """Kills the first process that qualifies, once.

    Attributes:
        killed: its number; None: there was none.
    """

    def __init__(self, wanted: Callable[[], list[int]]) -> None:
        super().__init__(daemon=True)
        self._wanted = wanted
        self.killed: int | None = None
        self.ended = threading.Event()

    def run(self) -> None:
        while not self.ended.is_set():
            if found := self._wanted():
                self.killed = found[0]
                os.kill(self.killed, signal.SIGKILL)
                return
            time.sleep(0.02)
