"""A batch of documents as postings, by Arrow and numpy: the rules of `text/words.py` at full speed.

All that is no part of a word becomes a blank, byte by byte. Arrow cuts the fields there and
numbers the words, each distinct one is looked up once, and what it stands for is sorted by
(term, place): one sort of integers instead of a Python object per word.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from qmd.pipeline.vocabulary import Vocabulary
from qmd.text import words

FIELDS = ("title", "path", "body")
"""Order of a document's fields, and so of their positions."""

FEW = 1_000_000
"""Bytes of words that are told apart one by one: to load what does it faster would take longer."""

_WORDS_ALONE = bytes(
    code if code >= 128 or chr(code).isalnum() or code == 95 else 32 for code in range(256)
)


@dataclass(frozen=True, slots=True)
class Postings:
    """Postings of a batch, sorted by (term, document).

    Attributes:
        term_id: int64[n]
        document: uint32[n], the document's number within the batch.
        frequencies: uint32[3, n], occurrences in title, path and body.
        offsets: int32[n + 1] into `positions`.
        positions: uint32[m], ascending within a posting.
        lengths: uint32[3, documents], occurrences of all terms in each field.
        starts: uint32[3, documents], position at which each field begins.
    """

    term_id: npt.NDArray[np.int64]
    document: npt.NDArray[np.uint32]
    frequencies: npt.NDArray[np.uint32]
    offsets: npt.NDArray[np.int32]
    positions: npt.NDArray[np.uint32]
    lengths: npt.NDArray[np.uint32]
    starts: npt.NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class Pieces:
    """What each of some raw words is indexed as.

    Attributes:
        width: int64[words], positions that a word takes.
        count: int64[words], pieces of a word.
        term_id: int64[pieces], word after word.
        shift: int64[pieces], from the word's first position.
    """

    width: npt.NDArray[np.int64]
    count: npt.NDArray[np.int64]
    term_id: npt.NDArray[np.int64]
    shift: npt.NDArray[np.int64]


def tokenise(documents: Sequence[tuple[str, str, str | bytes]], vocabulary: Vocabulary) -> Postings:
    """Postings of (title, path, body) triples. A body of nothing but ASCII may be bytes.

    Positions count words from the start of the title; one is left out between two
    fields, so that no phrase reaches across.
    """
    number, distinct, words_in_field = _words(
        [
            field if isinstance(field, bytes) else words.spaced(field).encode()
            for document in documents
            for field in document
        ]
    )
    return _grouped(_cut(vocabulary, distinct), number, words_in_field)


def _words(
    fields: Sequence[bytes],
) -> tuple[npt.NDArray[np.int32], list[str], npt.NDArray[np.int64]]:
    """The number of each word among the distinct ones, these, and how many words each field has."""
    alone = [field.translate(_WORDS_ALONE).strip() for field in fields]
    told = _told_apart_one_by_one if sum(map(len, alone)) < FEW else _told_apart
    number, distinct, in_field = told(alone)
    cut = [word if len(word) <= words.LONGEST else word[: words.LONGEST] for word in distinct]
    return number, [word.decode(errors="ignore") for word in cut], in_field


def _told_apart_one_by_one(
    fields: Sequence[bytes],
) -> tuple[npt.NDArray[np.int32], list[bytes], npt.NDArray[np.int64]]:
    split = [field.split() for field in fields]
    numbers: dict[bytes, int] = {}
    number = [numbers.setdefault(word, len(numbers)) for part in split for word in part]
    return np.array(number, np.int32), list(numbers), np.array([*map(len, split)], np.int64)


def _told_apart(
    fields: Sequence[bytes],
) -> tuple[npt.NDArray[np.int32], list[bytes], npt.NDArray[np.int64]]:
    import pyarrow as pa
    import pyarrow.compute as pc

    # An empty field would have one empty word.
    split = pc.ascii_split_whitespace(pa.array([f or None for f in fields], pa.large_string()))
    encoded = split.values.dictionary_encode()
    distinct = encoded.dictionary.cast(pa.large_binary()).to_pylist()
    return encoded.indices.to_numpy(), distinct, np.diff(split.offsets.to_numpy()).astype(np.int64)


