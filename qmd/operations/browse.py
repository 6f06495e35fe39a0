"""Lists of documents for people who look: facets of a search, and the newest documents."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Unpack

from qmd.declaration.parameters import UNLIMITED, Selection, selected
from qmd.named_tuple import NamedTuple
from qmd.types import Filter

if TYPE_CHECKING:
    from qmd.operations.index import Index
    from qmd.storage.cursor import Cursor

MOST_VALUES = 12
"""Values of a facet."""


class Facets(NamedTuple):
    """Numbers of documents by the values of each facet.

    Attributes:
        documents: all that were counted.
        of: values with their numbers of documents, the most frequent first, by the facet:
            collection, folder, tag, kind, year.
    """

    documents: int
    of: dict[str, list[tuple[str, int]]]


class ListedDocument(NamedTuple):
    """A document in a list.

    Attributes:
        file: `collection/path`.
        dated: UTC.
        opening: first characters of its text.
    """

    file: str
    title: str
    dated: datetime
    opening: str


def facet_counts(index: Index, words: str, *, depth: int = 1, **among: Unpack[Selection]) -> Facets:
    """Count documents by collection, folder, tag, kind and year, in one statement.

    Args:
        words: a keyword query, whose matches are counted; '' for all documents. So are all if none
            matches, as a search by meaning ranks every document.
        depth: folders of a path that are one value, from 1.
        among: documents that count; see `Selection`.

    Raises:
        QueryError: the query cannot be read.
        UsageError: a date or the filter cannot be read.
        CollectionNotFound: no collection has one of the names.
    """
    chosen = selected(**among)
    of_all = not words.strip() and chosen == Filter()
    work = partial(_facets, index, words, depth, chosen)
    return index.read(work, key=("facets", depth) if of_all else None)


def _facets(index: Index, words: str, depth: int, among: Filter, cursor: Cursor) -> Facets:
    ids = _matching(index, words, among, cursor)
    rows = _facet_rows(index, ids, depth, cursor)
    found: dict[str, list[tuple[str, int]]] = {}
    for facet, value, documents in rows:
        found.setdefault(facet, []).append((value, documents))
    return Facets(len(ids), found)


def _facet_rows(
    index: Index, ids: list[int], depth: int, cursor: Cursor
) -> Iterable[tuple[str, str, int]]:
    from qmd.storage.cursor import as_json

    if depth == 1 and index.database.stays_attached:
        from qmd.operations.facet_table import load_facets

        table = index.database.remembered("facet table", load_facets, cursor=cursor)
        return table.rows(ids, MOST_VALUES)
    return cursor.run("documents/facets", ids=as_json(ids), depth=depth, most=MOST_VALUES)


def _matching(index: Index, words: str, among: Filter, cursor: Cursor) -> list[int]:
    from qmd.ranking import bm25, postings, query

    narrowed = index.with_default_collections(cursor, among)
    if narrowed is None:
        return []
    if words.strip():
        asked = query.parse(words)
        found = bm25.bm25(cursor, asked, among=narrowed, limit=UNLIMITED)
        if found.scores:
            return [number for number, _ in found.scores]
    return postings.allowed_ids(cursor, narrowed)


def newest(
    index: Index, *, limit: int, skip: int = 0, **among: Unpack[Selection]
) -> list[ListedDocument]:
    """List documents, the newest first.

    Args:
        limit: documents at most.
        skip: documents that are left out before.
        among: documents that are listed; see `Selection`.

    Raises:
        UsageError: a date or the filter cannot be read.
        CollectionNotFound: no collection has one of the names.
    """
    chosen = selected(**among)
    is_first = chosen == Filter() and not skip
    work = partial(_newest, index, chosen, limit, skip)
    return index.read(work, key=("newest", limit) if is_first else None)


def _newest(
    index: Index, among: Filter, limit: int, skip: int, cursor: Cursor
) -> list[ListedDocument]:
    from qmd.storage.cursor import as_json

    ids = _matching(index, "", among, cursor)
    rows = cursor.run("documents/newest", ids=as_json(ids), skip=skip, limit=limit)
    return [ListedDocument(*row) for row in rows]
