"""Sidecar file of postings: named arrays, checked as a whole and mapped into memory.

`index.duckdb.postings` is derived from the tables and may be deleted at any time. The format:

    arrays     one after the other, each at a multiple of 64 bytes
    contents   JSON: a note, and for each array its type, start and length
    end        32 bytes: mark, length of the contents, XXH3-128 of all that is before the checksum

A file is written beside its place, flushed to disk and renamed, so that a killed process leaves the
old one or the new one. Processes that have mapped the old one keep it.
"""

from __future__ import annotations

import json
import mmap
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
import xxhash

from qmd import safe_open
from qmd.named_tuple import NamedTuple

if TYPE_CHECKING:
    from numpy.typing import NDArray

MARK = b"qmdpost1"
"""First bytes of the end of a sidecar. Another format has another mark."""

ALIGNED = 64
"""Bytes: each array starts at a multiple of so many."""

END = len(MARK) + 8 + 16
"""Bytes of the end of a sidecar."""

AT_ONCE = 1 << 20
"""Bytes that are read at once to compute the checksum, so that they stay out of this process."""

LONGEST = 1 << 20
"""Bytes of contents at most. Those of an index have 10,000."""


class Packed(NamedTuple):
    """Arrays of a sidecar.

    Attributes:
        note: JSON value that was saved with them.
        arrays: by name; they cannot be written to.
        file: in memory.
    """

    note: Any
    arrays: Mapping[str, NDArray[Any]]
    file: mmap.mmap

    def release(self) -> None:
        """Release the memory of what was read of it, which later reads load again."""
        if sys.platform != "win32":  # which takes it back by itself
            self.file.madvise(mmap.MADV_DONTNEED)


class Packer:
    """Writer of arrays into a file, one after the other.

    Args:
        file: empty, and open for writing.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._digest = xxhash.xxh3_128()
        self._size = 0
        self._contents: dict[str, tuple[str, int, int]] = {}

    def add(self, **arrays: NDArray[Any]) -> None:
        """Append arrays under their names, each of which is given once."""
        for name, array in arrays.items():
            self._write(bytes(-self._size % ALIGNED))
            self._contents[name] = array.dtype.str, self._size, len(array)
            self._write(np.ascontiguousarray(array).data.cast("B") if len(array) else b"")

    def finish(self, note: object) -> None:
        """Write the contents and the end of the file."""
        text = json.dumps({"note": note, "arrays": self._contents}).encode()
        self._write(text)
        self._write(MARK + len(text).to_bytes(8, "little"))
        self._file.write(self._digest.digest())
        self._file.flush()

    def _write(self, data: bytes | memoryview) -> None:
        self._digest.update(data)
        self._size += len(data)
        self._file.write(data)


def mapped(descriptor: int) -> Packed | None:
    """Check a sidecar as a whole and map it; None if it is cut, damaged or no sidecar.

    The map stays when the descriptor is closed, and as long as one of its arrays is used.

    Raises:
        OSError: it cannot be read.
    """
    size = os.fstat(descriptor).st_size
    end = safe_open.read_at(descriptor, END, max(0, size - END))
    length = int.from_bytes(end[len(MARK) : -16], "little")
    if len(end) != END or not end.startswith(MARK) or length > min(LONGEST, size - END):
        return None
    if _checksum(descriptor, size - 16) != end[-16:]:
        return None
    try:
        found = json.loads(safe_open.read_at(descriptor, length, size - END - length))
        file = mmap.mmap(descriptor, size, access=mmap.ACCESS_READ)
        whole = memoryview(file)
        arrays = {
            name: np.frombuffer(whole, np.dtype(kind), count, start) if count else np.empty(0, kind)
            for name, (kind, start, count) in found["arrays"].items()
        }
        return Packed(found["note"], arrays, file)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError):
        return None  # the checksum fits: another program made it


def _checksum(descriptor: int, size: int) -> bytes:
    digest = xxhash.xxh3_128()
    for at in range(0, size, AT_ONCE):
        digest.update(safe_open.read_at(descriptor, min(AT_ONCE, size - at), at))
    return digest.digest()


@contextmanager
def opened(path: Path) -> Iterator[int]:
    """Open a sidecar.

    Raises:
        OSError: it cannot be opened, or is a link or a pipe.
    """
    descriptor = safe_open.opened(path, os.O_RDONLY)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def save(path: Path, part: Path, write: Callable[[IO[bytes]], None]) -> Packed | None:
    """Replace a sidecar, and map the new one. The caller holds the lock of this job.

    Args:
        part: path of the new one until it is complete.
        write: is given the new file.

    Raises:
        OSError: it cannot be written. The old one is as it was.
    """
    part.unlink(missing_ok=True)  # of a process that was killed
    descriptor = safe_open.opened(part, os.O_RDWR | os.O_CREAT | os.O_EXCL)
    try:
        with os.fdopen(descriptor, "w+b") as file:
            write(file)
            os.fsync(file.fileno())
            found = mapped(file.fileno())
            safe_open.replaced(part, path)
            return found
    except BaseException:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        raise


def unsaved(write: Callable[[IO[bytes]], None]) -> Packed | None:
    """Map a sidecar that is in no folder, and goes with this process.

    Raises:
        OSError: it cannot be written.
    """
    import tempfile

    with tempfile.TemporaryFile() as file:
        write(file)
        return mapped(file.fileno())
