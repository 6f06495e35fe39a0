"""Keyword search: a query becomes terms and phrases, and one statement ranks them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime

from qmd.store.cursor import Cursor, as_json
from qmd.store.statements import statement
from qmd.store.stemmer import Stemmer
from qmd.text.query import Phrase, Query
from qmd.types import Filter, Hit

PREFIX_WEIGHT = 0.3
"""What a longer word that starts with a word of the query counts, next to the word itself.
Measured: docs/relevance.md."""

COMMON = 20
"""Documents with a word from which on longer words no longer stand for it: `config` finds
`configuration` where it is rare, and a common word is not drowned in its compounds."""


ALL = Filter()


@dataclass(frozen=True, slots=True)
class Found:
    """Documents that answer a query, best first, and the words that did it."""

    hits: list[Hit]
    words: frozenset[str]


def bm25(
    cursor: Cursor, query: Query, stemmer: Stemmer, *, among: Filter = ALL, limit: int
) -> Found:
    """Documents with any word of the query, and all of its phrases in quotes."""
    tables = _Tables.of(cursor)
    asked = _Asked(tables, query, stemmer)
    if asked.hopeless:
        return Found([], frozenset())
    filtered = not among.is_open or bool(asked.required)
    tables.fill("terms", asked.terms)
    tables.fill("phrases", asked.counted)
    tables.fill("banned", sorted(asked.banned))
    tables.want(filtered, limit)
    cursor.run("search/forget_allowed")
    if filtered:
        cursor.run(
            "search/allow",
            collections=None if among.collections is None else as_json(among.collections),
            since=_moment(among.since),
            before=_moment(among.before),
            conditions=as_json([asdict(condition) for condition in among.conditions])
            if among.conditions
            else None,
            required=as_json(asked.required) if asked.required else None,
        )
    return Found(cursor.rows(Hit, "search/bm25"), frozenset(asked.words))


class _Tables:
    """The tables in which a connection's searches say what they ask for."""

    def __init__(self, cursor: Cursor) -> None:
        cursor.connection.execute(statement("search/session"))
        self.cursor = cursor
        self._filled: set[str] = set()
        self._wanted: tuple[bool, int] | None = None

    @classmethod
    def of(cls, cursor: Cursor) -> _Tables:
        """Those of a connection, made when it first searches."""
        if not isinstance(cursor.session, cls):
            cursor.session = cls(cursor)
        return cursor.session

    def fill(self, kind: str, rows: Sequence[object]) -> None:
        """Put rows in the place of those of the last search."""
        if kind in self._filled:
            self.cursor.run(f"search/forget_{kind}")
            self._filled.remove(kind)
        if rows:
            self.cursor.run(f"search/ask_{kind}", rows=as_json(rows))
            self._filled.add(kind)

    def want(self, filtered: bool, limit: int) -> None:
        """How the answer is wanted."""
        if self._wanted != (filtered, limit):
            self.cursor.run("search/forget")
            self.cursor.run("search/ask", filtered=filtered, wanted=limit)
            self._wanted = filtered, limit


