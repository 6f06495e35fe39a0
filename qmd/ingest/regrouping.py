"""Groups of texts that are nearly the same, made anew for what has changed in a large index.

Texts that are near a changed one, those near them, and so on, are grouped again; no other group can
change. To compare all texts of a million with each other takes 5 s, to find those near some 0.7 s.

What is near is exact. Names are those of now: a title that the number of its texts makes that of
a template, or no longer, counts for the groups that are made anew.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from qmd.ingest.near_duplicates import (
    AT_ONCE,
    CROWD,
    THRESHOLD,
    NamedText,
    Signatures,
    grouped_pairs,
)
from qmd.ingest.sketches import BANDS, SIZE, NearPair, NearSome
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


MANY_BESIDE = 20_000
"""Texts that share a bucket with some from which on all are read with their hashes, some at a time:
their signatures take 5 MB."""


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
        states: of the changed texts. See documents/moved_texts.
    """

    def __init__(self, states: Mapping[str, str]) -> None:
        self.states = states
        self.texts = set(states)
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
        rows = cursor.run("documents/signed", hashes=as_json(list(hashes)))
        new, gone = self.with_state("new"), self.with_state("gone")
        bins = b"".join([bins for _, bins in rows])
        some = NearSome([hash_ for hash_, _ in rows], bins, THRESHOLD, new | gone)
        for others in _beside(cursor, some) if rows else ():
            some.compare(others.hashes, bytes(others.bins))
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


def regrouped(cursor: Cursor) -> bool:
    """Group the texts that have changed, and those near them.

    Not in the transaction that adds their signatures: rows that are not committed have places that
    are far behind all others.

    Returns:
        False: all texts are to be grouped, and nothing was done.
    """
    texts = cursor.one("documents/signed_texts")
    if texts <= FEW_TEXTS or cursor.one("documents/is_first_grouping"):
        return False
    around = Around(dict(cursor.run("documents/moved_texts")))
    if not around.find(cursor, most=int(SHARE * texts)):
        return False
    gone = around.with_state("gone")

    def named(hashes: Sequence[str]) -> list[NamedText]:
        return cursor.rows(NamedText, "documents/names_of_texts", hashes=as_json(list(hashes)))

    here = as_json(sorted(around.texts - gone))
    copied = [hash_ for (hash_,) in cursor.run("documents/copied_of", hashes=here)]
    groups = grouped_pairs(around.near(), named, copied)
    cursor.run("documents/drop_copies", hashes=as_json(sorted(around.texts)))
    if groups:
        cursor.run("documents/add_copies", found=as_json([each._asdict() for each in groups]))
    if gone:
        cursor.run("documents/drop_sketches", hashes=as_json(sorted(gone)))
    return True


def _beside(cursor: Cursor, some: NearSome) -> Iterator[Signatures]:
    """Yield the texts that share a bucket with some; all texts, if those are many."""
    places, found = list[int](), bytearray()
    for low in range(0, cursor.one("documents/signed_places"), AT_ONCE):
        text = filled("documents/bins", low=low, high=low + AT_ONCE)
        for read, signed in values(cursor.connection, text):
            for at in some.sharing(signed):
                places.append(read.cast("q")[at])
                found += signed[at * SIZE : (at + 1) * SIZE]
        if len(places) > MANY_BESIDE:
            yield from _all(cursor)
            return
    hashes = dict(cursor.run("documents/hashes_at", places=as_json(places)))
    yield Signatures([hashes[place] for place in places], found)


def _all(cursor: Cursor) -> Iterator[Signatures]:
    rows = cursor.connection.execute(statement("documents/sketches"))
    while read := rows.fetchmany(AT_ONCE):
        bins = bytearray(b"".join([bins for _, bins in read]))
        yield Signatures([hash_ for hash_, _ in read], bins)
