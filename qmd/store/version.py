"""Which state an index file is in, as the file system tells it: without DuckDB."""

from __future__ import annotations

import os
import time
from pathlib import Path

SETTLED_NS = 50_000_000
"""Nanoseconds after a change from which on the time of the file tells it from the next."""

COARSE_NS = 2_000_000_000
"""The same where a file system notes whole seconds: FAT, every other one."""


def log_of(path: Path) -> Path:
    """What DuckDB writes ahead of the file. A writer that is killed leaves it behind."""
    return path.with_name(f"{path.name}.wal")


def version_of(path: Path) -> tuple[int, ...] | None:
    """What differs after every commit: of the file, and of its log; None if there is no file."""
    try:
        info = os.stat(path)
    except FileNotFoundError:
        return None
    try:
        log = os.stat(log_of(path)).st_mtime_ns
    except FileNotFoundError:
        log = 0
    return info.st_ino, info.st_mtime_ns, info.st_size, log


def is_settled(time_ns: int) -> bool:
    """Whether a file that was changed at a time will have another one after its next change.

    It may not if that is just now, or yet to come: after the clock was set back.
    """
    tick = COARSE_NS if time_ns % 1_000_000_000 == 0 else SETTLED_NS
    return time.time_ns() - time_ns > tick
