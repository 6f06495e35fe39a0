"""Catalog tables: collections and contexts, synchronized with index.yml."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import Any

from qmd.errors import CollectionNotFound
from qmd.named_tuple import NamedTuple
from qmd.storage.cursor import Cursor, as_json
from qmd.text import paths
from qmd.types import Collection, Context, Kept, LeftOut


class Overview(NamedTuple):
    """A collection with the totals of its documents.

    Attributes:
        bytes: of the files.
        modified: UTC, of the file that changed last.
        data_documents: with data, such as base64, which is neither searched nor embedded.
        data_bytes: of that data.
    """

    name: str
    root: str
    mask: str
    included: bool
    documents: int
    bytes: int
    modified: datetime | None
    data_documents: int = 0
    data_bytes: int = 0


class TopFolder(NamedTuple):
    """A top folder of a collection."""

    collection: str
    folder: str
    documents: int


def collections(cursor: Cursor) -> list[Collection]:
    """List all collections by name."""
    return list(cursor.each("collections", [None], lambda _: {None: _all(cursor)})[None])


def _all(cursor: Cursor) -> list[Collection]:
    def made(rows: Sequence[Sequence[Any]]) -> list[Collection]:
        known = [Collection(*row) for row in rows]
        return [
            each._replace(ignored=tuple(each.ignored), converted=tuple(each.converted))
            for each in known
        ]

    return cursor.fact("collections", partial(cursor.run, "collections/all"), made)


def contexts(cursor: Cursor) -> list[Context]:
    """List all contexts, the most general first."""
    return cursor.fact(
        "contexts",
        partial(cursor.run, "collections/contexts"),
        lambda rows: [Context(*row) for row in rows],
    )


def begin_adding(cursor: Cursor, root: str, mask: str) -> None:
    """Record that the first indexing of a folder has begun."""
    end_adding(cursor, root, mask)
    cursor.run("store/set_setting", name=_adding(root, mask), value="")


def end_adding(cursor: Cursor, root: str, mask: str) -> None:
    """Record that the first indexing of a folder is complete."""
    cursor.run("store/forget_setting", name=_adding(root, mask))


def is_adding(cursor: Cursor, root: str, mask: str) -> bool:
    """Check for a first indexing that began and did not complete."""
    return bool(cursor.run("store/setting", name=_adding(root, mask)))


def _adding(root: str, mask: str) -> str:
    return f"adding {mask} of {root}"


def overview(cursor: Cursor) -> list[Overview]:
    """List each collection with the totals of its documents."""

    def made(rows: Sequence[Sequence[Any]]) -> list[Overview]:
        found = [Overview(*row) for row in rows]
        return [each._replace(modified=time_of(each.modified)) for each in found]

    return cursor.fact("overview", partial(cursor.run, "collections/overview"), made)


def time_of(saved: str | datetime | None) -> datetime | None:
    """Return a time that may have been saved as text."""
    return datetime.fromisoformat(saved) if isinstance(saved, str) else saved


def folders(cursor: Cursor) -> list[TopFolder]:
    """List the top folders of each collection."""
    return cursor.rows(TopFolder, "collections/folders")


def left_out(cursor: Cursor) -> dict[str, list[LeftOut]]:
    """Load the files that each collection left out at its last update."""
    found: dict[str, list[LeftOut]] = {}
    for collection, *rest in cursor.run("collections/left_out"):
        found.setdefault(collection, []).append(LeftOut(*rest))
    return found


def kept(cursor: Cursor) -> dict[str, list[Kept]]:
    """Load the folders of each collection that had lost their files at its last update."""
    found: dict[str, list[Kept]] = {}
    for collection, *rest in cursor.run("collections/lost_folders"):
        found.setdefault(collection, []).append(Kept(*rest))
    return found


def unread_files(cursor: Cursor) -> dict[str, list[tuple[str, str]]]:
    """Load the files of each collection that could not be read at its last update, with reasons."""
    found: dict[str, list[tuple[str, str]]] = {}
    for collection, path, why in cursor.run("collections/unread_files"):
        found.setdefault(collection, []).append((path, why))
    return found


def config_digest(cursor: Cursor) -> str | None:
    """Return the digest of the index.yml that the tables reflect."""
    name = "config_digest"

    def read(_: list[str]) -> dict[str, str | None]:
        rows = partial(cursor.run, "store/setting", name=name)
        return {name: cursor.fact(name, rows, lambda found: str(found[0][0]) if found else None)}

    return cursor.each("once", [name], read)[name]


def allow_records(cursor: Cursor, *, on: bool) -> None:
    """Let searches find experience records, or not, as index.yml says."""
    cursor.run("experiences/include", included=on)


def mirror(
    cursor: Cursor,
    collections: Sequence[Collection],
    contexts: Sequence[Context],
    digest: str,
) -> None:
    """Synchronize the tables with index.yml; documents of other collections are removed.

    A collection that went while another came with its folder and its mask has got another name.
    """
    _remove_strays(cursor)  # another collection might get their names
    for old, new in _renamed(_all(cursor), collections):
        cursor.run("collections/rename_documents", old=old, new=new)
    cursor.run("collections/clear")
    cursor.run("collections/add", collections=as_json([c._asdict() for c in collections]))
    cursor.run("collections/clear_contexts")
    cursor.run("collections/add_contexts", contexts=as_json([c._asdict() for c in contexts]))
    _remove_strays(cursor)
    cursor.run("store/forget_setting", name="config_digest")
    cursor.run("store/set_setting", name="config_digest", value=digest)


def _remove_strays(cursor: Cursor) -> None:
    cursor.run("collections/bury_strays")
    cursor.run("collections/leave_stray_texts")
    cursor.run("collections/remove_strays")
    cursor.run("maintenance/forget_old_bytes")
    cursor.run("collections/forget_left_out")
    cursor.run("collections/forget_lost_folders")
    cursor.run("collections/forget_unread_files")


def _renamed(before: Sequence[Collection], now: Sequence[Collection]) -> list[tuple[str, str]]:
    """List the old and new name of each renamed collection."""
    gone = [c for c in before if c.root and c.name not in {each.name for each in now}]
    come = [c for c in now if c.name not in {each.name for each in before}]
    renamed = []
    for old in gone:
        same = [new for new in come if (new.root, new.mask) == (old.root, old.mask)]
        if same:
            come.remove(same[0])
            renamed.append((old.name, same[0].name))
    return renamed


def matching(contexts: Sequence[Context], collection: str, path: str) -> str | None:
    """Join all contexts of a document, general to specific, by blank lines."""

    def covers(prefix: str) -> bool:
        return not prefix or (_composed(path) + "/").startswith(_composed(prefix) + "/")

    found = [
        context.body
        for context in contexts
        if context.collection is None
        or (context.collection == collection and covers(context.prefix))
    ]
    return "\n\n".join(found) if found else None


def _composed(path: str) -> str:
    return paths.to_nfc(path) or path


def check_collections(cursor: Cursor, names: Sequence[str]) -> None:
    """Refuse names of collections that do not exist.

    Raises:
        CollectionNotFound: with those that do.
    """
    known = [collection.name for collection in collections(cursor)]
    for name in names:
        if name not in known:
            raise CollectionNotFound(name, known=known)
