"""Keyword search: a query becomes terms and phrases, and one statement ranks them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from qmd.store.cursor import Cursor, as_json
from qmd.store.stemmer import Stemmer
from qmd.text.query import Phrase, Query
from qmd.types import Filter, Hit, Text

PREFIX_WEIGHT = 0.3
"""What the longer words that start with a word of the query count, together, next to the word.
Measured: docs/relevance.md."""

COMMON = 20
"""Documents with a word from which on longer words no longer stand for it: `config` finds
`configuration` where it is rare, and a common word is not drowned in its compounds."""

ALL = Filter()


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
    if not found.scores:
        return Found([], found.words)
    rows = cursor.run(
        "search/hits",
        scores=as_json([{"document_id": d, "bm25": score} for d, score in found.scores]),
        limit=limit,
    )
    width = len(Text._fields)
    return Found([Hit(Text(*row[:width]), *row[width:]) for row in rows], found.words)


def scored(
    cursor: Cursor, query: Query, stemmer: Stemmer, *, among: Filter = ALL, limit: int
) -> Scored:
    """The numbers of the documents that `bm25` finds; more, if the last ones score the same."""
    asked = _Asked(cursor, query, stemmer)
    if not asked.can_answer:
        return Scored([], {}, frozenset(asked.banned))
    scores = cursor.run(
        "search/bm25",
        terms=as_json(asked.terms),
        phrases=as_json(asked.counted),
        allowed=allowed(cursor, among, required=asked.required, banned=asked.banned),
        limit=limit,
    )
    best = sorted(scores, key=lambda row: (-row[1], row[0]))
    return Scored(best, asked.words, frozenset(asked.banned))


def rarest(cursor: Cursor, query: Query, stemmer: Stemmer) -> str | None:
    """The word of a query that fewest documents have, of those that any has."""
    return _Asked(cursor, query, stemmer).rarest


def documents(cursor: Cursor, ids: Iterable[int]) -> dict[int, Text]:
    """Documents with their texts, by number."""
    rows = cursor.rows(Text, "search/documents", ids=as_json(list(dict.fromkeys(ids))))
    return {row.document_id: row for row in rows}


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


class _Asked:
    """A query in the numbers of the index.

    Attributes:
        terms: {term_id, weight, documents}
        counted: {document_id, frequency, length, weight, documents} of phrases
        required: for each phrase in quotes, the documents that have it.
        banned: documents with something excluded.
        words: of the index, that the query asked for, each with the word of the query.
        rarest: word, of those that any document has.
        can_answer: whether any document could.
    """

    rarest: str | None

    def __init__(self, cursor: Cursor, query: Query, stemmer: Stemmer) -> None:
        self._cursor = cursor
        self.counted: list[dict[str, float]] = []
        self.required: list[list[int]] = []
        self.banned: set[int] = set()
        self.words: dict[str, str] = {}
        self._learn(query, stemmer)
        self.terms = self._weighted([*query.words, *self._count_phrases(query)], query.grams)
        self.can_answer = bool(self.terms or self.counted) and all(self.required)

    def _learn(self, query: Query, stemmer: Stemmer) -> None:
        """Find the terms of all words, and the longer words that start with them."""
        phrases = (*query.phrases, *query.excluded)
        words = dict.fromkeys(query.words)
        for phrase in phrases:
            words |= dict.fromkeys(word for word, _ in phrase.elements)
            words |= dict.fromkeys(phrase.spare or ())
        known: dict[str, list[tuple[str, int]]] = {word: [] for word in words}
        for asked, word, term_id in self._cursor.run("search/variants", words=as_json([*words])):
            known[asked].append((word, term_id))
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

    def _same(self, asked: str) -> set[str]:
        """The word, and all words with its stem."""
        term = self._term[asked]
        return {asked, *(word for word, term_id in self._near[asked] if term_id == term)}

    def _note(self, asked: str, found: Iterable[str]) -> None:
        """Note words of the index that answer a word of the query."""
        for word in found:
            self.words.setdefault(word, asked)

    def _weighted(self, words: Sequence[str], grams: frozenset[str]) -> list[dict[str, float]]:
        """Terms, each counted as often as it is asked for; rare words stand for longer ones."""
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
        return [
            {"term_id": term, "weight": weight, "documents": documents[term]}
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
        for clause, *row in self._cursor.run("search/any_of", terms=as_json(elements)):
            found.setdefault(clause, []).append((row[0], row[1], row[2]))
        for rows in found.values():
            self._add_counted(rows, PREFIX_WEIGHT)

    def _add_counted(self, rows: Sequence[tuple[int, float, int]], weight: float) -> None:
        """Score (document_id, frequency, length) of what has been counted already."""
        self.counted += [
            {
                "document_id": document_id,
                "frequency": frequency,
                "length": length,
                "weight": weight,
                "documents": len(rows),
            }
            for document_id, frequency, length in rows
        ]

    def _documents(self, terms: Iterable[int]) -> Counter[int]:
        """How many documents contain each term."""
        asked = list(terms)
        if not asked:
            return Counter()
        return Counter(dict(self._cursor.run("search/frequencies", terms=as_json(asked))))

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
        for number, *row in self._cursor.run("search/phrases", elements=as_json(elements)):
            found.setdefault(number, []).append((row[0], row[1], row[2]))
        return found
