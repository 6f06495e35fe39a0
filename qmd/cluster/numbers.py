"""Numbers of documents and chunks over all shards: local × shards + shard."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256

import xxhash


def shard_of(content: bytes, shards: int) -> int:
    """Return the shard of a file with this content.

    All of a document is in one shard, and so are files with the same content.
    """
    return shard_of_digest(sha256(content).hexdigest(), shards)


def shard_of_digest(digest: str, shards: int) -> int:
    """Return the shard of a file.

    Args:
        digest: SHA-256 of its content, hexadecimal.
        shards: a power of two.
    """
    return (xxhash.xxh64_intdigest(digest.encode()) >> 1) % shards


def numbers_by_shard(numbers: Iterable[int], shards: int) -> list[list[int]]:
    """Split numbers by shard, in the same order, each as its shard counts it."""
    found: list[list[int]] = [[] for _ in range(shards)]
    for number in numbers:
        found[number % shards].append(number // shards)
    return found


def overall_number(local: int, shard: int, shards: int) -> int:
    """Return the number over all shards that stands for a number of one shard."""
    return local * shards + shard
