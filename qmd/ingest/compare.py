"""Comparison of a folder with the index.

It is separate from the pipeline, since most updates find no changes and end here.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from typing import TYPE_CHECKING

from qmd.ingest import commit
from qmd.ingest.folder_changes import Change
from qmd.ingest.lost import lost
from qmd.ingest.walk import FileTable, same, walk
from qmd.named_tuple import NamedTuple
from qmd.reports import Report
from qmd.storage import catalog
from qmd.storage.cursor import Cursor
from qmd.storage.database import Database
from qmd.text import paths
from qmd.types import Collection, Kept, LeftOut

if TYPE_CHECKING:
    from qmd.ingest.extractor import Readers

LITTLE_BYTES, LITTLE_FILES = 2_000_000, 2_000
"""Bytes and files of a small update: less than one batch, so that a pipeline has no parallel work,
and done before a progress bar would say much."""


class Comparison(NamedTuple):
    """A comparison of a folder with the index.

    Attributes:
        changes: without documents that are kept.
        is_told: the index has a record of the files that the collection leaves out, and of the
            folders that have lost their files.
        unread: files that could not be read, as the index has noted them.
        kept: folders that have lost their files all at once.
        removes: their documents are to be removed.
    """

    collection: Collection
    found: FileTable
    changes: Sequence[Change]
    is_told: bool = True
    kept: Sequence[Kept] = ()
    removes: bool = False
    unread: Sequence[tuple[str, str]] = ()

    @property
    def nothing_changed(self) -> Report | None:
        """The report, if there is nothing to do."""
        if self.changes or not self.is_told:
            return None
        report = same(self.collection, self.found)
        report.kept[:] = self.kept
        return report

    @property
    def forgets(self) -> bool:
        """True if files that could not be read are not as the index has noted them."""
        return self.unread_with(self.found.refused) != list(self.unread)

    def unread_with(self, files: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
        """Add the files that were noted inside of others which have not changed.

        Args:
            files: that could not be read, with the reasons.
        """
        inside = [each for each in self.unread if "/" in each[0]]
        if inside:
            there = {*self.found.paths}.difference(each.path for each in self.changes)
            inside = [each for each in inside if not there.isdisjoint(paths.folders_above(each[0]))]
        return sorted({*files, *inside})

    def unusable(self, report: Report) -> list[tuple[str, str]] | None:
        """Load the files that cannot be indexed while they stay the same, with the reasons.

        Args:
            report: of what was done about the changes.

        Returns:
            None: there were other changes, or some that have to be looked at again; or documents
                are kept, of which every update tells.
        """
        from qmd.ingest.reader import FRESH_NS

        read = report.skipped[len(self.found.skipped) :]
        if len(read) != len(self.changes) or report.passing or self.kept:
            return None
        times = [self.found.mtimes[each.place] for each in self.changes if each.place is not None]
        return read if max(times, default=0) <= self.found.began - FRESH_NS else None


def is_little(compared: Iterable[Comparison]) -> bool:
    """Check that the changes are small enough for an update without the pipeline."""
    size = files = 0
    for each in compared:
        for change in each.changes:
            if change.place is not None:
                size += each.found.sizes[change.place]
                files += 1
            if size > LITTLE_BYTES or files > LITTLE_FILES:
                return False
    return True


def compare(
    database: Database,
    collection: Collection,
    found: FileTable | None = None,
    readers: Readers | None = None,
    *,
    removes: bool = False,
    chosen: Container[str] | None = None,
) -> Comparison:
    """Walk a collection's folder and compare it with the index in one statement.

    What another process has indexed since the walk is not gone: for whatever seems to be, the
    folder is looked at once more.

    Args:
        found: in the folder, just before; None: it is looked at.
        readers: of files that are no text; None: those that qmd has.
        removes: documents of folders that have lost their files all at once are to be removed.
        chosen: files that this index may have, as a shard of a larger one; None: all.

    Raises:
        CollectionNotFound: it was removed, or got another name.
        RootMissing, RootUnreadable: the folder is not there, or cannot be read.
        IndexFailure: the index is busy or cannot be read.
    """
    files = walk(collection) if found is None else found

    def current() -> list[str]:
        from qmd.ingest.converters import current_tags

        return current_tags(readers.converters if readers is not None else None)

    def work(
        cursor: Cursor,
    ) -> tuple[Sequence[Change], tuple[list[LeftOut], list[Kept]], list[tuple[str, str]]]:
        catalog.check_collections(cursor, [collection.name])
        outdated = commit.outdated(cursor, collection=collection.name, current=current)
        changes = commit.changes(
            cursor,
            collection=collection.name,
            paths=files.paths,
            sizes=files.sizes,
            mtimes=files.mtimes,
            inodes=files.inodes,
            ctimes=files.ctimes,
        )
        told = commit.left_out(cursor, collection.name), commit.kept(cursor, collection.name)
        unread = commit.noted_unread(cursor, collection.name)
        return _with_outdated(changes, outdated, files) if outdated else changes, told, unread

    is_large = len(files.paths) > commit.AT_A_GLANCE
    if is_large:
        database.share_out(True)
    changes, told, unread = database.read(work)
    kept: list[Kept] = []
    if any(change.place is None for change in changes):
        here = {path for path in walk(collection).paths if chosen is None or path in chosen}
        changes = [each for each in changes if each.place is not None or each.path not in here]
        if not removes:
            kept, staying = lost(collection, files, changes, told[1])
            changes = [each for each in changes if each.path not in staying]
    comparison = Comparison(collection, files, changes, kept=kept, removes=removes, unread=unread)
    if is_large and not is_little([comparison]):  # the pipeline has work for all cores
        database.share_out(False)
    is_told = told == (files.left_out, kept) and (bool(changes) or not comparison.forgets)
    return comparison._replace(is_told=is_told)


def _with_outdated(
    changes: Sequence[Change], outdated: list[Change], files: FileTable
) -> list[Change]:
    """Add unchanged files that have to be read again to the changes."""
    places = {path: place for place, path in enumerate(files.paths)}
    again = {
        each.path: each._replace(place=places[each.path])
        for each in outdated
        if each.path in places
    }
    gone = [each for each in changes if each.place is None or each.path not in again]
    return sorted([*gone, *again.values()], key=lambda change: change.path)
