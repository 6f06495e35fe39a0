"""MinHash signatures of documents: the least hashes of their runs of three words, in 128 bins.

The share of bins in which two documents are equal estimates the share of runs that both have. The
compiled version takes a fiftieth of the time; a property test holds both equal.

Source:
    Li, Owen, Zhang: One Permutation Hashing (2012); Shrivastava, Li: Densifying One Permutation
    Hashing via Rotation (2014), for the bins without a run.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Container, MutableSequence, Sequence
from itertools import accumulate
from math import ceil
from operator import eq
from typing import TYPE_CHECKING

from qmd.named_tuple import NamedTuple
from qmd.storage.arrow import Relation, blobs, lists, numbers, texts

if TYPE_CHECKING:
    from qmd.ingest.merging import PostingColumns

BINS, BANDS, ROWS = 128, 16, 5
"""Minima of a signature; bands of them that are hashed to find candidates; minima of a band."""

SIZE = 2 * BINS
"""Bytes of a signature."""

LEAST = 15
"""Bins that are filled by a text that has a signature, by about as many different runs of words:
shorter texts may differ in the word that counts."""

_EMPTY = 2**64 - 1
_ALL = 2**64 - 1

try:
    from qmd.ingest.compiled import sketches as _compiled
except ImportError:
    _compiled = None  # type: ignore[assignment]


def sketches(found: PostingColumns, hashes: Sequence[str]) -> Relation:
    """Make the signatures of a batch: hash, bins and keys of their buckets, no hash twice.

    Args:
        hashes: of the contents of all documents of the batch.
    """
    make = _compiled.sketched if _compiled else plainly_sketched
    told, bins = make(
        found.term_id, found.number, found.offsets, found.positions, found.starts, len(hashes)
    )
    chosen = {hash_: number for number, hash_ in enumerate(hashes)}
    signed = [bins[at * SIZE : (at + 1) * SIZE] * told[at] for at in chosen.values()]
    keys = bucket_keys(b"".join(signed))
    ends = array("i", accumulate((BANDS * bool(each) for each in signed), initial=0))
    return Relation(
        hash=texts([*chosen]),
        bins=blobs(signed),
        buckets=lists(memoryview(ends), numbers("uint32", memoryview(keys))),
    )


def bucket_keys(bins: bytes | memoryview) -> array[int]:
    """Return keys of the buckets of signatures, 32 bits each, `BANDS` for each signature.

    Texts that share a bucket share a key; hardly any others do.
    """
    minima = memoryview(bins).cast("H")
    return array("I", (_compiled.bucket_keys if _compiled else plain_keys)(minima))


def beside_another(keys: array[int]) -> list[int]:
    """Find texts that share a bucket with another one: no others are near any.

    Args:
        keys: of all texts. See `bucket_keys`.

    Returns:
        Their places, ascending.
    """
    return (_compiled.beside_another if _compiled else plainly_beside_another)(keys)


def near_pairs(
    hashes: Sequence[str], bins: bytes | bytearray, least: float, crowd: int
) -> list[tuple[str, str, float]]:
    """Find pairs of texts that have a share of their runs of words in common.

    Args:
        hashes: of the texts, no hash twice.
        bins: signature of each text, in the same order.
        least: share, 0 to 1.
        crowd: texts of one bucket from which on each is compared with the first only.

    Returns:
        Two hashes, the lower first, and the estimated share; ascending.
    """
    find = _compiled.near_pairs if _compiled else plain_pairs
    order = array("I", sorted(range(len(hashes)), key=hashes.__getitem__))
    found = find(memoryview(bins).cast("H"), order, ceil(least * BINS), crowd) if hashes else []
    return [(hashes[order[one]], hashes[order[other]], equal / BINS) for one, other, equal in found]


class NearPair(NamedTuple):
    """Two texts that share runs of words.

    Attributes:
        one: the lower hash.
        share: of their runs that both have, as estimated.
        buckets: keys of the buckets that have both.
    """

    one: str
    other: str
    share: float
    buckets: tuple[int, ...]


class NearSome:
    """Texts that are near some.

    Args:
        hashes: of these, no hash twice.
        bins: signature of each, in the same order.
        least: share of their runs of words that two texts have in common, 0 to 1.
        apart: texts that count as the first of no bucket.

    Attributes:
        keys: of the buckets of each text, `BANDS` for each.
        texts: number of texts in each of them.
        firsts: the lowest hash in each of them, or None.
        pairs: found so far.
    """

    def __init__(
        self, hashes: Sequence[str], bins: bytes, least: float, apart: Container[str] = ()
    ) -> None:
        self.hashes, self._least, self._apart = hashes, ceil(least * BINS), apart
        self._bins = memoryview(bins).cast("H")
        whole = range(0, len(self._bins), BINS)
        self.keys = [key for at in whole for key in _buckets(self._bins[at : at + BINS])]
        self.texts = array("I", bytes(4 * len(self.keys)))
        self.firsts: list[str | None] = [None] * len(self.keys)
        self.pairs: set[NearPair] = set()
        self._shared = array("I", sorted({_short(key) for key in self.keys}))

    def sharing(self, keys: array[int] | memoryview) -> list[int]:
        """Find other texts that share a key: no others matter to `compare`.

        Args:
            keys: of the others. See `bucket_keys`.

        Returns:
            Their places, ascending.
        """
        find = _compiled.sharing if _compiled else plainly_sharing
        return find(self._shared, memoryview(keys))

    def compare(self, hashes: list[str], bins: bytes) -> None:
        """Compare these with other texts, or with themselves.

        Args:
            hashes: of the others.
            bins: signature of each, in the same order.
        """
        find = _compiled.near_some if _compiled else plainly_near_some
        others = memoryview(bins).cast("H")
        for at, row, equal, bands in find(
            self._bins, others, hashes, self._apart, self._least, self.texts, self.firsts
        ):
            one, other = sorted((self.hashes[at], hashes[row]))
            if one != other:
                keys = self.keys[at * BANDS : (at + 1) * BANDS]
                shared = tuple(key for band, key in enumerate(keys) if bands >> band & 1)
                self.pairs.add(NearPair(one, other, equal / BINS, shared))


def plainly_sharing(some: Sequence[int], others: Sequence[int]) -> list[int]:
    """Find texts that share a key with some in plain Python. See `NearSome.sharing`.

    Args:
        some: keys, ascending.
        others: `BANDS` keys of each text.
    """
    known = set(some)
    whole = range(0, len(others), BANDS)
    return [at // BANDS for at in whole if not known.isdisjoint(others[at : at + BANDS])]


def plainly_beside_another(keys: Sequence[int]) -> list[int]:
    """Find texts that share a bucket with another one in plain Python. See `beside_another`."""
    times = Counter((at % BANDS, key) for at, key in enumerate(keys))
    return sorted({at // BANDS for at, key in enumerate(keys) if times[at % BANDS, key] > 1})


def plain_keys(bins: Sequence[int]) -> list[int]:
    """Make keys of buckets in plain Python. See `bucket_keys`."""
    whole = range(0, len(bins), BINS)
    return [_short(key) for at in whole for key in _buckets(bins[at : at + BINS])]


def plainly_near_some(
    some: Sequence[int],
    others: Sequence[int],
    hashes: Sequence[str],
    apart: Container[str],
    least: int,
    texts: MutableSequence[int],
    firsts: list[str | None],
) -> list[tuple[int, int, int, int]]:
    """Find texts near some in plain Python.

    Args:
        some: `BINS` minima of each text.
        others: of each of the others.
        hashes: of the others.
        apart: see `NearSome`, as of `texts` and `firsts`, which are added to.
        least: equal minima.

    Returns:
        Places of a text and of another one, their equal minima, and a bit for each band that is
        equal; by the place of the other one, then of the text.
    """
    known: dict[int, list[int]] = {}
    for text in range(len(some) // BINS):
        for band, key in enumerate(_buckets(some[text * BINS : (text + 1) * BINS])):
            known.setdefault(key, []).append(BANDS * text + band)
    found = []
    for row in range(len(others) // BINS):
        signature = others[row * BINS : (row + 1) * BINS]
        shared: dict[int, int] = {}
        for place in (each for key in _buckets(signature) for each in known.get(key, ())):
            texts[place] += 1
            first = firsts[place]
            if (first is None or hashes[row] < first) and hashes[row] not in apart:
                firsts[place] = hashes[row]
            shared[place // BANDS] = shared.get(place // BANDS, 0) | 1 << place % BANDS
        for text, bands in sorted(shared.items()):
            equal = sum(map(eq, signature, some[text * BINS : (text + 1) * BINS]))
            if equal >= least:
                found.append((text, row, equal, bands))
    return found


def plainly_sketched(
    term_id: Sequence[int],
    number: Sequence[int],
    offsets: Sequence[int],
    positions: Sequence[int],
    starts: Sequence[int],
    documents: int,
) -> tuple[bytes, bytes]:
    """Make signatures in plain Python.

    Args:
        term_id: columns of postings. See `merging.PostingColumns`.

    Returns:
        A byte for each document, 1 if it has a signature; its minima, 16 bits each.
    """
    words: list[dict[int, int]] = [{} for _ in range(documents)]
    for at, term in enumerate(term_id):
        document = number[at]
        word = (_mixed(term & _ALL) >> 32) | 1
        for position in positions[offsets[at] : offsets[at + 1]]:
            if position >= starts[3 * document + 2]:
                words[document][position] = word
    told, bins = bytearray(), array("H")
    for found in words:
        run = [found[position] for position in sorted(found)]
        least = _least(run)
        told.append(BINS - least.count(_EMPTY) >= LEAST)
        bins.extend(_signature(least) if told[-1] else [0] * BINS)
    return bytes(told), bins.tobytes()


def _least(words: Sequence[int]) -> list[int]:
    """Return the least hash of runs in each bin; `_EMPTY` without a run."""
    least = [_EMPTY] * BINS
    for first, second, third in zip(words, words[1:], words[2:], strict=False):
        value = _mixed((first * 3 + second * 5 + third * 7) & _ALL)
        place, value = value >> 57, value & (2**57 - 1)
        least[place] = min(least[place], value)
    return least


def _signature(least: Sequence[int]) -> list[int]:
    """Take 16 bits of each minimum; a bin without one takes that of the next with one."""
    signature = []
    for place in range(BINS):
        gap = next(gap for gap in range(BINS) if least[(place + gap) % BINS] != _EMPTY)
        signature.append((least[(place + gap) % BINS] + gap * 0x9E37) & 0xFFFF)
    return signature


def plain_pairs(
    bins: Sequence[int], order: Sequence[int], least: int, crowd: int
) -> list[tuple[int, int, int]]:
    """Find near pairs in plain Python.

    Args:
        bins: `BINS` minima of each text.
        order: of the texts: the place of each rank in `bins`.
        least: equal minima.
        crowd: see `near_pairs`.

    Returns:
        The ranks of two texts, the lower first, and their equal minima.
    """
    signatures = [bins[at * BINS : (at + 1) * BINS] for at in order]
    buckets: dict[int, list[int]] = {}
    for text, signature in enumerate(signatures):
        for bucket in _buckets(signature):
            buckets.setdefault(bucket, []).append(text)
    candidates = {
        (one, other)
        for there in buckets.values()
        for at, one in enumerate(there if len(there) < crowd else there[:1])
        for other in there[at + 1 :]
    }
    counted = (
        (one, other, sum(map(eq, signatures[one], signatures[other])))
        for one, other in sorted(candidates)
    )
    return [each for each in counted if each[2] >= least]


def _buckets(signature: Sequence[int]) -> list[int]:
    found = []
    for band in range(BANDS):
        value = band
        for row in range(ROWS):
            value = _mixed(value ^ ((signature[band * ROWS + row] << 32) + row))
        found.append(value)
    return found


def _short(key: int) -> int:
    return key >> 32


def _mixed(value: int) -> int:
    """Mix the bits of a number. Source: MurmurHash3 (public domain), fmix64."""
    value = ((value ^ (value >> 33)) * 0xFF51AFD7ED558CCD) & _ALL
    value = ((value ^ (value >> 33)) * 0xC4CEB9FE1A85EC53) & _ALL
    return value ^ (value >> 33)
