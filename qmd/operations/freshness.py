"""Stale results, whose files have changed or gone, and the update before a search."""

from __future__ import annotations

import os
from collections.abc import Container, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from qmd.named_tuple import NamedTuple
from qmd.storage import catalog
from qmd.storage.cursor import as_json
from qmd.storage.file_version import is_settled
from qmd.text import hashes, kinds, paths

if TYPE_CHECKING:
    from qmd.operations.index import Index
    from qmd.ranking.link_pages import LinksFromFile
    from qmd.ranking.results import Match
    from qmd.storage.cursor import Cursor
    from qmd.types import FileStamp, Result

MAX_COMPARED_BYTES = 1 << 20
"""Bytes of a file up to which its text decides where only its time has changed."""

MAX_READ_BYTES = 1 << 19
"""Bytes of a file up to which a server reads the text of a result from there; a command reads as
many as are hashed without loading OpenSSL."""

MAX_LINKED = 1 << 17
"""Characters of a text up to which its links are read from its file: those of a longer one take a
statement no longer."""

READ = "files read"
"""Kind of the cached files whose texts were those of documents, by number, with size and time."""

MAX_RECORDS = 20_000
"""Records of files that are cached while the index stays attached."""


class Recorded(NamedTuple):
    """A file as it was at the last update; the columns of `documents/recorded_around`."""

    document_id: int
    collection: str
    root: str
    path: str
    size: int
    mtime_ns: int
    checksum: str


def marked(
    index: Index,
    cursor: Cursor,
    shown: Mapping[Match, Result],
    fresh: Container[int] = (),
) -> dict[Match, Result]:
    """Return results with a mark on those whose file has changed or gone.

    A folder that a project names and that is not approved is not looked into.

    Args:
        fresh: documents whose files have just been read, and have their texts.
    """

    def read(ids: list[int]) -> dict[int, Recorded]:
        rows = cursor.again("documents/recorded", ids=ids)
        return {each.document_id: each for each in _recorded(cursor, rows)}

    others = [match.document_id for match in shown if match.document_id not in fresh]
    if others:
        unchanged = _unchanged(index, cursor, others)
        others = [number for number in others if number not in unchanged]
    recorded = cursor.each("recorded", others, read, most=MAX_RECORDS)
    allowed = _readable(index, {each.collection for each in recorded.values()})
    return {
        match: result._replace(stale=True)
        if (each := recorded.get(match.document_id))
        and each.collection in allowed
        and is_stale(each)
        else result
        for match, result in shown.items()
    }


def _recorded(cursor: Cursor, rows: Sequence[Sequence[Any]]) -> list[Recorded]:
    """Make records of files; of a document inside of another file, that of this file.

    Args:
        rows: of `documents/recorded`.
    """
    found = [Recorded(*row[:-1]) for row in rows if not row[-1]]
    inside = [row[0] for row in rows if row[-1]]
    if inside:  # few documents are: the statement compares all of them with their files
        around = cursor.run("documents/recorded_around", ids=as_json(inside))
        found += [Recorded(*row) for row in around]
    return found


def has_changed(index: Index, cursor: Cursor, document_id: int) -> bool:
    """Check whether the file of a document has changed or gone since the last update.

    A folder that a project names and that is not approved is not looked into.
    """
    rows = cursor.run("documents/recorded", ids=as_json([document_id]))
    recorded = _recorded(cursor, rows)
    allowed = _readable(index, {each.collection for each in recorded})
    return any(each.collection in allowed and is_stale(each) for each in recorded)


def _unchanged(index: Index, cursor: Cursor, ids: Sequence[int]) -> set[int]:
    """Return documents whose files have the recorded size and time, where these are in memory.

    Nearly all have: then no statement runs. What cannot be decided so is left to one. A file that
    has been read since the index was attached may have another time than the record.
    """
    from qmd.ranking import bm25

    known_files = cursor.memory.of(READ) if cursor.memory else {}
    files = {number: known_files[number] for number in ids if number in known_files}
    allowed = _readable(index, {collection for collection, *_ in files.values()})
    as_read = {
        number
        for number, (collection, *file) in files.items()
        if collection in allowed and _has(*file)
    }
    others = [number for number in ids if number not in as_read]
    stamps = bm25.files(cursor, others) if others else {}
    if not stamps:
        return as_read
    known = index.database.remembered("collections", catalog.collections, cursor=cursor)
    roots = {each.name: each.root for each in known}
    allowed = _readable(index, {each.collection for each in stamps.values()})
    return as_read | {
        number
        for number, each in stamps.items()
        if each.collection in allowed and _is_as_recorded(roots.get(each.collection), each)
    }


