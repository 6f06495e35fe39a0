"""Check of an index of shards: sizes, checksums, counts, and documents in their right shard."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from qmd.cluster import manifest as manifests
from qmd.cluster.shard_builder import count_shard
from qmd.cluster.store import ShardStore
from qmd.errors import IndexFailure, ShardDamaged
from qmd.named_tuple import NamedTuple


class Verdict(NamedTuple):
    """Result of the check of one shard.

    Attributes:
        problem: None: it is as the manifest says.
    """

    number: int
    file: str
    documents: int
    bytes: int
    problem: str | None


def verify(source: Path | str, progress: Callable[[int, int], object]) -> list[Verdict]:
    """Compare all shards with the manifest.

    Args:
        progress: called with (shards done, in all).

    Raises:
        NotAManifest: there is none that this version reads.
    """
    store = ShardStore(source)
    found = store.manifest()
    verdicts = []
    for shard in found.shards:
        progress(shard.number, len(found.shards))
        problem = _problem(store, shard)
        verdicts.append(Verdict(shard.number, shard.file, shard.documents, shard.bytes, problem))
    progress(len(found.shards), len(found.shards))
    return verdicts


def _problem(store: ShardStore, shard: manifests.ShardFile) -> str | None:
    """Describe what is wrong with a shard."""
    try:
        path = store.local(shard, compared=True)
        documents, vectors = count_shard(path)
    except OSError as error:
        return f"{error.strerror or error}."
    except (ShardDamaged, IndexFailure) as error:
        return str(error).split("\n")[0]
    if (documents, vectors) != (shard.documents, shard.vectors):
        return f"it has {documents} documents and {vectors} vectors."
    return None
