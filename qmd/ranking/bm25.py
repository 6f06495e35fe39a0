"""Keyword search: a query becomes terms and phrases, and one statement ranks them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, groupby
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

from qmd.named_tuple import NamedTuple
from qmd.ranking.postings import (
    ALL_ROWS,
    FIT,
    Filed,
    Postings,
    Statistics,
    Wanted,
    allowed_ids,
    contained,
    fulfilling,
)
from qmd.ranking.query import Query
from qmd.ranking.query_terms import ResolvedQuery
from qmd.ranking.word_terms import inflected_words
from qmd.storage.cursor import Cursor
from qmd.types import ALL, Clause, FileStamp, Filter, FromFile, Text

if TYPE_CHECKING:
    from qmd.ranking.spelling import Alike

Row = TypeVar("Row", bound=tuple[Any, ...])

TEXTS, RANKED, ALLOWED, FILES = 10_000_000, 100_000, 300_000, 20_000
"""Characters of texts, documents and words of rankings, and documents of filters, that are cached
while the index stays attached."""

POSTINGS = "postings"
"""Kind of the cached `Held`, the postings of the whole file in memory."""

GONE = ("", "")
"""Collection and path of a document removed since it was found."""


class Shelf(Protocol):
    """Columns of all documents."""

    def places(self, ids: Iterable[int]) -> dict[int, tuple[str, str]]:
        """Return (collection, path) of documents, by number, without deleted ones."""

    def named(self, ids: Iterable[int]) -> dict[int, tuple[str, str]]:
        """Return (path, title) of documents, by number, without deleted ones."""

    def texts(
        self, cursor: Cursor, ids: Sequence[int], from_file: FromFile | None = None
    ) -> dict[int, Text]:
        """Load documents with their texts, by number, without deleted ones.

        Args:
            from_file: see `FromFile`.
        """

    def hashes(self, ids: Iterable[int]) -> dict[int, str]:
        """Return the hashes of texts, by number; none where they are not held here."""

    def files(self, cursor: Cursor, ids: Iterable[int]) -> dict[int, FileStamp]:
        """Return the files of documents, by number; not of all, where they are not held here."""


class Columns(Protocol):
    """Columns of all documents in the memory of this process."""

    @property
    def statistics(self) -> Statistics:
        """Statistics of all documents."""
        ...

    def having(self, hashes: Collection[str]) -> dict[int, str]:
        """Return the documents with some texts, by number, each with the hash of its text."""


class Held(Postings, Protocol):
    """Postings outside of the file, with the columns of all documents."""

    @property
    def shelf(self) -> Shelf:
        """Columns of all documents."""
        ...

    @property
    def columns(self) -> Columns | None:
        """The same, to be looked through; None on shards."""
        ...


class Scored(NamedTuple):
    """Matching documents by number, best first. It is cached, so not to be changed.

    Attributes:
        scores: (document_id, bm25).
        most: bm25 of a document that has nothing but what the query asks for.
        words: of the index, that were looked for, each with the word of the query it answers.
        respelled: words of the query that no document has, each with those that stand for it.
        banned: documents with something that the query excludes.
    """

    scores: list[tuple[int, float]]
    words: Mapping[str, str]
    banned: frozenset[int] = frozenset()
    most: float = 0.0
    respelled: Mapping[str, tuple[str, ...]] = MappingProxyType({})


def bm25(cursor: Cursor, query: Query, *, among: Filter = ALL, limit: int) -> Scored:
    """Find documents with any word of the query, and all of its quoted phrases.

    Those that score the same are in no order; where not all of them are given, it is those whose
    paths come first.
    """
    found = scored(cursor, query, among=among, limit=limit)
    return found._replace(scores=_first(cursor, found.scores, limit))


def _first(cursor: Cursor, scores: list[tuple[int, float]], limit: int) -> list[tuple[int, float]]:
    """Select the best of the scores; equal scores go by path."""
    if len(scores) <= limit:
        return scores
    last = scores[limit - 1][1]
    before = [row for row in scores if row[1] > last]
    equal = [row for row in scores if row[1] == last]
    return before + in_order(cursor, equal, lambda row: row[1], limit - len(before))


def in_order(
    cursor: Cursor, rows: Iterable[Row], worth: Callable[[Row], Hashable], limit: int
) -> list[Row]:
    """Sort rows by their value; equal values go by path.

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
    """Load (collection, path) of documents, by number, without deleted ones."""
    postings = held(cursor)
    if postings is not None:
        return postings.shelf.places(ids)

    def read(unknown: list[int]) -> dict[int, tuple[str, str]]:
        rows = cursor.again("search/paths", ids=unknown)
        return {document_id: (collection, path) for document_id, collection, path in rows}

    return cursor.each("places", ids, read)