def _moment(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat(sep=" ")


class _Asked:
    """A query in the numbers of the index.

    Attributes:
        terms: {clause, weight, term_id}
        counted: {clause, weight, document_id, frequency, length} of phrases
        required: for each phrase in quotes, the documents that have it.
        banned: documents with something excluded.
        words: of the index, that the query asked for.
        hopeless: nothing can answer.
    """

    def __init__(self, tables: _Tables, query: Query, stemmer: Stemmer) -> None:
        self._tables = tables
        self._clauses = 0
        self.terms: list[dict[str, object]] = []
        self.counted: list[dict[str, object]] = []
        self.required: list[list[int]] = []
        self.banned: set[int] = set()
        self.words: set[str] = set()
        self.hopeless = False
        self._know(query, stemmer)
        wanted = [(word, word not in query.grams) for word in query.words]
        wanted += self._ask_phrases(query)
        self._ask_words(wanted)

    def _know(self, query: Query, stemmer: Stemmer) -> None:
        """Find the terms of all words, and the longer words that start with them."""
        phrases = (*query.phrases, *query.excluded)
        distinct = list(
            dict.fromkeys(
                [
                    *query.words,
                    *(word for phrase in phrases for word, _ in phrase.elements),
                    *(word for phrase in phrases for word in phrase.spare or ()),
                ]
            )
        )
        self._tables.fill("words", distinct)
        known: dict[str, list[tuple[str, int]]] = {word: [] for word in distinct}
        for asked, word, term_id in self._tables.cursor.run("search/variants"):
            known[asked].append((word, term_id))
        self._term = {
            asked: term_id
            for asked, words in known.items()
            for word, term_id in words
            if word == asked
        }
        unknown = [word for word in distinct if word not in self._term]
        stems = stemmer.terms(unknown)
        self._term.update(zip(unknown, (term_id for term_id, _ in stems), strict=True))
        self._same = {
            asked: {word for word, term_id in words if term_id == self._term[asked]}
            for asked, words in known.items()
        }
        self._longer = {
            asked: {
                term_id: word
                for word, term_id in words
                if word.startswith(asked) and term_id != self._term[asked]
            }
            for asked, words in known.items()
        }

    def _ask_words(self, wanted: Sequence[tuple[str, bool]]) -> None:
        """A clause for each word; one more for longer words where the word itself is rare."""
        for word, _ in wanted:
            self._clause([self._term[word]], 1.0)
            self.words |= {word, *self._same[word]}
        candidates = [word for word, extend in wanted if extend and self._longer[word]]
        if not candidates:
            return
        self._tables.fill("terms", self.terms)
        documents = dict(self._tables.cursor.run("search/frequencies"))
        for word in dict.fromkeys(candidates):
            if documents.get(self._term[word], 0) < COMMON:
                self._clause(self._longer[word], PREFIX_WEIGHT)
                self.words.update(self._longer[word].values())

    def _clause(self, terms: Iterable[int], weight: float) -> None:
        self.terms += [
            {"clause": self._clauses, "weight": weight, "term_id": term} for term in terms
        ]
        self._clauses += 1

    def _ask_phrases(self, query: Query) -> list[tuple[str, bool]]:
        """Count the phrases.

        Returns:
            Words to look for instead of names that the index does not have.
        """
        instead: list[tuple[str, bool]] = []
        phrases = [*query.phrases, *query.excluded]
        found = self._find(phrases) if phrases else {}
        for number, phrase in enumerate(phrases):
            rows = found.get(number, [])
            if number >= len(query.phrases):
                self.banned.update(document_id for document_id, _, _ in rows)
                continue
            if phrase.spare is None:
                self.required.append([document_id for document_id, _, _ in rows])
                self.hopeless |= not rows
            elif not rows:
                instead += [(word, True) for word in phrase.spare if word not in query.words]
                continue
            for word, _ in phrase.elements:
                self.words |= {word, *self._same[word]}
            self.counted += [
                {
                    "clause": self._clauses,
                    "weight": 1.0,
                    "document_id": document_id,
                    "frequency": frequency,
                    "length": length,
                }
                for document_id, frequency, length in rows
            ]
            self._clauses += 1
        return instead

    def _find(self, phrases: Sequence[Phrase]) -> dict[int, list[tuple[int, float, int]]]:
        """(document_id, frequency, length) of the documents that have each phrase."""
        self._tables.fill(
            "elements",
            [
                {"phrase": number, "place": place, "term_id": self._term[word]}
                for number, phrase in enumerate(phrases)
                for word, place in phrase.elements
            ],
        )
        found: dict[int, list[tuple[int, float, int]]] = {}
        for number, *row in self._tables.cursor.run("search/phrases"):
            found.setdefault(number, []).append(tuple(row))
        return found
