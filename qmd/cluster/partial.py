"""Answers without the shards that do not answer, where the user allows it."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from qmd.cluster.rules import Shards
    from qmd.cluster.shard import ShardRequest
    from qmd.storage.database import Database

AGAIN_SECONDS = 30.0
"""Seconds after which a shard that did not answer is asked again: each try takes the deadline."""

_MISSING: ContextVar[tuple[Database, set[int]] | None] = ContextVar("missing", default=None)
"""Index of the current operation, and shards that it goes on without; None: it needs all."""


@contextmanager
def may_lack(database: Database, missing: set[int] | None) -> Iterator[None]:
    """Let reads of one index go on without shards, as long as the context lasts.

    Args:
        missing: shards that are left out; a read adds those that do not answer. None: reads need
            all shards, also inside of an operation that does not.
    """
    token = _MISSING.set(None if missing is None else (database, missing))
    try:
        yield
    finally:
        _MISSING.reset(token)


def missing_from(database: Database) -> set[int] | None:
    """Return the shards of an index that the current operation goes on without; None: of none."""
    current = _MISSING.get()
    return current[1] if current is not None and current[0] is database else None


class RemainingShards:
    """Shards of an index without some, under the same numbers; see `rules.Shards`."""

    def __init__(self, shards: Shards, missing: Iterable[int]) -> None:
        self._shards = shards
        self._missing = frozenset(missing)

    @property
    def count(self) -> int:
        """Shards of the index, those that are missing included."""
        return self._shards.count

    def ask(self, requests: Mapping[int, ShardRequest]) -> Mapping[int, Any]:
        """Ask the shards that are not missing."""
        left = {number: each for number, each in requests.items() if number not in self._missing}
        return self._shards.ask(left) if left else {}


class LostShards:
    """Shards that did not answer of late, and are not waited for again at once.

    Args:
        count: of all shards.
    """

    def __init__(self, count: int) -> None:
        self._count = count
        self._since: dict[int, float] = {}

    def add(self, numbers: Iterable[int]) -> None:
        """Note shards that did not answer just now."""
        self._since |= dict.fromkeys(numbers, time.monotonic())

    def now(self) -> set[int]:
        """Return the shards that are not asked now; none of them if that were all."""
        least = time.monotonic() - AGAIN_SECONDS
        found = {number for number, since in self._since.items() if since > least}
        return found if len(found) < self._count else set()


def missing_notice(numbers: Iterable[int], count: int) -> str:
    """Say which shards a result lacks."""
    named = ", ".join(map(str, sorted(numbers)))
    return f"Partial: without the documents of shards that do not answer ({named}, of {count})."