def scored(cursor: Cursor, query: Query, *, among: Filter = ALL, limit: int) -> Scored:
    """Score the documents that match a query; all that tie with the last one are included."""

    def read(keys: list[tuple[Query, Filter, int]]) -> dict[tuple[Query, Filter, int], Scored]:
        return {key: _scored(cursor, query, among=among, limit=limit) for key in keys}

    key = query, among, limit
    return cursor.each("rankings", [key], read, most=RANKED, size=_size)[key]


def _size(found: Scored) -> int:
    return 100 + len(found.scores) + len(found.banned) + len(found.words)


def _scored(cursor: Cursor, query: Query, *, among: Filter, limit: int) -> Scored:
    if query.fields != among.clauses:  # those of a plain question limit all of its searches
        among = among._replace(clauses=(*among.clauses, *query.fields))
    postings = postings_of(cursor)
    known = statistics(cursor)

    def respell(word: str) -> tuple[Alike, ...]:
        from qmd.ranking.spelling import plausible_words  # of no use to most searches

        return plausible_words(cursor, postings, word)

    def inflected(stemmed: str, code: str) -> Sequence[str]:
        def read(keys: list[tuple[str, str]]) -> dict[tuple[str, str], Sequence[str]]:
            return {key: inflected_words(postings, *key) for key in keys}

        asked = stemmed, code
        return cursor.each("inflected", [asked], read, size=lambda found: 1 + len(found))[asked]

    containing = partial(contained, cursor)
    asked = ResolvedQuery(
        postings,
        query,
        total=known.total,
        respell=None if query.exact else respell,
        containing=containing,
        languages=known.languages,
        inflected=inflected,
    )
    banned = frozenset(asked.banned).union(*_left_out(cursor, query, asked))
    if not query.has_words:
        return Scored(_newest(cursor, banned, among=among, limit=limit), {}, banned, 1.0)
    if not asked.can_answer:
        return Scored([], {}, banned)
    may_answer = _allowed(cursor, among, [*asked.required, *_lists(cursor, query, asked)])
    wanted = Wanted(asked.terms, asked.counted, known.average, may_answer, banned)
    rows = postings.ranked(wanted, max(1, min(limit, ALL_ROWS - 1)))
    return Scored(rows, asked.words, banned, asked.most, asked.respelled)


def _lists(cursor: Cursor, query: Query, asked: ResolvedQuery) -> Iterator[Collection[int]]:
    """Yield the documents that fulfil each test of a query."""
    for test in query.tests:
        if not _is_exclusion(test):
            yield _fulfilling(cursor, asked, test)


def _left_out(cursor: Cursor, query: Query, asked: ResolvedQuery) -> Iterator[Collection[int]]:
    """Yield the documents that each excluded parenthesis of a query leaves out."""
    for test in query.tests:
        if _is_exclusion(test):
            yield _fulfilling(cursor, asked, *test.parts)


def _is_exclusion(test: object) -> bool:
    return isinstance(test, Clause) and test.operator == "not"


def _fulfilling(cursor: Cursor, asked: ResolvedQuery, test: Any) -> set[int]:
    """Return the documents that fulfil a test, which may be a clause of several."""

    def documents_of(leaf: Any) -> Collection[int]:
        return _chosen(cursor, leaf) if isinstance(leaf, Filter) else asked.documents_with(leaf)

    return fulfilling(test, documents_of, _chosen(cursor, ALL))


def _newest(
    cursor: Cursor, banned: frozenset[int], *, among: Filter, limit: int
) -> list[tuple[int, float]]:
    """List the documents for a query that has nothing but fields, the newest first.

    Each has all that is asked for; their scores differ by as much as keeps them in order.
    """
    ids = sorted(_chosen(cursor, among) - banned)
    rows = cursor.run("search/newest", ids=ids, limit=max(1, min(limit, ALL_ROWS - 1)))
    return [(number, 1 - place * 1e-9) for place, (number,) in enumerate(rows)]


def _chosen(cursor: Cursor, among: Filter) -> frozenset[int]:
    """Return the documents that a filter lets answer, which is remembered."""

    def read(filters: list[Filter]) -> dict[Filter, frozenset[int]]:
        return {each: frozenset(allowed_ids(cursor, each)) for each in filters}

    return cursor.each("allowed", [among], read, most=ALLOWED, size=len)[among]


