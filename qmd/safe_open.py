"""Safe open and atomic replace of files in shared folders: links and special files are refused.

A folder from elsewhere may contain links and pipes named like qmd's own files. qmd neither writes
to their targets nor waits for their readers.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import IO


class NotRegularFile(OSError):
    """A link, pipe, folder or device in the place of a regular file."""

    def __init__(self, path: Path) -> None:
        problem = f"{path.name} has to be a file: it is a link, a pipe or a folder"
        super().__init__(errno.EINVAL, problem, str(path))


def opened(path: Path, flags: int, mode: int = 0o600) -> int:
    """Open a regular file and return its descriptor.

    Raises:
        NotRegularFile: it is none.
        OSError: it cannot be opened.
    """
    flags |= os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
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
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(path.stat().st_mode if path.exists() else mode)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
