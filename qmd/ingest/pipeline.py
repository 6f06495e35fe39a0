"""Update pipeline of one collection: reading, inversion and commit in parallel.

    walk ▸ compare ▸ read and hash, title, front matter, outline ▸ invert ▸ commit

The steps of a batch are in `batches`; here several batches are in progress at the same time.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import ExitStack, asynccontextmanager
from functools import partial
from typing import Generic, TypeVar

from anyio import CapacityLimiter, create_task_group, sleep_forever, to_thread

from qmd import processes
from qmd.ingest.batch_tables import Texts
from qmd.ingest.batches import ROUNDS, Batches
from qmd.ingest.commit import Batch
from qmd.ingest.compare import Comparison, compare
from qmd.ingest.extractor import Extractor, Readers
from qmd.ingest.folder_changes import Change
from qmd.ingest.memory import SPARING
from qmd.ingest.reader import File
from qmd.reports import Report
from qmd.stages import each, flow
from qmd.storage.database import Database
from qmd.types import Collection

Made = TypeVar("Made")

Progress = Callable[[int, int, str], None]
"""Callback with (documents done, documents in all) of a collection."""


async def update(
    database: Database,
    collection: Collection,
    readers: Readers,
    *,
    comparison: Comparison | None = None,
    removes: bool = False,
    progress: Progress | None = None,
    groups: bool = False,
) -> Report:
    """Update one collection.

    Args:
        readers: of files that are no text.
        comparison: made just before, if there is one.
        removes: documents of folders that have lost their files all at once.
        progress: callback after each batch.
        groups: see `Batches`.

    Raises:
        RootMissing, RootUnreadable: its folder is not there, or cannot be read. Nothing is removed.
        IndexFailure: the index is busy or cannot be written.
    """
    report = Report(collection.name, collection.mask)
    for _ in range(ROUNDS):
        if comparison is None:
            compared = partial(compare, database, collection, readers=readers, removes=removes)
            comparison = await to_thread.run_sync(compared)
        with SPARING, ExitStack() as held:
            batches = Batches(
                database, collection, report, comparison, held, readers, groups=groups
            )
            settled = await _carried_out(batches, progress, readers.extractor)
        if settled:
            break
        comparison = None
    return report


@asynccontextmanager
async def _interrupting(extractor: Extractor) -> AsyncGenerator[None, None]:
    """End what reads files as soon as this is cancelled: threads wait for it."""
    is_over = False

    async def interrupt() -> None:
        try:
            await sleep_forever()
        finally:
            if not is_over:
                extractor.interrupt()

    async with create_task_group() as tasks:
        tasks.start_soon(interrupt)
        yield
        is_over = True
        tasks.cancel_scope.cancel()


async def _carried_out(batches: Batches, progress: Progress | None, extractor: Extractor) -> bool:
    """Commit all batches; one is read and one made ready while another is committed.

    Returns:
        True if all were accepted; if not, compare again.
    """
    cores = CapacityLimiter(processes.cores())

    def opened(changes: list[Change]) -> _Parcel[Texts]:
        files = batches.read(changes)
        return _Parcel(files, batches.parsed(files))

    async def read(cut: AsyncIterator[list[Change]]) -> AsyncGenerator[_Parcel[Texts], None]:
        async for changes in cut:
            yield await to_thread.run_sync(opened, changes, limiter=cores)

    async def prepared(
        read: AsyncIterator[_Parcel[Texts]],
    ) -> AsyncGenerator[_Parcel[Batch], None]:
        async for parcel in read:
            files, texts = parcel.taken()
            batch = await to_thread.run_sync(batches.prepared, files, texts, limiter=cores)
            made = _Parcel([file.spent() for file in files], batch)
            del files, texts, batch  # not to be held while the next ones are awaited
            yield made

    settled = True
    if batches.changed:
        done = 0
        async with flow() as stage, _interrupting(extractor):
            # None waits: that would take as much memory as one at work.
            opened_ones = stage(read(each(batches.cut())), ahead=0)
            async for parcel in stage(prepared(opened_ones), ahead=0):
                files, batch = parcel.taken()
                settled &= await to_thread.run_sync(batches.commit, files, batch, limiter=cores)
                done += sum(file.container is None for file in files)
                if progress:
                    progress(done, len(batches.changed), files[-1].path if files else "")
                del files, batch
    settled &= await to_thread.run_sync(batches.remove)
    batches.finish()
    return settled


class _Parcel(Generic[Made]):
    """Files of a batch, and what was made of them.

    It is empty once they are taken: what hands it on holds it until the next one comes.
    """

    def __init__(self, files: list[File], made: Made | None) -> None:
        self._content = [(files, made)]

    def taken(self) -> tuple[list[File], Made | None]:
        """Take out the files, and what was made of them."""
        return self._content.pop()