def _allowed(
    cursor: Cursor, among: Filter, required: Iterable[Iterable[int]]
) -> Collection[int] | None:
    """Intersect a filter with the documents of each required list; None means all."""
    lists = [set(each) for each in required]
    if among != ALL:
        lists.append(set(_chosen(cursor, among)))
    return set.intersection(*lists) if lists else None


def held(cursor: Cursor) -> Held | None:
    """Give the postings that are held in memory, or on shards."""
    found = cursor.memory.held.get(POSTINGS) if cursor.memory else None
    return cast("Held | None", found)


def hold(cursor: Cursor, postings: Held) -> None:
    """Hold postings in memory, as long as the index stays attached."""
    if cursor.memory is not None:
        cursor.memory.held[POSTINGS] = postings


def mapped(cursor: Cursor, *, counts: bool = False) -> Held | None:
    """Return the postings that are held, for which a server maps the sidecar if it can.

    Args:
        counts: count this as a search that they would have answered; several make it worthwhile to
            read all postings.
    """
    missed = cursor.memory.missed if cursor.memory else None  # a thread may forget it meanwhile
    if held(cursor) is None and missed is not None:
        missed(cursor, counts)
    return held(cursor)


def postings_of(cursor: Cursor) -> Postings:
    """Return the postings in memory if loaded, else those of the sidecar or of the file."""
    return mapped(cursor, counts=True) or _not_held(cursor)


def _not_held(cursor: Cursor) -> Postings:
    """Return the postings of a sidecar that is known to fit, else those of the file."""
    facts = cursor.memory.facts if cursor.memory else None
    if facts is None or not facts.has(FIT):
        return Filed(cursor)
    from qmd.ranking.mapped_postings import postings_of_sidecar  # of no use to most indexes

    return postings_of_sidecar(cursor) or Filed(cursor)


def statistics(cursor: Cursor) -> Statistics:
    """Return statistics of all documents, counted once while the index stays attached."""
    postings = held(cursor)
    if postings is not None and postings.columns is not None:
        return postings.columns.statistics
    name = "search/statistics"

    def read(_: list[str]) -> dict[str, Statistics]:
        return {name: cursor.fact(name, partial(cursor.run, name), _made)}

    return cursor.each("once", [name], read)[name]


def _made(rows: Sequence[Sequence[Any]]) -> Statistics:
    [(total, average, languages, pages)] = rows
    return Statistics(total, average, languages, frozenset(pages))


def files(cursor: Cursor, ids: Sequence[int]) -> dict[int, FileStamp]:
    """Return the files of documents, by number; see `Shelf.files`."""
    postings = held(cursor)
    if postings is not None:
        return postings.shelf.files(cursor, ids)
    return {number: stamp for number, (_, stamp) in _filed(cursor, ids).items()}


def _filed(cursor: Cursor, ids: Iterable[int]) -> dict[int, tuple[Text, FileStamp]]:
    """Load documents, still without their texts, and their files, by number."""

    def read(unknown: list[int]) -> dict[int, tuple[Text, FileStamp]]:
        return {
            number: (
                Text(number, collection, path, title, hashed, "", matter),
                FileStamp(collection, path, size, time),
            )
            for number, collection, path, title, hashed, matter, size, time in cursor.again(
                "search/files", ids=unknown
            )
        }

    return cursor.each("files", ids, read, most=FILES)


def rarest(cursor: Cursor, query: Query) -> str | None:
    """Return the rarest word of a query among those that occur."""
    total = statistics(cursor).total
    return ResolvedQuery(held(cursor) or _not_held(cursor), query, total=total).rarest


def documents(
    cursor: Cursor, ids: Iterable[int], from_file: FromFile | None = None
) -> dict[int, Text]:
    """Load documents with their texts, by number, without deleted ones.

    Args:
        from_file: see `Shelf.texts`.
    """

    def read(unknown: list[int]) -> dict[int, Text]:
        postings = held(cursor)
        if postings is not None:
            return postings.shelf.texts(cursor, unknown, from_file)
        found: dict[int, Text] = {}
        if from_file is not None:
            for number, (text, stamp) in _filed(cursor, unknown).items():
                place = stamp.collection, stamp.path
                if (body := from_file(number, place, text.hash)) is not None:
                    found[number] = text._replace(body=body)
        if others := [number for number in unknown if number not in found]:
            rows = cursor.again("search/documents", ids=others)
            from qmd.storage import long_texts

            texts = long_texts.with_bodies(cursor, [Text(*row) for row in rows])
            found |= {text.document_id: text for text in texts}
        return found

    return cursor.each("texts", ids, read, most=TEXTS, size=lambda text: 500 + len(text.body))
