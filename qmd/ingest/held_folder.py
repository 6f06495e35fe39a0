"""Folder that is held open while files in it are written, so that no link leads out of it.

POSIX opens each file from the descriptor of its folder. Windows has no such call: there, each
folder on the way is checked by its name, and kept from being renamed as long as it is held.
"""

from __future__ import annotations

import os
import stat
import sys
from contextlib import suppress
from pathlib import Path

from qmd import safe_open

if sys.platform == "win32":
    from qmd import windows

    class HeldFolder:
        """An open folder.

        Args:
            path: of it.
        """

        def __init__(self, path: str) -> None:
            self._path = path
            self._descriptor = windows.keep_folder(path)

        def inner(self, name: str, *, make: bool) -> HeldFolder:
            """Open a folder in it, which is no link; with `make`, make it first."""
            path = self._at(name)
            if make and not os.path.lexists(path):
                os.mkdir(path)  # noqa: PTH102
            found = HeldFolder(path)
            info = os.lstat(path)
            if info.st_reparse_tag in (
                stat.IO_REPARSE_TAG_SYMLINK,
                stat.IO_REPARSE_TAG_MOUNT_POINT,
            ):
                found.close()
                raise OSError(0, "it is in a folder that is a link")
            return found

        def info(self, name: str) -> os.stat_result:
            """Return what the system says of a file; a link is not followed."""
            return os.lstat(self._at(name))

        def opened(self, name: str, flags: int) -> int:
            """Open a file."""
            return os.open(self._at(name), flags | safe_open.AT_ONCE, 0o666)

        def set_mode(self, descriptor: int, mode: int) -> None:
            """Do nothing: a file has the permissions of its folder."""

        def unlink(self, name: str) -> None:
            """Remove a file."""
            os.unlink(self._at(name))  # noqa: PTH108

        def replace(self, draft: str, name: str) -> None:
            """Rename a file; another one of the new name goes."""
            safe_open.replaced(Path(self._at(draft)), Path(self._at(name)))

        def link(self, draft: str, name: str) -> None:
            """Give a file a second name."""
            os.link(self._at(draft), self._at(name))

        def flush(self) -> None:
            """Do nothing: the file system keeps the names of files by itself."""

        def close(self) -> None:
            """Close the folder."""
            os.close(self._descriptor)

        def _at(self, name: str) -> str:
            return os.path.join(self._path, name)  # noqa: PTH118
else:
    _FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC

    class HeldFolder:
        """An open folder.

        Args:
            path: of it.
            above: descriptor of the folder that it is in; None: the path is absolute.
        """

        def __init__(self, path: str, *, above: int | None = None) -> None:
            unfollowed = 0 if above is None else os.O_NOFOLLOW
            self._descriptor = os.open(path, _FOLDER | unfollowed, dir_fd=above)

        def inner(self, name: str, *, make: bool) -> HeldFolder:
            """Open a folder in it, which is no link; with `make`, make it first."""
            if make:
                with suppress(FileExistsError):  # of whatever kind, as opening it tells
                    os.mkdir(name, dir_fd=self._descriptor)
            return HeldFolder(name, above=self._descriptor)

        def info(self, name: str) -> os.stat_result:
            """Return what the system says of a file; a link is not followed."""
            return os.stat(name, dir_fd=self._descriptor, follow_symlinks=False)

        def opened(self, name: str, flags: int) -> int:
            """Open a file, which is no link."""
            flags |= safe_open.UNFOLLOWED | safe_open.AT_ONCE
            return os.open(name, flags, 0o666, dir_fd=self._descriptor)

        def set_mode(self, descriptor: int, mode: int) -> None:
            """Set the permissions of an open file."""
            os.fchmod(descriptor, mode)

        def unlink(self, name: str) -> None:
            """Remove a file."""
            os.unlink(name, dir_fd=self._descriptor)

        def replace(self, draft: str, name: str) -> None:
            """Rename a file; another one of the new name goes."""
            here = self._descriptor
            os.replace(draft, name, src_dir_fd=here, dst_dir_fd=here)

        def link(self, draft: str, name: str) -> None:
            """Give a file a second name."""
            here = self._descriptor
            os.link(draft, name, src_dir_fd=here, dst_dir_fd=here, follow_symlinks=False)

        def flush(self) -> None:
            """Flush the names of files to disk."""
            os.fsync(self._descriptor)

        def close(self) -> None:
            """Close the folder."""
            os.close(self._descriptor)
