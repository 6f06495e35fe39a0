"""Files of settings, locks and logs that others may have put something else in the place of.

Who fetched a folder may have fetched links and pipes with it, named like what qmd keeps there.
It neither writes into what these lead to, nor waits for who reads them.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

PATIENCE = 30.0
"""Seconds to wait for another process that changes the same file, which takes milliseconds."""

POLL = 0.005
"""Seconds between two looks at a lock."""


class NotAFile(OSError):
    """A link, a pipe, a folder or a device, where a file has to be."""

    def __init__(self, path: Path) -> None:
        problem = f"{path.name} has to be a file: it is a link, a pipe or a folder"
        super().__init__(errno.EINVAL, problem, str(path))


def opened(path: Path, flags: int, mode: int = 0o600) -> int:
    """A descriptor of a file that is one.

    Raises:
        NotAFile: it is none.
        OSError: it cannot be opened.
    """
    flags |= os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        descriptor = os.open(path, flags, mode)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EISDIR, errno.ENXIO):
            raise NotAFile(path) from error
        raise
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise NotAFile(path)
    return descriptor


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Wait for other processes that change the same file.

    Args:
        path: of the file's lock, which stays.

    Raises:
        OSError: it cannot be opened.
        FileBusy: another process has not let go in time.
    """
    from qmd import signature

    descriptor = opened(path, os.O_RDWR | os.O_CREAT, 0o666)
    signed, began = None, time.monotonic()
    try:
        while not _taken(descriptor):
            waited = time.monotonic() - began
            if waited > PATIENCE:
                from qmd.errors import FileBusy

                raise FileBusy(path, holder=signature.holders(path), waited=waited)
            time.sleep(POLL)
        signed = signature.sign(descriptor, alone=True)
        yield
    finally:
        if signed is not None:
            signature.erase(descriptor, signed)
        os.close(descriptor)


def _taken(descriptor: int) -> bool:
    """Whether the lock of a file is ours now."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def replace(path: Path, write: Callable[[IO[str]], object], *, mode: int = 0o644) -> None:
    """Replace a file at once: another process sees the old text or the new.

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
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(path.stat().st_mode if path.exists() else mode)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
