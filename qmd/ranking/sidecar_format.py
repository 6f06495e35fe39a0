"""Format of a sidecar file of an index, read without numpy.

A sidecar has three parts:

    arrays     one after the other, each at a multiple of 64 bytes
    contents   JSON: a note, and for each array its type, start and length
    end        32 bytes: mark, length of the contents, XXH3-128 of all that is before the checksum
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from qmd import safe_open
from qmd.named_tuple import NamedTuple

ALIGNED = 64
"""Bytes: each array starts at a multiple of so many."""

MARK = 8
"""Bytes of the mark of a format."""

CHECKSUM = 16
"""Bytes of a checksum."""

END = MARK + 8 + CHECKSUM
"""Bytes of the end of a sidecar."""

LONGEST = 1 << 20
"""Bytes of contents at most. Those of an index have 10,000."""

Stamp = tuple[int, ...]
"""Device, inode, size and times of a sidecar."""

TIMES = 2
"""Times of a stamp, its last numbers: of the last write and of the last change. On Windows, the
second is that of the creation."""

NO_FILE: Stamp = ()
"""Stamp where there is no sidecar."""


class SidecarKind(NamedTuple):
    """Kind of a sidecar.

    Attributes:
        suffix: of its name, after that of the index; also of its lock.
        mark: first bytes of its end. Another format has another mark.
    """

    suffix: str
    mark: bytes


POSTINGS = SidecarKind("postings", b"qmdpost1")
VECTORS = SidecarKind("vectors", b"qmdvect1")


class Contents(NamedTuple):
    """Contents of a sidecar.

    Attributes:
        note: JSON value that was saved with the arrays.
        places: type, start in bytes and length of each array, by name.
    """

    note: Any
    places: Mapping[str, Any]


def contents(descriptor: int, kind: SidecarKind) -> Contents | None:
    """Read the contents of a sidecar; None if they are cut or it is none of this kind.

    Nothing here checks the checksum, or that the arrays are where they should be.

    Raises:
        OSError: it cannot be read.
    """
    size = os.fstat(descriptor).st_size
    end = safe_open.read_at(descriptor, END, max(0, size - END))
    length = int.from_bytes(end[MARK:-CHECKSUM], "little")
    if len(end) != END or not end.startswith(kind.mark) or length > min(LONGEST, size - END):
        return None
    try:
        found = json.loads(safe_open.read_at(descriptor, length, size - END - length))
        return Contents(found["note"], dict(found["arrays"].items()))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def sidecar_path(index: Path, kind: SidecarKind) -> Path:
    """Return the path of the sidecar of an index."""
    return index.with_name(f"{index.name}.{kind.suffix}")


def stamp_at(path: Path) -> Stamp:
    """Return the stamp of the file that is there now."""
    try:
        return stamp_of(os.stat(path))
    except OSError:
        return NO_FILE


def stamp_of(info: os.stat_result) -> Stamp:
    """Return the stamp of a file."""
    return info.st_dev, info.st_ino, info.st_size, info.st_mtime_ns, info.st_ctime_ns
