"""What a keyword query asks for, in numbers of the index: terms, and phrases that are counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Sequence
from typing import NamedTuple

from qmd.store.cursor import Cursor, as_json
from qmd.store.stemmer import Stemmer
from qmd.text.query import Phrase, Query

PREFIX_WEIGHT = 0.3
"""What the longer words that start with a word of the query count, together, next to the word.
Measured: docs/relevance.md."""

COMMON = 20
"""Documents with a word from which on longer words no longer stand for it: `config` finds
`configuration` where it is rare, and a common word is not drowned in its compounds."""

NEAR = 300_000
"""Words that begin like others, that are remembered while the index stays attached."""

BITS = 63
"""Bits by which the elements of a phrase are told apart: those of a `bigint` without its sign."""


class Term(NamedTuple):
    """A term that is looked for.

    Attributes:
        documents: that have it.
    """

    term_id: int
    weight: float
    documents: int


class Counted(NamedTuple):
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


class Asked:
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
        self.counted: list[Counted] = []
        self.required: list[list[int]] = []
        self.banned: set[int] = set()
        self.words: dict[str, str] = {}
        self._learn(query, stemmer)
        self.terms: list[Term] = []
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
            Term(term, weight, documents[term])
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
        self.terms.append(Term(term_id, weight, len(rows)))
        self.counted += [Counted(term_id, *row) for row in rows]

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
            {"phrase": number, "size": size, "place": place, "bits": bits, "term_id": term_id}
            for number, phrase in enumerate(phrases)
            for size in [len(phrase.elements)]
            for (word, place), bits in zip(phrase.elements, _bits(size), strict=True)
            for term_id in [self._term[word]]
        ]
        found: dict[int, list[tuple[int, float, int]]] = {}
        for number, *row in self._cursor.again("search/phrases", elements=as_json(elements)):
            found.setdefault(number, []).append((row[0], row[1], row[2]))
        return found


def _bits(count: int) -> list[int]:
    """The bits of each of some elements, which together are all `BITS`.

    Of more than so many elements, the last ones share a bit: whether one of them is missing is then
    told by their number alone (search/phrases).
    """
    last = min(count, BITS) - 1
    return [1 << at if at < last else (1 << BITS) - (1 << last) for at in range(count)]
