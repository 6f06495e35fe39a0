"""Engine `shards`: all shards in this process, without a cluster."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qmd.cluster.manifest import BuildManifest
from qmd.cluster.shard import SQL, Shard, ShardRequest
from qmd.cluster.store import ShardStore

if TYPE_CHECKING:
    from qmd.analytics.sandbox_workers import Workers


class ShardsHere:
    """Shards of one build, opened in this process; see `rules.Shards`.

    Args:
        source: folder of the manifest, or URL.
        in_memory: hold postings and vectors, for a process that stays.

    Raises:
        ShardDamaged: the file of one is missing or has another size.
    """

    def __init__(
        self, source: Path | str, manifest: BuildManifest, *, in_memory: bool = False
    ) -> None:
        store = ShardStore(source)
        paths = [store.local(each) for each in manifest.shards]
        store.tidy(manifest)
        self._workers: Workers | None = None
        self._shards = [
            Shard(path, in_memory=in_memory, workers=self._sql_workers) for path in paths
        ]

    @property
    def count(self) -> int:
        """Shards of the index."""
        return len(self._shards)

    def ask(self, requests: Mapping[int, ShardRequest]) -> Mapping[int, Any]:
        """Ask one shard after the other; a query in SQL has its time for all of them."""
        began = time.monotonic()
        found = {}
        for number, each in requests.items():
            own = each.after(time.monotonic() - began) if each.kind == SQL else each
            found[number] = self._shards[number].answer(own)
        return found

    def _sql_workers(self) -> Workers:
        from qmd.analytics.sandbox_workers import Workers

        if self._workers is None:
            self._workers = Workers()
        return self._workers

    def load(self) -> None:
        """Load the postings of all shards into memory."""
        for shard in self._shards:
            shard.load()

    def close(self) -> None:
        """Close all shards."""
        for shard in self._shards:
            shard.close()
        if self._workers is not None:
            self._workers.close()
