"""Reader of git's index file: the files that a work tree tracks.

The file is read here, and not by `git ls-files`: in a folder that came from elsewhere, the
repository's own settings can make that command run programs.

Source: gitformat-index(5), versions 2 to 4. Of a split index, files that were removed from it
since the split still count as tracked.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from qmd.named_tuple import NamedTuple
from qmd.text import paths

LARGEST = 512_000_000
"""Bytes of an index file: some millions of files."""

_FOLDER, _LINK = 0o040000, 0o160000
"""Modes of a folder in a sparse index, and of a submodule."""

_STATS = 40
"""Bytes of an entry before the hash: times, device, inode, mode at 24, owner, size."""


class Tracked(NamedTuple):
    """Files that a work tree tracks.

    Attributes:
        files: paths, with `/`; submodules are among them.
        folders: all folders of those.
        whole: folders of which a sparse index lists no files.
    """

    files: frozenset[str] = frozenset()
    folders: frozenset[str] = frozenset()
    whole: frozenset[str] = frozenset()

    def has(self, path: str) -> bool:
        """Check that a file, or a submodule, is tracked."""
        return path in self.files or any(
            folder in self.whole for folder in paths.folders_above(path)
        )

    def has_below(self, path: str) -> bool:
        """Check that something in a folder is tracked, or that it is a submodule."""
        return path in self.folders or path in self.whole or self.has(path)


def tracked(git: str) -> Tracked:
    """Read which files are tracked.

    Args:
        git: the repository's folder of a work tree.

    Returns:
        None of them, if the index is missing or damaged.
    """
    is_long = _has_long_hashes(Path(git))
    files, whole = set[str](), set[str]()
    with suppress(OSError, ValueError, IndexError, struct.error):
        data = _read(Path(git, "index"))
        entries = list(_entries(data, 32 if is_long else 20))
        shared = re.search(rb"link\0\0..(.{%d})" % (32 if is_long else 20), data[-4096:], re.S)
        if shared and any(shared[1]):
            with suppress(OSError):
                base = _read(Path(git, f"sharedindex.{shared[1].hex()}"))
                entries += _entries(base, 32 if is_long else 20)
        for mode, name in entries:
            path = name.decode("utf-8", "surrogateescape")
            (whole if mode == _FOLDER else files).add(path.rstrip("/"))
    files.discard("")
    folders = {folder for path in files for folder in paths.folders_above(path)}
    return Tracked(frozenset(files), frozenset(folders), frozenset(whole))


def _read(file: Path) -> bytes:
    if not file.is_file():  # a pipe would never end
        raise FileNotFoundError(file)
    with file.open("rb") as opened:
        return opened.read(LARGEST)


def _has_long_hashes(git: Path) -> bool:
    """Check for a repository with SHA-256."""
    common = git
    with suppress(OSError, ValueError):
        common = git / _read(git / "commondir").decode().strip()
    with suppress(OSError):
        return bool(re.search(rb"(?mi)^\s*objectformat\s*=\s*sha256\b", _read(common / "config")))
    return False


def _entries(data: bytes, width: int) -> Iterator[tuple[int, bytes]]:
    """Yield mode and path of each entry.

    Args:
        width: bytes of a hash.

    Raises:
        ValueError, IndexError, struct.error: it is no index, or is cut.
    """
    magic, version, count = struct.unpack_from(">4sII", data)
    if magic != b"DIRC" or version not in (2, 3, 4):
        raise ValueError("This is no index file.")
    at, name = 12, b""
    for _ in range(count):
        [mode] = struct.unpack_from(">I", data, at + 24)
        [flags] = struct.unpack_from(">H", data, at + _STATS + width)
        begin = at + _STATS + width + (4 if flags & 0x4000 else 2)
        if version == 4:
            cut, begin = _offset(data, begin)
            end = data.index(b"\0", begin)
            name = name[: len(name) - cut] + data[begin:end]
            at = end + 1
        else:
            end = data.index(b"\0", begin)
            name = data[begin:end]
            at += (end - at + 8) // 8 * 8
        yield mode & 0o170000, name


def _offset(data: bytes, at: int) -> tuple[int, int]:
    """Read a number of variable width, as offsets in pack files are written."""
    value = data[at] & 0x7F
    while data[at] & 0x80:
        at += 1
        value = (value + 1) << 7 | data[at] & 0x7F
        if value > LARGEST:
            raise ValueError("No path is so long.")
    return value, at + 1
