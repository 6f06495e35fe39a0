"""File operations: atomic replace, copy, link, flush to disk."""

from __future__ import annotations

import ctypes
import errno
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from typing import IO

from qmd.errors import UsageError

COPY_CHUNK_BYTES = 1 << 28
"""Bytes that are copied by one call."""

_NOT_THAT_WAY = (errno.EXDEV, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL, errno.EPERM)
_CANNOT_LINK = (*_NOT_THAT_WAY, errno.EMLINK, errno.EACCES)

MAX_LINKS = 40
"""Links that are followed one after the other. Source: path_resolution(7)."""

_HERE = -100  # AT_FDCWD: paths are as this process sees them
_SWAP = 2  # RENAME_EXCHANGE of renameat2(2), and RENAME_SWAP of renamex_np(2)


def copy_file(source: Path, target: Path) -> None:
    """Copy a file; a file system with shared blocks clones it instead."""
    with source.open("rb") as old, target.open("wb") as new:
        if hasattr(os, "copy_file_range"):
            try:
                while os.copy_file_range(old.fileno(), new.fileno(), COPY_CHUNK_BYTES):
                    pass
                return
            except OSError as error:
                if error.errno not in _NOT_THAT_WAY:
                    raise
                old.seek(0)
                new.seek(0)
        import shutil

        shutil.copyfileobj(old, new, COPY_CHUNK_BYTES)


def link_file(source: Path, target: Path) -> None:
    """Link a file under a second name; copy it where links are not possible."""
    try:
        target.hardlink_to(source)
    except OSError as error:
        if error.errno not in _CANNOT_LINK:
            raise
        copy_file(source, target)


def fsync_path(path: Path) -> None:
    """Flush a file, or the entries of a folder, to disk. Windows keeps entries by itself."""
    if sys.platform == "win32":
        if path.is_dir():
            return
        descriptor = os.open(path, os.O_RDWR | os.O_BINARY)
    else:
        descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def swap_folders(one: Path, other: Path) -> bool:
    """Swap the names of two folders in one step.

    Returns:
        False: this system cannot; nothing was changed.

    Raises:
        OSError: it can, but not these.
    """
    if sys.platform == "win32":
        return False
    library = ctypes.CDLL(None, use_errno=True)
    names = os.fsencode(one), os.fsencode(other)
    if sys.platform == "darwin":
        failed = library.renamex_np(*names, ctypes.c_uint(_SWAP))
    elif hasattr(library, "renameat2"):
        failed = library.renameat2(_HERE, names[0], _HERE, names[1], ctypes.c_uint(_SWAP))
    else:
        return False
    if not failed:
        return True
    code = ctypes.get_errno()
    if code in (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP):
        return False
    raise OSError(code, os.strerror(code), str(other))


# -- what a user wants written -------------------------------------------------------


def check_writable(path: Path) -> None:
    """Check that a file can be written before work begins.

    Raises:
        UsageError: it is a folder, or in none.
    """
    try:
        number = _opened(path)
        if number is not None:
            os.fstat(number)
        elif path.is_dir():
            raise UsageError(f"{path} is a folder. Name a file.")
        elif not path.exists() and not (folder := _target(path).parent).is_dir():
            missing = folder if path.is_symlink() else path.parent
            raise UsageError(f"{path} cannot be written: there is no folder {missing}.")
    except OSError as error:
        raise _unwritten(path, error) from error


def is_stream(path: Path) -> bool:
    """Check that a path is a stream: a pipe, a device or an open descriptor."""
    try:
        if _opened(path) is not None:
            return True
        mode = path.stat().st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


@contextmanager
def written(path: Path) -> Iterator[IO[bytes]]:
    """Open a file for writing that replaces the old one only when complete.

    A link stays; its target is replaced by a file of the same mode. A stream gets the
    bytes as they come.

    Raises:
        UsageError: it cannot be written.
        BrokenPipeError: the reader has closed the stream.
    """
    try:
        number = _opened(path)
        if number is not None:
            with os.fdopen(os.dup(number), "wb") as file:
                yield file
        elif is_stream(path):
            with path.open("wb") as file:
                yield file
        else:
            with _replacing(_target(path)) as file:
                yield file
    except BrokenPipeError:
        raise
    except OSError as error:
        raise _unwritten(path, error) from error


@contextmanager
def _replacing(path: Path) -> Iterator[IO[bytes]]:
    """Write a temporary file, then rename it over the target."""
    try:
        mode = stat.S_IMODE(path.stat().st_mode)
    except FileNotFoundError:
        mode = None
    part = path.with_name(f".qmd-{token_hex(8)}.part")
    new = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    descriptor = os.open(part, new, 0o666 if mode is None else 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            if mode is not None and sys.platform != "win32":
                os.fchmod(descriptor, mode)
            yield file
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def _target(path: Path) -> Path:
    """Resolve links to the final target, which need not exist."""
    return Path(os.path.realpath(path))


def _opened(path: Path) -> int | None:
    """Return the descriptor that a path such as /dev/stdout stands for, or None.

    To open it by its name would truncate a file that others write to as well.
    """
    at = path.absolute()
    for _ in range(MAX_LINKS):
        folder = os.path.realpath(at.parent)
        if folder in ("/dev/fd", f"/proc/{os.getpid()}/fd") and at.name.isdecimal():
            return int(at.name)
        if not at.is_symlink():
            return None
        at = Path(folder, at.readlink())
    return None


def _unwritten(path: Path, error: OSError) -> UsageError:
    return UsageError(f"{path} cannot be written: {error.strerror or error}.")
