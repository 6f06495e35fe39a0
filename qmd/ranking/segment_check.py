"""Check of the arrays of a segment that comes from a file: no search may leave their bounds."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from qmd.ranking.segments import Documents, Part, Segment

_COUNTS = "u"
"""Kind of the arrays whose numbers are never below 0."""


def is_whole(segment: Segment, *, release: Callable[[], None]) -> bool:
    """Check that all arrays of a segment fit each other.

    A checksum tells a damaged file, but a program could have written any arrays under it.

    Args:
        release: releases the memory of what was read of the file; called before each part.
    """

    def is_next(part: Part) -> bool:
        release()
        return _is_part(part, count)

    count = len(segment.documents.ids)
    parts = len(segment.parts)
    return (
        parts > 0
        and parts & (parts - 1) == 0
        and _are_whole(segment.documents)
        and segment.lexicon.is_whole
        and all(map(is_next, segment.parts))
    )


def _are_whole(documents: Documents) -> bool:
    """Check that there is one value of each column for each document, ascending by number."""
    ids, names = documents.ids, documents.names
    kinds = (documents.languages, documents.lists)
    columns = (documents.lengths, documents.path_starts, documents.body_starts, documents.matter)
    return (
        _have(_COUNTS, ids, *kinds)
        and bool((documents.languages < len(documents.codes)).all())
        and _have("i", *columns[1:])
        and _have("f", documents.lengths)
        and _ascends(ids)
        and all(len(each) == len(ids) for each in (*columns, *kinds, *names))
        and all(each.is_whole for each in (*names, documents.codes))
    )


def _is_part(part: Part, documents: int) -> bool:
    """Check that the postings of each term lie within a part, and their documents exist."""
    count = len(part.slots)
    counted = (part.slots, part.doubled, part.counts, part.positions, part.beyond)
    if not _have(_COUNTS, *counted) or not _have("i", *part[:3], part.wide):
        return False
    if len(part.bounds) != len(part.terms) + 1 or len(part.places) != len(part.terms):
        return False
    if part.bounds[0] != 0 or part.bounds[-1] != count or not _ascends(part.bounds):
        return False
    if not len(part.doubled) == len(part.counts) == count or len(part.wide) != len(part.beyond):
        return False
    if not count:
        return not len(part.positions)
    sizes = np.add.reduceat(part.counts, part.bounds[:-1], dtype=np.int64)
    after = sizes.cumsum()
    return bool(
        part.slots.max() < documents
        and after[-1] == len(part.positions)
        and (part.places == after - sizes).all()
        and _ascends(part.terms)
    )


def _have(kind: str, *arrays: NDArray[Any]) -> bool:
    return all(each.dtype.kind == kind for each in arrays)


def _ascends(numbers: NDArray[Any]) -> bool:
    return bool((numbers[1:] > numbers[:-1]).all())
