"""Size of the index file before a write, to give the disk its room back if the write fails.

DuckDB writes the rows of a large insert into new blocks before the commit. After a failure the
blocks are free for later writes, but the file keeps its length: a full disk would stay full.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from qmd.named_tuple import NamedTuple
from qmd.storage.file_version import wal_path

if sys.platform != "win32":
    import fcntl

HEADERS = 3 * 4096
"""Bytes that DuckDB writes when it makes a file. Source: DuckDB 1.5.5."""


class Extent(NamedTuple):
    """An index file that no engine of this process has open.

    Attributes:
        size: of the file, in bytes.
        headers: its first bytes, which every checkpoint changes.
    """

    size: int
    headers: bytes


def extent_of(path: Path) -> Extent | None:
    """Return the extent of an index file; None if there is none that can be read.

    No engine of this process may have the file open, here and below: see `database`.
    """
    try:
        if not path.is_file():
            return None  # to open a pipe may take for ever
        with path.open("rb") as file:
            return Extent(os.fstat(file.fileno()).st_size, file.read(HEADERS))
    except OSError:
        return None  # the engine that attaches it says what is wrong


def cut_back(path: Path, before: Extent) -> bool:
    """Cut off the blocks that a failed write left behind the old end of the file.

    The blocks are in use, and stay, if the headers have changed or there is a log.

    Args:
        before: the extent when the write began.

    Returns:
        True if the file is as long as before, or shorter.
    """
    try:
        with path.open("r+b") as file:
            # DuckDB's own lock, for programs that know nothing of the gate. On Windows, such a
            # program shares the file with no writer: it could not have been opened.
            if sys.platform != "win32":
                fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if wal_path(path).exists() or file.read(HEADERS) != before.headers:
                return False
            if os.fstat(file.fileno()).st_size > before.size:
                os.ftruncate(file.fileno(), before.size)
    except OSError:
        return False  # the room is free for later writes; the write's own failure is told
    return True
