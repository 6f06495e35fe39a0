"""Postings of a sidecar for processes that end after one command.

Servers compare a sidecar with the tables themselves, which takes longer than such a command. Here
it is used if an update has compared this very file with this very state of the index, and has
saved so with the facts of the index. Documents that the sidecar lacks are few: they are read from
the tables.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import TypeVar, cast

from qmd import safe_open
from qmd.named_tuple import NamedTuple
from qmd.ranking.postings import FIT, NO_BEGINS, Filed, Fit, Near, Postings, Tally, Wanted
from qmd.ranking.sidecar_format import POSTINGS, contents, sidecar_path, stamp_of
from qmd.storage.cursor import Cursor, Memory

try:
    from qmd.ranking.compiled.posting_search import CompiledPostings
except ImportError:
    CompiledPostings = None  # type: ignore[assignment, misc]

MAPPED = "postings of a command"
"""Kind of the held `_Mapped`, or None where there is none."""

Found = TypeVar("Found")


class _Mapped(NamedTuple):
    postings: CompiledPostings
    since: int | None


def postings_of_sidecar(cursor: Cursor) -> Postings | None:
    """Return the postings of a sidecar that is known to fit; None: the tables have to be read."""
    memory = cursor.memory
    if memory is None or memory.facts is None or CompiledPostings is None:
        return None
    if MAPPED not in memory.held:
        memory.held[MAPPED] = _mapped(memory.facts.index, memory.facts.known(FIT, Fit.of))
    mapped = cast("_Mapped | None", memory.held[MAPPED])
    return None if mapped is None else MappedPostings(cursor, memory, mapped)


def _mapped(index: Path, fit: Fit | None) -> _Mapped | None:
    """Map the sidecar of an index, if it is the file that is known to fit."""
    if fit is None:
        return None
    try:
        descriptor = safe_open.opened(sidecar_path(index, POSTINGS), os.O_RDONLY)
    except OSError:
        return None
    try:
        found = contents(descriptor, POSTINGS)
        if found is None or stamp_of(os.fstat(descriptor)) != fit.stamp:
            return None
        file = mmap.mmap(descriptor, fit.stamp[2], access=mmap.ACCESS_READ)
        postings = CompiledPostings(file, found.places, found.note["parts"], fit.gone)
    except (OSError, ValueError, TypeError, LookupError, OverflowError):
        return None  # another program has written it
    finally:
        os.close(descriptor)
    return _Mapped(postings, fit.since)


class MappedPostings:
    """Postings of a sidecar, and of the documents that it lacks; see `Postings`.

    Args:
        memory: of the index as it is attached.
        mapped: the sidecar.
    """

    def __init__(self, cursor: Cursor, memory: Memory, mapped: _Mapped) -> None:
        self._memory = memory
        self._mapped: CompiledPostings | None = mapped.postings
        self._filed = Filed(cursor)
        self._new = None if mapped.since is None else Filed(cursor, since=mapped.since)
        self._since = mapped.since

    def near(
        self,
        words: Sequence[str],
        whole: Collection[str] = (),
        begins: Mapping[str, str] = NO_BEGINS,
    ) -> Mapping[str, Near]:
        """See `Postings`."""
        return self._filed.near(words, whole, begins)

    def documents(self, terms: Sequence[int]) -> Mapping[int, int]:
        """See `Postings`."""

        def counted(postings: CompiledPostings) -> Mapping[int, int]:
            return {term: postings.count(term) for term in terms}

        def added(one: Mapping[int, int], other: Mapping[int, int]) -> Mapping[int, int]:
            return {term: one[term] + other[term] for term in terms}

        return self._found(counted, lambda filed: filed.documents(terms), added)

    def any_of(self, clauses: Sequence[Sequence[int]]) -> Mapping[int, Tally]:
        """See `Postings`."""

        def counted(postings: CompiledPostings) -> Mapping[int, Tally]:
            return _tallies([postings.any_of(terms) for terms in clauses])

        return self._found(counted, lambda filed: filed.any_of(clauses), _joined)

    def phrases(self, phrases: Sequence[Sequence[tuple[int, int]]]) -> Mapping[int, Tally]:
        """See `Postings`."""

        def counted(postings: CompiledPostings) -> Mapping[int, Tally]:
            return _tallies([postings.phrase(phrase) for phrase in phrases])

        return self._found(counted, lambda filed: filed.phrases(phrases), _joined)

    def ranked(self, wanted: Wanted, limit: int) -> list[tuple[int, float]]:
        """See `Postings`."""
        terms = [each for each in wanted.terms if each.term_id >= 0]
        counted = [each for each in wanted.terms if each.term_id < 0]

        def ranked(postings: CompiledPostings) -> list[tuple[int, float]]:
            tallies = [(*wanted.counted[each.term_id], each.weight) for each in counted]
            best = postings.ranked(
                terms, tallies, wanted.average, wanted.allowed, wanted.banned, limit
            )
            return list(zip(*best, strict=True))

        def of_tables(filed: Filed) -> list[tuple[int, float]]:
            return filed.ranked(wanted if filed is self._filed else self._of_new(wanted), limit)

        def best_of(
            one: list[tuple[int, float]], other: list[tuple[int, float]]
        ) -> list[tuple[int, float]]:
            both = sorted(one + other, key=lambda row: (-row[1], row[0]))
            return [row for row in both if row[1] >= both[min(limit, len(both)) - 1][1]]

        return self._found(ranked, of_tables, best_of)

    def _of_new(self, wanted: Wanted) -> Wanted:
        """Leave the documents of the sidecar out of what is wanted."""
        since = self._since or 0
        counted = {
            term: Tally(*zip(*new, strict=True))
            for term, tally in wanted.counted.items()
            if (new := [row for row in zip(*tally, strict=True) if row[0] >= since])
        }
        allowed = wanted.allowed
        return wanted._replace(
            terms=[each for each in wanted.terms if each.term_id >= 0 or each.term_id in counted],
            counted=counted,
            allowed=None if allowed is None else [each for each in allowed if each >= since],
            banned=frozenset(each for each in wanted.banned if each >= since),
        )

    def _found(
        self,
        of_sidecar: Callable[[CompiledPostings], Found],
        of_tables: Callable[[Filed], Found],
        joined: Callable[[Found, Found], Found],
    ) -> Found:
        """Search the sidecar, and the tables for what it lacks.

        A sidecar that turns out not to be whole has been changed since it was compared: from then
        on, the tables answer.
        """
        if self._mapped is not None:
            try:
                found = of_sidecar(self._mapped)
            except ValueError:
                self._mapped = self._memory.held[MAPPED] = None
            else:
                return found if self._new is None else joined(found, of_tables(self._new))
        return of_tables(self._filed)


def _tallies(counts: Sequence[tuple[list[int], list[float]]]) -> Mapping[int, Tally]:
    return {number: Tally(*count) for number, count in enumerate(counts) if count[0]}


def _joined(one: Mapping[int, Tally], other: Mapping[int, Tally]) -> Mapping[int, Tally]:
    """Join counts of documents with those of documents that have higher numbers."""

    def both(number: int) -> Tally:
        parts = [found[number] for found in (one, other) if number in found]
        return Tally(
            [each for part in parts for each in part.documents],
            [each for part in parts for each in part.frequencies],
        )

    return {number: both(number) for number in sorted(one.keys() | other.keys())}
