"""Document lookup by path, docid, file or glob."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from qmd.errors import Ambiguous, DocumentNotFound, UsageError
from qmd.patterns import pattern
from qmd.quoting import command
from qmd.storage import long_texts
from qmd.storage.catalog import check_collections, collections
from qmd.storage.cursor import Cursor, as_json
from qmd.text import paths
from qmd.text.hashes import parse_docid
from qmd.types import Collection, DocumentRow

if TYPE_CHECKING:
    from qmd.text.places import Places

MAX_NAME_LENGTH = 20_000
"""Characters of a name: the longest path there is (4,096 bytes), each byte as `%2F`, and more."""

LOOKED_UP = 50
"""Texts that are loaded at once. DuckDB finds so many by the index of the table, and reads all of
the table for more than its setting dynamic_or_filter_threshold says: 50, if nothing is set."""

_SLASH = pattern("%2f", re.I)
_ONE_WORD = pattern(r"qmd:[^/]", re.I)
"""Begin of a virtual path without slashes: `qmd:notes/tea.md`."""


def found(cursor: Cursor, name: str, folder: Path | None = None) -> DocumentRow | None:
    """Find the document that a name identifies, or None; `missing` gives the reason.

    A virtual path, `collection/path`, an absolute path or `~/…`, a path that is unique
    in the index, the end of one at a folder, or a docid.

    Args:
        folder: base of paths such as `./tea.md`, for a user at this machine; of several
            documents that answer, the one in there is meant. None: there are no such paths.

    Raises:
        Ambiguous: several answer.
    """
    if not name.strip():
        raise UsageError("Name a document: collection/path, a docid such as #abc123, or a path.")
    for each in dict.fromkeys((name, name.strip())):  # a name may end in a blank
        document = _found(cursor, each, folder)
        if document is not None:
            return document
    return None


def _found(cursor: Cursor, name: str, folder: Path | None) -> DocumentRow | None:
    if not _may_be_one(name):
        return None
    digits = parse_docid(name)
    if digits and name.lstrip("\"'").startswith("#"):
        return _with_docid(cursor, name, digits)
    return (
        _virtual(cursor, name)
        or _absolute(cursor, name, folder)
        or _named(cursor, name, folder)
        or (at_place(cursor, str(folder / name)) if folder is not None else None)
        or (_with_docid(cursor, name, digits) if digits else None)
        or (_virtual(cursor, paths.SCHEME + name[4:]) if _ONE_WORD.match(name) else None)
    )


def missing(
    cursor: Cursor,
    name: str,
    folder: Path | None = None,
    *,
    or_else: str | None = None,
    similar: bool = True,
) -> DocumentNotFound:
    """Build the error for a name without a document, with similar names.

    Args:
        folder: see `found`.
        or_else: advice, if a file on the disk has this name.
        similar: look for names that are like it, which takes far longer than to find a document.
    """
    name = name.strip()
    if not _may_be_one(name):
        shown = name[:200].replace("\0", "\\0")
        return DocumentNotFound(shown if len(name) <= 200 else f"{shown}…")
    for meant in dict.fromkeys((name, or_else or name)):
        if unread := _unread(cursor, meant.removeprefix(paths.SCHEME)):
            return DocumentNotFound(meant, on_disk=unread)
    if folder is not None:
        for meant in dict.fromkeys((name, or_else or name)):
            on_disk = _on_disk(cursor, meant, folder)
            if on_disk:
                return DocumentNotFound(meant, on_disk=on_disk)
    if not similar:
        return DocumentNotFound(name)
    like = cursor.run("documents/similar", name=name.removeprefix(paths.SCHEME))
    return DocumentNotFound(name, similar=[row[0] for row in like])


def _may_be_one(name: str) -> bool:
    return len(name) <= MAX_NAME_LENGTH and "\0" not in name


def _virtual(cursor: Cursor, name: str) -> DocumentRow | None:
    virtual = paths.parse_virtual(name)
    if virtual is None:
        return None
    if not virtual.path and "%2f" in virtual.collection.lower():
        return _virtual(cursor, paths.SCHEME + _SLASH.sub("/", virtual.collection, count=1))
    whole = paths.normalise(name).removeprefix(paths.SCHEME).partition("/")[2]
    for path in dict.fromkeys((whole, virtual.path, paths.decoded(virtual.path))):
        collection = paths.decoded(virtual.collection)
        for place in dict.fromkeys((virtual.collection, collection)):
            found = _at(cursor, place, path)
            if found is not None:
                return found
    return None


def _absolute(cursor: Cursor, name: str, folder: Path | None) -> DocumentRow | None:
    if folder is not None and name.startswith(("./", "../")):
        return at_place(cursor, str(folder / name))
    return at_place(cursor, name) if paths.is_absolute(name) or name.startswith("~/") else None


def at_place(cursor: Cursor, name: str) -> DocumentRow | None:
    """Find the document of a file on disk, or None."""
    wanted = paths.slashed(os.path.normpath(paths.at_home(name)))
    escaped = paths.slashed(os.path.normpath(paths.at_home(paths.decoded(name))))
    for place in dict.fromkeys((wanted, paths.real(wanted), escaped)):
        for collection, path in _inside(cursor, place):
            found = _at(cursor, collection.name, path)
            if found is not None:
                return found
    return None


def _inside(cursor: Cursor, place: str) -> Iterator[tuple[Collection, str]]:
    """Yield the collections that contain a file on disk, each with the path inside it."""
    for collection in collections(cursor):
        if not collection.root:
            continue
        for root in dict.fromkeys((collection.root, paths.real(collection.root))):
            if place.startswith(root.rstrip("/") + "/"):
                yield collection, place[len(root.rstrip("/")) + 1 :]


def matching(
    cursor: Cursor, glob: str, documents: Sequence[DocumentRow], folder: Path | None = None
) -> list[DocumentRow]:
    """Filter documents by a glob over their names or their files on disk.

    Args:
        folder: where globs such as `./*.md` begin; see `found`.

    Raises:
        UsageError: the glob stands for too many.
    """
    if "\0" in glob:  # and in no path
        return []
    from qmd.text import globs  # most names are none

    below, glob = _begun(glob, folder)
    matches = globs.matcher(list(dict.fromkeys((glob, paths.decoded(glob)))))
    if below is None:
        return [each for each in documents if matches(each.name) or matches(each.path)]
    begin = {_as_written(each).rstrip("/") + "/" for each in (below, paths.real(below))}
    roots = {
        collection.name: {collection.root, paths.real(collection.root)}
        for collection in collections(cursor)
        if collection.root
    }

    def is_meant(document: DocumentRow) -> bool:
        for root in roots.get(document.collection, ()):
            stored = paths.place(root, document.path)
            if stored is None:
                continue
            place = _as_written(stored)
            if any(place.startswith(each) and matches(place[len(each) :]) for each in begin):
                return True
        return False

    return [each for each in documents if is_meant(each)]


def folder_of_matches(glob: str, folder: Path | None) -> str:
    """Return what the names or paths of all matches begin with; '' if that is not certain.

    Args:
        glob, folder: see `matching`.
    """
    from qmd.text import globs

    below, glob = _begun(glob, folder)
    if below is not None or paths.decoded(glob) != glob:
        return ""
    begin = globs.literal_folder(glob)
    return begin if begin.isascii() and begin.isprintable() else ""


def _begun(glob: str, folder: Path | None) -> tuple[str | None, str]:
    """Split a glob into its folder on disk and a glob in that folder; None if it is of names."""
    if folder is not None and glob.startswith(("./", "../")):
        below, glob = str(folder), os.path.normpath(glob)
    elif glob.startswith(("/", "~/")) and not glob.startswith("//"):
        below, glob = "/", os.path.normpath(paths.at_home(glob)).lstrip("/")
    else:
        return None, paths.normalise(glob).removeprefix(paths.SCHEME)
    first, found, rest = glob.partition("/")
    while found and not any(mark in first for mark in "*?[{\\"):
        below, glob = os.path.normpath(os.path.join(below, first)), rest  # noqa: PTH118
        first, found, rest = glob.partition("/")
    return below, glob


def _as_written(place: str) -> str:
    return paths.to_nfc(place) or place


def _unread(cursor: Cursor, name: str) -> str | None:
    """Say why a file of a collection could not be read; None if there is no such file."""
    rows = cursor.run("documents/why_unread", name=name)
    return f"It is not indexed: {rows[0][0]}." if rows else None


def _on_disk(cursor: Cursor, name: str, folder: Path) -> str | None:
    """Explain why a file of a collection is not indexed; None if there is no such file."""
    place = paths.slashed(os.path.normpath(folder / paths.at_home(name)))
    if not os.path.isfile(place):  # noqa: PTH113  # nor an error: who may not look
        return None
    inside = list(_inside(cursor, place)) or list(_inside(cursor, paths.real(place)))
    from qmd.text import globs

    for collection, path in inside:
        if globs.taking(collection.mask, collection.ignored, collection.converted)(path):
            if unread := _unread(cursor, f"{collection.name}/{path}"):
                return unread
            update = command("qmd", "update", "-c", collection.name)
            return (
                f"It is not indexed. Run {update}, which passes over files that are empty, "
                "no text, too large, links, in a folder such as node_modules, or in .gitignore."
            )
    if inside:
        collection, _ = inside[0]
        return f"It is no file that collection '{collection.name}' takes ({collection.mask})."
    return None


def exactly(cursor: Cursor, name: str) -> DocumentRow | None:
    """Find the document that is called `collection/path`, or None."""
    collection, _, path = name.partition("/")
    return _at(cursor, collection, path, as_written=True)


def _at(
    cursor: Cursor, collection: str, path: str, *, as_written: bool = False
) -> DocumentRow | None:
    """Find the document at a path of a collection.

    Args:
        as_written: no other will do, the characters of whose path are composed in another way.
    """
    composed = None if as_written else paths.to_nfc(path)
    rows = cursor.rows(
        DocumentRow, "documents/at", collection=collection, path=path, composed=composed
    )
    return rows[0] if rows else None


def _named(cursor: Cursor, name: str, folder: Path | None) -> DocumentRow | None:
    for wanted in dict.fromkeys((name.lstrip("/"), paths.decoded(name).lstrip("/"))):
        first, _, rest = wanted.partition("/")
        if rest and any(first == collection.name for collection in collections(cursor)):
            # What would be found first of all, in half the time.
            exact = _at(cursor, first, rest, as_written=True)
            if exact is not None:
                return exact
        last = wanted.rpartition("/")[2]
        composed = paths.to_nfc(wanted)
        rows = cursor.run("documents/named", name=wanted, last=last, composed=composed)
        best = [DocumentRow(*row) for rank, *row in rows if rank == rows[0][0]]
        if len(best) > 1:
            near = at_place(cursor, str(folder / wanted)) if folder is not None else None
            if near is not None:
                return near
            if (same := _one_file(cursor, best)) is not None:
                return same
            raise Ambiguous(name, [document.name for document in best])
        if best:
            return best[0]
    return None


def _one_file(cursor: Cursor, documents: Sequence[DocumentRow]) -> DocumentRow | None:
    """Return the document of the innermost collection, if all are of one file."""
    roots = {each.name: each.root for each in collections(cursor)}
    places = {paths.place(roots.get(each.collection, ""), each.path) for each in documents}
    if len(places) > 1 or None in places:
        return None
    return min(documents, key=lambda each: (len(each.path), each.collection))


def _with_docid(cursor: Cursor, name: str, digits: str) -> DocumentRow | None:
    rows = cursor.rows(DocumentRow, "documents/with_docid", digits=digits)
    if len({document.hash for document in rows}) > 1:
        raise Ambiguous(name, [f"#{d.hash[:12]}  {d.name}" for d in rows])
    return rows[0] if rows else None


def documents_below(
    cursor: Cursor, collection: str | None, prefix: str = "", *, begin: str = ""
) -> list[DocumentRow]:
    """List the documents of a collection, or of one of its folders, by path.

    Args:
        begin: what names or paths begin with, ending with a /; those that are not ASCII are listed,
            too, as they may be spelled in another way.

    Raises:
        CollectionNotFound: no collection has this name.
    """
    if collection is not None:
        check_collections(cursor, [collection])
    prefix = prefix.strip("/")
    return cursor.rows(
        DocumentRow,
        "documents/below",
        collection=collection,
        prefix=prefix,
        composed=paths.to_nfc(prefix),
        begin=begin or None,
    )


def bodies(cursor: Cursor, hashes: Sequence[str]) -> dict[str, str]:
    """Load texts by their hashes."""
    wanted = list(dict.fromkeys(hashes))
    found: dict[str, str] = {}
    for at in range(0, len(wanted), LOOKED_UP):
        some = as_json(wanted[at : at + LOOKED_UP])
        found.update(cursor.again("documents/bodies", hashes=some))
    return long_texts.filled_bodies(cursor, found) if "" in found.values() else found


def tags(cursor: Cursor, document_id: int) -> list[str]:
    """Tags of a document, of its front matter and of its text."""
    rows = cursor.run("documents/tags", document_id=document_id)
    return [tag for (found,) in rows for tag in found or ()]


def metadata(cursor: Cursor, document_id: int) -> dict[str, object]:
    """Metadata of a document, of its front matter or of the properties of its file."""
    rows = cursor.run("documents/metadata", document_id=document_id)
    found = json.loads(rows[0][0]) if rows and rows[0][0] else {}
    return found if isinstance(found, dict) else {}


def places(cursor: Cursor, ids: Sequence[int]) -> dict[int, Places]:
    """Places of documents by their numbers; without those that have none."""
    from qmd.text.places import Places

    rows = cursor.run("documents/places", ids=as_json(list(dict.fromkeys(ids))))
    return {key: Places.unpacked(*packed) for key, *packed in rows}
