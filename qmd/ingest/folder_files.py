"""Files that are written into the folder of a collection, or removed from it.

Each folder on the way is opened from the one above it, and no link is followed: nothing outside
of the folder is written, whatever others put in the place of a folder meanwhile.

A file is read once more when all is ready, just before its name is given to the new one: what an
editor has written until then is not lost.
"""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from qmd.errors import UsageError, WriteConflict
from qmd.ingest.held_folder import HeldFolder
from qmd.text import paths
from qmd.types import Collection
from qmd.visible import one_line

LARGEST_CHANGED = 64_000_000
"""Bytes of a file that may be changed: its old text is kept in the journal."""


class FileChanged(WriteConflict):
    """A file that another program has written meanwhile."""

    def __init__(self, file: str) -> None:
        super().__init__(
            f"{one_line(file)} has just been changed by another program.\n\n"
            "Nothing was written. Read it again, and decide anew."
        )


def read(collection: Collection, path: str) -> bytes | None:
    """Read a file; None: it is not there.

    Raises:
        UsageError: it cannot be read, or is something else than a file.
    """
    try:
        with _failing(collection, path, "changed", read=True), _opened(collection, path) as folder:
            return _content(folder, path.rpartition("/")[2])
    except FileNotFoundError:
        return None


def write(collection: Collection, path: str, data: bytes, *, before: bytes | None) -> None:
    """Write a file, whole or not at all.

    Args:
        before: what the file has to have; None: it must not be there.

    Raises:
        FileChanged: it has something else, since another program has written it.
        UsageError: it cannot be written, or there is something else than a file.
    """
    with _failing(collection, path, "written"), _opened(collection, path, make=True) as folder:
        name = path.rpartition("/")[2]
        mode = _mode(folder, name)
        draft = f".qmd-{secrets.token_hex(8)}.tmp"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        try:
            with os.fdopen(folder.opened(draft, flags), "wb") as file:
                if mode is not None:
                    folder.set_mode(file.fileno(), mode)
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            if _content(folder, name) != before:
                raise FileChanged(f"{collection.name}/{path}")
            if before is None and _linked(folder, draft, name, f"{collection.name}/{path}"):
                folder.unlink(draft)
            else:
                folder.replace(draft, name)
        except BaseException:
            with suppress(OSError):
                folder.unlink(draft)
            raise
        folder.flush()


def remove(collection: Collection, path: str, *, before: bytes | None = None) -> bool:
    """Remove a file.

    Args:
        before: what the file has to have; None: anything.

    Returns:
        True if it was there.

    Raises:
        FileChanged: it has something else, since another program has written it.
        UsageError: it cannot be removed, or is something else than a file.
    """
    try:
        with _failing(collection, path, "removed"), _opened(collection, path) as folder:
            name = path.rpartition("/")[2]
            if _mode(folder, name) is None:
                return False
            if before is not None and _content(folder, name) != before:
                raise FileChanged(f"{collection.name}/{path}")
            folder.unlink(name)
            return True
    except FileNotFoundError:
        return False


@contextmanager
def _failing(collection: Collection, path: str, done: str, *, read: bool = False) -> Iterator[None]:
    """Say in words why a file could not be written or removed.

    Args:
        read: it is read beforehand, and need not be there.
    """
    try:
        yield
    except FileNotFoundError:
        if read or done == "removed":
            raise
        raise _cannot(collection, path, done, "its folder is missing") from None
    except OSError as error:
        raise _cannot(collection, path, done, error.strerror or str(error)) from error


def _cannot(collection: Collection, path: str, done: str, why: str) -> UsageError:
    return UsageError(f"{one_line(f'{collection.root}/{path}')} cannot be {done}: {why}.")


@contextmanager
def _opened(collection: Collection, path: str, *, make: bool = False) -> Iterator[HeldFolder]:
    """Open the folder of a file.

    Args:
        make: make folders that are not there.
    """
    folder = HeldFolder(paths.real(collection.root))
    try:
        for part in path.split("/")[:-1]:
            inner = folder.inner(part, make=make)
            folder.close()
            folder = inner
        yield folder
    finally:
        folder.close()


def _linked(folder: HeldFolder, draft: str, name: str, file: str) -> bool:
    """Give a new file its name, but never over one that appears just now.

    Returns:
        False: the file system has no hard links.

    Raises:
        FileChanged: there is a file of this name by now.
    """
    try:
        folder.link(draft, name)
    except FileExistsError:
        raise FileChanged(file) from None
    except OSError:
        return False
    return True


def _content(folder: HeldFolder, name: str) -> bytes | None:
    """Read a file of an open folder; None: it is not there.

    Raises:
        OSError: it is something else than a file, or too large for a document.
    """
    if _mode(folder, name) is None:
        return None
    try:
        descriptor = folder.opened(name, os.O_RDONLY)
    except FileNotFoundError:
        return None
    with os.fdopen(descriptor, "rb") as file:
        data = file.read(LARGEST_CHANGED + 1)
    if len(data) > LARGEST_CHANGED:
        raise OSError(0, f"it has more than {LARGEST_CHANGED // 1_000_000} MB")
    return data


def _mode(folder: HeldFolder, name: str) -> int | None:
    """Return the permissions of a file, or None if it is not there.

    Raises:
        OSError: it is something else than a file, such as a link.
    """
    try:
        info = folder.info(name)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(info.st_mode):
        raise OSError(0, "it is no regular file")
    return stat.S_IMODE(info.st_mode)
