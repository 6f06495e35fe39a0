"""Facets of all documents in memory: a server counts those of a search without the tables.

Two integers for each value of a document: 2 MB for 60,000 documents.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from qmd.named_tuple import NamedTuple

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from qmd.storage.cursor import Cursor


class _Column(NamedTuple):
    """Values of one facet, each with its documents.

    Attributes:
        values: as they are written, in order.
        called: number of the name of each value; values of one name are counted as one.
        slots, numbers: pairs of a document's slot and the number of one of its values.
        named_slots, names: pairs of a slot and the number of a name, none twice.
    """

    values: list[str]
    called: list[int]
    slots: NDArray[np.intp]
    numbers: NDArray[np.intp]
    named_slots: NDArray[np.intp]
    names: NDArray[np.intp]

    def counts(self, chosen: NDArray[np.bool_], most: int) -> list[tuple[str, int]]:
        """Count the chosen documents of each name; the most frequent first."""
        documents = np.bincount(self.names[chosen[self.named_slots]]).tolist()
        shown: dict[int, str] = {}
        for number in np.unique(self.numbers[chosen[self.slots]]).tolist():
            shown[self.called[number]] = self.values[number]  # the last in order
        found = [(value, documents[name]) for name, value in shown.items()]
        return sorted(found, key=lambda each: (-each[1], each[0]))[:most]


class FacetTable(NamedTuple):
    """Facets of all documents of one state of an index."""

    ids: NDArray[np.uint32]
    columns: dict[str, _Column]

    def rows(self, ids: Sequence[int], most: int) -> Iterator[tuple[str, str, int]]:
        """Yield what the statement `documents/facets` gives for a depth of 1.

        Args:
            ids: documents that are counted.
            most: values of a facet at most.
        """
        chosen = np.zeros(len(self.ids), np.bool_)
        wanted = np.fromiter(ids, np.uint32, len(ids))
        slots = self.ids.searchsorted(wanted).clip(0, max(0, len(self.ids) - 1))
        if len(self.ids):
            chosen[slots[self.ids[slots] == wanted]] = True
        for facet, column in self.columns.items():
            for value, documents in column.counts(chosen, most):
                yield facet, value, documents


def load_facets(cursor: Cursor) -> FacetTable:
    """Load the facets of all documents."""
    rows = cursor.run("documents/facet_documents")
    every = [np.array(each, np.uint32) for *_, each in rows]
    ids = np.unique(np.concatenate(every)) if every else np.empty(0, np.uint32)
    facets: dict[str, list[int]] = {}
    for at, (facet, *_) in enumerate(rows):
        facets.setdefault(facet, []).append(at)
    return FacetTable(
        ids,
        {
            facet: _column(
                [rows[at][1] for at in places],
                [rows[at][2] for at in places],
                [ids.searchsorted(every[at]) for at in places],
            )
            for facet, places in facets.items()
        },
    )


def _column(values: list[str], called: Iterable[str], slots: Sequence[NDArray[np.intp]]) -> _Column:
    known: dict[str, int] = {}
    names = [known.setdefault(name, len(known)) for name in called]
    lengths = [len(each) for each in slots]
    all_slots = np.concatenate(slots)
    pairs = np.unique(all_slots * len(known) + np.repeat(names, lengths))
    named_slots, of_names = np.divmod(pairs, len(known))
    numbers = np.repeat(np.arange(len(values)), lengths)
    return _Column(values, names, all_slots, numbers, named_slots, of_names)
