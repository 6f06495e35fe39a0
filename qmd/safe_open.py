"""Open, lock and replace files in shared folders: links and special files are refused.

A folder from elsewhere may contain links and pipes named like qmd's own files. qmd neither writes
to their targets nor waits for their readers.

Locks are those of flock(2), and of LockFileEx on Windows: they end with their process.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO

if sys.platform == "win32":
    from qmd import windows
else:
    import fcntl

POLL_SECONDS = 0.01
"""Seconds between two looks at a lock that is waited for, where the system cannot wait."""

REPLACE_SECONDS = 2.0
"""Seconds in which a reader of a file has to close it before it is replaced, on Windows."""


class NotRegularFile(OSError):
    """A link, pipe, folder or device in the place of a regular file."""

    def __init__(self, path: Path | str) -> None:
        problem = f"{Path(path).name} has to be a file: it is a link, a pipe or a folder"
        super().__init__(errno.EINVAL, problem, str(path))


if sys.platform == "win32":
    UNFOLLOWED = 0
    AT_ONCE = os.O_BINARY | os.O_NOINHERIT
else:
    UNFOLLOWED = os.O_NOFOLLOW
    """Flag to refuse a link; Windows has none."""

    AT_ONCE = os.O_NONBLOCK | os.O_CLOEXEC
    """Flags to open a file without waiting for the other end of a pipe, not for child processes,
    and to get its bytes as they are."""


def opened(path: Path | str, flags: int, mode: int = 0o600) -> int:
    """Open a regular file and return its descriptor.

    Raises:
        NotRegularFile: the path is a link, a pipe, a folder or a device.
        OSError: it cannot be opened.
    """
    if sys.platform == "win32":
        if Path(path).is_dir():
            raise NotRegularFile(path)
        descriptor = windows.open_file(path, flags)  # a link is opened itself
        if not stat.S_ISREG(os.lstat(path).st_mode):
            os.close(descriptor)
            raise NotRegularFile(path)
        return descriptor
    flags |= UNFOLLOWED | AT_ONCE
    try:
        descriptor = os.open(path, flags, mode)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EISDIR, errno.ENXIO):
            raise NotRegularFile(path) from error
        raise
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise NotRegularFile(path)
    return descriptor


def opened_folder(path: Path, *, shared: bool = False, wait: bool = False) -> int | None:
    """Open a folder, which is no link, and lock it.

    Args:
        shared: with others that only read it.
        wait: for other processes.

    Returns:
        A descriptor for `release`; None: another process holds the lock.

    Raises:
        OSError: it cannot be opened.
    """
    if sys.platform == "win32":
        while (held := windows.hold_folder(path, shared=shared)) is None and wait:
            time.sleep(POLL_SECONDS)
        return held
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        if lock(descriptor, shared=shared, wait=wait):
            return descriptor
    except BaseException:
        os.close(descriptor)
        raise
    os.close(descriptor)
    return None


def lock(descriptor: int, *, shared: bool = False, wait: bool = False) -> bool:
    """Lock an open file.

    Args:
        shared: with other processes that do the same.
        wait: for other processes.

    Returns:
        False: another process holds the lock.

    Raises:
        OSError: the file system has no locks.
    """
    if sys.platform == "win32":
        while not (locked := windows.lock_file(descriptor, shared=shared)) and wait:
            time.sleep(POLL_SECONDS)
    else:
        kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
        try:
            fcntl.flock(descriptor, kind if wait else kind | fcntl.LOCK_NB)
            locked = True
        except BlockingIOError:
            locked = False
    return locked


def release(descriptor: int) -> None:
    """Close a locked file or folder, and so release its lock."""
    if sys.platform == "win32":
        windows.unlock_file(descriptor)
    os.close(descriptor)


def read_at(descriptor: int, size: int, at: int) -> bytes:
    """Read bytes at a position; the position of the descriptor is of no use to others."""
    if sys.platform == "win32":
        os.lseek(descriptor, at, os.SEEK_SET)
        return os.read(descriptor, size)
    return os.pread(descriptor, size, at)


def write_at(descriptor: int, data: bytes, at: int) -> None:
    """Write bytes at a position; the position of the descriptor is of no use to others."""
    if sys.platform == "win32":
        os.lseek(descriptor, at, os.SEEK_SET)
        os.write(descriptor, data)
    else:
        os.pwrite(descriptor, data, at)


def replaced(new: Path, old: Path) -> None:
    """Give a file the name of another one, which goes.

    Windows refuses that as long as any process has the other one open without sharing it: a
    reader of a small file is waited for.

    Raises:
        OSError: it cannot be renamed.
    """
    until = time.monotonic() + (REPLACE_SECONDS if sys.platform == "win32" else 0)
    while True:
        try:
            new.replace(old)
            return
        except PermissionError:
            if time.monotonic() >= until:
                raise
        time.sleep(POLL_SECONDS)


def atomic_replace(path: Path, write: Callable[[IO[str]], object], *, mode: int = 0o644) -> None:
    """Replace a file atomically: another process reads the old text or the new.

    Args:
        write: is given the new file.
        mode: of a file that was not there.

    Raises:
        OSError: it cannot be written. The old one is as it was.
    """
    import tempfile

    handle, name = tempfile.mkstemp(prefix=path.name, dir=path.parent)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(path.stat().st_mode if path.exists() else mode)
        replaced(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
