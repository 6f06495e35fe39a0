"""Files and folders that are put in their place at once, or copied, linked and flushed."""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
import sys
from pathlib import Path

AT_ONCE = 1 << 28
"""Bytes that are copied by one call."""

_NOT_THAT_WAY = (errno.EXDEV, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL, errno.EPERM)
_CANNOT_LINK = (*_NOT_THAT_WAY, errno.EMLINK, errno.EACCES)

_HERE = -100  # AT_FDCWD: paths are as this process sees them
_SWAP = 2  # RENAME_EXCHANGE of renameat2(2), and RENAME_SWAP of renamex_np(2)


def copy(source: Path, target: Path) -> None:
    """Copy a file; on a file system that shares blocks, without copying any."""
    with source.open("rb") as old, target.open("wb") as new:
        if hasattr(os, "copy_file_range"):
            try:
                while os.copy_file_range(old.fileno(), new.fileno(), AT_ONCE):
                    pass
                return
            except OSError as error:
                if error.errno not in _NOT_THAT_WAY:
                    raise
                old.seek(0)
                new.seek(0)
        shutil.copyfileobj(old, new, AT_ONCE)


def link(source: Path, target: Path) -> None:
    """Give a file a second name; where that cannot be, copy it."""
    try:
        target.hardlink_to(source)
    except OSError as error:
        if error.errno not in _CANNOT_LINK:
            raise
        copy(source, target)


def flush(path: Path) -> None:
    """Have a file, or the names in a folder, on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def exchange(one: Path, other: Path) -> bool:
    """Give each of two folders the name of the other, in one step.

    Returns:
        False: this system cannot; nothing was changed.

    Raises:
        OSError: it can, but not these.
    """
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
