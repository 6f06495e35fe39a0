"""Engines over shards: in this process, or in actors of a Ray cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qmd.cluster import manifest as manifests
from qmd.cluster.in_process import ShardsHere
from qmd.cluster.open_index import ShardedIndex
from qmd.cluster.store import ShardStore

if TYPE_CHECKING:
    from qmd.cluster.ray_engine import ShardsOfRay
    from qmd.settings.environment import Machine, Place
    from qmd.settings.schema import Engine


def opened(place: Place, machine: Machine, engine: Engine, *, stays: bool) -> ShardedIndex:
    """Open an index of shards.

    Args:
        stays: hold postings and vectors in memory, in a process that reads more than once.

    Raises:
        NotAManifest: the folder has none that this version reads.
        ShardDamaged: the file of a shard is missing or has another size.
        UsageError: Ray is not installed, or no cluster answers at the address.
    """
    store = ShardStore(engine.source)
    found = store.manifest()
    source = engine.source if store.is_remote else str(store.folder)
    shards: ShardsHere | ShardsOfRay
    if engine.name == "ray":
        from qmd.cluster import ray_engine

        shards = ray_engine.ShardsOfRay(source, found, engine)
    else:
        shards = ShardsHere(source, found, in_memory=stays)
    return ShardedIndex(
        place,
        machine,
        manifest=store.folder / manifests.NAME,
        shards=shards,
        close_shards=shards.close,
        size=found.bytes,
        deadline=engine.deadline if engine.name == "ray" else 0.0,
        allow_partial=engine.allow_partial,
    )
