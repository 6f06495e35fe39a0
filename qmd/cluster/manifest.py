"""Manifest of an index of shards: `manifest.json` beside the folders of its builds.

DEST/manifest.json              the build that is searched; written last, in one step
DEST/<build>/shard-0000.duckdb  an ordinary index file
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from qmd import safe_open
from qmd.errors import NotAManifest, ShardDamaged
from qmd.named_tuple import NamedTuple
from qmd.storage.migrations import migrations
from qmd.version import __version__
from qmd.visible import hidden

NAME = "manifest.json"

FORMAT = 1
"""Version of the layout. Another one is refused."""

LARGEST = 16_000_000
"""Bytes of a manifest that is read: some 60,000 shards."""

MOST_SHARDS = 4096
"""Shards of an index at most, so that numbers of documents stay small."""


NUMBERS = frozenset({"schema", "number", "bytes", "documents", "vectors"})
"""Fields that are numbers; all others are text."""


class ShardFile(NamedTuple):
    """A shard as the manifest describes it.

    Attributes:
        file: below the folder of the manifest.
        bytes: of the file.
        sha256: of the file, hexadecimal.
        list: digest of the files that it was made from.
        documents: that it has.
        vectors: that it has, of all models.
    """

    number: int
    file: str
    bytes: int
    sha256: str
    list: str
    documents: int
    vectors: int


class BuildManifest(NamedTuple):
    """Description of one build.

    Attributes:
        build: digest of all that went into it.
        schema: number of the last migration of its files.
        qmd: version that wrote it.
        collection: name of its collection.
        root: folder that it was made from.
        mask: of the collection.
        model: fingerprint of its vectors; None: it has none.
    """

    build: str
    schema: int
    qmd: str
    collection: str
    root: str
    mask: str
    model: str | None
    shards: tuple[ShardFile, ...]

    @property
    def documents(self) -> int:
        """Documents of all shards."""
        return sum(each.documents for each in self.shards)

    @property
    def bytes(self) -> int:
        """Bytes of all shards."""
        return sum(each.bytes for each in self.shards)


def schema() -> int:
    """Return the number of the last migration of this version."""
    return migrations()[-1].version


def write(folder: Path, manifest: BuildManifest) -> None:
    """Replace the manifest of a folder in one step.

    Raises:
        OSError: it cannot be written. The old one is as it was.
    """
    record = {
        "format": FORMAT,
        **manifest._asdict(),
        "shards": [each._asdict() for each in manifest.shards],
    }
    text = json.dumps(record, indent=1, ensure_ascii=True) + "\n"
    safe_open.atomic_replace(folder / NAME, lambda file: file.write(text))


def read(folder: Path) -> BuildManifest:
    """Read the manifest of a folder.

    Raises:
        NotAManifest: there is none, or another version of qmd wrote it, or it makes no sense.
    """
    path = folder / NAME
    try:
        with os.fdopen(safe_open.opened(path, os.O_RDONLY), "rb") as file:
            data = file.read(LARGEST + 1)
    except OSError as error:
        problem = "it has no manifest.json." if not path.exists() else f"{error.strerror or error}."
        raise NotAManifest(folder, problem) from error
    if len(data) > LARGEST:
        raise NotAManifest(folder, "its manifest.json is too large.")
    try:
        record = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise NotAManifest(folder, "its manifest.json is no JSON.") from error
    if not isinstance(record, dict) or "format" not in record:
        raise NotAManifest(folder, "its manifest.json does not describe shards.")
    if record["format"] != FORMAT:
        raise NotAManifest(
            folder, f"its layout has version {record['format']}, and this qmd reads {FORMAT}."
        )
    try:
        found = _manifest(record)
    except (KeyError, TypeError, ValueError) as error:
        raise NotAManifest(folder, f"its manifest.json makes no sense: {error}.") from error
    if found.schema != schema():
        raise NotAManifest(
            folder,
            f"its shards have schema {found.schema}, written by qmd {found.qmd}; qmd {__version__} "
            f"reads schema {schema()}.",
        )
    return found


def _manifest(record: Mapping[str, Any]) -> BuildManifest:
    """Make a manifest of JSON.

    Raises:
        KeyError, TypeError, ValueError: it makes no sense.
    """
    names = [name for name in BuildManifest._fields if name != "shards"]
    fields = {name: _checked(record, name, None) for name in names}
    shards = tuple(_shard(number, each) for number, each in enumerate(record["shards"]))
    count = len(shards)
    if not 0 < count <= MOST_SHARDS or count & (count - 1):
        raise ValueError(f"it has {count} shards, which is no power of two up to {MOST_SHARDS}")
    return BuildManifest(shards=shards, **fields)


def _shard(number: int, record: Mapping[str, Any]) -> ShardFile:
    found = ShardFile(*(_checked(record, name, number) for name in ShardFile._fields))
    if found.number != number:
        raise ValueError(f"shard {number} is called {found.number}")
    parts = Path(found.file).parts
    if Path(found.file).is_absolute() or ".." in parts or not parts:
        raise ValueError(f"shard {number} lies outside of its folder")
    if hidden(found.file):
        raise ValueError(f"the name of shard {number} has characters that cannot be seen")
    return found


def _checked(record: Mapping[str, Any], name: str, shard: int | None) -> Any:
    """Return a field of a manifest, if it has the right type."""
    value = record[name]
    wanted = int if name in NUMBERS else str
    if type(value) is not wanted and not (value is None and name == "model"):
        place = "" if shard is None else f" of shard {shard}"
        raise TypeError(f"{name}{place} is {type(value).__name__}")
    return value


def check_file(folder: Path, shard: ShardFile) -> Path:
    """Return the file of a shard, if it has the size that the manifest says.

    Raises:
        ShardDamaged: it is missing, or has another size.
    """
    path = folder / shard.file
    try:
        size = path.stat().st_size
    except OSError as error:
        raise ShardDamaged(path, f"{error.strerror or error}.") from error
    if size != shard.bytes:
        raise ShardDamaged(path, f"it has {size:,} bytes instead of {shard.bytes:,}.")
    return path


def digest_of(path: Path) -> str:
    """Compute the SHA-256 of a file."""
    import hashlib

    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
