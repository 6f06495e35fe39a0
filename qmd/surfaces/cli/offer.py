"""Offer to index the folder that a search is called in."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from qmd.surfaces.cli.common import complain, here, is_interactive, key_pressed, notice
from qmd.surfaces.cli.derive import Call
from qmd.visible import shown

if TYPE_CHECKING:
    from qmd.operations.index import Index


def folder_indexed(call: Call, *, found: bool) -> bool:
    """Index the current folder if no collection covers it and the user wants it.

    A person at a terminal is asked if nothing was found. `--yes` is a yes; without it, a script
    is not asked. The home folder and those above it are only indexed with `--yes`.

    Args:
        found: whether the search had results.

    Returns:
        True if the folder has been indexed, and the search is worth another try.
    """
    agreed = bool(call.options.yes)
    may_ask = not found and is_interactive() and not _is_scoped(call)
    if not (agreed or may_ask):
        return False
    folder = here()
    if _is_covered(call.engine, folder):
        return False
    if not agreed:
        if _is_home(folder, call.here.environ.get("HOME")):
            return False
        question = f"No collection covers {folder}. Index this folder now? [y/n] "
        if not key_pressed(question, "y"):
            return False
    return _index(call.engine, folder)


def _is_scoped(call: Call) -> bool:
    """Return whether the search looks into a part of the index that the user has chosen."""
    return bool(call.here.index_name) or any(
        call.given.get(name) for name in ("collection", "path", "filter", "since", "before")
    )


def _is_covered(engine: Index, folder: Path) -> bool:
    from qmd.operations.contexts import on_disk

    return on_disk(engine, str(folder)) is not None


def _is_home(folder: Path, home: str | None) -> bool:
    """Return whether a folder is the home folder or above it."""
    place = Path(home) if home else Path.home()
    return folder == place or folder in place.parents


def _index(engine: Index, folder: Path) -> bool:
    """Add a folder as a collection, index it, and report on stderr."""
    import anyio

    from qmd.operations import curation
    from qmd.operations.update import run_update
    from qmd.surfaces.cli.progress import bars
    from qmd.surfaces.cli.update import summary

    added = curation.add_collection(engine, folder)
    try:
        with bars() as progress:
            label = f"Indexing {added.name}"
            [report] = anyio.run(
                lambda: run_update(
                    engine,
                    [added.name],
                    progress=lambda _: progress(label),
                )
            )
    except BaseException:
        notice(curation.state_of(engine, added.name))
        raise
    if report.failure:
        complain(report.failure)
        return False
    curation.end_adding(engine, added)
    notice(f"{shown(added.name)} ({shown(added.mask)})\n{summary(report)}\n")
    return True
