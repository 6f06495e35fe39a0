"""Build of an index of shards from a folder. The same call goes on where it stopped.

route the files ─▸ build each shard ─▸ settle facts about all texts ─▸ checksums ─▸ manifest
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from qmd.cluster import manifest as manifests
from qmd.cluster import routing, shard_builder, sources
from qmd.cluster.manifest import BuildManifest, ShardFile
from qmd.cluster.settle import Measured, settle_shards
from qmd.errors import IndexNotWritable, NotAManifest, UsageError
from qmd.named_tuple import NamedTuple
from qmd.text import hashes
from qmd.types import Collection
from qmd.version import __version__

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from qmd.settings.environment import Machine

Progress = Callable[[str, int, int], object]
"""Callback with (step, done, in all)."""


class Plan(NamedTuple):
    """Options of a build.

    Attributes:
        shards: a power of two.
        embeds: make vectors, too.
        machine: what the environment says of models.
    """

    to: Path
    collection: Collection
    shards: int
    embeds: bool
    machine: Machine


class Built(NamedTuple):
    """Result of a build.

    Attributes:
        built: shards that were made or changed.
        kept: shards that were there already.
        skipped: (path, reason) of files that could not be read.
    """

    manifest: BuildManifest
    built: int
    kept: int
    skipped: list[tuple[str, str]]


Carry = Callable[[Sequence[shard_builder.ShardTask], Progress], None]
"""Builds shards: one after the other, or at the same time on several machines."""


def one_by_one(tasks: Sequence[shard_builder.ShardTask], progress: Progress) -> None:
    """Build shards one after the other in this process."""
    for task in tasks:
        step = f"shard {task.number}"
        shard_builder.build(task, lambda done, total, step=step: progress(step, done, total))  # type: ignore[misc]


def build(plan: Plan, progress: Progress, carry: Carry = one_by_one) -> Built:
    """Build the shards of a folder, or what is missing or changed of them.

    A reader of the manifest sees the build before, until the new one is whole. The caller holds the
    destination: see `build_lock`.

    Raises:
        UsageError: see `check`.
        RootMissing, RootUnreadable: the source is not there, or cannot be read.
        IndexFailure: a shard cannot be written.
    """
    check(plan)
    with _writing(plan.to):
        plan.to.mkdir(mode=0o700, parents=True, exist_ok=True)
        return _built(plan, progress, carry)


def check(plan: Plan) -> None:
    """Refuse a build that makes no sense, before anything is written.

    Raises:
        UsageError: the number of shards is no power of two, or the folder has other files.
    """
    count = plan.shards
    if not 0 < count <= manifests.MOST_SHARDS or count & (count - 1):
        raise UsageError(
            f"--shards {count} is no power of two up to {manifests.MOST_SHARDS}.\n\n"
            "Choose 1, 2, 4, 8 … by the size of the whole: about a million passages each."
        )
    root = Path(plan.collection.root).resolve()
    to = plan.to.resolve()
    if to == root or root in to.parents:
        raise UsageError(f"{to} lies in {root}, whose files are indexed.\n\nChoose another folder.")
    if plan.to.exists() and not plan.to.is_dir():
        raise UsageError(f"{plan.to} is no folder.")
    known = (manifests.NAME, "routes.json", "builds", "cluster.build", sources.STAGED)
    others = [
        each.name
        for each in (plan.to.iterdir() if plan.to.exists() else ())
        if not each.name.startswith(known)
    ]
    if others:
        raise UsageError(f"{plan.to} has other files ({others[0]}).\n\nChoose an empty folder.")


@contextmanager
def _writing(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise IndexNotWritable(folder, error.strerror or str(error)) from error


def _built(plan: Plan, progress: Progress, carry: Carry) -> Built:
    fingerprint = _fingerprint(plan)
    routes = routing.route(
        plan.collection,
        plan.shards,
        kept=plan.to / "routes.json",
        progress=lambda done, total: progress("reading", done, total),
    )
    lists = [routes.digest(number) for number in range(plan.shards)]
    settings = [manifests.schema(), plan.collection._asdict(), fingerprint, __version__]
    build_id = hashes.short_digest(json.dumps([settings, lists]).encode())[:16]
    before = _before(plan.to)
    if before is not None and before.build == build_id and _is_whole(plan.to, before):
        return Built(before, 0, plan.shards, list(routes.found.skipped))
    folder = plan.to / "builds" / build_id
    folder.mkdir(parents=True, exist_ok=True)
    # Each shard is made again if what it comes from differs: other settings are another folder.
    tasks = [
        _task(plan, routes, number, folder, before, fingerprint)
        for number in range(plan.shards)
        if not (folder / _name(number)).exists()
    ]
    carry(tasks, progress)
    paths = [folder / _name(number) for number in range(plan.shards)]
    progress("comparing texts", 0, 1)
    with _measured(plan) as measured:
        settle_shards(paths, measured)
    progress("comparing texts", 1, 1)
    shards = []
    for number, path in enumerate(paths):
        progress("checksums", number, plan.shards)
        documents, vectors = shard_builder.count_shard(path)
        shards.append(
            ShardFile(
                number,
                str(path.relative_to(plan.to)),
                path.stat().st_size,
                manifests.digest_of(path),
                lists[number],
                documents,
                vectors,
            )
        )
    collection = plan.collection
    made = BuildManifest(
        build_id,
        manifests.schema(),
        __version__,
        collection.name,
        collection.root,
        collection.mask,
        fingerprint,
        tuple(shards),
    )
    manifests.write(plan.to, made)
    _tidy(plan.to, {build_id, before.build if before else build_id})
    return Built(made, len(tasks), plan.shards - len(tasks), list(routes.found.skipped))


def _task(
    plan: Plan,
    routes: routing.Routes,
    number: int,
    folder: Path,
    before: BuildManifest | None,
    fingerprint: str | None,
) -> shard_builder.ShardTask:
    begin = None
    if before is not None and len(before.shards) == plan.shards and before.model == fingerprint:
        same = (before.collection, before.root) == (plan.collection.name, plan.collection.root)
        old = plan.to / before.shards[number].file
        begin = old if same and old.exists() else None
    return shard_builder.ShardTask(
        number,
        folder / f"work-{number:04}",
        folder / _name(number),
        begin,
        plan.collection,
        routes.of_shard(number),
        plan.embeds,
        plan.machine,
    )


def _name(number: int) -> str:
    return f"shard-{number:04}.duckdb"


def _fingerprint(plan: Plan) -> str | None:
    """Return the fingerprint of the vectors to make; None: none are.

    Raises:
        ModelError: the model cannot be used here.
    """
    if not plan.embeds:
        return None
    from qmd.models.loader import Models
    from qmd.settings.schema import Settings

    models = Models(Settings, plan.machine, plan.to)
    try:
        return models.space().fingerprint
    finally:
        models.close()


@contextmanager
def _measured(plan: Plan) -> Iterator[Measured | None]:
    """Give the vectors whose cosines are measured: not those of the embedded model."""
    if not plan.embeds:
        yield None
        return
    from qmd.models.loader import Models
    from qmd.models.registry import MINILM
    from qmd.settings.schema import Settings

    models = Models(Settings, plan.machine, plan.to)
    try:
        space = models.space()

        def ask(texts: Sequence[str]) -> NDArray[np.float32]:
            return models.vectors(space, [space.model.as_query(text) for text in texts])

        yield None if space.model.name == MINILM.name else Measured(space, ask)
    finally:
        models.close()


def _before(folder: Path) -> BuildManifest | None:
    """Return the manifest of the build before; None: there is none that this version reads."""
    try:
        return manifests.read(folder)
    except NotAManifest:
        return None


def _is_whole(folder: Path, manifest: BuildManifest) -> bool:
    return all(
        (folder / each.file).exists() and (folder / each.file).stat().st_size == each.bytes
        for each in manifest.shards
    )


def _tidy(folder: Path, kept: set[str]) -> None:
    """Remove earlier builds, but the one before: a reader may still have it open."""
    for each in (folder / "builds").iterdir():
        if each.name not in kept:
            shutil.rmtree(each)
