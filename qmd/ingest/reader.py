"""Reader of changed files: text, digests, metadata.

Text in UTF-8 is read here; `extraction` reads the other kinds.
"""

from __future__ import annotations

import codecs
import os
import stat
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from qmd import safe_open
from qmd.ingest.commit import Made
from qmd.ingest.folder_changes import Change
from qmd.ingest.front_matters import front_matter_of
from qmd.ingest.readers import registry
from qmd.ingest.readers.registry import Choice
from qmd.ingest.walk import FileTable, stays_inside
from qmd.named_tuple import NamedTuple
from qmd.storage.long_texts import is_long_text
from qmd.text import kinds, labels, markdown, paths
from qmd.text.hashes import checksum, content_hash
from qmd.types import Collection

if TYPE_CHECKING:
    from qmd.ingest.converters import Converters
    from qmd.ingest.readers.reading import Reading
    from qmd.ingest.readers.tasks import Task

FRESH_NS = 50_000_000
"""Nanoseconds. A file changed so shortly before the walk may change again within the same
tick of the file system's clock: its time is not trusted, and it is compared again."""

EPOCH = datetime(1970, 1, 1)

_UNHEADED = ("org ",)
"""Readers of files whose headlines of level 1 are sections, and no titles."""


class File(NamedTuple):
    """A changed file with its bytes or text.

    Attributes:
        fresh: it changed so shortly before it was found that it may change again unnoticed.
        text: None if it cannot be indexed, for `problem`, or has not really changed; empty if it is
            long, so that only its bytes are held: see `whole`.
        data: the text in UTF-8; of a file with a task, its bytes.
        empty: it has no text, as long as it stays the same.
        task: what is still to read it, or None.
        reader: that has read it, with its version; None: it is text as it stands.
        reading: what its reader says of it, or None.
        container: path of the file that it is inside of, or None.
        remark: what is odd about it, though it is indexed.
        made: what is kept of what its reader has made of it, or None.
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
    task: Task | None = None
    reader: str | None = None
    reading: Reading | None = None
    container: str | None = None
    remark: str | None = None
    made: Made | None = None
    ctime_ns: int = 0

    @property
    def whole(self) -> str:
        """The text, also of a long one."""
        return self.text or self.data.decode()

    def spent(self) -> File:
        """Return the file without its text."""
        return self if self.text is None else self._replace(text="", data=b"", reading=None)


class Parsed(NamedTuple):
    """A file with its parsed text and metadata.

    Attributes:
        remark: problem of a file that is indexed nevertheless.
        body: bytes before its text: its front matter, and blank lines after it.
        matter: characters before its text.
        block: bytes of its front matter without the properties in lines of their own.
        tags: of the metadata.
        aliases: other names.
        described: values of the metadata that are searched with the text.
        links: that only its reader tells.
    """

    file: File
    title: str
    metadata: str | None
    dated: datetime
    modified: datetime
    remark: str | None
    body: int = 0
    matter: int = 0
    block: int = 0
    tags: Sequence[str] = ()
    aliases: Sequence[str] = ()
    described: str = ""
    links: Sequence[str] = ()


def opened(
    change: Change,
    found: FileTable,
    collection: Collection,
    *,
    began: int,
    converters: Converters | None = None,
) -> File:
    """Read one file; an unreadable one is returned with its problem.

    Args:
        found: what was found in the folder.
        converters: commands that convert files; None: there are none.
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
        ctime_ns=found.ctimes[place] if found.ctimes else 0,
    )
    follow = collection.follow_symlinks
    flags = os.O_RDONLY | safe_open.AT_ONCE | (0 if follow else safe_open.UNFOLLOWED)
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
    return understood(known(checksum=digest, data=data), converters)