def _cut(vocabulary: Vocabulary, raw_words: Sequence[str]) -> Pieces:
    """The pieces of distinct raw words; the vocabulary learns new ones."""
    vocabulary.learn(raw_words)
    numbers = map(vocabulary.numbers.__getitem__, raw_words)
    known = np.fromiter(numbers, np.int64, len(raw_words))
    plain = known >= 0
    width, count = np.ones(len(known), np.int64), np.ones(len(known), np.int64)
    others = [vocabulary.compounds[-1 - number] for number in known[~plain].tolist()]
    width[~plain] = [taken for taken, _, _ in others]
    count[~plain] = [len(shifts) for _, _, shifts in others]
    number = np.repeat(known, count)
    shift = np.zeros(len(number), np.int64)
    compound = np.repeat(~plain, count)
    number[compound] = [n for _, numbers, _ in others for n in numbers]
    shift[compound] = [s for _, _, shifts in others for s in shifts]
    return Pieces(width, count, np.array(vocabulary.term_ids, np.int64)[number], shift)


def _grouped(
    cut: Pieces, number: npt.NDArray[np.int32], words_in_field: npt.NDArray[np.int64]
) -> Postings:
    """Words in order of appearance, turned into postings in order of (term, document).

    Args:
        cut: the pieces of the distinct words.
        number: of each word among the distinct ones, in order of appearance.
        words_in_field: of each field, three to a document.
    """
    fields = len(words_in_field)
    terms, rank = np.unique(cut.term_id, return_inverse=True)
    place, ends = _placed(cut.width.astype(np.uint32)[number], words_in_field)
    begins = np.append(np.uint32(0), ends[:-1])
    origin = begins[:: len(FIELDS)]

    # One sort of integers: the term in the high half, the place in the low half. Here and below
    # nothing is held that is not needed any more: a batch is most of what an update takes.
    keys = _keys(cut, rank.astype(np.uint64) << np.uint64(32), number, place)
    del place
    keys.sort()
    place_of = keys.astype(np.uint32)
    keys >>= np.uint64(32)
    field_of = np.repeat(np.arange(fields, dtype=np.int32), np.diff(ends, prepend=0))[place_of]
    document_of = field_of // len(FIELDS)
    kind_of = field_of % len(FIELDS)
    lengths = np.bincount(field_of, minlength=fields).astype(np.uint32)
    del field_of

    new = np.ones(len(keys), np.bool_)
    new[1:] = (keys[1:] != keys[:-1]) | (document_of[1:] != document_of[:-1])
    heads = np.flatnonzero(new)
    offsets = np.append(heads, len(keys)).astype(np.int32)
    frequencies = np.empty((len(FIELDS), len(heads)), np.uint32)
    frequencies[0] = _counts(kind_of == 0, heads)
    frequencies[1] = _counts(kind_of == 1, heads)
    frequencies[2] = np.diff(offsets) - frequencies[0] - frequencies[1]
    return Postings(
        term_id=terms[keys[heads]],
        document=document_of[heads].astype(np.uint32),
        frequencies=frequencies,
        offsets=offsets,
        positions=place_of - origin[document_of],
        lengths=lengths.reshape(-1, len(FIELDS)).T,
        starts=(begins - np.repeat(origin, len(FIELDS))).reshape(-1, len(FIELDS)).T,
    )


def _placed(
    taken: npt.NDArray[np.uint32], words_in_field: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32]]:
    """The place of each word, and where each field ends.

    A place is a word's position in the whole batch, with one left out after each field.

    Args:
        taken: positions that each word takes.
    """
    field = np.arange(len(words_in_field), dtype=np.uint32)
    place = np.cumsum(taken, dtype=np.uint32)
    ends = np.append(np.uint32(0), place)[np.cumsum(words_in_field)] + field + np.uint32(1)
    place -= taken
    place += np.repeat(field, words_in_field)
    return place, ends


def _keys(
    cut: Pieces,
    rank: npt.NDArray[np.uint64],
    number: npt.NDArray[np.int32],
    place: npt.NDArray[np.uint32],
) -> npt.NDArray[np.uint64]:
    """`rank` of each piece's term, and its place below."""
    if not len(rank):
        return np.empty(0, np.uint64)
    begin = np.cumsum(cut.count) - cut.count
    one = cut.count == 1
    if one.all():
        return rank[number] | place
    plain = one[number]
    first = rank[np.minimum(begin, len(rank) - 1)]
    others = np.flatnonzero(~plain)
    count = cut.count[number[others]]
    within = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
    piece = np.repeat(begin[number[others]], count) + within
    at = np.repeat(place[others], count) + cut.shift[piece].astype(np.uint32)
    return np.concatenate([first[number[plain]] | place[plain], rank[piece] | at])


def _counts(mask: npt.NDArray[np.bool_], heads: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
    if not len(heads):
        return np.empty(0, np.uint32)
    return np.add.reduceat(mask, heads, dtype=np.uint32)
