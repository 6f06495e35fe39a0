"""Engine `shards`: all shards in this process, without a cluster."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from qmd.cluster.manifest import BuildManifest
from qmd.cluster.shard import Shard, ShardRequest
from qmd.cluster.store import ShardStore


class ShardsHere:
    """Shards of one build, opened in this process; see `statements.Shards`.

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
        self._shards = [Shard(path, in_memory=in_memory) for path in paths]

    @property
    def count(self) -> int:
        """Shards of the index."""
        return len(self._shards)

    def ask(self, requests: Mapping[int, ShardRequest]) -> Mapping[int, Any]:
        """Ask one shard after the other."""
        return {number: self._shards[number].answer(each) for number, each in requests.items()}

    def load(self) -> None:
        """Load the postings of all shards into memory."""
        for shard in self._shards:
            shard.load()

    def close(self) -> None:
        """Close all shards."""
        for shard in self._shards:
            shard.close()
