"""Changes of a folder against the index, in little memory where most files are new."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import overload

from qmd.named_tuple import NamedTuple


class Change(NamedTuple):
    """A difference between a folder and the index.

    Attributes:
        place: of the file among those found, or None: it is gone.
        document_id: that the index has for the path, or None: it is new.
    """

    place: int | None
    document_id: int | None
    path: str
    hash: str | None
    checksum: str | None


class FolderChanges(Sequence[Change]):
    """Changes by path, of which new files are kept as their places alone.

    The changes of a first update of a million files take 8 MB in place of 290.

    Args:
        paths: of the files found, by place.
    """

    def __init__(self, paths: Sequence[str]) -> None:
        self._paths = paths
        self._places = array("q")  # below 0: -1 is the first of the others, -2 the next one
        self._others: list[Change] = []

    def add(self, changes: Iterable[Change]) -> None:
        """Append changes."""
        for change in changes:
            if change.place is not None and change.document_id is None:
                self._places.append(change.place)
            else:
                self._others.append(change)
                self._places.append(-len(self._others))

    def add_new(self, places: Iterable[int]) -> None:
        """Append new files by their places."""
        self._places.extend(places)

    def __len__(self) -> int:
        return len(self._places)

    def __iter__(self) -> Iterator[Change]:
        return map(self._change, self._places)

    @overload
    def __getitem__(self, at: int) -> Change: ...
    @overload
    def __getitem__(self, at: slice) -> list[Change]: ...
    def __getitem__(self, at: int | slice) -> Change | list[Change]:
        if isinstance(at, slice):
            return list(map(self._change, self._places[at]))
        return self._change(self._places[at])

    def _change(self, place: int) -> Change:
        if place < 0:
            return self._others[-1 - place]
        return Change(place, None, self._paths[place], None, None)
