"""Registration of a new collection, and what its globs may be."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path

from qmd.errors import AlreadyExists, ConfigError, IndexFailure, QmdError, UsageError
from qmd.operations.index import Index
from qmd.quoting import command
from qmd.settings.config_reader import check_name
from qmd.settings.edit import Parsed
from qmd.settings.edit import add_collection as write_collection
from qmd.settings.schema import NEW_MASK, Settings
from qmd.storage import catalog
from qmd.storage.overlaps import overlaps
from qmd.text import paths
from qmd.text.globs import check_closed, check_mask, matcher, matches_nothing, split_mask
from qmd.types import Collection
from qmd.visible import one_line


def add_collection(
    index: Index,
    path: Path,
    *,
    name: str | None = None,
    mask: str = NEW_MASK,
    ignored: Sequence[str] = (),
) -> Collection:
    """Register a folder. Nothing of it is indexed yet.

    A folder that is registered, but whose first indexing was not finished, is given again.
    `end_adding` tells that it is.

    Args:
        name: else that of the folder.
        mask: which files; a comma list of globs and of `documents`, `code`, `data` and `all`.
        ignored: globs of files that are left out.

    Raises:
        UsageError: there is no such folder, it cannot be read, or the name or mask is none.
        AlreadyExists: the name is taken, or the folder is registered under another.
    """
    root = _folder(path)
    at = paths.slashed(root)
    if any("\ud800" <= mark <= "\udfff" for mark in at):
        raise UsageError("The name of the folder is not valid UTF-8 text. Give it another name.")
    chosen = name if name is not None else root.name or "root"
    check_name(chosen)
    check_mask(mask)
    check_closed(mask)
    matcher(split_mask(mask))
    check_ignored(ignored)
    added = Collection(chosen, at, mask, tuple(ignored))
    try:
        known = index.collections()
    except IndexFailure as error:
        error.add_note(state_of(index, chosen))
        raise
    for each in known:
        same = (each.root, each.mask) == (at, mask) and name in (None, each.name)
        if same and index.read(partial(catalog.is_adding, root=each.root, mask=mask)):
            return each
    if any(collection.name == chosen for collection in known):
        raise AlreadyExists(
            f"Collection '{chosen}' already exists.",
            advice={
                "command": "Choose another name with --name NAME, or index it with "
                f"{command('qmd', 'update', chosen)}.",
                "python": f"Choose another with name=NAME, or index it with update({chosen!r}).",
            },
        )
    for collection in known:
        if collection.root == at and collection.mask == mask:
            raise AlreadyExists(
                f"Collection '{collection.name}' already has {root} ({mask}).\n\n"
                f"Index it with {command('qmd', 'update', '-c', collection.name)}."
            )

    def edit(_: Settings, document: Parsed) -> None:
        if chosen in (document.get("collections") or {}):
            raise AlreadyExists(f"Collection '{chosen}' already exists.")
        write_collection(document, added._replace(root=_written(root, index.place.project)))

    begin = partial(catalog.begin_adding, root=at, mask=mask)
    try:
        index.database.write(begin)
        index.change(edit)
    except (QmdError, OSError, KeyboardInterrupt) as error:
        if not isinstance(error, AlreadyExists):
            error.add_note(state_of(index, chosen))
        raise
    return added


def shared_folders(index: Index, added: Collection) -> list[str]:
    """Say which other collections have files of a collection."""
    known = index.collections()
    roots = {each.name: each.root for each in known}
    told = []
    for each in overlaps(known):
        if added.name not in (each.outer, each.inner):
            continue
        other = each.inner if added.name == each.outer else each.outer
        is_covered = not each.prefix or added.name == each.inner
        verb = "is covered already by" if is_covered else "covers"
        told.append(
            f"The folder of '{one_line(added.name)}' {verb} the collection '{one_line(other)}' "
            f"({one_line(roots[other])}). Searches give each file once."
        )
    return told


def check_ignored(globs: Iterable[str]) -> None:
    """Refuse globs that leave nothing out.

    Raises:
        UsageError: there is one.
    """
    for glob in globs:
        if not glob.strip() or matches_nothing(glob):
            raise UsageError(
                f"'{one_line(glob)}' leaves nothing out: paths begin at the folder of the "
                "collection.\n\nWrite '**/*.tmp' or 'work/'."
            )
        check_closed(glob)
        matcher([glob])


def end_adding(index: Index, collection: Collection) -> None:
    """Note that a collection is whole: its first indexing is done."""
    end = partial(catalog.end_adding, root=collection.root, mask=collection.mask)
    index.database.write(end)


def state_of(index: Index, name: str) -> str:
    """Describe the state of a collection whose addition failed, and how to resume it."""
    try:
        names = [each.name for each in index.settings().collections]
    except ConfigError:
        names = []
    if name not in names:
        return f"Collection '{one_line(name)}' was not added."
    update = command("qmd", "update", "-c", name)
    return (
        f"Collection '{one_line(name)}' is registered. To go on, add it again, or "
        f"index it with {update}. "
        f"{command('qmd', 'collection', 'remove', name)} takes it back."
    )


def _folder(path: Path) -> Path:
    """Resolve a path to a folder.

    Raises:
        UsageError: there is none, or it cannot be read.
    """
    try:
        root = paths.at_home(path).resolve()
        if not root.is_dir():
            what = "is not a folder" if root.exists() else "does not exist"
            raise UsageError(f"{path} {what}.\n\nGive the folder to index, such as ~/notes.")
        os.scandir(root).close()
    except OSError as error:
        raise UsageError(
            f"{path} cannot be read: {error.strerror or error}.\n\nNothing was added. Check its "
            "permissions, or give another folder."
        ) from error
    return root


def _written(root: Path, project: Path | None) -> str:
    """Write a folder as in index.yml: relative to its project, so that a clone finds its own."""
    if project is None or not root.is_relative_to(project):
        return paths.slashed(root)
    below = root.relative_to(project).as_posix()
    # A leading `~` would be read as a home folder.
    return paths.slashed(root) if below.startswith("~") else below
