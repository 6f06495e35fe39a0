"""Which state an index file is in, as the file system tells it: without DuckDB."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import NamedTuple

SETTLED_NS = 50_000_000
"""Nanoseconds after a change from which on the time of the file tells it from the next."""

COARSE_NS = 2_000_000_000
"""The same where a file system notes whole seconds: FAT, every other one."""


def log_of(path: Path) -> Path:
    """What DuckDB writes ahead of the file. A writer that is killed leaves it behind."""
    return path.with_name(f"{path.name}.wal")


class Version(NamedTuple):
    """What of an index file, and of its log, differs after every commit. Times in nanoseconds."""

    inode: int
    changed: int
    size: int
    log: int


GONE = Version(inode=0, changed=1 << 62, size=0, log=0)
"""Of a file that somebody removed while it was attached; never settled."""


def version_of(path: Path) -> Version | None:
    """The version that lies there now; None if there is no file."""
    try:
        info = os.stat(path)
    except FileNotFoundError:
        return None
    try:
        log = os.stat(log_of(path)).st_mtime_ns
    except FileNotFoundError:
        log = 0
    return Version(info.st_ino, info.st_mtime_ns, info.st_size, log)


def is_settled(time_ns: int) -> bool:
    """Whether a file that was changed at a time will have another one after its next change.

    It may not if that is just now, or yet to come: after the clock was set back.
    """
    tick = COARSE_NS if time_ns % 1_000_000_000 == 0 else SETTLED_NS
    return time.time_ns() - time_ns > tick
