"""Storage of shards: a folder, or a prefix of an object store.

What an object store has is copied to the disk of each machine that reads it, under its checksum.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import Any

from qmd import safe_open
from qmd.cluster import manifest as manifests
from qmd.cluster.manifest import BuildManifest, ShardFile
from qmd.errors import ClusterFailure, NotAManifest, ShardDamaged
from qmd.text import hashes
from qmd.visible import shown

BLOCK = 1 << 22
"""Bytes that are copied at once."""


def is_url(source: str) -> bool:
    """Return whether a source is a prefix of an object store, not a folder."""
    return "://" in source


def cache_folder(url: str) -> Path:
    """Return the folder on this machine for what belongs to a URL."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "qmd" / "shards" / hashes.short_digest(url.encode())[:16]


def filesystem(url: str) -> tuple[Any, str]:
    """Return the file system of Arrow for a URL, and the path in it.

    Raises:
        ClusterFailure: there is no file system for it here.
    """
    from pyarrow import ArrowException, fs

    try:
        system, path = fs.FileSystem.from_uri(url)
    except (ArrowException, OSError, ValueError) as error:
        raise ClusterFailure(
            f"{shown(url)} cannot be used: {_reason(error)}\n\n"
            "Name a folder, s3://bucket/prefix or gs://bucket/prefix."
        ) from error
    return system, path.rstrip("/")


@contextmanager
def reaching(url: str) -> Iterator[None]:
    """Turn errors of an object store into one sentence.

    Raises:
        ClusterFailure: it cannot be read or written.
    """
    from pyarrow import ArrowException

    try:
        yield
    except (ArrowException, OSError) as error:
        raise ClusterFailure(
            f"{shown(url)} cannot be read or written: {_reason(error)}\n\n"
            "Check its name, the permissions, the free space, and the variables of an object "
            "store, such as AWS_ENDPOINT_URL. The same command goes on."
        ) from error


def _reason(error: Exception) -> str:
    text = getattr(error, "strerror", None) or str(error)
    return shown(str(text).split("\n")[0], most=300)


class ShardStore:
    """Folder or prefix with a manifest and shards.

    Args:
        source: path of the folder, or URL of the prefix.
    """

    def __init__(self, source: str | Path) -> None:
        self.source = str(source)
        self.is_remote = is_url(self.source)
        self.folder = cache_folder(self.source) if self.is_remote else Path(self.source).absolute()

    def manifest(self) -> BuildManifest:
        """Read the manifest.

        Raises:
            NotAManifest: there is none that this version reads.
            ClusterFailure: the store cannot be reached.
        """
        if not self.is_remote:
            return manifests.read(self.folder)
        system, path = filesystem(self.source)
        with reaching(self.source):
            try:
                with system.open_input_stream(f"{path}/{manifests.NAME}") as stream:
                    data = stream.read(manifests.LARGEST + 1)
            except FileNotFoundError as error:
                raise NotAManifest(self.source, "it has no manifest.json.") from error
            self.folder.mkdir(parents=True, exist_ok=True)
        text = data.decode("utf-8", "replace")
        safe_open.atomic_replace(self.folder / manifests.NAME, lambda file: file.write(text))
        try:
            return manifests.read(self.folder)
        except NotAManifest as error:
            raise NotAManifest(self.source, error.problem) from error

    def local(self, shard: ShardFile, *, compared: bool = False) -> Path:
        """Return the file of a shard on this machine; what is not there yet is copied.

        Args:
            compared: compare its checksum, also where the file was here before.

        Raises:
            ShardDamaged: it is missing, or is not what the manifest describes.
            ClusterFailure: the store cannot be reached, or the disk is full.
        """
        if not self.is_remote:
            path = manifests.check_file(self.folder, shard)
            if compared:
                _compare(path, shard)
            return path
        kept = shard._replace(file=f"{shard.sha256}.duckdb")
        path = self.folder / kept.file
        with suppress(ShardDamaged):
            manifests.check_file(self.folder, kept)
            if compared:
                _compare(path, shard)
            return path
        self._copy(shard, path)
        return path

    def _copy(self, shard: ShardFile, path: Path) -> None:
        system, prefix = filesystem(self.source)
        self.folder.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(f".{os.getpid()}.part")
        try:
            with reaching(f"{self.source}/{shard.file}"):
                try:
                    stream = system.open_input_stream(f"{prefix}/{shard.file}")
                except FileNotFoundError as error:
                    raise ShardDamaged(
                        f"{self.source}/{shard.file}", "there is no such object."
                    ) from error
                with stream, part.open("wb") as file:
                    while block := stream.read(BLOCK):
                        file.write(block)
            size = part.stat().st_size
            if size != shard.bytes:
                raise ShardDamaged(
                    f"{self.source}/{shard.file}",
                    f"it has {size:,} bytes instead of {shard.bytes:,}.",
                )
            _compare(part, shard, f"{self.source}/{shard.file}")
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)

    def tidy(self, manifest: BuildManifest) -> None:
        """Remove copies of shards that are not of a build, and the files beside them.

        Those that Windows does not remove, since they are mapped, are removed the next time.
        """
        if self.is_remote:
            kept = {each.sha256 for each in manifest.shards}
            for each in self.folder.glob("*.duckdb*"):
                if each.name.partition(".")[0] not in kept:
                    with suppress(FileNotFoundError, PermissionError):
                        each.unlink()


