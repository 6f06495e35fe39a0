"""Groups of texts that are nearly the same, made anew for what has changed in a large index.

Texts that are near a changed one, those near them, and so on, are grouped again; no other pair is
near, or no longer.

What is near is exact. Names are those of now, for the groups that are made anew: a title that the
number of its texts makes that of a template, or no longer, counts for these, and so does a renamed
collection, by which another document may name a text.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from qmd.ingest.near_duplicates import (
    CROWD,
    THRESHOLD,
    NamedText,
    Signatures,
    grouped_pairs,
)
from qmd.ingest.sketches import BANDS, SIZE, NearPair, NearSome, beside_another, bucket_keys
from qmd.named_tuple import NamedTuple
from qmd.storage.arrow import values
from qmd.storage.cursor import as_json
from qmd.storage.statements import filled, statement

if TYPE_CHECKING:
    from qmd.storage.cursor import Cursor

FEW_TEXTS = 20_000
"""Texts up to which all are compared: that takes less than a tenth of a second."""

SHARE = 0.01
"""Share of the texts up to which the groups of the changed ones alone are made anew."""

ROUNDS = 4
"""Times that texts near the last ones are looked for."""

AT_ONCE = 10_000
"""Signatures that are read at once."""

KEYS_AT_ONCE = 100_000
"""Signatures of which the keys are read at once: 6 MB."""

MANY_BESIDE = 20_000
"""Texts that share a bucket with some from which on all are read with their hashes, some at a time:
their signatures take 5 MB."""


class MovedText(NamedTuple):
    """A text whose group may have changed. See documents/moved_texts."""

    hash: str
    state: str
    place: int | None
    documents: int


class PlacedSignatures(NamedTuple):
    """Texts with their signatures and the places of these.

    Attributes:
        hashes, bins: see `near_duplicates.Signatures`.
        places: see documents/signed.
    """

    hashes: list[str]
    bins: bytearray
    places: list[int]


class Bucket(NamedTuple):
    """Texts of which one band of minima is equal.

    Attributes:
        texts: number of them, with those that are gone.
        first: the lowest hash of those that are neither new nor gone.
        new: of them.
        gone: of them.
    """

    texts: int
    first: str | None
    new: set[str]
    gone: set[str]

    @property
    def was_crowd(self) -> bool:
        """True if its texts were compared with the first only."""
        return self.texts - len(self.new) >= CROWD

    @property
    def is_crowd(self) -> bool:
        """True if its texts are compared with the first only."""
        return self.texts - len(self.gone) >= CROWD

    def lowest(self, others: set[str]) -> str | None:
        """Return the first text, with others of the bucket."""
        return min((each for each in (self.first, *others) if each is not None), default=None)

    def joins(self, pair: NearPair) -> bool:
        """Check that two of its texts are compared with each other."""
        return not self.is_crowd or self.lowest(self.new) in pair[:2]


class Around:
    """Texts around some that have changed: those near them, those near those, and so on.

    Args:
        moved: the changed texts.

    Attributes:
        texts: found so far.
        places: of the signatures of these and of some others.
        copied: those of `moved` that have a signature and several documents.
    """

    def __init__(self, moved: Sequence[MovedText]) -> None:
        self.states = {each.hash: each.state for each in moved}
        self.texts = set(self.states)
        self.places = {each.hash: each.place for each in moved if each.place is not None}
        self.copied = {each.hash for each in moved if each.documents > 1}
        self._buckets: dict[int, Bucket] = {}
        self._pairs: set[NearPair] = set()

    def with_state(self, state: str) -> set[str]:
        """Return the changed texts of a state."""
        return {hash_ for hash_, own in self.states.items() if own == state}

    def find(self, cursor: Cursor, *, most: int) -> bool:
        """Find all of them.

        Returns:
            False: there are more than `most`, or a bucket has become a crowd, or is none any more.
        """
        latest = self.texts
        for _ in range(ROUNDS):
            if not latest:
                return True
            if len(self.texts) > most:
                return False
            beside = self._compare(cursor, sorted(latest))
            if beside is None:
                return False
            latest = beside - self.texts
            self.texts = self.texts | latest
        return not latest

    def near(self) -> list[tuple[str, str, float]]:
        """Return the near pairs of texts that are there."""
        gone = self.with_state("gone")
        return sorted(
            pair[:3]
            for pair in self._pairs
            if gone.isdisjoint(pair[:2]) and any(self._buckets[key].joins(pair) for key in pair[3])
        )

    def _compare(self, cursor: Cursor, hashes: Sequence[str]) -> set[str] | None:
        """Return the texts near some, and the first ones of crowds that have changed."""
        own = _signed(cursor, [self.places[hash_] for hash_ in hashes])
        self.copied -= {*hashes}.difference(own.hashes)
        new, gone = self.with_state("new"), self.with_state("gone")
        some = NearSome(own.hashes, bytes(own.bins), THRESHOLD, new | gone)
        for others in _beside(cursor, some) if own.hashes else ():
            some.compare(others.hashes, bytes(others.bins))
            wanted = {*some.firsts, *(hash_ for pair in some.pairs for hash_ in pair[:2])}
            placed = zip(others.hashes, others.places, strict=True)
            self.places.update(each for each in placed if each[0] in wanted)
        for place, key in enumerate(some.keys):
            hash_ = some.hashes[place // BANDS]
            made = Bucket(some.texts[place], some.firsts[place], set(), set())
            bucket = self._buckets.setdefault(key, made)
            if self.states.get(hash_) in ("new", "gone"):
                (bucket.new if hash_ in new else bucket.gone).add(hash_)
        self._pairs |= some.pairs
        beside = {hash_ for pair in some.pairs for hash_ in pair[:2]}
        for bucket in map(self._buckets.__getitem__, set(some.keys)):
            if bucket.was_crowd != bucket.is_crowd:
                return None
            if bucket.is_crowd and (bucket.new or bucket.gone):
                firsts = {bucket.lowest(bucket.new), bucket.lowest(bucket.gone)}
                if len(firsts) > 1:  # it has another first text than before
                    beside.update(each for each in firsts if each is not None)
        return beside


def moved_texts(cursor: Cursor) -> list[MovedText] | None:
    """Find the texts that have changed; None: all are to be grouped."""
    texts = cursor.one("documents/signed_texts")
    since = cursor.one("documents/ungrouped_since")
    if texts <= FEW_TEXTS or since is None:
        return None
    most = int(SHARE * texts)
    moved = cursor.rows(MovedText, "documents/moved_texts", since=since, limit=most + 1)
    return moved if len(moved) <= most else None


def regrouped(cursor: Cursor, moved: Sequence[MovedText]) -> bool:
    """Group texts that have changed, and those near them.

    Not in the transaction that adds their signatures: rows that are not committed have places that
    are far behind all others.

    Returns:
        False: all texts are to be grouped, and nothing was done.
    """
    around = Around(moved)
    if not around.find(cursor, most=int(SHARE * cursor.one("documents/signed_texts"))):
        return False
    gone, pairs = around.with_state("gone"), around.near()
    near = sorted({hash_ for pair in pairs for hash_ in pair[:2]})
    named: list[NamedText] = []
    if near:  # it reads the hashes of all documents
        named = cursor.rows(NamedText, "documents/names_of_texts", hashes=as_json(near))
    if len(named) < len(near):
        return False  # a signature without a document, which nothing has noted
    copied, others = set(around.copied), sorted(around.texts.difference(around.states))
    if others:
        found = cursor.run("documents/copied_of", hashes=as_json(others))
        copied.update(hash_ for (hash_,) in found)
    groups = grouped_pairs(pairs, lambda _: named, sorted(copied))
    cursor.run("documents/drop_copies", hashes=as_json(sorted(around.texts)))
    if groups:
        cursor.run("documents/add_copies", found=as_json([each._asdict() for each in groups]))
    if gone:
        places = sorted(map(around.places.__getitem__, gone))
        cursor.run("documents/drop_sketches", places=as_json(places))
    return True


def compared_texts(cursor: Cursor) -> Signatures:
    """Load the signatures of all texts that may be near another one; of few, those of all.

    Of many, not in the transaction that adds some. See `regrouped`.
    """
    found = Signatures([], bytearray())
    if cursor.one("documents/signed_texts") <= FEW_TEXTS:
        for part in _all(cursor):
            found.hashes.extend(part.hashes)
            found.bins.extend(part.bins)
        return found
    places, keys = array("q"), array("I")
    for read, some in _keys(cursor):
        places.frombytes(read.cast("B"))
        keys.frombytes(memoryview(some).cast("B"))
    shared = {places[at] for at in beside_another(keys)}
    few = _signed(cursor, sorted(shared)) if len(shared) <= MANY_BESIDE else None
    for part in _all(cursor) if few is None else [few]:
        for at, (hash_, place) in enumerate(zip(part.hashes, part.places, strict=True)):
            if place in shared:
                found.hashes.append(hash_)
                found.bins.extend(part.bins[at * SIZE : (at + 1) * SIZE])
    return found


def _beside(cursor: Cursor, some: NearSome) -> Iterator[PlacedSignatures]:
    """Yield the texts that share a bucket with some; all texts, if those are many."""
    places = list[int]()
    for read, keys in _keys(cursor):  # to the end: DuckDB 2 has one open result at a time
        places += map(read.__getitem__, some.sharing(keys))
    if len(places) > MANY_BESIDE:
        yield from _all(cursor)
    else:
        yield _signed(cursor, places)


def _keys(cursor: Cursor) -> Iterator[tuple[memoryview, array[int] | memoryview]]:
    """Yield the places of some signatures with the keys of their buckets, then of others.

    See `values`: both are there until the next ones are asked for.
    """
    end = cursor.one("documents/signed_places")
    for low in range(0, end, KEYS_AT_ONCE):
        text = filled("documents/buckets", low=low, high=low + KEYS_AT_ONCE)
        for places, keys in values(cursor.connection, text):
            yield places.cast("q"), keys.cast("I")
    if not cursor.one("documents/lack_buckets"):
        return
    for low in range(0, end, AT_ONCE):
        text = filled("documents/bins", low=low, high=low + AT_ONCE)
        for places, bins in values(cursor.connection, text):
            yield places.cast("q"), bucket_keys(bins)


def _signed(cursor: Cursor, places: Sequence[int]) -> PlacedSignatures:
    return _placed(cursor.run("documents/signed", places=as_json(list(places))))


def _all(cursor: Cursor) -> Iterator[PlacedSignatures]:
    rows = cursor.connection.execute(statement("documents/sketches"))
    while read := rows.fetchmany(AT_ONCE):
        yield _placed(read)


def _placed(rows: Sequence[tuple[str, bytes, int]]) -> PlacedSignatures:
    hashes, bins, places = zip(*rows, strict=True) if rows else ((), (), ())
    return PlacedSignatures([*hashes], bytearray(b"".join(bins)), [*places])
