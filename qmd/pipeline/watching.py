"""Keep collections fresh while their files change.

    files ─▸ quiet for a moment ─▸ update ─▸ names of what changed ─▸ embed

Making vectors may take long, and is a task of its own: words are found meanwhile.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

import anyio
import watchfiles
from anyio import to_thread

from qmd.errors import IndexBusy, QmdError, UsageError
from qmd.pipeline.flow import only
from qmd.types import Collection, Embedded, Report

if TYPE_CHECKING:
    from qmd.engine import Engine

QUIET_MS = 400
"""Milliseconds without a change, after which what changed is indexed."""

TURN_MS = 1000
"""Milliseconds that the watcher waits for a change, before it says that there was none."""

RETRY = 60.0
"""Seconds after which vectors that could not be made are tried again, if nothing changes before."""


async def watch(
    engine: Engine,
    collections: Sequence[Collection],
    *,
    told: Callable[[Collection, Report], None],
    embedded: Callable[[Embedded], None] | None = None,
    failed: Callable[[QmdError], None] = lambda _: None,
) -> None:
    """Update collections once, and again whenever a file below their folders changes.

    Update commands do not run: they would change files, and so run for ever. A folder that is not
    there, or cannot be read, is not watched.

    Args:
        embedded: told what vectors were made of what changed; None: none are made.
        failed: told why something could not be done yet. It is tried again.

    Raises:
        UsageError: none of the folders can be watched.
        IndexFailure: the index is unreadable, or cannot be written.
    """
    await engine.update([each.name for each in collections], told=told)
    watched = await to_thread.run_sync(_readable, collections)
    if not watched:
        raise UsageError("There is nothing to watch: none of the folders is there.")
    try:
        async with anyio.create_task_group() as tasks:
            vectors = _Vectors(engine, embedded, failed) if embedded else None
            if vectors is not None:
                vectors.want(each.name for each in watched)
                tasks.start_soon(vectors.keep_up)
            # At first all: what changed after the update, but before this began, is not told.
            waiting = {each.name for each in watched}
            async for changes in watchfiles.awatch(
                *{each.root for each in watched},
                debounce=QUIET_MS,
                step=50,
                rust_timeout=TURN_MS,
                yield_on_timeout=True,
                raise_interrupt=True,
                ignore_permission_denied=True,
            ):
                waiting |= _concerned(watched, [path for _, path in changes], engine)
                if not waiting:
                    continue
                try:
                    reports = await engine.update(sorted(waiting), told=told)
                except IndexBusy as error:
                    failed(error)
                    continue
                waiting = set()
                if vectors is not None:
                    vectors.want(r.collection for r in reports if r.new or r.updated or r.renamed)
    except BaseExceptionGroup as group:
        raise only(group) from None


class _Vectors:
    """Makes the vectors of collections, beside what finds out that they are wanted."""

    def __init__(
        self,
        engine: Engine,
        embedded: Callable[[Embedded], None],
        failed: Callable[[QmdError], None],
    ) -> None:
        self._engine = engine
        self._embedded = embedded
        self._failed = failed
        self._names: set[str] = set()
        self._wanted = anyio.Event()

    def want(self, names: Iterable[str]) -> None:
        """Have the vectors of some more collections made."""
        self._names.update(names)
        if self._names:
            self._wanted.set()

    async def keep_up(self) -> None:
        """Make what is wanted, for ever."""
        while True:
            await self._wanted.wait()
            self._wanted = anyio.Event()
            names, self._names = sorted(self._names), set()
            try:
                report = await self._engine.embed(names)
            except QmdError as error:
                self._failed(error)
                self._names.update(names)
                with anyio.move_on_after(RETRY):
                    await self._wanted.wait()
                self._wanted.set()
            else:
                self._embedded(report)


def _readable(collections: Sequence[Collection]) -> list[Collection]:
    """Those whose folders can be listed."""
    found = []
    for each in collections:
        try:
            os.scandir(each.root).close()
        except OSError:
            continue
        found.append(each)
    return found


def _concerned(collections: Sequence[Collection], paths: Sequence[str], engine: Engine) -> set[str]:
    """The names of collections below whose folders files have changed, but for the index itself."""
    own = os.path.realpath(engine.place.database)
    others = [path for path in paths if not os.path.realpath(path).startswith(own)]
    return {
        each.name
        for each in collections
        if any(path.startswith(each.root.rstrip("/") + "/") for path in others)
    }
