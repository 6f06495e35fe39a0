"""Inverted index in memory, for long-running processes.

A search takes a tenth of the time that DuckDB takes, half of which is planning.

All postings are loaded once while the index stays attached, as numbers of two bytes where possible.
Results equal those of the statements sql/search/{frequencies,any_of,phrases,bm25}: sums are
computed in the same order.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from qmd.ranking.lexicon import Lexicon
from qmd.ranking.postings import Near, Tally, Wanted
from qmd.storage import document_lookup
from qmd.storage.cursor import Cursor
from qmd.types import Text

if TYPE_CHECKING:
    from numpy.typing import NDArray

PARTS = 8
"""Parts that are loaded one after the other, by the highest bits of the term."""

SHIFT = 64 - PARTS.bit_length()
"""Bits of a term below those of the part."""

_START = (1 << 32) - 1


class Part(NamedTuple):
    """Postings of some terms, in the order of the table.

    Attributes:
        terms: int64[n], ascending: of each run of postings with the same term.
        starts: of each run among the postings.
        ends: of each run: after its last posting.
        places: where the positions of each run start.
        slots: of each posting: its document.
        doubled: frequency in it, weighted by field, twice.
        counts: positions of it.
        positions: the lower 16 bits.
        wide: where those are that have more, ascending.
        beyond: of each of those, what the lower bits lack.
    """

    terms: NDArray[np.int64]
    starts: NDArray[np.uint32]
    ends: NDArray[np.uint32]
    places: NDArray[np.int64]
    slots: NDArray[Any]
    doubled: NDArray[Any]
    counts: NDArray[Any]
    positions: NDArray[np.uint16]
    wide: NDArray[np.int64]
    beyond: NDArray[np.uint32]

    def runs(self, term: int) -> Iterator[int]:
        """Yield the runs of a term."""
        first = int(self.terms.searchsorted(term))
        while first < len(self.terms) and self.terms[first] == term:
            yield first
            first += 1

    def unpacked(
        self, run: int, chosen: NDArray[np.bool_]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Expand a run to slots and positions of chosen slots, one for each position.

        Args:
            chosen: bool[slots]
        """
        inside = slice(self.starts[run], self.ends[run])
        slots, counts = self.slots[inside], self.counts[inside].astype(np.int64)
        after = counts.cumsum()
        places = after - counts + self.places[run]
        taken = chosen[slots]
        slots, counts, places = slots[taken], counts[taken], places[taken]
        shift = places - (counts.cumsum() - counts)
        at = shift.repeat(counts) + np.arange(counts.sum())
        positions = self.positions[at].astype(np.int64)
        if len(self.wide):
            beyond = np.minimum(self.wide.searchsorted(at), len(self.wide) - 1)
            positions += np.where(self.wide[beyond] == at, self.beyond[beyond], 0)
        return slots.astype(np.int64).repeat(counts), positions


class Documents(NamedTuple):
    """Columns of all documents, by slot: ascending by number.

    Attributes:
        lengths: weighted by field.
        known: of each by number: collection, path, title, hash and characters of front matter.
    """

    ids: NDArray[np.uint32]
    lengths: NDArray[np.float64]
    path_starts: NDArray[np.int64]
    body_starts: NDArray[np.int64]
    known: Mapping[int, tuple[str, str, str, str, int]]

    def places(self, ids: Iterable[int]) -> dict[int, tuple[str, str]]:
        """Return (collection, path) of documents, by number, without deleted ones."""
        return {number: self.known[number][:2] for number in ids if number in self.known}

    def named(self, ids: Iterable[int]) -> dict[int, tuple[str, str]]:
        """Return (path, title) of documents, by number, without deleted ones."""
        return {number: self.known[number][1:3] for number in ids if number in self.known}

    def texts(self, cursor: Cursor, ids: Iterable[int]) -> dict[int, Text]:
        """Load documents with their texts, by number, without deleted ones."""
        facts = {number: self.known[number] for number in ids if number in self.known}
        bodies = document_lookup.bodies(cursor, [hashed for _, _, _, hashed, _ in facts.values()])
        return {
            number: Text(number, *each[:4], bodies[each[3]], each[4])
            for number, each in facts.items()
            if each[3] in bodies
        }


