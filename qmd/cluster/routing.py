"""Assignment of the files of a folder to shards, by their content."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

from qmd import safe_open
from qmd.cluster.numbers import shard_of_digest
from qmd.ingest.walk import FileTable, walk
from qmd.named_tuple import NamedTuple
from qmd.text import hashes, paths
from qmd.types import Collection

BLOCK = 1 << 20
"""Bytes that are hashed at once."""

FRESH_NS = 2_000_000_000
"""Nanoseconds: a file that changed so lately may change again without another time."""


class Routed(NamedTuple):
    """A file and its content.

    Attributes:
        place: among the files of the walk.
        digest: SHA-256 of its content.
    """

    path: str
    place: int
    digest: str


class Routes(NamedTuple):
    """Files of a folder by shard.

    Attributes:
        found: by the walk.
        shards: files of each shard, by path.
    """

    found: FileTable
    shards: list[list[Routed]]

    def of_shard(self, number: int) -> FileTable:
        """Return the files of one shard as a walk of its own."""
        chosen = [each.place for each in self.shards[number]]
        found = self.found
        return FileTable(
            paths=[found.paths[at] for at in chosen],
            sizes=[found.sizes[at] for at in chosen],
            mtimes=[found.mtimes[at] for at in chosen],
            inodes=[found.inodes[at] for at in chosen],
            skipped=list(found.skipped),
            unread=list(found.unread),
            began=found.began,
            mask=found.mask,
            passed_over=list(found.passed_over),
            too_large=list(found.too_large),
            ctimes=[found.ctimes[at] for at in chosen],
        )

    def digest(self, number: int) -> str:
        """Compute a digest of the files of a shard: paths, contents, and times that are shown."""
        return _digest(
            [each.path, each.digest, self.found.mtimes[each.place]] for each in self.shards[number]
        )


def _digest(rows: object) -> str:
    text = json.dumps(list(rows), separators=(",", ":"))  # type: ignore[call-overload]
    return hashes.short_digest(text.encode("utf-8", "surrogatepass"))


def route(
    collection: Collection,
    shards: int,
    *,
    kept: Path,
    progress: Callable[[int, int], object] | None = None,
) -> Routes:
    """Read all files of a folder, and assign each to a shard.

    Args:
        kept: file with the digests of the last time: a file with the same size, time and number is
            not read again.
        progress: called with (files read, in all).

    Raises:
        RootMissing, RootUnreadable: the folder is not there, or cannot be read.
    """
    found = walk(collection)
    root = paths.real(collection.root)
    known = _known(kept)
    digests: dict[str, list[object]] = {}
    routed: list[list[Routed]] = [[] for _ in range(shards)]
    for place, path in enumerate(found.paths):
        stamp: list[object] = [found.sizes[place], found.mtimes[place], found.ctimes[place]]
        before = known.get(path)
        if before is not None and before[:-1] == stamp:
            digest = str(before[-1])
        else:
            try:
                digest = _digest_of(Path(root, path))
            except OSError as error:
                found.skipped.append((path, error.strerror or str(error)))
                continue
        if found.began - found.ctimes[place] > FRESH_NS:
            digests[path] = [*stamp, digest]
        routed[shard_of_digest(digest, shards)].append(Routed(path, place, digest))
        if progress is not None:
            progress(place + 1, len(found.paths))
    _keep(kept, digests)
    return Routes(found, routed)


def _digest_of(path: Path) -> str:
    """Hash a file.

    Raises:
        OSError: it cannot be read.
    """
    found = sha256()
    with os.fdopen(os.open(path, os.O_RDONLY | safe_open.AT_ONCE), "rb") as file:
        while block := file.read(BLOCK):
            found.update(block)
    return found.hexdigest()


def _known(kept: Path) -> dict[str, list[object]]:
    """Load the digests of the last time; none from a file that is damaged."""
    try:
        found = json.loads(kept.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    if not isinstance(found, dict):
        return {}
    return {path: each for path, each in found.items() if _is_entry(each)}


def _is_entry(entry: object) -> bool:
    return isinstance(entry, list) and len(entry) == 4 and isinstance(entry[-1], str)


def _keep(kept: Path, digests: dict[str, list[object]]) -> None:
    text = json.dumps(digests, separators=(",", ":"))
    safe_open.atomic_replace(kept, lambda file: file.write(text), mode=0o600)