def _compare(path: Path, shard: ShardFile, named: str | None = None) -> None:
    """Compare the checksum of a file.

    Raises:
        ShardDamaged: it is another one.
    """
    if manifests.digest_of(path) != shard.sha256:
        raise ShardDamaged(named or path, "its checksum differs; it may be of another build.")


def publish(work: Path, url: str, check: Callable[[], None] = lambda: None) -> int:
    """Copy a build to an object store: shards first, and the manifest last, in one request.

    Shards that are there are not copied again. The build before stays for who reads it.

    Args:
        check: called before the manifest is written.

    Returns:
        The number of shards that were copied.

    Raises:
        ClusterFailure: the store cannot be reached. What it had is still searched.
    """
    made = manifests.read(work)
    try:
        before: BuildManifest | None = ShardStore(url).manifest()
    except NotAManifest:
        before = None
    there = {(each.file, each.sha256) for each in (before.shards if before else ())}
    system, prefix = filesystem(url)
    copied = 0
    with reaching(url):
        if system.type_name == "local":
            system.create_dir(f"{prefix}/builds/{made.build}")
        for shard in made.shards:
            if (shard.file, shard.sha256) not in there:
                _upload(system, work / shard.file, f"{prefix}/{shard.file}")
                copied += 1
        check()
        _upload(system, work / manifests.NAME, f"{prefix}/{manifests.NAME}")
        _remove_others(system, prefix, {made.build, before.build if before else made.build})
    return copied


def _upload(system: Any, source: Path, target: str) -> None:
    with source.open("rb") as file, system.open_output_stream(target) as stream:
        while block := file.read(BLOCK):
            stream.write(block)


def _remove_others(system: Any, prefix: str, kept: set[str]) -> None:
    from pyarrow import fs

    selector = fs.FileSelector(f"{prefix}/builds", allow_not_found=True)
    for each in system.get_file_info(selector):
        if PurePosixPath(each.path).name not in kept:
            system.delete_dir(each.path)


def fetch_build(url: str, work: Path) -> None:
    """Copy the build of an object store to an empty work folder, so that an update goes on from it.

    Raises:
        ClusterFailure: the store cannot be reached, or a shard is damaged.
    """
    if (work / manifests.NAME).exists():
        return
    store = ShardStore(url)
    try:
        found = store.manifest()
    except NotAManifest:
        return
    for shard in found.shards:
        target = work / shard.file
        target.parent.mkdir(parents=True, exist_ok=True)
        store.local(shard).replace(target)
    manifests.write(work, found)
