"""Protocol of postings and words for keyword search, and its implementation on the file."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Any, Protocol

from qmd.named_tuple import NamedTuple
from qmd.storage.cursor import Cursor, Value, as_json
from qmd.storage.overlaps import copies
from qmd.types import ALL, Clause, Filter

NEAR = 300_000
"""Word variants that are cached while the index stays attached."""

ALL_ROWS = 1 << 62
"""A limit above the rows of any index."""

TIES = 50
"""Documents that may tie with the last one before the statement runs once more to find all. Short
texts often tie, and to rank 300,000 of them takes a fifth of a second."""

FIT = "postings"
"""Name of the fact that a sidecar fits the index: see `mapped_postings`."""

COMMON = 20
"""Documents with a word from which on longer words no longer match it: `config` finds
`configuration` where it is rare, and a common word is not lost among its compounds."""

BITS = 63
"""Bits that number the elements of a phrase: those of a `bigint` without its sign."""

Near = Sequence[tuple[str, int]]
"""Indexed words, with their terms."""

NO_BEGINS: Mapping[str, str] = MappingProxyType({})


class Term(NamedTuple):
    """A term of a query.

    Attributes:
        term_id: of what stands for what has been counted: below 0.
        weight: the most that it adds to a score.
    """

    term_id: int
    weight: float


class Tally(NamedTuple):
    """Counts of a phrase, or of words that count as one, by document.

    Attributes:
        documents: their numbers, ascending.
        frequencies: weighted by field.
    """

    documents: Sequence[int]
    frequencies: Sequence[float]


class Wanted(NamedTuple):
    """Ranking request: weighted terms and statistics of the index.

    Attributes:
        terms: of the index, and those that stand for what has been counted.
        counted: of each term below 0.
        average: length of a document, weighted by field.
        allowed: documents that may answer; None: all.
        banned: documents that may not.
    """

    terms: Sequence[Term]
    counted: Mapping[int, Tally]
    average: float
    allowed: Collection[int] | None
    banned: frozenset[int]


class Statistics(NamedTuple):
    """Statistics of all documents.

    Attributes:
        total: number of documents.
        average: length of a document, weighted by field; 0: there is none.
        languages: codes, besides English, ascending.
        link_pages: documents that are lists of links.
    """

    total: float
    average: float
    languages: Sequence[str]
    link_pages: Collection[int]


class Fit(NamedTuple):
    """Sidecar that has been found whole, and compared with the index.

    Attributes:
        stamp: of the file; see `sidecar_format.Stamp`.
        gone: slots whose documents are not in the index any more, ascending.
        since: number of the first document that the sidecar lacks; None: there is none.
    """

    stamp: tuple[int, ...]
    gone: Sequence[int]
    since: int | None

    @classmethod
    def of(cls, saved: Any) -> Fit:
        """Return what was saved as JSON.

        Raises:
            TypeError, ValueError: it is something else.
        """
        stamp, gone, since = saved
        first = None if since is None else int(since)
        return cls(tuple(map(int, stamp)), list(map(int, gone)), first)


class Postings(Protocol):
    """Protocol of the postings of an index."""

    def near(
        self,
        words: Sequence[str],
        whole: Collection[str] = (),
        begins: Mapping[str, str] = NO_BEGINS,
    ) -> Mapping[str, Near]:
        """Return, for each word, indexed words with that beginning or stem.

        Others that begin alike may be included. Words of fewer than three letters have no variants.

        Args:
            whole: words for which no longer word may lack; one may for others that are common.
            begins: beginnings of some of the words. Of each of these, the word itself is enough, or
                one that has its beginning, which has as many letters as words need to be alike.
        """

    def documents(self, terms: Sequence[int]) -> Mapping[int, int]:
        """Count the documents of each term."""

    def any_of(self, clauses: Sequence[Sequence[int]]) -> Mapping[int, Tally]:
        """Count the documents with any term of each clause, by its number; none is empty."""

    def phrases(self, phrases: Sequence[Sequence[tuple[int, int]]]) -> Mapping[int, Tally]:
        """Count the documents with each phrase, by its number; none is empty.

        Args:
            phrases: the terms of each, with their places.
        """

    def ranked(self, wanted: Wanted, limit: int) -> list[tuple[int, float]]:
        """Rank documents: (document_id, bm25) of the best, and of all that tie with the last."""


class Filed:
    """Postings of the file, read by statements.

    Args:
        since: number of the first document whose postings are read; None: all.
    """

    def __init__(self, cursor: Cursor, *, since: int | None = None) -> None:
        self._cursor = cursor
        self._since = since

    def near(
        self,
        words: Sequence[str],
        whole: Collection[str] = (),
        begins: Mapping[str, str] = NO_BEGINS,
    ) -> Mapping[str, Near]:
        """See `Postings`."""
        return self._cursor.each(
            "variants", words, self._near, most=NEAR, size=lambda near: 1 + len(near)
        )

    def _near(self, words: list[str]) -> dict[str, list[tuple[str, int]]]:
        found: dict[str, list[tuple[str, int]]] = {word: [] for word in words}
        for asked, word, term_id in self._cursor.again("search/variants", words=as_json(words)):
            found[asked].append((word, term_id))
        return found

    def documents(self, terms: Sequence[int]) -> Mapping[int, int]:
        """See `Postings`."""

        def counted(unknown: list[int]) -> dict[int, int]:
            rows = self._run("search/frequencies", terms=as_json(unknown))
            return dict.fromkeys(unknown, 0) | dict(rows)

        kind = "documents" if self._since is None else f"documents since {self._since}"
        return self._cursor.each(kind, terms, counted)

    def any_of(self, clauses: Sequence[Sequence[int]]) -> Mapping[int, Tally]:
        """See `Postings`."""
        elements = [
            {"clause": clause, "term_id": term_id}
            for clause, terms in enumerate(clauses)
            for term_id in terms
        ]
        if not elements:
            return {}
        return _tallies(self._run("search/any_of", terms=as_json(elements)))

    def phrases(self, phrases: Sequence[Sequence[tuple[int, int]]]) -> Mapping[int, Tally]:
        """See `Postings`."""
        elements = [
            {"phrase": number, "size": len(phrase), "place": place, "bits": bits, "term_id": term}
            for number, phrase in enumerate(phrases)
            for (term, place), bits in zip(phrase, _bits(len(phrase)), strict=True)
        ]
        return _tallies(self._run("search/phrases", elements=as_json(elements)))

    def ranked(self, wanted: Wanted, limit: int) -> list[tuple[int, float]]:
        """See `Postings`."""
        tallies = wanted.counted.items()
        asked: dict[str, Value] = {
            "terms": [each.term_id for each in wanted.terms],
            "term_weights": [each.weight for each in wanted.terms],
            "counted": [term for term, each in tallies for _ in each.documents] or None,
            "holders": [number for _, each in tallies for number in each.documents],
            "frequencies": [count for _, each in tallies for count in each.frequencies],
            "average": wanted.average,
            "allowed": self._allowed(wanted),
        }
        rows = self._run("search/bm25", **asked, least=None, limit=limit + TIES)
        best = [row for row in rows if row[1] >= rows[min(limit, len(rows)) - 1][1]]
        if len(best) < limit + TIES:
            return best
        asked |= {"least": rows[-1][1], "since": self._since}
        return self._cursor.run("search/bm25", **asked, limit=ALL_ROWS)

    def _run(self, name: str, **parameters: Value) -> list[tuple[Any, ...]]:
        """Run a statement, whose plan is kept if it may read all documents."""
        if self._since is None:
            return self._cursor.again(name, **parameters, since=None)
        return self._cursor.run(name, **parameters, since=self._since)

    def _allowed(self, wanted: Wanted) -> str | None:
        if wanted.allowed is None:
            return allowed(self._cursor, ALL, banned=wanted.banned)
        return as_json(sorted(set(wanted.allowed) - wanted.banned))


def contained(cursor: Cursor, texts: Sequence[str]) -> dict[int, Tally]:
    """Count the documents that contain each text as it stands, by its number; none is empty."""
    return _tallies(cursor.run("search/containing", texts=as_json(list(texts))))


def _tallies(rows: Sequence[tuple[int, int, float]]) -> dict[int, Tally]:
    """Group rows of (number, document_id, frequency) by number."""
    found: dict[int, tuple[list[int], list[float]]] = {}
    for number, document_id, frequency in rows:
        documents, frequencies = found.setdefault(number, ([], []))
        documents.append(document_id)
        frequencies.append(frequency)
    return {number: Tally(*columns) for number, columns in found.items()}


def _bits(count: int) -> list[int]:
    """Assign bits to elements, which together are all `BITS`.

    Of more than so many elements, the last ones share a bit: whether one of them is missing is then
    told by their number alone (search/phrases).
    """
    last = min(count, BITS) - 1
    return [1 << at if at < last else (1 << BITS) - (1 << last) for at in range(count)]


def allowed(cursor: Cursor, among: Filter, *, banned: Iterable[int] = ()) -> str | None:
    """Return the permitted documents as a JSON array of document_id; None means all.

    Args:
        banned: documents that may not.
    """
    unwanted = sorted(banned)
    if among == ALL and not unwanted:
        return None
    return as_json(allowed_ids(cursor, among, banned=unwanted))


def allowed_ids(cursor: Cursor, among: Filter, *, banned: Sequence[int] = ()) -> list[int]:
    """List the permitted documents, ascending. See `allowed`."""
    rows = cursor.run(
        "search/allowed",
        among=as_json(_record(among)),
        banned=as_json(banned),
    )
    found = [document_id for (document_id,) in rows]
    if among.tag is not None:
        tagged = {number for (number,) in cursor.run("search/tagged", tag=among.tag)}
        found = [number for number in found if number in tagged]
    for clause in among.clauses:
        met = fulfilling(clause, lambda each: allowed_ids(cursor, each), found)
        found = [number for number in found if number in met]
    if among.overlaps:
        twice = copies(cursor, found, among.overlaps)
        found = [document_id for document_id in found if document_id not in twice]
    return found


def fulfilling(
    test: Any, documents_of: Callable[[Any], Iterable[int]], documents: Iterable[int]
) -> set[int]:
    """Select the documents that fulfil a test, which may be a clause of several.

    Args:
        documents_of: gives the documents of a test that is no clause.
        documents: all that there are to choose from.
    """
    if not isinstance(test, Clause):
        return set(documents_of(test))
    parts = [fulfilling(each, documents_of, documents) for each in test.parts]
    if test.operator == "not":
        return set(documents).difference(*parts)
    return set.union(*parts) if test.operator == "or" else set.intersection(*parts)


def _record(among: Filter) -> dict[str, object]:
    """Return what a filter asks for, as JSON has it."""
    asked = {name: value for name, value in among._asdict().items() if value is not None}
    for name, value in asked.items():
        if isinstance(value, datetime):
            asked[name] = value.isoformat(sep=" ")
    for name in ("overlaps", "tag", "clauses"):  # are not of this statement
        asked.pop(name, None)
    asked["conditions"] = [each._asdict() for each in among.conditions]
    return asked
