"""Operation `update`: index what has changed in the files of the collections."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated

from qmd.analytics.rows import Rows
from qmd.declaration.operation import Parameter, operation
from qmd.declaration.parameters import WatchedCollections, named
from qmd.reports import Report
from qmd.types import Collection

if TYPE_CHECKING:
    from qmd.ingest.compare import Comparison
    from qmd.ingest.walk import FileTable
    from qmd.operations.index import Index

log = logging.getLogger("qmd")

SEVERAL_READ = 1000
"""Documents from which on an update puts the words in order, which takes a thirtieth of the time
until then: after it, a command that searches takes a fiftieth less."""

MANY_READ = 10_000
"""Documents from which on an update puts postings and words in order at its end, which takes a
sixth of the time until then: after it, a command that searches takes a third less."""

VERY_MANY_READ = 50_000
"""Documents from which on an update returns the memory of their words to the system before it puts
all in order. Of fewer, it takes longer to get it again than it is worth."""

Pull = Annotated[
    bool,
    Parameter(
        help="Run 'git pull --ff-only' first where git is used.",
        absent={"tool": "It runs a program over the network, which is for the user to do."},
    ),
]

Confirmed = Annotated[
    bool,
    Parameter(
        help="Also remove the documents of folders that lost their files all at once.",
        absent={"tool": "Whether files were lost or deleted is for the user to say."},
    ),
]

UpdateProgress = Annotated[
    Callable[[str, int, int], object] | None,
    Parameter(
        help="Called with (collection, files done, files in all).",
        kind="callback",
        absent={
            "command": "A progress bar is shown.",
            "tool": "The protocol has notifications of progress.",
        },
    ),
]


@operation(
    title="Update the index",
    description="Index what has changed in the files of the collections. Reports progress.",
    writes=True,
    guarded=True,
    examples=(
        ("Index what has changed in all collections", "qmd update"),
        ("In one collection only", "qmd update notes"),
        ("Pull from git first where a collection is a clone", "qmd update --pull"),
        ("Also remove what a folder that is empty now had", "qmd update notes --yes"),
    ),
)
async def update(
    index: Index,
    collection: WatchedCollections = None,
    *,
    pull: Pull = False,
    yes: Confirmed = False,
    progress: UpdateProgress = None,
) -> Rows[Report]:
    """Index what has changed.

    Args:
        collection: names; None: all.
        pull: run `git pull --ff-only` first in collections that git follows.
        yes: remove the documents of folders that have lost all or nearly all of their files at
            once, too. Without it they are kept, and reports say so in `kept`.
        progress: called with (collection, files done, files in all).

    Returns:
        A report for each collection. One that could not be updated says so in `failure`, and does
        not stop the others.

    Raises:
        CollectionNotFound: no collection has one of the names.
        IndexFailure: the index is busy or cannot be written.
    """
    from qmd.ingest.hooks import Hooks

    def telling(each: Collection) -> Callable[[int, int, str], None]:
        def tell(done: int, total: int, _: str) -> None:
            if progress is not None:
                progress(each.name, done, total)

        return tell

    hooks = Hooks(index.place, index.settings, pull=pull, told=log.warning)
    names = named(collection)
    run = run_update(index, names, removes=yes, progress=telling, before=hooks.run)
    return Rows(Report, await run)


async def run_update(
    index: Index,
    names: Sequence[str] = (),
    *,
    compared: Mapping[str, Comparison] = MappingProxyType({}),
    removes: bool = False,
    progress: Callable[[Collection], Callable[[int, int, str], None]] | None = None,
    before: Callable[[Collection], Awaitable[None]] | None = None,
    told: Callable[[Collection, Report], None] | None = None,
) -> list[Report]:
    """Bring collections up to date with their files, each in a pipeline of its own.

    Args:
        names: of collections; none means all.
        compared: made just before, where nothing has to be done first.
        removes: documents of folders that have lost their files all at once.
        progress: makes, for a collection, a function that is called with (done, in all,
            the last file).
        before: awaited before a collection is indexed; an error it raises is the failure of
            this collection.
        told: called with each report as it is ready.

    Returns:
        A report for each collection that exists in the end; a failure of one does not stop the
        others.
    """
    reports = await _updated(index, names, compared, removes, progress, before, told)
    await _put_in_order(index, sum(report.new + report.updated for report in reports))
    return reports


async def _updated(
    index: Index,
    names: Sequence[str],
    compared: Mapping[str, Comparison],
    removes: bool,
    progress: Callable[[Collection], Callable[[int, int, str], None]] | None,
    before: Callable[[Collection], Awaitable[None]] | None,
    told: Callable[[Collection, Report], None] | None,
) -> list[Report]:
    """Index what has changed in the files of collections. See `run_update`."""
    from anyio import to_thread

    from qmd.errors import CollectionNotFound, IndexFailure, QmdError
    from qmd.ingest import pipeline

    chosen = await to_thread.run_sync(index.folders, names)
    reports = []
    for collection in chosen:
        comparison = compared.get(collection.name)
        try:
            if before is not None:
                await before(collection)
                # Which may have changed index.yml.
                [fresh] = await to_thread.run_sync(index.folders, [collection.name])
                collection, comparison = fresh, comparison if fresh == collection else None
            check_approved(index, collection)
            report = await pipeline.update(
                index.database,
                collection,
                index.readers(collection),
                comparison=comparison,
                removes=removes,
                progress=progress(collection) if progress else None,
                groups=collection.name == chosen[-1].name,
            )
        except IndexFailure:
            raise
        except QmdError as error:
            if isinstance(error, CollectionNotFound) and not names:
                # It was removed, or has another name by now.
                now = await to_thread.run_sync(index.folders)
                chosen += [each for each in now if each not in chosen]
                continue
            report = Report(collection.name, collection.mask, failure=str(error))
        reports.append(report)
        if told is not None:
            told(collection, report)
    return reports


async def _put_in_order(index: Index, read: int) -> None:
    """Do what concerns all documents together, once all collections are up to date.

    Args:
        read: new and changed files.
    """
    from anyio import to_thread

    from qmd.ingest.backfill import fill
    from qmd.ingest.grouping import settle
    from qmd.ingest.memory import return_memory
    from qmd.ingest.retokenizer import retokenize
    from qmd.storage import maintenance
    from qmd.storage.old_texts import free_old_texts

    index.database.share_out(False)  # a sidecar is made in the order of tables
    if read >= VERY_MANY_READ:
        return_memory()
    await to_thread.run_sync(index.end_readers)
    await to_thread.run_sync(fill, index.database)
    replaced = await to_thread.run_sync(retokenize, index.database)
    merge = partial(
        maintenance.merge, index.database, always=replaced > 0, at_leisure=read >= MANY_READ
    )
    if not await to_thread.run_sync(merge) and read >= SEVERAL_READ:
        await to_thread.run_sync(maintenance.sort_words, index.database)
    await to_thread.run_sync(settle, index.database)
    await to_thread.run_sync(free_old_texts, index.database)
    if index.makes_sidecars:
        await to_thread.run_sync(index.holder.renew)


def update_small(
    index: Index,
    names: Sequence[str],
    compared: Mapping[str, Comparison],
    *,
    begun: Callable[[Collection], None],
    told: Callable[[Collection, Report], None],
) -> tuple[list[Report], list[str]]:
    """Carry out comparisons in this thread: for a few small changes.

    Args:
        names: of collections; none means all.
        compared: of each of them, how it differs.
        begun: called with each collection before it is updated.
        told: called with each report as it is ready.

    Returns:
        Reports of the collections that still exist (a failure of one does not stop the others), and
        names of collections that appeared meanwhile.
    """
    from qmd.ingest.grouping import settle
    from qmd.storage import maintenance
    from qmd.storage.old_texts import free_old_texts

    reports, others = _carried_out(index, names, compared, begun, told)
    index.end_readers()
    settle(index.database)  # an earlier update may have ended before it
    if any(comparison.changes for comparison in compared.values()):
        maintenance.merge(index.database)
        free_old_texts(index.database)
    if index.makes_sidecars:
        index.holder.note_fit()
    return reports, others


def _carried_out(
    index: Index,
    names: Sequence[str],
    compared: Mapping[str, Comparison],
    begun: Callable[[Collection], None],
    told: Callable[[Collection, Report], None],
) -> tuple[list[Report], list[str]]:
    """Carry out comparisons. See `update_small`."""
    from qmd.errors import CannotUpdate, CollectionNotFound

    reports, others = [], list[str]()
    last = [each for each in compared.values() if each.changes][-1:]
    for comparison in compared.values():
        collection = comparison.collection
        begun(collection)
        report = comparison.nothing_changed
        if report is None:
            from qmd.ingest.at_once import carry_out

            try:
                readers = index.readers(collection)
                report = carry_out(index.database, comparison, readers, groups=comparison in last)
            except (CollectionNotFound, CannotUpdate) as error:
                if isinstance(error, CollectionNotFound) and not names:
                    # It was removed, or has another name by now.
                    now = [each.name for each in index.folders()]
                    others = [name for name in now if name not in compared]
                    continue
                report = Report(collection.name, collection.mask, failure=str(error))
        reports.append(report)
        told(collection, report)
    return reports, others


def compare_folders(
    index: Index,
    names: Sequence[str] = (),
    found: Mapping[Collection, FileTable] = MappingProxyType({}),
    *,
    removes: bool = False,
) -> dict[str, Comparison]:
    """Compare collections with their folders.

    A collection whose folder is missing or must not be read, or whose mask is invalid, is left out:
    the update reports it.

    Args:
        names: of collections; none means all.
        found: files of folders that were walked just before.
        removes: documents of folders that have lost their files all at once are to be removed.

    Returns:
        Comparisons by the name of the collection.

    Raises:
        CollectionNotFound: no collection has one of the names.
    """
    from qmd.errors import CannotUpdate, CollectionNotFound, UsageError
    from qmd.ingest.compare import compare

    compared = {}
    for collection in index.folders(names):
        with suppress(CollectionNotFound, CannotUpdate, UsageError):  # the update reports it
            check_approved(index, collection)
            compared[collection.name] = compare(
                index.database,
                collection,
                found.get(collection),
                index.readers(collection),
                removes=removes,
            )
    return compared


def needs_backfill(index: Index) -> bool:
    """Return whether an update has something to do even if no file has changed."""
    from qmd.ingest import commit
    from qmd.ingest.retokenizer import needs_new_postings

    asked = (commit.lack_outlines, needs_new_postings, commit.lack_sketches)
    return any(index.database.read(each) for each in asked)


def may_read(index: Index, collection: Collection) -> bool:
    """Return whether the folder of a collection may be read.

    A project may name a folder outside of it, which has to be approved first.
    """
    if index.place.project is None:
        return True
    from qmd.settings import trust

    return trust.may_read(index.place, index.settings(), collection)


def check_approved(index: Index, collection: Collection) -> None:
    """Refuse to read a folder that has not been approved.

    Raises:
        NotApproved: it has not.
    """
    if not may_read(index, collection):
        from qmd.errors import NotApproved

        raise NotApproved(collection.name, collection.root)
