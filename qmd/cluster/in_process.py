"""Engine `shards`: all shards in this process, without a cluster."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from qmd.cluster.manifest import BuildManifest, check_file
from qmd.cluster.shard import Shard, ShardRequest


class ShardsHere:
    """Shards of one build, opened in this process; see `statements.Shards`.

    Args:
        folder: of the manifest.
        in_memory: hold postings and vectors, for a process that stays.

    Raises:
        ShardDamaged: the file of one is missing or has another size.
    """

    def __init__(self, folder: Path, manifest: BuildManifest, *, in_memory: bool = False) -> None:
        paths = [check_file(folder, each) for each in manifest.shards]
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
