"""Answers without the shards that do not answer, where the user allows it."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from qmd.cluster.shard import ShardRequest
    from qmd.cluster.statements import Shards

AGAIN_SECONDS = 30.0
"""Seconds after which a shard that did not answer is asked again: each try takes the deadline."""

MISSING: ContextVar[set[int] | None] = ContextVar("missing", default=None)
"""Shards that the current operation goes on without; None: it needs all of them."""


class RemainingShards:
    """Shards of an index without some, under the same numbers; see `statements.Shards`."""

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
