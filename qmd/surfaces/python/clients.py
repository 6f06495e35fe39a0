"""The two doors: one is awaited, the other blocks."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Coroutine
from contextlib import ExitStack
from functools import partial, wraps
from pathlib import Path
from typing import Any, Concatenate, Generic, Self

import anyio
from anyio.from_thread import BlockingPortalProvider

from qmd.declaration.operation import Operation
from qmd.operations.index import Index
from qmd.storage.cancellation import Stopped
from qmd.storage.database import Database
from qmd.surfaces.python.asking import Asking
from qmd.surfaces.python.base import Found, Given
from qmd.surfaces.python.derive import warn
from qmd.surfaces.python.keeping import Keeping

ENDED = 10.0
"""Seconds to wait for a call to end that was interrupted from the keyboard."""


class AsyncKnowledgeBase(Asking, Keeping):
    """Everything that can be asked of an index, or done to it. See `open`."""


def _blocking(
    verb: Callable[Concatenate[AsyncKnowledgeBase, Given], Coroutine[Any, Any, Found]],
) -> Callable[Concatenate[KnowledgeBase, Given], Found]:
    """Make a method that waits for its result."""
    operation: Operation | None = getattr(verb, "operation", None)
    work = getattr(verb, "work", verb)

    @wraps(verb)
    def call(kb: KnowledgeBase, /, *given: Given.args, **named: Given.kwargs) -> Found:
        if operation is not None:
            warn(operation, given, named)
        found: Found = kb._wait(partial(work, kb._within, *given, **named))
        return found

    return call


class _Call(Generic[Found]):
    """A call of the blocking door, in its event loop.

    Attributes:
        ended: set when nothing of it runs any more.
    """

    def __init__(self, work: Callable[[], Coroutine[Any, Any, Found]]) -> None:
        self.ended = threading.Event()
        self._work = work
        self._scope: anyio.CancelScope | None = None

    async def run(self) -> Found:
        """Return the result of the work."""
        try:
            with anyio.CancelScope() as self._scope:
                if self.ended.is_set():  # cancelled before it began
                    self._scope.cancel()
                return await self._work()
        finally:
            self.ended.set()
        raise Stopped  # its caller has gone

    def cancel(self) -> None:
        """End it; to be called in the event loop."""
        if self._scope is None:
            self.ended.set()
        else:
            self._scope.cancel()


def _leave(loop: ExitStack, database: Database) -> None:
    """End the event loop; a forked process has none."""
    if not database.is_inherited:
        loop.close()


class KnowledgeBase:
    """Blocking client of an index, for notebooks and scripts. See `connect`.

    The work is done in an event loop of its own, so that it can be used inside a running one
    (Jupyter). Without `with`, nothing has to be closed. Safe to share between threads.
    """

    def __init__(self, engine: Index) -> None:
        self._within = AsyncKnowledgeBase(engine)
        self._portal = BlockingPortalProvider()
        self._kept = ExitStack()
        self._database = engine.database
        # A loop that is left would keep the process.
        weakref.finalize(self, _leave, self._kept, engine.database)

    def __enter__(self) -> Self:
        self._kept.enter_context(self._portal)
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the index and of the models."""
        if self._database.is_inherited:
            return
        try:
            self._wait(self._within.close)
        finally:
            self._kept.close()

    @property
    def path(self) -> Path:
        """The DuckDB file."""
        return self._within.path

    def _wait(self, work: Callable[[], Coroutine[Any, Any, Found]]) -> Found:
        """Return the result of `work`; Ctrl-C cancels it."""
        self._database.check_own()
        call = _Call(work)
        with self._portal as portal:
            try:
                return portal.call(call.run)
            except BaseException:
                if not call.ended.is_set():
                    portal.call(call.cancel)
                    call.ended.wait(ENDED)
                raise

    search = _blocking(AsyncKnowledgeBase.search)
    vector_search = _blocking(AsyncKnowledgeBase.vector_search)
    vsearch = vector_search
    query = _blocking(AsyncKnowledgeBase.query)
    similar = _blocking(AsyncKnowledgeBase.similar)
    links = _blocking(AsyncKnowledgeBase.links)
    ask = _blocking(AsyncKnowledgeBase.ask)
    passages = _blocking(AsyncKnowledgeBase.passages)
    get = _blocking(AsyncKnowledgeBase.get)
    multi_get = _blocking(AsyncKnowledgeBase.multi_get)
    grep = _blocking(AsyncKnowledgeBase.grep)
    documents = _blocking(AsyncKnowledgeBase.documents)
    facets = _blocking(AsyncKnowledgeBase.facets)
    ls = documents
    status = _blocking(AsyncKnowledgeBase.status)
    doctor = _blocking(AsyncKnowledgeBase.doctor)
    stats = _blocking(AsyncKnowledgeBase.stats)
    map = _blocking(AsyncKnowledgeBase.map)
    sql = _blocking(AsyncKnowledgeBase.sql)
    export = _blocking(AsyncKnowledgeBase.export)
    import_ = _blocking(AsyncKnowledgeBase.import_)
    collections = _blocking(AsyncKnowledgeBase.collections)
    collection = _blocking(AsyncKnowledgeBase.collection)
    add_collection = _blocking(AsyncKnowledgeBase.add_collection)
    remove_collection = _blocking(AsyncKnowledgeBase.remove_collection)
    rename_collection = _blocking(AsyncKnowledgeBase.rename_collection)
    include_collection = _blocking(AsyncKnowledgeBase.include_collection)
    exclude_collection = _blocking(AsyncKnowledgeBase.exclude_collection)
    ignore_files = _blocking(AsyncKnowledgeBase.ignore_files)
    set_update_command = _blocking(AsyncKnowledgeBase.set_update_command)
    contexts = _blocking(AsyncKnowledgeBase.contexts)
    missing_contexts = _blocking(AsyncKnowledgeBase.missing_contexts)
    add_context = _blocking(AsyncKnowledgeBase.add_context)
    remove_context = _blocking(AsyncKnowledgeBase.remove_context)
    put = _blocking(AsyncKnowledgeBase.put)
    remove = _blocking(AsyncKnowledgeBase.remove)
    append = _blocking(AsyncKnowledgeBase.append)
    edit = _blocking(AsyncKnowledgeBase.edit)
    move = _blocking(AsyncKnowledgeBase.move)
    undo = _blocking(AsyncKnowledgeBase.undo)
    journal = _blocking(AsyncKnowledgeBase.journal)
    update = _blocking(AsyncKnowledgeBase.update)
    embed = _blocking(AsyncKnowledgeBase.embed)
    cleanup = _blocking(AsyncKnowledgeBase.cleanup)
