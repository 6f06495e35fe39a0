"""Keep collections fresh while their files change.

    files ─▸ quiet for a moment ─▸ update ─▸ names of what changed ─▸ embed

Making vectors may take long, and is a task of its own: words are found meanwhile.
"""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING

import anyio
import watchfiles
from anyio import to_thread

from qmd.errors import (
    CollectionNotFound,
    ConfigError,
    IndexBusy,
    QmdError,
    RootMissing,
    UsageError,
)
from qmd.named_tuple import NamedTuple
from qmd.operations.embed import run_embed
from qmd.operations.update import may_read, run_update
from qmd.reports import Embedded, Report
from qmd.stages import only
from qmd.text.paths import real, slashed
from qmd.types import Collection

if TYPE_CHECKING:
    from qmd.operations.index import Index

QUIET_MS = 400
"""Milliseconds without a change, after which what changed is indexed."""

TURN_MS = 1000
"""Milliseconds that the watcher waits for a change, before it says that there was none."""

Changes = set[tuple[watchfiles.Change, str]]

RETRY = 60.0
"""Seconds after which vectors that could not be made are tried again, if nothing changes before."""


async def watch(
    engine: Index,
    names: Sequence[str] = (),
    *,
    told: Callable[[Collection, Report], None],
    embedded: Callable[[Embedded], None] | None = None,
    failed: Callable[[QmdError], None] = lambda _: None,
) -> None:
    """Update collections once, and again whenever a file below their folders changes.

    Update commands do not run: they would change files, and so run for ever. A folder that is not
    there, cannot be read, or must not, is not watched until that changes. One that another takes
    the place of is watched anew.

    Args:
        names: of collections; none means all, with those that come later.
        embedded: told what vectors were made of what changed; None: none are made.
        failed: told why something could not be done yet. It is tried again.

    Raises:
        CollectionNotFound: no collection has one of the names.
        UsageError: none of the folders can be watched, or all collections have been removed.
        IndexFailure: the index is unreadable, or cannot be written.
    """
    await run_update(engine, names, told=told)
    watched = await to_thread.run_sync(_watchable, engine, names)
    if not watched:
        raise UsageError("There is nothing to watch: none of the folders is there.")
    vectors = _Vectors(engine, embedded, failed) if embedded else None
    waiting = set[str]()

    async def turn(paths: Sequence[str]) -> None:
        """Update what waits, and find out what is to be watched from now on."""
        nonlocal watched
        waiting.update(_concerned(watched, paths, engine))
        before, watched = watched, await to_thread.run_sync(_watchable, engine, names)
        for lost in await to_thread.run_sync(_lost, engine, before, watched):
            failed(lost)
        waiting.update(each.collection.name for each in watched if each not in before)
        waiting.intersection_update(each.collection.name for each in watched)
        if not waiting:
            return
        reports = await run_update(engine, sorted(waiting), told=told)
        waiting.clear()
        if vectors is not None:
            vectors.want(r.collection for r in reports if r.new or r.updated or r.renamed)

    try:
        async with anyio.create_task_group() as tasks:
            if vectors is not None:
                vectors.want(each.collection.name for each in watched)
                tasks.start_soon(vectors.keep_up)
            while True:
                places = {each.place for each in watched}
                # First all: what changed after the update, but before this began, is not told.
                waiting.update(each.collection.name for each in watched)
                roots = {place.root for place in places}
                async with aclosing(_changes(roots)) as turns:
                    async for changes in turns:
                        try:
                            await turn([path for _, path in changes])
                        except (IndexBusy, ConfigError) as error:  # who writes it is not done
                            failed(error)
                        except CollectionNotFound:
                            continue  # it has just been removed
                        if places != {each.place for each in watched} or _gone(roots, changes):
                            break
    except BaseExceptionGroup as group:
        raise only(group) from None


def _gone(roots: set[str], changes: Changes) -> bool:
    """Return whether a folder was removed or renamed.

    Another folder in its place may have the same number.
    """
    return any(change is watchfiles.Change.deleted and path in roots for change, path in changes)


async def _changes(roots: set[str]) -> AsyncGenerator[Changes, None]:
    """Yield changes below some folders, and regularly an empty set.

    It ends if one of them is not there any more as it begins.
    """
    if not roots:
        while True:
            await anyio.sleep(TURN_MS / 1000)
            yield set()
    told = watchfiles.awatch(
        *roots,
        debounce=QUIET_MS,
        step=50,
        rust_timeout=TURN_MS,
        yield_on_timeout=True,
        raise_interrupt=True,
        ignore_permission_denied=True,
    )
    async with aclosing(told):
        try:
            async for changes in told:
                yield changes
        except FileNotFoundError:
            await anyio.sleep(TURN_MS / 1000)
            yield set()


class _Vectors:
    """Makes the vectors of collections, beside what finds out that they are wanted."""

    def __init__(
        self,
        engine: Index,
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
            names, self._names = self._names, set()
            try:
                known = await to_thread.run_sync(self._engine.folders)
                names &= {each.name for each in known}
                if not names:
                    continue
                report = await run_embed(self._engine, sorted(names))
            except CollectionNotFound:  # it has just been removed
                self.want(names)
            except QmdError as error:
                self._failed(error)
                self._names.update(names)
                with anyio.move_on_after(RETRY):
                    await self._wanted.wait()
                self._wanted.set()
            else:
                self._embedded(report)


class _Place(NamedTuple):
    """A folder on the disk: another one in its place has another number."""

    root: str
    device: int
    inode: int


class _Watched(NamedTuple):
    """A collection that is watched, and its folder."""

    collection: Collection
    place: _Place


def _watchable(engine: Index, names: Sequence[str]) -> list[_Watched]:
    """List the collections whose folders are permitted and can be listed.

    Raises:
        UsageError: all collections have been removed.
    """
    known = [each for each in engine.folders() if not names or each.name in names]
    if not known:
        raise UsageError("There is nothing to watch any more: the collections were removed.")
    places = [(each, _place(each.root)) for each in known if may_read(engine, each)]
    return [_Watched(each, place) for each, place in places if place is not None]


def _lost(engine: Index, before: Sequence[_Watched], now: Sequence[_Watched]) -> list[RootMissing]:
    """Report collections whose folders are no longer there."""
    there = {each.collection.name for each in now}
    known = {each.name for each in engine.folders()}
    return [
        RootMissing(each.collection.name, each.collection.root)
        for each in before
        if each.collection.name in known - there
    ]


def _place(root: str) -> _Place | None:
    """Identify a folder that can be listed; None if it cannot."""
    try:
        os.scandir(root).close()
        info = os.stat(root)
    except OSError:
        return None
    return _Place(root, info.st_dev, info.st_ino)


def _concerned(watched: Sequence[_Watched], paths: Sequence[str], engine: Index) -> set[str]:
    """Name the collections with changed files, except for the index itself."""
    own = real(engine.place.database)
    reals = {path: real(path) for path in paths}
    others = [
        path for path in paths if reals[path] != own and not reals[path].startswith(f"{own}.")
    ]
    return {
        each.collection.name
        for each in watched
        if any(slashed(path).startswith(each.place.root.rstrip("/") + "/") for path in others)
    }
