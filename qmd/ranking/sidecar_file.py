"""Sidecar file of an index: named arrays, checked as a whole and mapped into memory.

`index.duckdb.postings` and `index.duckdb.vectors` are derived from the tables and may be deleted
at any time. `sidecar_format` describes them.

A file is written beside its place, flushed to disk and renamed, so that a killed process leaves the
old one or the new one. Processes that have mapped the old one keep it.
"""

from __future__ import annotations

import json
import mmap
import os
import re
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
import xxhash

from qmd import safe_open
from qmd.errors import IndexFailure
from qmd.named_tuple import NamedTuple
from qmd.ranking import sidecar_format
from qmd.ranking.sidecar_format import ALIGNED, CHECKSUM, NO_FILE, SidecarKind, Stamp
from qmd.storage.file_lock import errand

if TYPE_CHECKING:
    from numpy.typing import NDArray

KINDS = re.compile("[<>|][biuf][1248]")
"""Types of arrays as numpy writes them: plain numbers."""

AT_ONCE = 1 << 20
"""Bytes that are read at once to compute the checksum, so that they stay out of this process."""


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

    def release_array(self, name: str) -> None:
        """Release the memory of one array, but for the pages that it shares with others.

        The system maps sixteen pages for each that is read, and few of them are used where a
        search reads some rows of a large array.
        """
        array = self.arrays[name]
        begin = _address(array) - _address(np.frombuffer(self.file, np.uint8))
        first = -(-begin // mmap.PAGESIZE) * mmap.PAGESIZE
        last = (begin + array.nbytes) // mmap.PAGESIZE * mmap.PAGESIZE
        if first < last and sys.platform != "win32":
            self.file.madvise(mmap.MADV_DONTNEED, first, last - first)


class Packer:
    """Writer of arrays into a file, one after the other.

    Args:
        file: empty, and open for writing.
        kind: of the sidecar.
    """

    def __init__(self, file: IO[bytes], kind: SidecarKind) -> None:
        self._file = file
        self._kind = kind
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
        self._write(self._kind.mark + len(text).to_bytes(8, "little"))
        self._file.write(self._digest.digest())
        self._file.flush()

    def _write(self, data: bytes | memoryview) -> None:
        self._digest.update(data)
        self._size += len(data)
        self._file.write(data)


def mapped(descriptor: int, kind: SidecarKind, *, checked: bool = False) -> Packed | None:
    """Check a sidecar as a whole and map it; None if it is cut, damaged or no sidecar.

    The map stays when the descriptor is closed, and as long as one of its arrays is used.

    Args:
        checked: the checksum of this very file has been found to fit before.

    Raises:
        OSError: it cannot be read.
    """
    found = sidecar_format.contents(descriptor, kind)
    if found is None:
        return None
    size = os.fstat(descriptor).st_size
    end = safe_open.read_at(descriptor, CHECKSUM, size - CHECKSUM)
    if not checked and _checksum(descriptor, size - CHECKSUM) != end:
        return None
    try:
        file = mmap.mmap(descriptor, size, access=mmap.ACCESS_READ)
        whole = memoryview(file)
        arrays = {name: _array(whole, *place) for name, place in found.places.items()}
        return Packed(found.note, arrays, file)
    except (ValueError, TypeError, OverflowError):
        return None  # the checksum fits: another program made it


def _array(whole: memoryview, kind: str, start: int, count: int) -> NDArray[Any]:
    """Map one array.

    Raises:
        ValueError, TypeError: no sidecar has such a type or place.
    """
    if KINDS.fullmatch(kind) is None or start % ALIGNED or count < 0:
        raise ValueError(kind)
    return np.frombuffer(whole, kind, count, start) if count else np.empty(0, kind)


def _checksum(descriptor: int, size: int) -> bytes:
    digest = xxhash.xxh3_128()
    for at in range(0, size, AT_ONCE):
        digest.update(safe_open.read_at(descriptor, min(AT_ONCE, size - at), at))
    return digest.digest()


class SidecarFile:
    """Sidecar of one kind of an index.

    Args:
        index: the index file.

    Attributes:
        path: of the sidecar.
        part: path of a new one until it is complete.
        lock: name of the lock of the process that makes it.
    """

    def __init__(self, index: Path, kind: SidecarKind) -> None:
        self._index = index
        self._kind = kind
        self.path = sidecar_format.sidecar_path(index, kind)
        self.part = index.with_name(f"{index.name}.{kind.suffix}.part")
        self.lock = f"{kind.suffix}.lock"

    def stamp(self) -> Stamp:
        """Return the stamp of the file that is there now."""
        return sidecar_format.stamp_at(self.path)

    def mapped(self, *, checked: Stamp = NO_FILE) -> Packed | None:
        """Check the file and map it; None if it is no sidecar of this kind.

        Args:
            checked: stamp of a file whose checksum was found to fit.

        Raises:
            OSError: it cannot be opened, or is a link or a pipe.
        """
        descriptor = safe_open.opened(self.path, os.O_RDONLY)
        try:
            is_checked = checked == sidecar_format.stamp_of(os.fstat(descriptor))
            return mapped(descriptor, self._kind, checked=is_checked)
        finally:
            os.close(descriptor)

    def save(self, write: Callable[[Packer], None]) -> Packed | None:
        """Replace the file, and map the new one.

        Args:
            write: adds the arrays, and finishes.

        Raises:
            JobRunning: another process is at it.
            IndexNotWritable, OSError: it cannot be written. The old one is as it was.
        """
        with errand(self._index, self.lock):
            self.part.unlink(missing_ok=True)  # of a process that was killed
            descriptor = safe_open.opened(self.part, os.O_RDWR | os.O_CREAT | os.O_EXCL)
            try:
                with os.fdopen(descriptor, "w+b") as file:
                    write(Packer(file, self._kind))
                    os.fsync(file.fileno())
                    found = mapped(file.fileno(), self._kind)
                    safe_open.replaced(self.part, self.path)
                    return found
            except BaseException:
                with suppress(OSError):
                    self.part.unlink(missing_ok=True)
                raise

    def unsaved(self, write: Callable[[Packer], None]) -> Packed | None:
        """Map a sidecar that is in no folder, and goes with this process.

        Raises:
            OSError: it cannot be written.
        """
        import tempfile

        with tempfile.TemporaryFile() as file:
            write(Packer(file, self._kind))
            return mapped(file.fileno(), self._kind)

    def discard(self, *, dry_run: bool = False) -> int:
        """Remove the file, which is made again when it is needed.

        Args:
            dry_run: leave it.

        Returns:
            Its bytes. 0 if there is none, or a process is about to make one.
        """
        paths = [path for path in (self.path, self.part) if path.is_file()]
        taken = sum(path.stat().st_size for path in paths)
        if dry_run or not paths:
            return taken
        try:
            with errand(self._index, self.lock):
                for path in paths:
                    path.unlink(missing_ok=True)
        except (IndexFailure, OSError):
            return 0
        return taken


def _address(array: NDArray[Any]) -> int:
    return int(array.__array_interface__["data"][0])
