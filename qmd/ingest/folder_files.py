"""Files that are written into the folder of a collection, or removed from it.

Each folder on the way is opened from the one above it, and no link is followed: nothing outside
of the folder is written, whatever others put in the place of a folder meanwhile.
"""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from qmd.errors import UsageError
from qmd.types import Collection
from qmd.visible import one_line

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


def write(collection: Collection, path: str, data: bytes) -> bool:
    """Write a file, whole or not at all.

    Returns:
        Whether it took the place of another.

    Raises:
        UsageError: it cannot be written, or there is something else than a file.
    """
    with _failing(collection, path, "written"), _opened(collection, path, make=True) as folder:
        name = path.rpartition("/")[2]
        before = _mode(folder, name)
        draft = f".qmd-{secrets.token_hex(8)}.tmp"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            with os.fdopen(os.open(draft, flags, 0o666, dir_fd=folder), "wb") as file:
                if before is not None:
                    os.fchmod(file.fileno(), before)
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(draft, name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            with suppress(OSError):
                os.unlink(draft, dir_fd=folder)
            raise
        os.fsync(folder)
        return before is not None


def remove(collection: Collection, path: str) -> bool:
    """Remove a file.

    Returns:
        Whether it was there.

    Raises:
        UsageError: it cannot be removed, or is something else than a file.
    """
    try:
        with _failing(collection, path, "removed"), _opened(collection, path) as folder:
            name = path.rpartition("/")[2]
            if _mode(folder, name) is None:
                return False
            os.unlink(name, dir_fd=folder)
            return True
    except FileNotFoundError:
        return False


@contextmanager
def _failing(collection: Collection, path: str, done: str) -> Iterator[None]:
    """Say in words why a file could not be written or removed."""
    try:
        yield
    except FileNotFoundError:
        if done == "removed":
            raise
        raise _cannot(collection, path, done, "its folder is missing") from None
    except OSError as error:
        raise _cannot(collection, path, done, error.strerror or str(error)) from error


def _cannot(collection: Collection, path: str, done: str, why: str) -> UsageError:
    return UsageError(f"{one_line(f'{collection.root}/{path}')} cannot be {done}: {why}.")


@contextmanager
def _opened(collection: Collection, path: str, *, make: bool = False) -> Iterator[int]:
    """Open the folder of a file.

    Args:
        make: make folders that are not there.
    """
    folder = os.open(os.path.realpath(collection.root), _FOLDER)
    try:
        for part in path.split("/")[:-1]:
            if make:
                with suppress(FileExistsError):
                    os.mkdir(part, dir_fd=folder)
            inner = os.open(part, _FOLDER | os.O_NOFOLLOW, dir_fd=folder)
            os.close(folder)
            folder = inner
        yield folder
    finally:
        os.close(folder)


def _mode(folder: int, name: str) -> int | None:
    """Return the permissions of a file, or None if it is not there.

    Raises:
        OSError: it is something else than a file, such as a link.
    """
    try:
        info = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(info.st_mode):
        raise OSError(0, "it is no regular file")
    return stat.S_IMODE(info.st_mode)
