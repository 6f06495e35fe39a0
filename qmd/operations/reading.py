"""One document for people who read: its text, facts about it, and the files beside it."""

from __future__ import annotations

import os
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

from qmd import safe_open
from qmd.named_tuple import NamedTuple
from qmd.operations import freshness
from qmd.storage import catalog, document_lookup
from qmd.text import markdown, paths

if TYPE_CHECKING:
    from qmd.operations.index import Index
    from qmd.storage.cursor import Cursor
    from qmd.text.places import Places
    from qmd.types import DocumentRow

LARGEST_FILE = 64 * 1024 * 1024
"""Bytes of a file that is given away, as many as are indexed."""


class OpenedDocument(NamedTuple):
    """A document with its text and its facts.

    Attributes:
        begins: characters of the body that are front matter.
        metadata: of the front matter, or of the properties of its file.
        tags: of the front matter and of the text.
        place: absolute path of its file; None: it has none.
        is_stale: its file has changed or gone since the last update.
        touched: UTC, when its file was changed, if that was after the last update; None: it was
            not, or the file is gone.
    """

    document: DocumentRow
    body: str
    begins: int
    metadata: dict[str, object]
    tags: list[str]
    context: str | None
    places: Places | None
    place: str | None
    is_stale: bool
    touched: datetime | None


def open_document(index: Index, name: str) -> OpenedDocument:
    """Read a document by its `collection/path`.

    Raises:
        DocumentNotFound: the index has no such document.
    """
    return index.read(partial(_opened, index, name))


def _opened(index: Index, name: str, cursor: Cursor) -> OpenedDocument:
    document = document_lookup.found(cursor, name)
    if document is None:
        raise document_lookup.missing(cursor, name)
    body = document_lookup.bodies(cursor, [document.hash])[document.hash]
    matter = markdown.of_document(body, document.path)
    places = document_lookup.places(cursor, [document.document_id])
    place = paths.place(_root(cursor, document.collection), document.path)
    is_stale = freshness.has_changed(index, cursor, document.document_id)
    return OpenedDocument(
        document,
        body,
        matter.end,
        document_lookup.metadata(cursor, document.document_id),
        document_lookup.tags(cursor, document.document_id),
        index.context_of(cursor, document),
        places.get(document.document_id),
        place,
        is_stale,
        _touched(place) if is_stale else None,
    )


def _touched(place: str | None) -> datetime | None:
    try:
        seconds = os.stat(place).st_mtime if place else None
    except (OSError, ValueError):
        return None
    return None if seconds is None else datetime(1970, 1, 1) + timedelta(seconds=seconds)


def _root(cursor: Cursor, collection: str) -> str:
    known = (each.root for each in catalog.collections(cursor) if each.name == collection)
    return next(known, "")


def linked(index: Index, origin: str, target: str) -> str | None:
    """Find the document that a link leads to; None: to none.

    Args:
        origin: `collection/path` of the document with the link.
        target: as it is written, without its anchor: a path, or the name in a wiki link.
    """
    return index.read(partial(_linked, origin, target))


def _linked(origin: str, target: str, cursor: Cursor) -> str | None:
    collection, _, path = origin.partition("/")
    beside = _joined(path, target)
    below = target.lstrip("/")
    for tried in dict.fromkeys((beside, below)):
        if not tried:
            continue
        for ending in ("", ".md", ".markdown", "/README.md", "/index.md"):
            document = document_lookup.found(cursor, f"{collection}/{tried}{ending}")
            if document is not None and document.path == f"{tried}{ending}":
                return document.name
    name = below.removesuffix(".md").strip()
    rows = cursor.run("documents/called", name=name, collection=collection) if name else []
    return rows[0][0] if rows else None


def _joined(path: str, target: str) -> str | None:
    """Resolve a path that stands in a document; None: it leaves the collection."""
    folder = "" if target.startswith("/") else path.rpartition("/")[0]
    whole = os.path.normpath(f"{folder}/{target}".lstrip("/"))
    return None if whole.startswith(("../", "/")) or whole in ("..", ".") else whole


def picture(index: Index, origin: str, target: str) -> bytes | None:
    """Read a picture that a document shows; None: there is none that may be shown.

    It lies in the folder of the collection, beside the document or from the root on. Links and
    names that begin with a dot are not followed.

    Args:
        origin: `collection/path` of the document.
        target: path as it is written there.
    """
    collection, _, path = origin.partition("/")
    root = index.read(partial(_root, collection=collection))
    for tried in dict.fromkeys((_joined(path, target), _joined("", target))):
        if tried is not None and root:
            data = _inside(root, tried)
            if data is not None:
                return data
    return None


def original(index: Index, name: str) -> bytes | None:
    """Read the file of a document as it is now; None: it has gone, or is no regular file.

    Raises:
        DocumentNotFound: there is no such document.
    """
    found = open_document(index, name)
    root = index.read(partial(_root, collection=found.document.collection))
    return _inside(root, found.document.path, hidden=True) if root else None


def _inside(root: str, path: str, *, hidden: bool = False) -> bytes | None:
    """Read a regular file of a folder, without following links out of it.

    Args:
        hidden: names that begin with a dot are read, too.
    """
    stored = paths.place(root, path)
    if stored is None or (not hidden and any(part.startswith(".") for part in path.split("/"))):
        return None
    try:
        with os.fdopen(safe_open.opened(stored, os.O_RDONLY), "rb") as file:
            # Only now: before, a folder could still have become a link.
            real = f"{paths.real(root).rstrip('/')}/{path}"
            is_there = paths.real(stored) == real
            if not is_there or not os.path.samestat(os.stat(real), os.fstat(file.fileno())):
                return None
            data = file.read(LARGEST_FILE + 1)
    except OSError:
        return None
    return data if len(data) <= LARGEST_FILE else None
