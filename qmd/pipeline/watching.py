"""Keep collections fresh while their files change."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import watchfiles

from qmd.errors import UsageError
from qmd.types import Collection, Report

if TYPE_CHECKING:
    from qmd.engine import Engine

QUIET_MS = 400
"""Milliseconds without a change, after which what changed is indexed."""

TURN_MS = 1000
"""Milliseconds that the watcher waits for a change, before it says that there was none."""


async def watch(
    engine: Engine,
    collections: Sequence[Collection],
    *,
    told: Callable[[Collection, Report], None],
    then: Callable[[Sequence[str]], Awaitable[None]] | None = None,
) -> None:
    """Update collections once, and again whenever a file below their folders changes.

    Update commands do not run: they would change files, and so run for ever. A folder that is not
    there is not watched.

    Args:
        then: done after each update, with the names of the collections.

    Raises:
        UsageError: none of the folders is there.
    """

    async def follow(names: Sequence[str]) -> None:
        await engine.update(names, told=told)
        if then is not None:
            await then(names)

    await follow([collection.name for collection in collections])
    roots = _there(collections)
    if not roots:
        raise UsageError("There is nothing to watch: none of the folders is there.")
    begun = False
    async for changes in watchfiles.awatch(
        *roots,
        debounce=QUIET_MS,
        step=50,
        rust_timeout=TURN_MS,
        yield_on_timeout=True,
        raise_interrupt=True,
    ):
        # The first time all: what changed after the update, but before this began, is not told.
        changed = {
            name
            for root, name in roots.items()
            if not begun or any(path.startswith(root + "/") for _, path in changes)
        }
        begun = True
        if changed:
            await follow(sorted(changed))


def _there(collections: Sequence[Collection]) -> dict[str, str]:
    """The names of collections, by their folders; without those that are not there."""
    return {each.root: each.name for each in collections if Path(each.root).is_dir()}
