"""Open index over shards: what operations use in the place of an index file."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, TypeVar

from qmd.analytics.rows import Results
from qmd.cluster.coordinator import ShardedDatabase
from qmd.cluster.partial import may_lack, missing_from, missing_notice
from qmd.errors import NotOverShards, ShardsReadOnly
from qmd.operations.index import Index
from qmd.ranking.vector_indexes import VectorIndexes
from qmd.settings.environment import Machine

if TYPE_CHECKING:
    from pathlib import Path

    from qmd.analytics.heading import Heading
    from qmd.analytics.sandbox import Limits, SearchRow
    from qmd.analytics.sandbox_workers import Worker
    from qmd.analytics.search_calls import Parameters
    from qmd.analytics.statement_check import CheckedStatement
    from qmd.cluster.rules import Shards
    from qmd.declaration.operation import Operation
    from qmd.models.selection import Space
    from qmd.ranking.nearest import Faster
    from qmd.settings.edit import Parsed
    from qmd.settings.environment import Place
    from qmd.settings.schema import Settings
    from qmd.storage.cursor import Cursor
    from qmd.types import Collection

Found = TypeVar("Found")


def check_supported(operation: Operation) -> None:
    """Refuse an operation that shards cannot do together. See `ShardedIndex.check_operation`."""
    if operation.writes:
        raise ShardsReadOnly
    if not operation.sharded:
        raise NotOverShards(operation.command)


class _VectorsOfShards(VectorIndexes):
    """No vector indexes here: each shard has its own."""

    def get(self, space: Space, model_id: int, vectors: int, dimensions: int) -> Faster | None:
        """Return None: the shards compare the vectors."""
        return None


class ShardedIndex(Index):
    """Index over shards, which is read and never changed.

    Args:
        manifest: of the build that is searched.
        shards: of it.
        close_shards: lets go of them.
        size: bytes of all shards.
        deadline: seconds for the shards to answer, besides those of the work itself.
        allow_partial: searches go on without shards that do not answer.
    """

    database: ShardedDatabase

    def __init__(
        self,
        place: Place,
        machine: Machine,
        *,
        manifest: Path,
        shards: Shards,
        close_shards: Callable[[], None],
        size: int,
        deadline: float = 0.0,
        allow_partial: bool = False,
    ) -> None:
        super().__init__(place._replace(database=manifest), machine)
        self.database = ShardedDatabase(manifest, shards)
        self.log = None
        self.vector_indexes = _VectorsOfShards(self.database, manifest, stays=False)
        self._close_shards = close_shards
        self._size = size
        self._shards = shards
        self._allow_partial = allow_partial
        self.deadline = deadline

    def read(
        self,
        work: Callable[[Cursor], Found],
        *,
        key: Hashable | None = None,
        small: bool = False,
    ) -> Found:
        """Return the result of `work` on the shards; their settings are those of the build."""
        if key is not None:
            return self.database.remembered(key, work)
        return self.database.read(work)

    def during(self, operation: Operation) -> AbstractContextManager[None]:
        """Return the context of an operation, which may go on without some shards if allowed.

        Raises:
            ShardsReadOnly: it would change the index.
            NotOverShards: it needs all tables in one file.
        """
        check_supported(operation)
        is_allowed = self._allow_partial and operation.partial
        return may_lack(self.database, self.database.lost.now() if is_allowed else None)

    def ended(self, result: Found) -> Found:
        """Mark search results that lack documents of some shards."""
        missing = missing_from(self.database)
        if missing and isinstance(result, Results):
            told = missing_notice(missing, self._shards.count)
            result.notice = "\n".join(filter(None, (told, result.notice)))
            result.missing_shards = tuple(sorted(missing))
        return result

    def over_shards(
        self,
        worker: Worker,
        request: CheckedStatement,
        parameters: Parameters,
        found: list[SearchRow],
        limits: Limits,
    ) -> tuple[tuple[Heading, ...], int]:
        """Run a query in SQL over the shards.

        Raises:
            SqlError: it cannot be merged, or not be answered within the limits.
            ShardsMissing: a shard did not answer.
        """
        from qmd.cluster.sql_gather import gathered, values_of
        from qmd.cluster.sql_plan import plan

        began = time.monotonic()
        made = self.database.aside(lambda cursor: plan(request, cursor))
        tables = gathered(self._shards, made, parameters, limits)
        if made.merged is not None:
            request = request._replace(query=made.merged.text)
            parameters = values_of(made.merged, parameters)
        return worker.merge(
            request, parameters, found, tables, made.across, seconds=time.monotonic() - began
        )

    def folders(self, names: Sequence[str] = ()) -> list[Collection]:
        """Refuse to give folders to update or watch.

        Raises:
            ShardsReadOnly: always.
        """
        raise ShardsReadOnly

    def sync(self) -> None:
        """Refuse to bring settings into the tables.

        Raises:
            ShardsReadOnly: always.
        """
        raise ShardsReadOnly

    def change(self, edit: Callable[[Settings, Parsed], None]) -> None:
        """Refuse to change settings.

        Raises:
            ShardsReadOnly: always.
        """
        raise ShardsReadOnly

    def load_postings(self, *, later: bool = False) -> None:
        """Do nothing: the shards load theirs."""

    def size(self) -> int:
        """Return the bytes of all shards."""
        return self._size

    def close(self, patience: float | None = None) -> None:
        """Let go of the models and of the shards."""
        super().close(patience)
        self._close_shards()
