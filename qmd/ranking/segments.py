"""Segments of the inverted index: postings, words and columns of some documents, as arrays."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np

from qmd.named_tuple import NamedTuple
from qmd.ranking.lexicon import Lexicon, Strings
from qmd.ranking.postings import Statistics
from qmd.storage import document_lookup
from qmd.storage.cursor import Cursor
from qmd.storage.statements import given
from qmd.types import FileStamp, FromFile, Text

if TYPE_CHECKING:
    from numpy.typing import NDArray

TERM_BITS = 63
"""Bits of the number of a term."""

FEW = 8
"""One of so many values: fewer are looked up in others, of more all are compared."""

_Stamps = tuple["NDArray[np.uint32]", "NDArray[np.uint64]", "NDArray[np.int64]"]
"""Documents by number, the bytes of their files, and the times of these."""


class Part(NamedTuple):
    """Postings of some terms.

    Attributes:
        terms: int64[n], ascending.
        bounds: int64[n + 1]: where the postings of each term start, and where the last ones end.
        places: int64[n]: where the positions of each term start.
        slots: of each posting: its document.
        doubled: frequency in it, weighted by field, twice.
        counts: positions of it.
        positions: the lower 16 bits.
        wide: where those are that have more, ascending.
        beyond: of each of those, what the lower bits lack.
    """

    terms: NDArray[np.int64]
    bounds: NDArray[np.int64]
    places: NDArray[np.int64]
    slots: NDArray[Any]
    doubled: NDArray[Any]
    counts: NDArray[Any]
    positions: NDArray[np.uint16]
    wide: NDArray[np.int64]
    beyond: NDArray[np.uint32]

    def find(self, term: int) -> int | None:
        """Find a term among all; None if it has no postings."""
        at = int(self.terms.searchsorted(term))
        return at if at < len(self.terms) and self.terms[at] == term else None

    def count(self, at: int) -> int:
        """Count the postings of a term."""
        return int(self.bounds[at + 1] - self.bounds[at])

    def places_of(self, at: int, chosen: NDArray[Any]) -> NDArray[np.intp]:
        """Find which postings of a term, counted from its first, are of some slots.

        Args:
            chosen: slots, ascending.
        """
        slots = self.slots[self.bounds[at] : self.bounds[at + 1]]
        if FEW * len(chosen) >= len(slots):
            return np.isin(slots, chosen, kind="table").nonzero()[0]
        wanted = chosen.astype(slots.dtype)  # of another type, all slots are converted
        places = np.minimum(slots.searchsorted(wanted), len(slots) - 1)
        found: NDArray[np.intp] = places[slots[places] == wanted]
        return found

    def starts(self, at: int, place: int, chosen: NDArray[Any]) -> NDArray[np.int64]:
        """Find where a phrase may start by one of its terms.

        Args:
            place: of the term in the phrase.
            chosen: slots, ascending.

        Returns:
            The slot in the upper half, the position in the lower one; ascending, distinct.
        """
        inside = slice(self.bounds[at], self.bounds[at + 1])
        taken, sizes = self.places_of(at, chosen), self.counts[inside].astype(np.int64)
        counts = sizes[taken]
        places = sizes.cumsum()[taken] - counts + self.places[at]
        at_each = (places - (counts.cumsum() - counts)).repeat(counts)
        at_each += np.arange(len(at_each))
        positions: NDArray[Any] = self.positions.take(at_each)
        if len(self.wide):
            beyond = np.minimum(self.wide.searchsorted(at_each), len(self.wide) - 1)
            is_wide = self.wide[beyond] == at_each
            positions = positions + np.where(is_wide, self.beyond[beyond], np.int64(0))
        starts = ((self.slots[inside][taken].astype(np.int64) << 32) - place).repeat(counts)
        starts += positions
        return _ascending(starts[positions >= place] if place else starts)


class Names(NamedTuple):
    """Names of documents, by slot."""

    collection: Strings
    path: Strings
    title: Strings
    hash: Strings


class Documents(NamedTuple):
    """Columns of documents, by slot: ascending by number.

    Attributes:
        ids: of all documents.
        lengths: weighted by field.
        matter: characters of front matter.
        languages: uint8[n] or wider: places in `codes`.
        lists: uint8[n]: 1 if it is a list of links.
        codes: of languages, none twice.
    """

    ids: NDArray[np.uint32]
    lengths: NDArray[np.float64]
    path_starts: NDArray[np.int64]
    body_starts: NDArray[np.int64]
    matter: NDArray[np.int64]
    languages: NDArray[Any]
    lists: NDArray[np.uint8]
    codes: Strings
    names: Names

    def text(self, slot: int, body: str) -> Text:
        """Return the document in a slot, with its text."""
        names = self.names
        return Text(
            int(self.ids[slot]),
            names.collection[slot],
            names.path[slot],
            names.title[slot],
            names.hash[slot],
            body,
            int(self.matter[slot]),
        )


class Segment(NamedTuple):
    """Postings, words and columns of some documents.

    Attributes:
        parts: by the highest bits of the term; their number is a power of two.
    """

    documents: Documents
    lexicon: Lexicon
    parts: Sequence[Part]

    def find(self, term: int) -> tuple[Part, int] | None:
        """Find a term; None if no document of this segment has it."""
        part = self.parts[term >> (TERM_BITS + 1 - len(self.parts).bit_length())]
        at = part.find(term)
        return None if at is None else (part, at)

    def starts(self, phrase: Sequence[tuple[int, int]]) -> NDArray[np.int64]:
        """Find the starts of a phrase. See `Part.starts`.

        Args:
            phrase: terms with their places.
        """
        found = [(each, place) for term, place in phrase if (each := self.find(term))]
        if len(found) < len(phrase):
            return np.empty(0, np.int64)
        found.sort(key=lambda each: each[0][0].count(each[0][1]))
        chosen: NDArray[Any] | None = None
        for (part, at), _ in found:
            slots = part.slots[part.bounds[at] : part.bounds[at + 1]]
            chosen = slots if chosen is None else slots[part.places_of(at, chosen)]
        assert chosen is not None
        starts = None
        for (part, at), place in found:
            some = part.starts(at, place, chosen)
            starts = some if starts is None else _in_both(starts, some)
            chosen = _ascending(starts >> 32)
        assert starts is not None
        return starts


class DocumentShelf:
    """Columns of all documents of an index.

    Args:
        gone: slots whose documents are not in the index any more.
    """

    def __init__(self, segments: Sequence[Documents], gone: NDArray[np.intp]) -> None:
        self._segments = segments
        self._starts = [0, *accumulate(len(each.ids) for each in segments)]
        self._gone = frozenset(gone.tolist())
        self._stamps: _Stamps | None = None
        self._is_asked_again = False
        self.ids = joined([each.ids for each in segments])
        self.lengths = joined([each.lengths for each in segments])
        self.path_starts = joined([each.path_starts for each in segments])
        self.body_starts = joined([each.body_starts for each in segments])

    @cached_property
    def statistics(self) -> Statistics:
        """Statistics of all documents but deleted ones."""
        stays = np.ones(len(self.ids), np.bool_)
        stays[list(self._gone)] = False
        total, codes = int(stays.sum()), set[str]()
        for segment, own in zip(self._segments, np.split(stays, self._starts[1:-1]), strict=True):
            codes.update(segment.codes[at] for at in np.unique(segment.languages[own]).tolist())
        lists = joined([each.lists for each in self._segments]) != 0
        return Statistics(
            float(total),
            float(self.lengths[stays].sum()) / total if total else 0.0,  # halves: exact
            sorted(codes - {"en"}),
            frozenset(self.ids[stays & lists].tolist()),
        )

    def having(self, hashes: Collection[str]) -> dict[int, str]:
        """Return the documents with some texts, by number, each with the hash of its text."""
        found = {}
        for segment, start in zip(self._segments, self._starts[:-1], strict=True):
            for slot, hashed in segment.names.hash.among(hashes):
                if start + slot not in self._gone:
                    found[int(segment.ids[slot])] = hashed
        return found

    def places(self, ids: Iterable[int]) -> dict[int, tuple[str, str]]:
        """Return (collection, path) of documents, by number, without deleted ones."""
        found = self._found(ids)
        return {
            number: (columns.names.collection[slot], columns.names.path[slot])
            for number, columns, slot in found
        }

    def named(self, ids: Iterable[int]) -> dict[int, tuple[str, str]]:
        """Return (path, title) of documents, by number, without deleted ones."""
        found = self._found(ids)
        return {
            number: (columns.names.path[slot], columns.names.title[slot])
            for number, columns, slot in found
        }

    def texts(
        self, cursor: Cursor, ids: Sequence[int], from_file: FromFile | None = None
    ) -> dict[int, Text]:
        """Load documents with their texts, by number, without deleted ones.

        Args:
            from_file: reads a text in a fifth of the time that a statement takes.
        """
        found = [(*each, each[1].names.hash[each[2]]) for each in self._found(ids)]
        bodies = {}
        if from_file is not None:
            for number, columns, slot, hashed in found:
                place = columns.names.collection[slot], columns.names.path[slot]
                body = from_file(number, place, hashed)
                if body is not None:
                    bodies[hashed] = body
        others = [hashed for *_, hashed in found if hashed not in bodies]
        bodies |= document_lookup.bodies(cursor, others)
        return {
            number: columns.text(slot, bodies[hashed])
            for number, columns, slot, hashed in found
            if hashed in bodies
        }

    def hashes(self, ids: Iterable[int]) -> dict[int, str]:
        """Return the hashes of the texts of documents, by number, without deleted ones."""
        return {number: columns.names.hash[slot] for number, columns, slot in self._found(ids)}

    def files(self, cursor: Cursor, ids: Iterable[int]) -> dict[int, FileStamp]:
        """Return the files of documents, by number, without those inside of another file.

        Sizes and times are read from the table: an update can change them and leave the documents
        as they are, so that a sidecar does not have them. They are read at the second call, and the
        first returns none: for one search, a statement about its results takes half as long.
        """
        if self._stamps is None:
            if not self._is_asked_again:
                self._is_asked_again = True
                return {}
            self._stamps = _stamps(cursor)
        numbers, sizes, times = self._stamps
        found = {}
        for number, columns, slot in self._found(ids):
            at = int(numbers.searchsorted(numbers.dtype.type(number)))
            if at < len(numbers) and numbers[at] == number:
                names = columns.names
                found[number] = FileStamp(
                    names.collection[slot], names.path[slot], int(sizes[at]), int(times[at])
                )
        return found

    def _found(self, ids: Iterable[int]) -> Iterator[tuple[int, Documents, int]]:
        """Yield numbers with the segments and the slots there."""
        numbers = np.fromiter(ids, self.ids.dtype)  # of another type, all of them are converted
        slots = self.ids.searchsorted(numbers)
        for number, slot in zip(numbers.tolist(), slots.tolist(), strict=True):
            if slot == len(self.ids) or self.ids[slot] != number or slot in self._gone:
                continue
            at = bisect_right(self._starts, slot) - 1
            yield number, self._segments[at], slot - self._starts[at]


def _stamps(cursor: Cursor) -> _Stamps:
    """Load the number, size and time of all files."""
    text, _ = given("held/files", {})
    found = cursor.connection.execute(text).fetchnumpy()
    return found["document_id"], found["size"], found["mtime_ns"]


def joined(arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Concatenate arrays; a single one is not copied."""
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)


def _ascending(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Sort an array, if it is not sorted, and keep each value once."""
    is_next = values[1:] > values[:-1]
    if not is_next.all():
        if (values[1:] < values[:-1]).any():
            values = np.sort(values)
            is_next = values[1:] > values[:-1]
        values = values[np.append(True, is_next)]
    return values


def _in_both(one: NDArray[np.int64], other: NDArray[np.int64]) -> NDArray[np.int64]:
    """Intersect two arrays that ascend and have each value once."""
    found: NDArray[np.int64]
    if FEW * len(one) < len(other):
        at = np.minimum(other.searchsorted(one), len(other) - 1)
        found = one[other[at] == one]
    else:
        both = np.concatenate((one, other))
        both.sort(kind="stable")  # merges the two
        found = both[:-1][both[1:] == both[:-1]]
    return found