def understood(file: File, converters: Converters | None = None) -> File:
    """Read the bytes of a file, or say what is to read them.

    Args:
        file: with its bytes as `data`.
    """
    data, path = file.data, file.path
    if converters is not None and (converter := converters.of(path)):
        if isinstance(converter, str):
            return file._replace(data=b"", problem=converter)
        return file._replace(task=converter)
    choice = registry.chosen_reader(path, data)
    if choice.problem:
        return file._replace(data=b"", problem=choice.problem, empty=True)
    if choice.kind is not None:
        return _left_to(file, choice, converters)
    try:
        text, lossy = data.decode("utf-8-sig"), False
    except UnicodeDecodeError:
        from qmd.ingest.readers import charsets  # most texts do without its alphabets

        text, lossy = data.decode("utf-8-sig", errors="replace"), True
        if not charsets.is_mostly_utf8(data, text):
            return _left_to(file, Choice(kinds.TEXT), converters)
    if not text or text.isspace():
        return file._replace(data=b"", problem=kinds.EMPTY, empty=True)
    data = text.encode() if lossy else data.removeprefix(codecs.BOM_UTF8)
    remark = "invalid UTF-8 was replaced" if lossy else None
    if is_long_text(data):
        text = ""
    return file._replace(hash=content_hash(data), text=text, data=data, lossy=lossy, remark=remark)


def _left_to(file: File, choice: Choice, converters: Converters | None) -> File:
    from qmd.ingest.converters import task_of

    assert choice.kind is not None
    return file._replace(task=task_of(choice.kind, converters), remark=choice.remark)


def _is_below(path: str, inside: str, follow: bool) -> bool:
    """Check that no listed folder has been replaced by a link that leads elsewhere.

    Args:
        inside: the part of the path that is below the collection's folder.
        follow: links that stay below it count.
    """
    root = paths.real(path.removesuffix(inside))
    if follow:
        return stays_inside(path, root)
    return paths.real(path) == f"{root.rstrip('/')}/{inside}"


def _content(descriptor: int, expected: int) -> bytes:
    """Read all bytes of an open file, about `expected` of them."""
    pieces = []
    while piece := os.read(descriptor, expected + 1):
        pieces.append(piece)
    return b"".join(pieces)


def parsed(file: File) -> Parsed:
    """Parse the text and the metadata of a file."""
    reading = file.reading
    assert file.text is not None
    modified = EPOCH + timedelta(microseconds=file.mtime_ns // 1000)
    if reading is not None:
        return _read(file, reading, modified)
    text = file.whole
    is_converted = file.reader is not None and file.reader.startswith(kinds.CONVERTED)
    path = _as_markdown(file) if is_converted else file.path
    matter = front_matter_of(text, path)
    begins = matter.text_begins(text)
    remarks = (file.remark, matter.problem, markdown.undated(matter))
    return Parsed(
        file,
        markdown.title(text, path, matter),
        markdown.metadata_json(matter.metadata),
        markdown.dated(file.path, modified, matter),
        modified,
        "; ".join(filter(None, remarks)) or None,
        _size(text, begins),
        begins,
        _size(text, matter.block),
        **_labels(matter.metadata),
    )


def _size(text: str, end: int) -> int:
    """Return the bytes of the beginning of a text."""
    return end if not end or text.isascii() else len(text[:end].encode())


def _labels(metadata: Mapping[str, object]) -> dict[str, Any]:
    """Take the words by which a document is found from its metadata."""
    if not metadata:
        return {}
    known = labels.folded(metadata)
    return {
        "tags": labels.tags(known),
        "aliases": labels.aliases(known),
        "described": labels.described(known),
    }


def _as_markdown(file: File) -> str:
    """Return the path of a file with the suffix of Markdown, to which it was converted."""
    return PurePosixPath(file.path).with_suffix(".md").as_posix()


def _read(file: File, reading: Reading, modified: datetime) -> Parsed:
    """Take the metadata of a file from the result of its reader."""
    text, nothing = file.whole, markdown.Frontmatter({}, 0)
    given = {"author": reading.author, "language": reading.language}
    metadata = {key: value for key, value in given.items() if value} | dict(reading.metadata)
    dated = markdown.parsed_date(reading.date) if reading.date else None
    if reading.date and dated is None:
        undated = markdown.undated(markdown.Frontmatter({"date": reading.date}, 0))
    else:
        undated = None
    title = " ".join((reading.title or "").split())
    if not title or markdown.is_template(title):
        is_headed = file.reader is None or not file.reader.startswith(_UNHEADED)
        named = _as_markdown(file) if is_headed else file.path
        title = markdown.title(text if is_headed else "", named, nothing)
    return Parsed(
        file,
        title,
        markdown.metadata_json(metadata),
        dated or markdown.dated(file.path, modified, nothing),
        modified,
        "; ".join(filter(None, (file.remark, undated))) or None,
        **_labels(metadata),
        links=list(dict.fromkeys(" ".join(link.split()) for link in reading.links)),
    )