def text_of_file(
    index: Index,
    cursor: Cursor,
    fresh: set[int],
    document_id: int,
    place: tuple[str, str],
    hashed: str,
) -> str | None:
    """Read the text of a document from its file; None if that has another one.

    A file whose text is elsewhere, as those of a synchronized folder may be, is not read: that
    would bring it here.

    Args:
        fresh: gets the document, if its file has its text.
        place: collection and path of the file.
        hashed: the SHA-256 of the text.
    """
    file = _file(index, cursor, *place)
    if file is None or not kinds.is_plain(place[1]):
        return None
    from qmd import safe_open

    most = MAX_READ_BYTES if index.database.stays_attached else hashes.SHORT
    try:
        descriptor = safe_open.opened(file, os.O_RDONLY)
        try:
            info = os.fstat(descriptor)
            is_here = info.st_size <= most and getattr(info, "st_blocks", 0) > 0
            data = os.read(descriptor, info.st_size) if is_here else b""
        finally:
            os.close(descriptor)
    except (OSError, ValueError):
        return None
    if hashes.content_hash(data) != hashed:
        return None
    fresh.add(document_id)
    if cursor.memory is not None and is_settled(info.st_mtime_ns):
        read = place[0], file, info.st_size, info.st_mtime_ns
        cursor.memory.add(READ, {document_id: read}, 1, most=MAX_RECORDS)
    return data.decode()


def links_reader(index: Index) -> LinksFromFile | None:
    """Return what reads links of documents from files; None: statements take less time.

    A command reads those of a page or two: to load what finds them in a text takes longer.
    """
    return partial(_links_of_file, index) if index.database.stays_attached else None


def _links_of_file(
    index: Index, cursor: Cursor, document_id: int, place: tuple[str, str], hashed: str
) -> tuple[list[str], list[str]] | None:
    """Read the links of a document from its file, as `update` does; see `LinksFromFile`."""
    text = text_of_file(index, cursor, set(), document_id, place, hashed)
    if text is None or len(text) > MAX_LINKED:
        return None
    from qmd.ingest.front_matters import front_matter_of
    from qmd.ingest.outlines import MARK, outline_of_text

    outline = outline_of_text(text, front_matter_of(text, place[1]).block)
    return outline.texts.split(MARK), outline.targets.split(MARK)


def _file(index: Index, cursor: Cursor, collection: str, path: str) -> str | None:
    """Return where a file is on the disk; None if it may not be looked into."""
    known = index.database.remembered("collections", catalog.collections, cursor=cursor)
    root = next((each.root for each in known if each.name == collection), None)
    return paths.place(root, path) if root and _readable(index, {collection}) else None


def _is_as_recorded(root: str | None, stamp: FileStamp) -> bool:
    """Check that the size and time of a file are those of the last update."""
    place = paths.place(root, stamp.path) if root else None
    return place is not None and _has(place, stamp.size, stamp.mtime_ns)


def _has(file: str, size: int, mtime_ns: int) -> bool:
    """Check the size and time of a file."""
    try:
        now = os.stat(file)
    except (OSError, ValueError):
        return False
    return now.st_size == size and now.st_mtime_ns == mtime_ns


def is_stale(recorded: Recorded) -> bool:
    """Compare a file with its record: size and time, then content if only the time differs."""
    place = paths.place(recorded.root, recorded.path)
    if place is None:
        return False  # the path leaves the folder: an index from elsewhere
    try:
        now = os.stat(place)
    except (OSError, ValueError):
        return True
    if now.st_size != recorded.size:
        return True
    # Without a checksum, an update is to read it again: nothing tells whether it has changed.
    if now.st_mtime_ns == recorded.mtime_ns or not recorded.checksum:
        return False
    if now.st_size > MAX_COMPARED_BYTES:
        return recorded.mtime_ns >= 0
    from qmd import safe_open

    try:
        with os.fdopen(safe_open.opened(place, os.O_RDONLY), "rb") as file:
            return hashes.checksum(file.read(MAX_COMPARED_BYTES + 1)) != recorded.checksum
    except OSError:  # a link that the collection follows, or no permission
        return recorded.mtime_ns >= 0


def _readable(index: Index, names: set[str]) -> set[str]:
    """Return those of some collections whose files may be read."""
    if index.place.project is None or not names:
        return names
    from qmd.settings import trust

    settings = index.settings()
    known = {each.name: each for each in settings.collections}
    return {
        name
        for name in names
        if name in known and trust.may_read(index.place, settings, known[name])
    }


def update_first(index: Index, names: Sequence[str]) -> None:
    """Index what has changed, for a search that is not to miss it. No update command is run.

    Args:
        names: of collections; none means all.

    Raises:
        CollectionNotFound: no collection has one of the names.
        IndexFailure: the index is busy or cannot be written.
    """
    from qmd.ingest.compare import is_little
    from qmd.operations import update

    compared = update.compare_folders(index, names)
    if is_little(compared.values()) and not update.needs_backfill(index):
        update.update_small(
            index, names, compared, begun=lambda _: None, told=lambda _, report: None
        )
        return
    import anyio

    anyio.run(partial(update.run_update, index, names, compared=compared))
