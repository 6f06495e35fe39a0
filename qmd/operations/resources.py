"""Documents as resources of a protocol: listed by page, completed, and watched for changes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from qmd.errors import Ambiguous
from qmd.named_tuple import NamedTuple
from qmd.storage import catalog, document_lookup
from qmd.text import paths
from qmd.types import EXPERIENCES

if TYPE_CHECKING:
    from qmd.operations.index import Index
    from qmd.storage.cursor import Cursor


class ListedResource(NamedTuple):
    """A document in a list of resources.

    Attributes:
        size: bytes of the file.
        modified: UTC.
    """

    collection: str
    path: str
    title: str
    size: int
    modified: datetime

    @property
    def name(self) -> str:
        """`collection/path`."""
        return f"{self.collection}/{self.path}"


class Completed(NamedTuple):
    """Values for what is typed.

    Attributes:
        total: of all that fit.
    """

    values: list[str]
    total: int


class WatchedState(NamedTuple):
    """State of documents at one moment.

    Attributes:
        names: of all documents: another text as soon as one comes or goes.
        hashes: of the watched ones, by the names that were asked for; None: there is none.
    """

    names: str
    hashes: dict[str, str | None]


def resource_page(index: Index, after: str, limit: int) -> list[ListedResource]:
    """List documents by path, after the one called `after`; records of agents are left out.

    Without an index there are none, and none is made.
    """
    if not index.place.database.exists():
        return []
    collection, _, path = after.partition("/")

    def look(cursor: Cursor) -> list[ListedResource]:
        return cursor.rows(
            ListedResource,
            "documents/after",
            collection=collection,
            path=path,
            records=EXPERIENCES,
            limit=limit,
        )

    return index.read(look)


def completed_documents(index: Index, typed: str, limit: int) -> Completed:
    """Complete the path of a URI: documents that begin with what is typed, then others with it."""
    if not index.place.database.exists():
        return Completed([], 0)

    def look(cursor: Cursor) -> Completed:
        rows = cursor.run("documents/completed", typed=paths.decoded(typed), limit=limit)
        uris = [paths.uri(collection, path) for collection, path, _ in rows]
        found = [uri.removeprefix(paths.SCHEME) for uri in uris]
        return Completed(found, rows[0][2] if rows else 0)

    return index.read(look)


def completed_collections(index: Index, typed: str, limit: int) -> Completed:
    """Complete the name of a collection."""
    if not index.place.database.exists():
        return Completed([], 0)
    known = [each.name for each in index.read(catalog.collections)]
    fitting = [name for name in known if name.lower().startswith(typed.lower())]
    return Completed(fitting[:limit], len(fitting))


def watched_state(index: Index, names: Sequence[str]) -> WatchedState:
    """Return the state of the documents with some names."""
    if not index.place.database.exists():
        return WatchedState("", dict.fromkeys(names))
    return index.read(partial(_watched, names))


def _watched(names: Sequence[str], cursor: Cursor) -> WatchedState:
    [(_, all_names)] = cursor.run("documents/state")
    return WatchedState(all_names, {name: _hash_of(cursor, name) for name in names})


def _hash_of(cursor: Cursor, name: str) -> str | None:
    try:
        document = document_lookup.found(cursor, paths.decoded(name))
    except Ambiguous:
        return None
    return None if document is None else document.hash
