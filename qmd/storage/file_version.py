"""Version of the index file by inode, size and times, without DuckDB."""

from __future__ import annotations

import os
import time
from pathlib import Path

from qmd.named_tuple import NamedTuple

SETTLED_NS = 50_000_000
"""Nanoseconds after a change from which on its time differs from that of the next change."""

COARSE_NS = 2_000_000_000
"""Nanoseconds for file systems that store whole seconds; FAT stores every other one."""


def wal_path(path: Path) -> Path:
    """Return the path of the write-ahead log, which a killed writer leaves behind."""
    return path.with_name(f"{path.name}.wal")


class Version(NamedTuple):
    """Values of an index file and its log that change with every commit. Times in nanoseconds."""

    inode: int
    changed: int
    size: int
    log: int


GONE = Version(inode=0, changed=1 << 62, size=0, log=0)
"""Version of a file that was removed while attached; never settled."""


def version_of(path: Path) -> Version | None:
    """Return the current version of the file; None if there is no file."""
    try:
        info = os.stat(path)
    except FileNotFoundError:
        return None
    try:
        log = os.stat(wal_path(path)).st_mtime_ns
    except FileNotFoundError:
        log = 0
    return Version(info.st_ino, info.st_mtime_ns, info.st_size, log)


def is_settled(time_ns: int) -> bool:
    """Check that the next change of the file will have another time.

    It may not if that is just now, or yet to come: after the clock was set back.
    """
    tick = COARSE_NS if time_ns % 1_000_000_000 == 0 else SETTLED_NS
    return time.time_ns() - time_ns > tick
