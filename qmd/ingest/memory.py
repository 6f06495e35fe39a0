"""Allocator and garbage-collector settings during an update."""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Callable


def keep_memory() -> None:
    """Let the allocator keep most of what it gives back: arrays come and go with each batch.

    By default glibc returns each to the system, and the next one costs its page faults again: a
    tenth of the time of indexing. The largest are still returned. It holds for the whole process.
    """
    mallopt = _of_the_system("mallopt")
    if mallopt is not None:
        trim_threshold, mmap_threshold = -1, -3  # malloc.h
        mallopt(mmap_threshold, 1 << 24)
        mallopt(trim_threshold, 1 << 28)


def return_memory() -> None:
    """Return to the system what the allocator has kept: what follows needs other memory."""
    trim = _of_the_system("malloc_trim")
    if trim is not None:
        trim(0)


def _of_the_system(name: str) -> Callable[..., object] | None:
    """Return a function of the C library; None if it lacks it, as on Windows and macOS."""
    if sys.platform == "win32":
        return None  # ctypes does not load the process itself there
    import ctypes

    found: Callable[..., object] | None = getattr(ctypes.CDLL(None), name, None)
    return found


class _Sparing:
    """Scope with rare garbage collection.

    A batch makes many objects and no cycles; to look for cycles took a fifteenth of the time of
    indexing.
    """

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._entered = 0
        self._before = gc.get_threshold()

    def __enter__(self) -> None:
        with self._turn:
            if not self._entered:
                self._before = gc.get_threshold()
                gc.set_threshold(100 * self._before[0], *self._before[1:])
            self._entered += 1

    def __exit__(self, *_: object) -> None:
        with self._turn:
            self._entered -= 1
            if not self._entered:
                gc.set_threshold(*self._before)


SPARING = _Sparing()
