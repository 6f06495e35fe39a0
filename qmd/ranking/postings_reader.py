"""Reader of all postings of the index into memory; see `inverted_index`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from qmd.ranking import bm25
from qmd.ranking.inverted_index import PARTS, SHIFT, Documents, Inverted, Part
from qmd.ranking.lexicon import Lexicon
from qmd.storage.cursor import Cursor
from qmd.storage.statements import given

if TYPE_CHECKING:
    from numpy.typing import NDArray

_WIDE = 1 << 16


class NotWhole(Exception):
    """Postings exist of documents that the index does not have."""


def read(cursor: Cursor, *, goes_on: Callable[[], None]) -> Inverted:
    """Load all postings and words of the index.

    Args:
        goes_on: is called again and again, and may raise to end it.

    Raises:
        NotWhole: they cannot be what they should be.
    """
    documents = _documents(cursor)
    _, _, buried = bm25.statistics(cursor)
    goes_on()
    words = _columns(cursor, "held/words", {})
    lexicon = Lexicon(words["word"].tolist(), words["term_id"])
    parts = []
    for number in range(PARTS):
        goes_on()
        parts.append(_part(cursor, documents, number, buried=buried))
    return Inverted(documents, parts, lexicon)


def _documents(cursor: Cursor) -> Documents:
    rows = cursor.run("held/documents")
    columns = list(zip(*rows, strict=True)) or [()] * 9
    return Documents(
        np.array(columns[0], np.uint32),
        np.array(columns[6], np.float64),
        np.array(columns[7], np.int64),
        np.array(columns[8], np.int64),
        {row[0]: row[1:6] for row in rows},
    )


def _part(cursor: Cursor, documents: Documents, number: int, *, buried: bool) -> Part:
    """Load a part of the postings, in the order of the table."""
    first, last = number << SHIFT, ((number + 1) << SHIFT) - 1
    asked = {"first": first, "last": last, "buried": buried or None}
    found = _columns(cursor, "held/postings", asked)
    terms = found["term_id"]
    holders = found["document_id"]
    slots = documents.ids.searchsorted(holders)
    if (documents.ids.take(slots, mode="clip") != holders).any():
        raise NotWhole
    counts = found["occurrences"]
    # Where runs begin, and these in the order of their terms.
    begins = np.flatnonzero(np.diff(terms, prepend=-1))
    ends = np.append(begins[1:], len(terms))
    order = np.argsort(terms[begins], kind="stable")
    places = (counts.cumsum() - counts)[begins]
    positions = _columns(cursor, "held/positions", asked)["position"]
    if len(positions) != counts.sum():
        raise NotWhole
    wide = np.flatnonzero(positions >= _WIDE)
    return Part(
        terms[begins][order],
        begins[order].astype(np.uint32),
        ends[order].astype(np.uint32),
        places[order],
        _narrow(slots),
        _narrow(found["frequency"]),
        _narrow(counts),
        positions.astype(np.uint16),
        wide,
        positions[wide] & ~np.uint32(_WIDE - 1),
    )


def _narrow(numbers: NDArray[Any]) -> NDArray[Any]:
    """Narrow numbers to two bytes each if possible, else to four."""
    return numbers.astype(np.uint16 if numbers.max(initial=0) < _WIDE else np.uint32)


def _columns(cursor: Cursor, name: str, asked: Mapping[str, object]) -> dict[str, NDArray[Any]]:
    text, taken = given(name, asked)
    found: dict[str, NDArray[Any]] = cursor.connection.execute(text, dict(taken)).fetchnumpy()
    return found
