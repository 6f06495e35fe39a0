"""Export of the index to a folder of Parquet files.

    index ─▸ copy of the file ─▸ digests ─┬─▸ changed: write ──┐
                                          └─▸ unchanged: link ─┴─▸ staging folder ─▸ swap

The index is locked only while its file is copied, which takes a fraction of a second; the rest is
read from the copy. So the export has one state, independent of concurrent writes. The new folder
replaces the old one in one step.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, as_completed
from datetime import UTC, datetime
from functools import partial
from io import BufferedReader
from pathlib import Path
from typing import TYPE_CHECKING

from qmd import files
from qmd.errors import ExportFailed, FolderTaken, UsageError
from qmd.errors.base import advised
from qmd.errors.shortage import shortage_of
from qmd.exchange import destination, manifest, parquet
from qmd.exchange.manifest import Manifest, ManifestFile, ManifestTable
from qmd.exchange.parquet import ExportTable, FileColumn
from qmd.exchange.partitions import Partition, plan_partitions
from qmd.exchange.worker_pool import WorkerPool, followed
from qmd.named_tuple import NamedTuple
from qmd.ranking import postings
from qmd.safe_open import NotRegularFile
from qmd.storage import migrations
from qmd.storage.cursor import Cursor, DatabaseError
from qmd.storage.database import Database
from qmd.storage.file_lock import errand
from qmd.storage.snapshot import copied
from qmd.types import ALL, Filter
from qmd.version import __version__
from qmd.wording import amount

if TYPE_CHECKING:
    from qmd.settings.environment import Place
    from qmd.settings.schema import Settings


class Wish(NamedTuple):
    """Options of an export.

    Attributes:
        among: documents; by default, everything leaves, not documents alone.
        where: the conditions of `among`, as they were asked for.
        tables: names; none: all.
        parted: documents by collection, in folders of their own.
    """

    among: Filter = ALL
    where: str | None = None
    tables: tuple[str, ...] = ()
    vectors: bool = True
    parted: bool = False

    @property
    def told(self) -> dict[str, object]:
        """For the manifest; without what was not asked for."""
        names = self.among.collections
        asked = {
            "collections": None if names is None else sorted(set(names)),
            "where": self.where,
            "tables": sorted(set(self.tables)) or None,
            "vectors": None if self.vectors else False,
            "partition_by": "collection" if self.parted else None,
        }
        return {key: value for key, value in asked.items() if value is not None}


class Exported(NamedTuple):
    """Report of an export.

    Attributes:
        rows: by table.
        written: files that were written; the others are unchanged.
        bytes: of all files.
        held: seconds for which other processes could not write to the index.
    """

    folder: Path
    rows: dict[str, int]
    files: int
    written: int
    bytes: int
    seconds: float
    held: float


def export(
    database: Database,
    place: Place,
    settings: Settings,
    folder: Path,
    *,
    wish: Wish = Wish(),  # noqa: B008  # a named tuple
    force: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Exported:
    """Write an index to a folder, or bring an earlier export there up to date.

    Args:
        force: replace whatever the folder has in it.
        progress: callback with (files done, files in all).

    Raises:
        FolderTaken: it has something else in it.
        ExportFailed: it cannot be written.
        UsageError: the wish cannot be had.
        JobRunning: another process exports this index.
    """
    began = time.monotonic()
    try:
        target = folder.resolve()
        destination.check_target(target, place, settings)
        with errand(database.path, "export"), destination.staging_folder(target) as shop:
            before = destination.existing_export(target, place.name, wish.told, force=force)
            beside = database.path.with_name(f"{database.path.name}.copy")
            elsewhere = target.with_name(f".{target.name}.index")
            with copied(database, beside, elsewhere) as (copy, held):
                now = datetime.now(UTC).isoformat(timespec="seconds")
                parts, written = copy.read(
                    partial(
                        _written,
                        wish=wish,
                        shop=shop,
                        target=target,
                        before=before,
                        force=force,
                        progress=progress,
                    )
                )
            document = Manifest(
                __version__,
                migrations.migrations()[-1].version,
                place.name,
                now,
                wish.told,
                settings.models,
                _cutting(settings),
                tuple(parts),
            )
            manifest.write_manifest(shop, document)
            destination.publish(shop, target)
    except OSError as error:
        raise ExportFailed(folder, error.strerror or str(error)) from error
    return Exported(
        target,
        {part.name: part.rows for part in parts},
        sum(len(part.files) for part in parts),
        written,
        sum(part.bytes for part in parts),
        time.monotonic() - began,
        held,
    )


def _cutting(settings: Settings) -> dict[str, object]:
    """Return the chunk settings as index.yml says them."""
    return {
        "tokens": settings.chunk_tokens,
        "overlap": settings.chunk_overlap,
        "strategy": settings.chunk_strategy,
    }


# -- the index -----------------------------------------------------------------


def _written(
    cursor: Cursor,
    *,
    wish: Wish,
    shop: Path,
    target: Path,
    before: Manifest | None,
    force: bool,
    progress: Callable[[int, int], None] | None,
) -> tuple[list[ManifestTable], int]:
    """Write the files of all tables, or link those that are as they were.

    Args:
        force: even if the index has lost all of its documents.

    Returns:
        The tables, and how many files were written.

    Raises:
        FolderTaken: it has lost them.
    """
    try:
        documents = postings.allowed(cursor, wish.among)
        lost = parquet.choose(cursor, documents)
        if lost:
            problem = f"Without a text: {amount(lost, 'document')}. Run 'qmd doctor'."
            raise ExportFailed(target, problem)
        tables = _chosen(parquet.tables(cursor), wish, everything=documents is None)
        with WorkerPool(cursor) as pool:
            plans = {}
            for table in tables:
                apart = wish.parted and table.name == parquet.PARTED
                plans[pool.begin(partial(plan_partitions, table=table, by_collection=apart))] = (
                    table
                )
            make = partial(_made, shop=shop, target=target, known=_known(before))
            columns: dict[str, list[FileColumn]] = {}
            making: dict[str, list[Future[tuple[ManifestFile, bool]]]] = {}
            for plan in as_completed(plans):
                name = plans[plan].name
                columns[name], spans = plan.result()
                if name == parquet.PARTED and not force and not any(s.rows for s in spans):
                    _check_kept(before, target, documents is None)
                making[name] = [pool.begin(partial(make, span=span)) for span in spans]
            followed([each for own in making.values() for each in own], progress)
    except DatabaseError as error:
        raise shortage_of(error) or ExportFailed(target, str(error).splitlines()[0]) from error
    parts = []
    written = 0
    for table in tables:
        made = [future.result() for future in making[table.name]]
        written += sum(is_new for _, is_new in made)
        own = tuple(file for file, _ in made)
        parts.append(
            ManifestTable(table.name, parquet.meaning(table.name), tuple(columns[table.name]), own)
        )
    return parts, written


def _chosen(tables: Sequence[ExportTable], wish: Wish, *, everything: bool) -> list[ExportTable]:
    """Select the tables of the export.

    Raises:
        UsageError: one does not exist, or cannot leave in part.
    """
    names = [table.name for table in tables]
    for name in wish.tables:
        if name not in names:
            raise UsageError(f"There is no table '{name}'. Known: {', '.join(names)}.")
    if not wish.vectors and parquet.VECTORS in wish.tables:
        raise UsageError(
            f"'{parquet.VECTORS}' are the vectors, which are to be left out.\n\n"
            "Leave out one of the two."
        )
    private = [t.name for t in tables if t.private and t.name in wish.tables]
    if private and not everything:
        raise UsageError(
            f"'{private[0]}' cannot be exported for some documents only: its rows are of all."
        )
    return [
        table._replace(chosen=not everything)
        for table in tables
        if (not wish.tables or table.name in wish.tables)
        and (everything or not table.private)
        and (wish.vectors or table.name != parquet.VECTORS)
    ]


def _check_kept(before: Manifest | None, target: Path, everything: bool) -> None:
    """Keep an earlier export that has documents, now that there are none to export.

    Raises:
        FolderTaken: it has some.
    """
    parts = before.parts if before else ()
    had = sum(part.rows for part in parts if part.name == parquet.PARTED)
    if had:
        now = "the index has none" if everything else "none of the index is chosen"
        raise FolderTaken(
            target,
            f"it has {amount(had, 'document')}, and {now} any more.",
            mend=advised(
                "Bring them back with 'qmd import', or replace it with {}.", **destination.FORCE
            ),
        )


def _known(before: Manifest | None) -> dict[tuple[str, str], ManifestFile]:
    """Index the files of an earlier export by table and digest."""
    if before is None:
        return {}
    return {(part.name, file.digest): file for part in before.parts for file in part.files}


def _made(
    cursor: Cursor,
    *,
    span: Partition,
    shop: Path,
    target: Path,
    known: Mapping[tuple[str, str], ManifestFile],
) -> tuple[ManifestFile, bool]:
    """Make one file.

    Returns:
        The file, and whether it had to be written.
    """
    path = shop / span.path
    path.parent.mkdir(parents=True, exist_ok=True)
    earlier = known.get((span.table.name, span.digest))
    if earlier is not None and matches_manifest(target, earlier):
        files.link_file(Path(os.path.realpath(target / earlier.path)), path)
        return earlier._replace(path=span.path), False
    parquet.write_table(
        cursor, span.table, path, first=span.first, last=span.last, collection=span.collection
    )
    files.fsync_path(path)
    with path.open("rb") as file:
        size, digest = os.fstat(file.fileno()).st_size, sha256(file)
    return ManifestFile(span.path, span.rows, size, digest, span.digest, span.collection), True


def matches_manifest(folder: Path, file: ManifestFile) -> bool:
    """Check that a file of an export matches the manifest."""
    try:
        with manifest.open_member(folder, file.path) as found:
            return os.fstat(found.fileno()).st_size == file.bytes and sha256(found) == file.sha256
    except (FileNotFoundError, NotRegularFile):
        return False


def sha256(file: BufferedReader) -> str:
    """Hash the bytes of a file: 64 hex digits."""
    return hashlib.file_digest(file, "sha256").hexdigest()
