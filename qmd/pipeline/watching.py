"""Keep collections fresh while their files change."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import watchfiles

from qmd.types import Collection, Report

if TYPE_CHECKING:
    from qmd.engine import Engine

QUIET_MS = 400
"""Milliseconds without a change, after which what changed is indexed."""


async def watch(
    engine: Engine,
    collections: Sequence[Collection],
    *,
    told: Callable[[Collection, Report], None],
) -> None:
    """Update collections once, and again whenever a file below their folders changes.

    Update commands do not run: they would change files, and so run for ever.
    """
    names = [collection.name for collection in collections]
    await engine.update(names, told=told)
    roots = {collection.root: collection.name for collection in collections}
    async for changes in watchfiles.awatch(
        *roots, debounce=QUIET_MS, step=50, raise_interrupt=True
    ):
        changed = {
            name
            for root, name in roots.items()
            if any(path.startswith(root + "/") for _, path in changes)
        }
        if changed:
            await engine.update(sorted(changed), told=told)
