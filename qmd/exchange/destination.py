"""Target folder of an export: checks, staging folder, atomic swap.

    staging folder ─▸ fill ─▸ flush ─▸ swap, in one step

The next export removes, or completes, the work of a process that was killed.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from qmd import files, processes, safe_open
from qmd.errors import ExportDamaged, ExportTooNew, FolderTaken
from qmd.errors.base import advised
from qmd.exchange import manifest

if TYPE_CHECKING:
    from qmd.exchange.manifest import Manifest
    from qmd.settings.environment import Place
    from qmd.settings.schema import Settings

STAGING_MARK = ".of-qmd"
"""Mark of an unfinished export folder: other files in it belong to an interrupted export."""

FORCE = {"command": "--force", "python": "force=True"}
"""Option that replaces what is there."""

SYSTEM_FILES = frozenset({".DS_Store", "Thumbs.db", "desktop.ini"})
"""Files that systems add to folders that a user has opened."""


def check_target(target: Path, place: Place, settings: Settings) -> None:
    """Refuse folders that must never be replaced, even with force.

    Raises:
        FolderTaken: the folder is needed, or contains one that is.
    """
    if not target.exists():
        return
    needed = {
        "your home folder": place.home or Path.home(),
        "the folder you are in": Path.cwd(),
        "the index": place.database,
        "index.yml": place.config,
        **{f"collection '{each.name}'": Path(each.root) for each in settings.collections},
    }
    for what, path in needed.items():
        whole = path.resolve()
        if target == whole or target in whole.parents:
            raise FolderTaken(target, f"{what} is there.", mend="Name a folder of its own.")
    for each in settings.collections:
        inside = Path(each.root).resolve() in target.parents
        if inside and not manifest.is_export_folder(target) and _contents(target):
            problem = f"it has files of collection '{each.name}' in it."
            raise FolderTaken(target, problem, mend="Name a folder of its own.")


def existing_export(
    target: Path, name: str, selection: Mapping[str, object], *, force: bool
) -> Manifest | None:
    """Return the manifest of an existing export; None for a new or empty folder.

    Args:
        name: of the index.
        selection: of it.

    Raises:
        FolderTaken: the folder contains something else.
    """
    if not target.exists() or (target.is_dir() and not _contents(target)):
        return None
    mend = advised("Name another folder, or replace this one with {}.", **FORCE)
    if not target.is_dir():
        raise FolderTaken(target, "it is a file.", mend="Name another folder.")
    if not manifest.is_export_folder(target):
        if force:
            return None
        raise FolderTaken(target, "it is not empty, and no export of qmd.", mend=mend)
    try:
        found = manifest.read_manifest(target)
    except (ExportDamaged, ExportTooNew) as error:
        if force:
            return None
        raise FolderTaken(target, str(error).split("\n")[0], mend=mend) from error
    if not force and (found.name, found.selection) != (name, selection):
        has = f"the index '{found.name}' ({_in_words(found.selection)})"
        raise FolderTaken(target, f"it is an export of something else: {has}.", mend=mend)
    known = {manifest.NAME, *(file.path for part in found.parts for file in part.files)}
    strange = sorted(_contents(target) - known)
    if strange and not force:
        raise FolderTaken(
            target,
            f"it has files that are not of the export: {', '.join(strange[:3])}"
            + (f" and {len(strange) - 3} more." if len(strange) > 3 else "."),
            mend=advised("Move them away, or replace them with {}.", **FORCE),
        )
    return found


def _in_words(selection: Mapping[str, object]) -> str:
    """Describe the selection of an export."""
    parts = []
    for key, value in selection.items():
        name = key.replace("_", " ")
        told = ", ".join(map(str, value)) if isinstance(value, list) else value
        parts.append(f"without {name}" if value is False else f"{name} {told}")
    return "; ".join(parts) or "all of it"


def _contents(folder: Path) -> set[str]:
    """List all files and links below a folder, by their paths with /."""
    found = set()
    for parent, folders, names in os.walk(folder):
        links = [name for name in folders if Path(parent, name).is_symlink()]
        for name in [*names, *links]:
            if name not in SYSTEM_FILES:
                found.add(Path(parent, name).relative_to(folder).as_posix())
    return found


@contextmanager
def staging_folder(target: Path) -> Iterator[Path]:
    """Create an empty staging folder beside the target, and remove it at the end.

    Its lock ends with the process, so that one that was left behind is cleared and used again.

    Raises:
        FolderTaken: another process exports to the same place, or something else is in the way.
    """
    shop = target.with_name(f".{target.name}.part")
    target.parent.mkdir(parents=True, exist_ok=True)
    while True:
        if shop.is_symlink() or (shop.exists() and not shop.is_dir()):
            raise FolderTaken(target, f"{shop} is in the way.", mend="Move that away.")
        shop.mkdir(exist_ok=True)
        with folder_lock(shop, target) as lock:
            if not shop.exists() or shop.stat().st_ino != os.fstat(lock).st_ino:
                continue  # its process has just put it in its place
            left = _contents(shop)
            if left and STAGING_MARK not in left and not manifest.is_export_folder(shop):
                problem = f"{shop} is in the way, and not of an export."
                raise FolderTaken(target, problem, mend="Move that away.")
            _recover(target)
            (shop / STAGING_MARK).touch()
            _clear(shop)
            try:
                yield shop
            finally:
                with suppress(OSError):
                    if os.stat(shop).st_ino == os.fstat(lock).st_ino:  # not that of the next one
                        _discard(shop)
            return


@contextmanager
def folder_lock(folder: Path, target: Path, *, shared: bool = False) -> Iterator[int]:
    """Hold the lock of a folder, so that no export takes its place.

    Args:
        shared: with others that only read it.

    Raises:
        FolderTaken: another process writes it, or reads it.
    """
    descriptor = safe_open.opened_folder(folder, shared=shared)
    if descriptor is None:
        others = processes.lockers(os.stat(folder))
        names = [
            processes.process_name(each, processes.command_of(each) or "another program")
            for each in others
        ]
        holder = " and ".join(names) or "another process"
        problem = f"{holder} is exporting to it, or importing from it."
        raise FolderTaken(target, problem, mend="Wait for it, and try again.")
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _clear(folder: Path) -> None:
    """Remove all but the mark."""
    for entry in folder.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        elif entry.name != STAGING_MARK:
            entry.unlink()


def _discard(folder: Path) -> None:
    """Remove a folder that is an export or a part of one.

    The mark goes last: if this process is killed, the next export removes the rest.
    """
    with suppress(OSError):  # a full disk has no room for a name
        (folder / STAGING_MARK).touch()
    _clear(folder)
    (folder / STAGING_MARK).unlink(missing_ok=True)
    folder.rmdir()


def _old(target: Path) -> Path:
    """Return the path of the old export while two renames replace it."""
    return target.with_name(f".{target.name}.old")


def _recover(target: Path) -> None:
    """Complete the replacement of a process that was killed between two renames."""
    old = _old(target)
    if not old.is_dir() or old.is_symlink():
        return
    if (old / STAGING_MARK).exists() or (manifest.is_export_folder(old) and target.exists()):
        _discard(old)
    elif manifest.is_export_folder(old):
        old.rename(target)


def publish(shop: Path, target: Path) -> None:
    """Put the finished folder in its place; what was there goes."""
    (shop / STAGING_MARK).unlink()
    for folder, _, _ in os.walk(shop):
        files.fsync_path(Path(folder))
    files.fsync_path(shop / manifest.NAME)
    if not target.exists() or not any(target.iterdir()):
        shop.rename(target)
    else:
        shutil.copymode(target, shop)
        with folder_lock(target, target):  # of the staging folder, once swapped
            if files.swap_folders(shop, target):
                _discard(shop)
            else:
                old = _old(target)
                target.rename(old)
                shop.rename(target)
                _discard(old)
    files.fsync_path(target.parent)
