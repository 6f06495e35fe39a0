"""Signatures and groups of texts that an update leaves to be made, once all files are indexed."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from qmd.ingest.commit import lack_sketches
from qmd.ingest.near_duplicates import NamedText, groups_of, put_groups
from qmd.ingest.regrouping import FEW_TEXTS, compared_texts, moved_texts, regrouped
from qmd.ingest.sketches import sketches
from qmd.storage.cursor import as_json

if TYPE_CHECKING:
    from qmd.ingest.merging import PostingColumns
    from qmd.storage.cursor import Cursor
    from qmd.storage.database import Database

TEXTS = 2000
"""Texts of one commit of a backfill."""


def settle(database: Database) -> None:
    """Give signatures to texts that lack one, and group those that are nearly the same.

    Raises:
        IndexFailure: the index is busy or cannot be written.
    """
    database.sparingly(partial(_settle, database))


def group_few(cursor: Cursor) -> None:
    """Group the texts of a small index, if all have signatures, in the transaction of some.

    All of them: `regrouped` cannot be called in that transaction.
    """
    if cursor.one("documents/signed_texts") <= FEW_TEXTS and not lack_sketches(cursor):
        _group_all(cursor)


def _settle(database: Database) -> None:
    if not database.read(_is_unsettled) or database.write(_group_signed):
        return
    while database.read(lack_sketches):
        rows = database.read(lambda cursor: cursor.run("documents/unsketched", limit=TEXTS))
        if not rows:
            break
        database.write(lambda cursor, rows=rows: _fill(cursor, rows))  # type: ignore[misc]
    if database.read(_is_ungrouped):
        database.write(_group)


def _is_unsettled(cursor: Cursor) -> bool:
    return _is_ungrouped(cursor) or lack_sketches(cursor)


def _is_ungrouped(cursor: Cursor) -> bool:
    if cursor.one("documents/unsettled") or cursor.one("documents/outdated_groups"):
        return True
    since = cursor.one("documents/ungrouped_since") or 0
    return bool(cursor.one("documents/has_ungrouped", since=since))  # it reads hashes


def _fill(cursor: Cursor, rows: Sequence[tuple[Any, ...]]) -> None:
    found, hashes = _postings(rows)
    with cursor.staged(sketched=sketches(found, hashes)):
        cursor.run("documents/fill_sketches")


def _postings(rows: Sequence[tuple[Any, ...]]) -> tuple[PostingColumns, list[str]]:
    """Make columns of postings of rows of documents/unsketched."""
    from qmd.ingest.merging import PostingColumns

    hashes: dict[int, str] = {}
    starts = array("I")
    terms, numbers, offsets, positions = array("q"), array("I"), array("i", [0]), array("I")
    for number, hash_, body_start, term_id, places in rows:
        if number not in hashes:
            hashes[number] = hash_
            starts.extend((0, 0, body_start))
        if term_id is not None:
            terms.append(term_id)
            numbers.append(number)
            positions.extend(places)
            offsets.append(len(positions))
    none = memoryview(array("I"))
    found = PostingColumns(
        memoryview(terms), memoryview(numbers), none, none, none,
        memoryview(offsets), memoryview(positions), none, memoryview(starts),
    )  # fmt: skip
    return found, list(hashes.values())


def _group_signed(cursor: Cursor) -> bool:
    """Group the texts if all have signatures, as nearly always; the hashes are read once."""
    moved = moved_texts(cursor)
    if lack_sketches(cursor) if moved is None else any(each.place is None for each in moved):
        return False
    if moved is not None and regrouped(cursor, moved):
        _note_grouped(cursor)
    else:
        _group_all(cursor)
    return True


def _group(cursor: Cursor) -> None:
    """Group the texts, although a text that is not new may have lost its signature."""
    if not _group_signed(cursor):
        _group_all(cursor)


def _note_grouped(cursor: Cursor) -> None:
    for step in ("settle_sketches", "forget_left_texts", "forget_grouped", "note_grouped"):
        cursor.run(f"documents/{step}")


def _group_all(cursor: Cursor) -> None:
    cursor.run("documents/forget_sketches")

    def named(hashes: Sequence[str]) -> list[NamedText]:
        return cursor.rows(NamedText, "documents/names_of_texts", hashes=as_json(list(hashes)))

    copied = [hash_ for (hash_,) in cursor.run("documents/copied")]
    put_groups(cursor, groups_of(compared_texts(cursor), named, copied))
    _note_grouped(cursor)
