"""Moves of documents, with the links that lead to them and from them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from qmd.errors import UsageError
from qmd.operations.writable import DocumentPlace, place_of
from qmd.operations.writing import (
    apply,
    carry_on,
    check_expected,
    current,
    existing,
    journal_of,
    outline_of,
)
from qmd.text import editing
from qmd.text.editing import WrittenLink
from qmd.text.paths import SCHEME
from qmd.wording import on_one_line

if TYPE_CHECKING:
    from qmd.ingest.journal import DocumentEdit, JournalEntry
    from qmd.operations.index import Index


def moved(
    index: Index, place: DocumentPlace, to: str | None, title: str | None, expected: str | None
) -> JournalEntry:
    """Move a document or give it another title, and repair links.

    Raises:
        WriteConflict: it is not what is expected, or there is a document at the new path.
        UsageError: it moves into another collection, or cannot be written.
    """
    from qmd.ingest import stored
    from qmd.ingest.journal import DocumentEdit

    target = place if to is None else _target(index, place, to)
    links = _links(index, place.file)
    journal = journal_of(index)
    with journal.locked():
        carry_on(index, journal)
        before = current(index, place)
        check_expected(place.file, before, expected)
        text = existing(index, place, before)
        if target.path != place.path and current(index, target) is not None:
            check_expected(target.file, current(index, target), "new")
        after, renamed = text, None
        if title and title.strip():
            outline = outline_of(text)
            find = partial(stored.find, collection=place.collection.name, path=place.path)
            known = index.read(find)
            renamed = None if known is None else (known.title, title.strip())
            after = editing.retitled(text, title.strip(), outline)
        own = [
            (link, fresh)
            for file, link, to_file in links
            if file == place.file
            if (fresh := _own(link, place, target, to_file, renamed)) is not None
        ]
        after = editing.with_links(after, own)
        edits: list[DocumentEdit] = []
        if target.path != place.path:
            edits.append(DocumentEdit(target.collection.name, target.path, None, after))
            edits.append(DocumentEdit(place.collection.name, place.path, before, None))
        else:
            edits.append(DocumentEdit(place.collection.name, place.path, before, after))
        edits += _others(index, place, target, links, renamed)
        return journal.carry_out("move", edits, partial(apply, index))


def _target(index: Index, place: DocumentPlace, to: str) -> DocumentPlace:
    """Find the new place of a document, in its collection.

    Raises:
        UsageError: it is in another collection, or nothing may be written there.
    """
    name = to.removeprefix(SCHEME)
    own = place.collection.name
    if name.startswith(f"{own}/"):
        name = name.removeprefix(f"{own}/")
    elif to.startswith(SCHEME) or name.partition("/")[0] in {
        each.name for each in index.collections() if "/" in name
    }:
        raise UsageError(
            f"{on_one_line(place.file)} cannot move into another collection: '{on_one_line(to)}'."
        )
    return place_of(index, f"{SCHEME}{own}/{name}", None)


def _links(index: Index, file: str) -> list[tuple[str, WrittenLink, str | None]]:
    """Return the links to a document and from it: with the document they are in, and lead to."""
    from qmd.operations.sql import sql
    from qmd.storage.statements import without_header

    rows = sql(index, without_header("links/around"), {"file": file}, timeout=30.0)
    return [
        (row["file"], WrittenLink(row["line"], row["kind"], row["target"]), row["to_file"])
        for row in rows
    ]


def _own(
    link: WrittenLink,
    place: DocumentPlace,
    target: DocumentPlace,
    to_file: str | None,
    renamed: tuple[str, str] | None,
) -> str | None:
    own = f"{place.collection.name}/"
    if to_file is None or not to_file.startswith(own):
        return None
    if to_file == place.file:
        return editing.moved_target(
            link, origin=target.path, old=place.path, new=target.path, renamed=renamed
        )
    to = to_file.removeprefix(own)
    return editing.own_target(link, old=place.path, new=target.path, to=to)


def _others(
    index: Index,
    place: DocumentPlace,
    target: DocumentPlace,
    links: list[tuple[str, WrittenLink, str | None]],
    renamed: tuple[str, str] | None,
) -> list[DocumentEdit]:
    """Return the edits of documents that link to a moved one."""
    from qmd.ingest.journal import DocumentEdit

    own = f"{place.collection.name}/"
    by_file: dict[str, list[tuple[WrittenLink, str]]] = {}
    for file, link, to_file in links:
        if to_file != place.file or file == place.file or not file.startswith(own):
            continue
        fresh = editing.moved_target(
            link,
            origin=file.removeprefix(own),
            old=place.path,
            new=target.path,
            renamed=renamed,
        )
        if fresh is not None:
            by_file.setdefault(file, []).append((link, fresh))
    edits = []
    for file, repaired in by_file.items():
        other = place_of(index, f"{SCHEME}{file}", None)
        text = current(index, other) if other.file == file else None
        if text is None:
            continue  # a kind of file that is not written, or gone
        after = editing.with_links(text, repaired)
        if after != text:
            edits.append(DocumentEdit(other.collection.name, other.path, text, after))
    return edits
