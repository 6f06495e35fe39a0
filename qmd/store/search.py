"""Keyword search: a query becomes terms and phrases, and one statement ranks them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Hashable, Iterable, Mapping, Sequence
from datetime import datetime
from itertools import chain, groupby
from typing import Any, NamedTuple, TypeVar

from qmd.store.cursor import Cursor, Value, as_json
from qmd.store.stemmer import Stemmer
from qmd.text.query import Phrase, Query
from qmd.types import ALL, Filter, Hit, Text

PREFIX_WEIGHT = 0.3
"""What the longer words that start with a word of the query count, together, next to the word.
Measured: docs/relevance.md."""

Row = TypeVar("Row", bound=tuple[Any, ...])

COMMON = 20
"""Documents with a word from which on longer words no longer stand for it: `config` finds
`configuration` where it is rare, and a common word is not drowned in its compounds."""

TEXTS, NEAR = 10_000_000, 300_000
"""Characters of texts, and words that begin like others, that are remembered while the index stays
attached."""

ALL_ROWS = 1 << 62
"""More than any index has."""

GONE = ("", "")
"""Where a document is that has been removed since it was found."""


class Found(NamedTuple):
    """Documents that answer a query, best first.

    Attributes:
        words: of the index, that were looked for, each with the word of the query it answers.
    """

    hits: list[Hit]
    words: Mapping[str, str]


class Scored(NamedTuple):
    """Documents that answer a query, by number, best first.

    Attributes:
        scores: (document_id, bm25).
        words: see `Found`.
        banned: documents with something that the query excludes.
    """

    scores: list[tuple[int, float]]
    words: Mapping[str, str]
    banned: frozenset[int] = frozenset()


def bm25(
    cursor: Cursor, query: Query, stemmer: Stemmer, *, among: Filter = ALL, limit: int
) -> Found:
    """Documents with any word of the query, and all of its phrases in quotes."""
    found = scored(cursor, query, stemmer, among=among, limit=limit)
    best = dict(_first(cursor, found.scores, limit))
    texts = documents(cursor, best)
    hits = [Hit(texts[number], score, score / (1 + score)) for number, score in best.items()]
    return Found(sorted(hits, key=_place), found.words)


def _place(hit: Hit) -> tuple[float, str, str]:
    """Where a hit stands among others."""
    return -hit.bm25, hit.document.collection, hit.document.path


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
    """The numbers of the documents that `bm25` finds; more, if the last ones score the same."""
    asked = _Asked(cursor, query, stemmer)
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


def rarest(cursor: Cursor, query: Query, stemmer: Stemmer) -> str | None:
    """The word of a query that fewest documents have, of those that any has."""
    return _Asked(cursor, query, stemmer).rarest


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


class _Term(NamedTuple):
    """A term that is looked for.

    Attributes:
        documents: that have it.
    """

    term_id: int
    weight: float
    documents: int


class _Counted(NamedTuple):
    """What has been counted in a document, of a phrase or of words that count as one.

    Attributes:
        term_id: of a term that stands for them: below 0.
        frequency: weighted by field.
        length: of the document.
    """

    term_id: int
    document_id: int
    frequency: float
    length: int


class _Asked:
    """A query in the numbers of the index.

    Attributes:
        terms: to be looked for, and those that stand for what has been counted.
        counted: of phrases, and of longer words.
        required: for each phrase in quotes, the documents that have it.
        banned: documents with something excluded.
        words: of the index, that the query asked for, each with the word of the query.
        rarest: word, of those that any document has.
        can_answer: whether any document could.
    """

    rarest: str | None

    def __init__(self, cursor: Cursor, query: Query, stemmer: Stemmer) -> None:
        self._cursor = cursor
        self.counted: list[_Counted] = []
        self.required: list[list[int]] = []
        self.banned: set[int] = set()
        self.words: dict[str, str] = {}
        self._learn(query, stemmer)
        self.terms: list[_Term] = []
        self._weigh([*query.words, *self._count_phrases(query)], query.grams)
        self.can_answer = bool(self.terms) and all(self.required)

    def _learn(self, query: Query, stemmer: Stemmer) -> None:
        """Find the terms of all words, and the longer words that start with them."""
        phrases = (*query.phrases, *query.excluded)
        words = dict.fromkeys(query.words)
        for phrase in phrases:
            words |= dict.fromkeys(word for word, _ in phrase.elements)
            words |= dict.fromkeys(phrase.spare or ())
        known = self._cursor.each(
            "variants", words, self._variants, most=NEAR, size=lambda near: 1 + len(near)
        )
        self._term = {
            asked: term_id
            for asked, near in known.items()
            for word, term_id in near
            if word == asked
        }
        unknown = [word for word in words if word not in self._term]
        stems = stemmer.terms(unknown)
        self._term.update(zip(unknown, (term_id for term_id, _ in stems), strict=True))
        self._near = known

    def _variants(self, words: list[str]) -> dict[str, list[tuple[str, int]]]:
        """Words of the index, with their terms, that begin like each of some words."""
        found: dict[str, list[tuple[str, int]]] = {word: [] for word in words}
        for asked, word, term_id in self._cursor.again("search/variants", words=as_json(words)):
            found[asked].append((word, term_id))
        return found

    def _same(self, asked: str) -> set[str]:
        """The word, and all words with its stem."""
        term = self._term[asked]
        return {asked, *(word for word, term_id in self._near[asked] if term_id == term)}

    def _note(self, asked: str, found: Iterable[str]) -> None:
        """Note words of the index that answer a word of the query."""
        for word in found:
            self.words.setdefault(word, asked)

    def _weigh(self, words: Sequence[str], grams: frozenset[str]) -> None:
        """Add terms, each counted as often as it is asked for; rare words stand for longer ones."""
        weights = Counter[int]()
        for word in words:
            weights[self._term[word]] += 1
            self._note(word, self._same(word))
        documents = self._documents(weights)
        met = [word for word in words if documents[self._term[word]]]
        self.rarest = min(met, key=lambda word: documents[self._term[word]], default=None)
        rare = [
            w for w in dict.fromkeys(words) if w not in grams and documents[self._term[w]] < COMMON
        ]
        self._count_longer(rare, weights)
        self.terms += [
            _Term(term, weight, documents[term])
            for term, weight in weights.items()
            if documents[term]
        ]

    def _count_longer(self, rare: Sequence[str], asked: Container[int]) -> None:
        """Count the longer words that start with a rare one, together as one more word."""
        elements = []
        for clause, word in enumerate(rare):
            longer = {
                term_id: other
                for other, term_id in self._near[word]
                if other.startswith(word) and term_id not in asked
            }
            self._note(word, longer.values())
            elements += [{"clause": clause, "term_id": term_id} for term_id in longer]
        if not elements:
            return
        found: dict[int, list[tuple[int, float, int]]] = {}
        for clause, *row in self._cursor.again("search/any_of", terms=as_json(elements)):
            found.setdefault(clause, []).append((row[0], row[1], row[2]))
        for rows in found.values():
            self._add_counted(rows, PREFIX_WEIGHT)

    def _add_counted(self, rows: Sequence[tuple[int, float, int]], weight: float) -> None:
        """Score (document_id, frequency, length) of what has been counted already, as one term."""
        if not rows:
            return
        term_id = -1 - len(self.terms)
        self.terms.append(_Term(term_id, weight, len(rows)))
        self.counted += [_Counted(term_id, *row) for row in rows]

    def _documents(self, terms: Iterable[int]) -> dict[int, int]:
        """How many documents contain each term."""

        def counted(unknown: list[int]) -> dict[int, int]:
            rows = self._cursor.again("search/frequencies", terms=as_json(unknown))
            return dict.fromkeys(unknown, 0) | dict(rows)

        return self._cursor.each("documents", list(terms), counted)

    def _count_phrases(self, query: Query) -> list[str]:
        """Count the phrases.

        Returns:
            Words to look for instead of names that the index does not have.
        """
        instead: list[str] = []
        phrases = [*query.phrases, *query.excluded]
        found = self._find(phrases) if phrases else {}
        for number, phrase in enumerate(phrases):
            rows = found.get(number, [])
            if number >= len(query.phrases):
                self.banned.update(document_id for document_id, _, _ in rows)
                continue
            if phrase.spare is None:
                self.required.append([document_id for document_id, _, _ in rows])
            elif not rows:
                instead += [word for word in phrase.spare if word not in query.words]
                continue
            for word, _ in phrase.elements:
                self._note(word, self._same(word))
            self._add_counted(rows, 1.0)
        return instead

    def _find(self, phrases: Sequence[Phrase]) -> dict[int, list[tuple[int, float, int]]]:
        """(document_id, frequency, length) of the documents that have each phrase."""
        elements = [
            {"phrase": number, "place": place, "term_id": self._term[word]}
            for number, phrase in enumerate(phrases)
            for word, place in phrase.elements
        ]
        found: dict[int, list[tuple[int, float, int]]] = {}
        for number, *row in self._cursor.again("search/phrases", elements=as_json(elements)):
            found.setdefault(number, []).append((row[0], row[1], row[2]))
        return found
