"""Keyword search: a query becomes terms and phrases, and one statement ranks them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from datetime import datetime
from itertools import chain, groupby
from typing import Any, NamedTuple, TypeVar

from qmd.store.cursor import Cursor, Value, as_json
from qmd.store.stemmer import Stemmer
from qmd.store.terms import Asked
from qmd.text.query import Query
from qmd.types import ALL, Filter, Text

Row = TypeVar("Row", bound=tuple[Any, ...])

TEXTS, RANKED = 10_000_000, 100_000
"""Characters of texts, and documents and words of rankings, that are remembered while the index
stays attached."""

ALL_ROWS = 1 << 62
"""More than any index has."""

GONE = ("", "")
"""Where a document is that has been removed since it was found."""


class Scored(NamedTuple):
    """Documents that answer a query, by number, best first; remembered, so not to be changed.

    Attributes:
        scores: (document_id, bm25).
        words: of the index, that were looked for, each with the word of the query it answers.
        banned: documents with something that the query excludes.
    """

    scores: list[tuple[int, float]]
    words: Mapping[str, str]
    banned: frozenset[int] = frozenset()


def bm25(
    cursor: Cursor, query: Query, stemmer: Stemmer, *, among: Filter = ALL, limit: int
) -> Scored:
    """Documents with any word of the query, and all of its phrases in quotes.

    Those that score the same are in no order; where not all of them are given, it is those whose
    paths come first.
    """
    found = scored(cursor, query, stemmer, among=among, limit=limit)
    return found._replace(scores=_first(cursor, found.scores, limit))


def _first(cursor: Cursor, scores: list[tuple[int, float]], limit: int) -> list[tuple[int, float]]:
    """The first of some scores; of equal ones, those whose paths come first."""
    if len(scores) <= limit:
        return scores
    last = scores[limit - 1][1]
    before = [row for row in scores if row[1] > last]
    equal = [row for row in scores if row[1] == last]
    return before + in_order(cursor, equal, lambda row: row[1], limit - len(before))


def in_order(
    cursor: Cursor, rows: Iterable[Row], worth: Callable[[Row], Hashable], limit: int
) -> list[Row]:
    """The first of some rows, where those that are worth the same come by path.

    Args:
        rows: document_id first; the best first.
        worth: the same of rows that stand side by side.
    """
    groups: list[list[Row]] = []
    count = 0
    for _, equal in groupby(rows, worth):
        groups.append(list(equal))
        count += len(groups[-1])
        if count >= limit:
            break
    tied = [row[0] for group in groups if len(group) > 1 for row in group]
    if tied:
        places = _places(cursor, tied)
        for group in groups:
            if len(group) > 1:
                group.sort(key=lambda row: places.get(row[0], GONE))
    return list(chain.from_iterable(groups))[:limit]


def _places(cursor: Cursor, ids: Iterable[int]) -> dict[int, tuple[str, str]]:
    """(collection, path) of documents, by number; without those that are gone."""

    def read(unknown: list[int]) -> dict[int, tuple[str, str]]:
        rows = cursor.again("search/paths", ids=unknown)
        return {document_id: (collection, path) for document_id, collection, path in rows}

    return cursor.each("places", ids, read)


def scored(
    cursor: Cursor, query: Query, stemmer: Stemmer, *, among: Filter = ALL, limit: int
) -> Scored:
    """The documents that `bm25` finds; more, if the last ones score the same."""

    def read(keys: list[tuple[Query, Filter, int]]) -> dict[tuple[Query, Filter, int], Scored]:
        return {key: _scored(cursor, query, stemmer, among=among, limit=limit) for key in keys}

    key = query, among, limit
    return cursor.each("rankings", [key], read, most=RANKED, size=_size)[key]


def _size(found: Scored) -> int:
    return 100 + len(found.scores) + len(found.banned) + len(found.words)


def _scored(cursor: Cursor, query: Query, stemmer: Stemmer, *, among: Filter, limit: int) -> Scored:
    asked = Asked(cursor, query, stemmer)
    if not asked.can_answer:
        return Scored([], {}, frozenset(asked.banned))
    total, average, buried = _statistics(cursor)
    given: dict[str, Value] = {
        "terms": [each.term_id for each in asked.terms],
        "term_weights": [each.weight for each in asked.terms],
        "term_documents": [each.documents for each in asked.terms],
        "counted": [each.term_id for each in asked.counted] or None,
        "holders": [each.document_id for each in asked.counted],
        "frequencies": [each.frequency for each in asked.counted],
        "lengths": [each.length for each in asked.counted],
        "total": total,
        "average": average,
        "buried": buried or None,
        "allowed": allowed(cursor, among, required=asked.required, banned=asked.banned),
    }
    return Scored(
        _with_equals(cursor, given, max(1, min(limit, ALL_ROWS - 1))),
        asked.words,
        frozenset(asked.banned),
    )


def _with_equals(cursor: Cursor, asked: dict[str, Value], limit: int) -> list[tuple[int, float]]:
    """The first rows of a ranking, and all that score the same as the last of them."""
    rows = cursor.again("search/bm25", **asked, least=None, limit=limit + 1)
    if len(rows) <= limit or rows[-1][1] < rows[-2][1]:
        return rows[:limit]
    return cursor.run("search/bm25", **asked, least=rows[-1][1], limit=ALL_ROWS)


def _statistics(cursor: Cursor) -> tuple[float, float, bool]:
    """How many documents there are, how long they are, and whether postings of others are left."""
    name = "search/statistics"
    found = cursor.each("once", [name], lambda _: {name: cursor.run(name)[0]})[name]
    total, average, buried = found
    return total, average, buried


def get_ready(cursor: Cursor, *, limit: int) -> None:
    """Plan what a search by words runs, before anybody asks.

    Args:
        limit: documents that will be asked for.
    """
    for name in ("variants", "frequencies", "phrases", "any_of", "documents", "paths"):
        cursor.get_ready(f"search/{name}")
    asked: dict[str, Value] = dict.fromkeys(
        ("terms", "term_weights", "term_documents", "holders", "frequencies", "lengths"), ""
    )
    total, average, buried = _statistics(cursor)
    asked |= {"total": total, "average": average, "buried": buried or None}
    for counted in (None, ""):
        cursor.get_ready(
            "search/bm25", **asked, counted=counted, allowed=None, least=None, limit=limit + 1
        )


def rarest(cursor: Cursor, query: Query, stemmer: Stemmer) -> str | None:
    """The word of a query that fewest documents have, of those that any has."""
    return Asked(cursor, query, stemmer).rarest


def documents(cursor: Cursor, ids: Iterable[int]) -> dict[int, Text]:
    """Documents with their texts, by number; without those that are gone."""

    def read(unknown: list[int]) -> dict[int, Text]:
        rows = cursor.again("search/documents", ids=unknown)
        return {row[0]: Text(*row) for row in rows}

    return cursor.each("texts", ids, read, most=TEXTS, size=lambda text: 500 + len(text.body))


def allowed(
    cursor: Cursor,
    among: Filter,
    *,
    required: Sequence[Sequence[int]] = (),
    banned: Iterable[int] = (),
) -> str | None:
    """The documents that may answer, as a JSON array of document_id; None: all.

    Args:
        required: documents of which each list has to have it.
        banned: documents that may not.
    """
    unwanted = sorted(banned)
    if among == ALL and not required and not unwanted:
        return None
    rows = cursor.run(
        "search/allowed",
        collections=None if among.collections is None else as_json(among.collections),
        since=_moment(among.since),
        before=_moment(among.before),
        conditions=as_json([condition._asdict() for condition in among.conditions])
        if among.conditions
        else None,
        required=as_json(required),
        banned=as_json(unwanted),
    )
    return as_json([document_id for (document_id,) in rows])


def _moment(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat(sep=" ")
