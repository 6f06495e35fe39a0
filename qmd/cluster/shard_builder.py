"""Build of one shard: the ordinary update of an index, over the files of that shard."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

from qmd import files
from qmd.errors import ShardDamaged
from qmd.ingest.walk import FileTable
from qmd.named_tuple import NamedTuple
from qmd.operations.index import Index
from qmd.settings.environment import Machine, Place
from qmd.storage.database import Database
from qmd.types import Collection


class ShardTask(NamedTuple):
    """All that a worker needs to build a shard; it can be sent to another process.

    Attributes:
        folder: of the work on this shard, which an interrupted build leaves.
        target: file of the shard.
        begin: shard of an earlier build to begin with; None: from nothing.
        collection: whose files it has.
        found: the files of this shard.
        embeds: make vectors, too.
        machine: what the environment says of models.
    """

    number: int
    folder: Path
    target: Path
    begin: Path | None
    collection: Collection
    found: FileTable
    embeds: bool
    machine: Machine


def settings_text(collection: Collection) -> str:
    """Write the index.yml of a shard: JSON, which is YAML."""
    entry: dict[str, object] = {"path": collection.root, "pattern": collection.mask}
    if collection.ignored:
        entry["ignore"] = list(collection.ignored)
    return json.dumps({"collections": {collection.name: entry}, "query_log": False})


def work_paths(folder: Path) -> Place:
    """Return the paths of the index in the folder of the work on a shard."""
    return Place("index", folder / "index.yml", folder / "index.duckdb", None, folder / "trusted")


def build(task: ShardTask, progress: Callable[[int, int], object] | None = None) -> None:
    """Build a shard, or go on with one that was interrupted.

    Args:
        progress: called with (documents done, in all).

    Raises:
        QmdError: the files cannot be read, the disk is full, or the model cannot be used.
    """
    task.folder.mkdir(parents=True, exist_ok=True)
    place = work_paths(task.folder)
    if task.begin is not None and not place.database.exists():
        part = task.folder / "begin.part"
        files.copy_file(task.begin, part)
        part.replace(place.database)
    place.config.write_text(settings_text(task.collection), encoding="utf-8")
    index = Index(place, task.machine)
    index.log = None
    index.makes_sidecars = False  # they would be removed with the folder
    try:
        index.sync()  # a read would go on without the settings that a full disk does not take
        _update(index, task, progress)
        if task.embeds:
            _embed(index)
    finally:
        index.close()
    task.target.parent.mkdir(parents=True, exist_ok=True)
    files.fsync_path(place.database)
    place.database.replace(task.target)
    files.fsync_path(task.target.parent)
    shutil.rmtree(task.folder)


def _update(index: Index, task: ShardTask, progress: Callable[[int, int], object] | None) -> None:
    import anyio

    from qmd.ingest.compare import compare
    from qmd.operations.update import run_update

    name = task.collection.name
    collection = index.collection(name)
    comparison = compare(
        index.database,
        collection,
        task.found,
        index.readers(collection),
        removes=True,
        chosen=frozenset(task.found.paths),
    )

    def telling(_: Collection) -> Callable[[int, int, str], None]:
        def tell(done: int, total: int, _: str) -> None:
            if progress is not None:
                progress(done, total)

        return tell

    async def run() -> None:
        [report] = await run_update(
            index, [name], compared={name: comparison}, removes=True, progress=telling
        )
        if report.failure:
            raise ShardDamaged(task.target, report.failure)

    anyio.run(run)
    _check(index, task)


def _check(index: Index, task: ShardTask) -> None:
    """Check that the shard has no document of another one.

    Raises:
        ShardDamaged: it has. The work is removed: it begins anew the next time.
    """
    own = frozenset(task.found.paths)
    rows = index.read(lambda cursor: cursor.run("cluster/files"))
    strays = [path for (path,) in rows if path not in own]
    if strays:
        index.close()
        shutil.rmtree(task.folder)
        raise ShardDamaged(task.target, f"it has {strays[0]}, which changed meanwhile.")


def _embed(index: Index) -> None:
    from functools import partial

    import anyio

    from qmd.operations.embed import run_embed

    anyio.run(partial(run_embed, index))


def count_shard(path: Path) -> tuple[int, int]:
    """Count the documents and the vectors of a shard."""
    database = Database(path)
    try:
        [row] = database.read(lambda cursor: cursor.run("cluster/counts"))
    finally:
        database.close()
    return int(row[0]), int(row[1])
