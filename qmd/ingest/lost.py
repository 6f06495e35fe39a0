"""Folders that have lost their files all at once: nothing of them is removed without confirmation.

A disk that is not mounted leaves an empty folder behind, as does a sync that went wrong. An update
cannot tell either from files that were deleted on purpose. So it keeps the documents of a folder

- without any file, even if it had only one document,
- where other files than documents are left, if it had at least `MANY` documents,
- that lost at least `MANY` documents and more than `NEARLY_ALL` of all, or
- that lies in a collection, is empty, and had at least `MANY` documents,

unless about as many files have appeared, which means that they were moved. Files that are still
there, but no longer belong to the collection by its settings, do not count as lost. Once the
documents of a collection are kept, they are until all files are back or the removal is confirmed:
files may come back one by one.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence

from qmd.ingest.folder_changes import Change
from qmd.ingest.walk import FileTable
from qmd.text import paths
from qmd.types import Collection, Kept

MANY = 20
"""Documents whose loss at once is rarely intended."""

NEARLY_ALL = 0.9
"""Share of the documents of a collection."""


def lost(
    collection: Collection, found: FileTable, changes: Sequence[Change], before: Sequence[Kept] = ()
) -> tuple[list[Kept], set[str]]:
    """Find folders that have lost their files all at once.

    Args:
        changes: of the collection; those without a place are gone.
        before: folders that had lost their files at the last update.

    Returns:
        The folders, and the paths of the documents that are kept.
    """
    gone = [each.path for each in changes if each.place is None]
    new = sum(each.place is not None and each.document_id is None for each in changes)
    was_lost = any(each.folder == collection.root for each in before)
    if not gone or (2 * new >= len(gone) and not was_lost):
        return [], set()
    root = paths.real(collection.root)
    missing = [path for path in gone if not found.is_unread(path) and not _is_there(root, path)]
    if not missing or (2 * new >= len(missing) and not was_lost):
        return [], set()
    left = len(found.paths) - new
    if was_lost or _is_whole(len(missing), len(gone) + left, found):
        return [Kept(collection.root, len(missing), len(found.paths))], set(missing)
    return _emptied(collection.root, root, missing, new)


def _is_whole(missing: int, known: int, found: FileTable) -> bool:
    """Check that a collection has lost all or nearly all of its documents.

    Args:
        known: documents of the collection, lost or not.
    """
    if missing == known and not found.passed_over and not found.skipped:
        return True
    return missing >= MANY and missing > NEARLY_ALL * known


def _emptied(
    shown: str, root: str, missing: Sequence[str], new: int
) -> tuple[list[Kept], set[str]]:
    """Find the empty folders of a collection that had many documents."""
    empty: dict[str, bool] = {}
    inside: dict[str, str] = {}
    for path in missing:
        for folder in paths.folders_above(path):
            if folder not in empty:
                empty[folder] = _is_empty(f"{root}/{folder}")
            if empty[folder]:
                inside[path] = folder
                break
    counts = Counter(inside.values())
    folders = {each for each, count in counts.items() if count >= MANY and 2 * new < count}
    kept = [Kept(f"{shown.rstrip('/')}/{each}", counts[each], 0) for each in sorted(folders)]
    return kept, {path for path, folder in inside.items() if folder in folders}


def _is_empty(folder: str) -> bool:
    try:
        with os.scandir(folder) as entries:
            return next(entries, None) is None
    except OSError:  # it was removed, too
        return False


def _is_there(root: str, path: str) -> bool:
    place = paths.place(root, path)
    return place is not None and os.path.lexists(place)