class Inverted:
    """Postings of an index in one state; see `Postings`."""

    def __init__(self, documents: Documents, parts: Sequence[Part], lexicon: Lexicon) -> None:
        self.shelf = documents
        self._parts = parts
        self._lexicon = lexicon
        self._norms: dict[float, NDArray[np.float64]] = {}

    def near(self, words: Sequence[str]) -> Mapping[str, Near]:
        """See `Postings`."""
        return {word: self._lexicon.near(word) for word in words}

    def documents(self, terms: Sequence[int]) -> Mapping[int, int]:
        """See `Postings`."""
        return {
            term: sum(int(part.ends[run] - part.starts[run]) for part, run in self._runs(term))
            for term in terms
        }

    def any_of(self, clauses: Sequence[Sequence[int]]) -> Mapping[int, Tally]:
        """See `Postings`."""
        found = {}
        for number, terms in enumerate(clauses):
            if not terms:
                continue
            frequencies = np.zeros(len(self.shelf.ids))
            for term in terms:
                for slots, each in self._frequencies(term):
                    frequencies[slots] += each
            slots = frequencies.nonzero()[0]
            if len(slots):
                found[number] = self._tally(slots, frequencies[slots])
        return found

    def phrases(self, phrases: Sequence[Sequence[tuple[int, int]]]) -> Mapping[int, Tally]:
        """See `Postings`."""
        return {
            number: tally
            for number, phrase in enumerate(phrases)
            if (tally := self._phrase(phrase)) is not None
        }

    def ranked(self, wanted: Wanted, limit: int) -> list[tuple[int, float]]:
        """See `Postings`."""
        norms = self._norm(wanted.average)
        scores = np.zeros(len(norms))
        # By number, as they stand in the table; after them what has been counted.
        for term in sorted(wanted.terms, key=lambda each: (each.term_id < 0, abs(each.term_id))):
            for slots, frequencies in self._frequencies_of(term.term_id, wanted.counted):
                scores[slots] += term.weight * frequencies / (frequencies + norms[slots])
        if wanted.allowed is not None:
            slots = self._slots(wanted.allowed)
            kept = scores[slots]
            scores[:] = 0
            scores[slots] = kept
        scores[self._slots(wanted.banned)] = 0
        slots = scores.nonzero()[0]
        return self._first(slots, _rounded(scores[slots]), limit)

    def _slots(self, ids: Collection[int]) -> NDArray[np.intp]:
        return self.shelf.ids.searchsorted(np.fromiter(ids, np.uint32, len(ids)))

    def _first(
        self, slots: NDArray[np.intp], scores: NDArray[np.float64], limit: int
    ) -> list[tuple[int, float]]:
        if len(scores) > limit:
            least = np.partition(scores, -limit)[-limit]
            best = scores >= least
            slots, scores = slots[best], scores[best]
        order = np.lexsort((slots, -scores))
        ids = self.shelf.ids[slots[order]]
        return list(zip(ids.tolist(), scores[order].tolist(), strict=True))

    def _norm(self, average: float) -> NDArray[np.float64]:
        """Compute the length normalization of each document."""
        if average not in self._norms:
            self._norms[average] = 1.5 * (0.25 + 0.75 * self.shelf.lengths / average)
        return self._norms[average]

    # -- terms -------------------------------------------------------------------

    def _runs(self, term: int) -> Iterator[tuple[Part, int]]:
        part = self._parts[term >> SHIFT]
        return ((part, run) for run in part.runs(term))

    def _frequencies(self, term: int) -> Iterator[tuple[NDArray[Any], NDArray[np.float64]]]:
        """Return the slots with a term, each once, and its frequencies."""
        for part, run in self._runs(term):
            inside = slice(part.starts[run], part.ends[run])
            yield part.slots[inside], part.doubled[inside] * 0.5

    def _frequencies_of(
        self, term: int, counted: Mapping[int, Tally]
    ) -> Iterable[tuple[NDArray[Any], NDArray[np.float64]]]:
        if term >= 0:
            return self._frequencies(term)
        tally = counted[term]
        return [(self._slots(tally.documents), np.array(tally.frequencies))]

    def _tally(self, slots: NDArray[Any], frequencies: NDArray[np.float64]) -> Tally:
        return Tally(self.shelf.ids[slots].tolist(), frequencies.tolist())

    # -- phrases -----------------------------------------------------------------

    def _phrase(self, phrase: Sequence[tuple[int, int]]) -> Tally | None:
        """Count the documents with a phrase; None if there is none."""
        runs = {term: list(self._runs(term)) for term, _ in phrase}
        chosen = self._with_all(list(runs.values()))
        if chosen is None:
            return None
        starts = None
        rarest = sorted(phrase, key=lambda each: self._size(runs[each[0]]))
        for term, place in rarest:
            other = _starts(runs[term], place, chosen)
            starts = other if starts is None else _in_both(starts, other)
            if not len(starts):
                return None
        assert starts is not None
        return self._occurrences(starts)

    def _size(self, runs: Iterable[tuple[Part, int]]) -> int:
        return sum(int(part.ends[run] - part.starts[run]) for part, run in runs)

    def _with_all(self, terms: Sequence[Sequence[tuple[Part, int]]]) -> NDArray[np.bool_] | None:
        """Mark the documents, by slot, that have all of some terms; None if no document does."""
        having = np.zeros(len(self.shelf.ids), np.uint32)
        for runs in terms:
            for part, run in runs:
                having[part.slots[part.starts[run] : part.ends[run]]] += 1
        chosen: NDArray[np.bool_] = having == len(terms)
        return chosen if chosen.any() else None

    def _occurrences(self, starts: NDArray[np.int64]) -> Tally:
        """Count the occurrences of a phrase in each document, weighted by field.

        Args:
            starts: the slot in the upper half, the position in the lower one; ascending.
        """
        slots, positions = starts >> 32, starts & _START
        weights = np.where(
            positions < self.shelf.path_starts[slots],
            4.0,
            np.where(positions < self.shelf.body_starts[slots], 1.5, 1.0),
        )
        first = np.flatnonzero(np.diff(slots, prepend=-1))
        return self._tally(slots[first], np.add.reduceat(weights, first))


def _starts(
    runs: Sequence[tuple[Part, int]], place: int, chosen: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Find the starts of a phrase by one of its terms: slot and position, ascending, distinct."""
    found = []
    for part, run in runs:
        slots, positions = part.unpacked(run, chosen)
        starts = (slots << 32) + positions - place
        found.append(starts if not place else starts[positions >= place])
    starts = found[0] if len(found) == 1 else np.concatenate(found)
    steps = np.diff(starts)
    if (steps <= 0).any():
        starts = np.unique(starts)
    return starts


def _in_both(one: NDArray[np.int64], other: NDArray[np.int64]) -> NDArray[np.int64]:
    """Intersect two ascending arrays."""
    if not len(other):
        return other
    at = np.minimum(other.searchsorted(one), len(other) - 1)
    both: NDArray[np.int64] = one[other[at] == one]
    return both


def _rounded(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Round to twelve places, halves away from 0, as DuckDB does."""
    grown = scores * 1e12
    whole = np.floor(grown)
    rounded: NDArray[np.float64] = (whole + (grown - whole >= 0.5)) / 1e12
    return rounded
