"""Reader of changed files: text, digests, metadata."""

from __future__ import annotations

import codecs
import os
import stat
from datetime import datetime, timedelta
from functools import partial
from typing import NamedTuple

from qmd.ingest.commit import Change
from qmd.ingest.walk import Found, stays_inside
from qmd.text import markdown, paths
from qmd.text.hashes import checksum, content_hash
from qmd.types import Collection

FRESH_NS = 50_000_000
"""Nanoseconds. A file changed so shortly before the walk may change again within the same
tick of the file system's clock: its time is not trusted, and it is compared again."""

EMPTY, NO_TEXT = "empty", "not a text file"
"""Problems that a file has until it changes."""

EPOCH = datetime(1970, 1, 1)


class File(NamedTuple):
    """A changed file with its bytes or text.

    Attributes:
        fresh: it changed so shortly before it was found that it may change again unnoticed.
        text: None if it cannot be indexed, for `problem`, or has not really changed.
        data: the text in UTF-8.
    """

    change: Change
    path: str
    size: int
    mtime_ns: int
    inode: int
    checksum: str = ""
    hash: str = ""
    text: str | None = None
    data: bytes = b""
    lossy: bool = False
    problem: str | None = None
    empty: bool = False
    vanished: bool = False
    fresh: bool = False

    def spent(self) -> File:
        """Return the file without its text."""
        return self if self.text is None else self._replace(text="", data=b"")


class Parsed(NamedTuple):
    """A file with its parsed text and metadata.

    Attributes:
        remark: problem of a file that is indexed nevertheless.
        body: bytes of its frontmatter.
    """

    file: File
    title: str
    metadata: str | None
    dated: datetime
    modified: datetime
    remark: str | None
    body: int = 0


def opened(change: Change, found: Found, collection: Collection, *, began: int) -> File:
    """Read one file; an unreadable one is returned with its problem.

    Args:
        found: what was found in the folder.
        began: when the walk did, in nanoseconds since the epoch.
    """
    place = change.place
    assert place is not None
    mtime_ns = found.mtimes[place]
    known = partial(
        File,
        change,
        change.path,
        found.sizes[place],
        mtime_ns,
        found.inodes[place],
        fresh=mtime_ns > began - FRESH_NS,
    )
    follow = collection.follow_symlinks
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | (0 if follow else os.O_NOFOLLOW)
    path = paths.place(collection.root, change.path)
    if path is None:
        return known(vanished=True)
    try:
        descriptor = os.open(path, flags)
        try:
            info = os.fstat(descriptor)
            same = info.st_ino == found.inodes[place]
            if not (stat.S_ISREG(info.st_mode) and (same or _is_below(path, change.path, follow))):
                return known(vanished=True)
            data = _content(descriptor, found.sizes[place])
        finally:
            os.close(descriptor)
    except FileNotFoundError:
        return known(vanished=True)
    except OSError as error:
        return known(problem=(error.strerror or str(error)).lower())
    digest = checksum(data)
    if digest == change.checksum and change.hash is not None:
        return known(checksum=digest, hash=change.hash)
    if b"\0" in data:
        return known(problem=NO_TEXT, empty=True)
    try:
        text, lossy = data.decode("utf-8-sig"), False
    except UnicodeDecodeError:
        text, lossy = data.decode("utf-8-sig", errors="replace"), True
    if not text or text.isspace():
        return known(problem=EMPTY, empty=True)
    data = text.encode() if lossy else data.removeprefix(codecs.BOM_UTF8)
    return known(checksum=digest, hash=content_hash(data), text=text, data=data, lossy=lossy)


def _is_below(path: str, inside: str, follow: bool) -> bool:
    """Check that no listed folder has been replaced by a link that leads elsewhere.

    Args:
        inside: the part of the path that is below the collection's folder.
        follow: links that stay below it count.
    """
    root = os.path.realpath(path.removesuffix(inside))
    if follow:
        return stays_inside(path, root)
    return os.path.realpath(path) == os.path.join(root, inside)  # noqa: PTH118


def _content(descriptor: int, expected: int) -> bytes:
    """Read all bytes of an open file, about `expected` of them."""
    pieces = []
    while piece := os.read(descriptor, expected + 1):
        pieces.append(piece)
    return b"".join(pieces)


def parsed(file: File) -> Parsed:
    """Parse the text and the metadata of a file."""
    text = file.text
    assert text is not None
    matter = markdown.frontmatter(text)
    modified = EPOCH + timedelta(microseconds=file.mtime_ns // 1000)
    remark = matter.problem or ("invalid UTF-8 was replaced" if file.lossy else None)
    return Parsed(
        file,
        markdown.title(text, file.path, matter),
        markdown.metadata_json(matter.metadata),
        markdown.dated(file.path, modified, matter),
        modified,
        remark,
        matter.end if text.isascii() else len(text[: matter.end].encode()),
    )
