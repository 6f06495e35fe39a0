"""Builder of the segments of an `inverted_index`, from the tables."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from qmd.named_tuple import NamedTuple
from qmd.ranking import segment_check
from qmd.ranking.inverted_index import Inverted
from qmd.ranking.lexicon import Lexicon, Strings, StringsBuilder, merged
from qmd.ranking.postings import ALL_ROWS
from qmd.ranking.segments import TERM_BITS, Documents, Names, Part, Segment, joined
from qmd.ranking.sidecar_file import Packed, Packer
from qmd.storage.cursor import Cursor
from qmd.storage.statements import filled

if TYPE_CHECKING:
    from numpy.typing import NDArray

PARTS, LARGE_PART = 8, 2_000_000
"""Parts of a whole index, which are read one after the other: a power of two; twice as many for an
index with more occurrences than these for each part."""

DOCUMENTS_AT_ONCE = 50_000
"""Documents whose names are objects of Python at a time: those of a million take 600 MB."""

WORDS_AT_ONCE = 50_000
"""Words that are objects of Python at a time: all two million of a million documents take 250 MB
more."""

CHANGED, FEW = 0.1, 500
"""Share of new and removed documents from which on the sidecar is made anew, and the count that is
too small for that: until then, what is new is read from the tables, in that share of the time."""

SMALLER, LADDER = 4, 3
"""Documents for each new one, up to which those added before are read again with it, and segments
of added documents at most: each is a quarter of the one before it."""

_WIDE = 1 << 16


class NotWhole(Exception):
    """Postings exist of documents that the index does not have."""


class TablesState(NamedTuple):
    """State of the tables that a segment was made of.

    Attributes:
        rules: by which its postings were made.
        bound: rows of the table of words that it has: those before this one.
        digest: of these words.
    """

    rules: str
    bound: int
    digest: str


class KnownSegment(NamedTuple):
    """Segment, with what tells whether it is that of an index.

    Attributes:
        revisions: uint64, of each document.
    """

    state: TablesState
    segment: Segment
    revisions: NDArray[np.uint64]


class MappedSegment(NamedTuple):
    """Segment of a sidecar, with what tells whether it is that of an index.

    Attributes:
        revisions: uint64, of each document.
        release: releases the memory of what was read of the file, which later reads load again.
        added: segments of documents that were added later, which this process has read.
    """

    state: TablesState
    segment: Segment
    revisions: NDArray[np.uint64]
    release: Callable[[], None]
    added: tuple[KnownSegment, ...] = ()

    @property
    def parts(self) -> list[KnownSegment]:
        """All segments, each with documents of higher numbers than those before it."""
        return [KnownSegment(self.state, self.segment, self.revisions), *self.added]


class SidecarDifference(NamedTuple):
    """Difference between segments and the tables.

    Attributes:
        gone: slots whose documents are not in the index any more.
        since: number of the first document that is new; None: there is none.
        new: number of new documents.
        state: of the tables.
        ids, revisions: of all documents of the tables.
    """

    gone: NDArray[np.intp]
    since: int | None
    new: int
    state: TablesState
    ids: NDArray[np.uint32]
    revisions: NDArray[np.uint64]


def pack(cursor: Cursor, packer: Packer, *, goes_on: Callable[[], None]) -> None:
    """Write the postings, words and columns of all documents of the index into a sidecar.

    Args:
        goes_on: is called again and again, and may raise to end it.

    Raises:
        NotWhole: they cannot be what they should be.
    """
    packer.add(revisions=_revisions(cursor)["revision"])
    state, _ = _state(cursor, None)
    [(_, occurrences, _)] = cursor.run("held/size")
    parts = PARTS
    while occurrences > parts * LARGE_PART:
        parts *= 2
    for arrays in _arrays(cursor, since=None, after=None, parts=parts):
        packer.add(**arrays)
        goes_on()
    packer.finish({"state": state, "parts": parts})


def unpacked(packed: Packed, *, checked: bool = False) -> MappedSegment | None:
    """Return the segment of a sidecar; None if its arrays do not fit each other.

    Args:
        checked: they were found to fit before.
    """
    try:
        arrays, note = packed.arrays, packed.note
        state, revisions = TablesState(*note["state"]), arrays["revisions"]
        segment = _segment(arrays, note["parts"])
        fits = len(revisions) == len(segment.documents.ids)
        if fits and (checked or segment_check.is_whole(segment, release=packed.release)):
            packed.release()
            return MappedSegment(state, segment, revisions, packed.release)
    except (KeyError, TypeError, ValueError, IndexError):
        pass  # another program made it
    return None


def compared(cursor: Cursor, known: MappedSegment) -> SidecarDifference | None:
    """Compare segments with the tables.

    Returns:
        None if they were made of another index, or of what has been changed since.
    """
    parts = known.parts
    last = parts[-1].state
    state, digest = _state(cursor, last)
    if state._replace(bound=last.bound, digest=digest) != last or state.bound < last.bound:
        return None
    now = _revisions(cursor)
    ids, own = now["document_id"], joined([each.segment.documents.ids for each in parts])
    revisions = joined([each.revisions for each in parts])
    slots = own.searchsorted(ids)
    old = int(slots.searchsorted(len(own)))  # documents up to the last one of the segments
    slots = slots[:old]
    is_same = (own[slots] == ids[:old]) & (revisions[slots] == now["revision"][:old])
    if not is_same.all():
        return None
    gone = np.ones(len(own), np.bool_)
    gone[slots] = False
    since = int(ids[old]) if old < len(ids) else None
    return SidecarDifference(gone.nonzero()[0], since, len(ids) - old, state, ids, now["revision"])


def is_much(known: MappedSegment, since: SidecarDifference) -> bool:
    """Check that so much is new or gone that a new sidecar is better."""
    new = since.new + sum(len(each.revisions) for each in known.added)
    return new + len(since.gone) > max(FEW, CHANGED * len(known.revisions))


def extended(
    cursor: Cursor, known: MappedSegment, since: SidecarDifference
) -> tuple[MappedSegment, NDArray[np.intp]]:
    """Add the documents and words of the tables that segments lack.

    Returns:
        All segments, and the slots whose documents are not in the index any more.

    Raises:
        NotWhole: they cannot be what they should be.
    """
    parts, new = known.parts, since.new
    last, again = parts[-1].state, list[Lexicon]()
    if not new and since.state == parts[-1].state:
        return known, since.gone
    while len(parts) > LADDER or (len(parts) > 1 and len(parts[-1].revisions) <= SMALLER * new):
        part = parts.pop()
        new += len(part.revisions)
        again.append(part.segment.lexicon)
    ids = joined([each.segment.documents.ids for each in parts])
    first = int(ids[-1]) + 1
    segment = whole(cursor, since=first, after=last.bound)
    if again:  # their words may have other rows by now: a merge sorts all words
        segment = segment._replace(lexicon=merged([*again, segment.lexicon]))
    added = KnownSegment(since.state, segment, since.revisions[since.ids >= first])
    kept = since.gone[since.gone < len(ids)]
    return known._replace(added=(*parts[1:], added)), kept


def inverted(known: MappedSegment, gone: NDArray[np.intp]) -> Inverted:
    """Return the postings of all segments, without those of documents in some slots."""
    return Inverted([each.segment for each in known.parts], gone)


def whole(cursor: Cursor, *, since: int | None = None, after: int | None = None) -> Segment:
    """Load a segment from the tables.

    Args:
        since: number of the first document; None: of all.
        after: words of the index to leave out; None: none.

    Raises:
        NotWhole: it cannot be what it should be.
    """
    read: dict[str, NDArray[Any]] = {}
    for arrays in _arrays(cursor, since=since, after=after, parts=1):
        read |= arrays
    return _segment(read, 1)


def _state(cursor: Cursor, last: TablesState | None) -> tuple[TablesState, str]:
    """Return the state of the tables, and the digest of the words that the last state has."""
    [(rules, digest)] = cursor.run("held/state")
    if last is not None and digest == last.digest:
        return TablesState(rules, last.bound, digest), digest
    bound = ALL_ROWS if last is None else last.bound
    [(now, added)] = cursor.run("held/added_words", bound=bound)
    return TablesState(rules, now, digest), str(int(digest) ^ int(added))


def _revisions(cursor: Cursor) -> dict[str, NDArray[Any]]:
    """Load all documents with their revisions, ascending by number."""
    found = _columns(cursor, "held/revisions", {})
    ids = found["document_id"]
    if not (ids[1:] > ids[:-1]).all():
        order = ids.argsort()
        found = {name: column[order] for name, column in found.items()}
    return found


def _segment(arrays: Mapping[str, NDArray[Any]], parts: int) -> Segment:
    """Put a segment together from its arrays."""

    def strings(name: str) -> Strings:
        return Strings(arrays[name], arrays[f"{name}_bounds"])

    documents = Documents(
        arrays["ids"],
        arrays["lengths"],
        arrays["path_starts"],
        arrays["body_starts"],
        arrays["matter"],
        arrays["languages"],
        arrays["lists"],
        strings("codes"),
        Names(*map(strings, Names._fields)),
    )
    lexicon = Lexicon(strings("words"), arrays["word_terms"])
    return Segment(
        documents,
        lexicon,
        [Part(*(arrays[f"{name}_{at}"] for name in Part._fields)) for at in range(parts)],
    )


def _arrays(
    cursor: Cursor, *, since: int | None, after: int | None, parts: int
) -> Iterator[dict[str, NDArray[Any]]]:
    """Yield the arrays of a segment, some at a time.

    Args:
        since: number of the first document; None: of all.
        after: words of the index to leave out; None: none.

    Raises:
        NotWhole: they cannot be what they should be.
    """
    ids = _columns(cursor, "held/numbers", {"since": since})["document_id"]
    yield from _columns_of_documents(cursor, ids)
    yield _words(cursor, after)
    buried = cursor.one("held/buried")
    for number in range(parts):
        part = _part(cursor, ids, number, parts=parts, since=since, buried=buried)
        yield {f"{name}_{number}": array for name, array in part._asdict().items()}


def _columns_of_documents(
    cursor: Cursor, ids: NDArray[np.uint32]
) -> Iterator[dict[str, NDArray[Any]]]:
    """Yield the columns of documents. Objects of Python are made for some of them at a time."""
    numbers = {
        "matter": np.empty(len(ids), np.int64),
        "lengths": np.empty(len(ids), np.float64),
        "path_starts": np.empty(len(ids), np.int64),
        "body_starts": np.empty(len(ids), np.int64),
    }
    languages, codes = np.empty(len(ids), np.uint32), dict[str, int]()
    lists = np.empty(len(ids), np.uint8)
    names = {name: StringsBuilder() for name in Names._fields}
    for first in range(0, len(ids), DOCUMENTS_AT_ONCE):
        some = slice(first, first + DOCUMENTS_AT_ONCE)
        asked = {"first": int(ids[some][0]), "last": int(ids[some][-1])}
        found = _columns(cursor, "held/documents", asked)
        for name, column in numbers.items():
            column[some] = found[name]
        languages[some] = [codes.setdefault(each, len(codes)) for each in found["lang"].tolist()]
        lists[some] = found["is_list"]
        for name, strings in names.items():
            strings.add(found[name].tolist())
    yield {"ids": ids, "languages": _narrow(languages), "lists": lists, **numbers}
    names_of_languages = StringsBuilder()
    names_of_languages.add(codes)
    yield _strings("codes", names_of_languages)
    for name in Names._fields:
        yield _strings(name, names.pop(name))


def _words(cursor: Cursor, after: int | None) -> dict[str, NDArray[Any]]:
    """Load words with their terms. Objects of Python are made for some of them at a time."""
    words, terms = StringsBuilder(), array("q")
    rows = cursor.connection.execute(filled("held/words", after=after))
    while read := rows.fetchmany(WORDS_AT_ONCE):
        some, their_terms = zip(*read, strict=True)
        words.add(some)
        terms.extend(their_terms)
    return _strings("words", words) | {"word_terms": np.frombuffer(terms, np.int64)}


def _strings(name: str, strings: StringsBuilder) -> dict[str, NDArray[Any]]:
    data, bounds = strings.arrays()
    return {name: data, f"{name}_bounds": bounds}


def _part(
    cursor: Cursor,
    ids: NDArray[np.uint32],
    number: int,
    *,
    parts: int,
    since: int | None,
    buried: bool,
) -> Part:
    """Load a part of the postings, sorted by term."""
    shift = TERM_BITS + 1 - parts.bit_length()
    first, last = number << shift, ((number + 1) << shift) - 1
    asked = {"first": first, "last": last, "since": since, "buried": buried or None}
    found = _columns(cursor, "held/postings", asked)
    terms, holders, counts = found["term_id"], found["document_id"], found["occurrences"]
    slots = ids.searchsorted(holders)
    if (ids.take(slots, mode="clip") != holders).any() if len(ids) else len(holders):
        raise NotWhole
    doubled = found["frequency"]
    positions = _columns(cursor, "held/positions", asked)["position"]
    if len(positions) != counts.sum():
        raise NotWhole
    if (np.diff(terms) < 0).any():
        order = terms.argsort(kind="stable")
        places = (counts.cumsum() - counts)[order]
        terms, slots, doubled, counts = (each[order] for each in (terms, slots, doubled, counts))
        positions = positions[_ranges(places, counts)]
    begins = np.flatnonzero(np.diff(terms, prepend=-1))
    wide = np.flatnonzero(positions >= _WIDE)
    return Part(
        terms[begins],
        np.append(begins, len(terms)),
        (counts.cumsum() - counts)[begins],
        _narrow(slots),
        _narrow(doubled),
        _narrow(counts),
        positions.astype(np.uint16),
        wide,
        positions[wide] & ~np.uint32(_WIDE - 1),
    )


def _ranges(starts: NDArray[np.int64], sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the numbers of some ranges, one range after the other."""
    counts = sizes.astype(np.int64)
    shifts: NDArray[Any] = starts - (counts.cumsum() - counts)
    ranges: NDArray[Any] = shifts.repeat(counts)
    ranges += np.arange(len(ranges))
    return ranges


def _narrow(numbers: NDArray[Any]) -> NDArray[Any]:
    """Narrow numbers to one or two bytes each if possible, else to four."""
    most = numbers.max(initial=0)
    return numbers.astype(np.uint8 if most < 256 else np.uint16 if most < _WIDE else np.uint32)


def _columns(cursor: Cursor, name: str, asked: Mapping[str, int | None]) -> dict[str, NDArray[Any]]:
    text = filled(name, **asked)
    found: dict[str, NDArray[Any]] = cursor.connection.execute(text).fetchnumpy()
    return found
