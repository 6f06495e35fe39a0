"""Common parts of all methods: threads for reads, and cancellation."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import ParamSpec, Self, TypeVar

import anyio
from anyio import CapacityLimiter, to_thread

from qmd.operations.index import Index
from qmd.operations.threads import MODELS, READERS, stoppable

Given = ParamSpec("Given")
Found = TypeVar("Found")


class Base:
    """An index, and the threads that work on it."""

    def __init__(self, engine: Index) -> None:
        self._engine = engine
        self._readers = CapacityLimiter(READERS)
        self._models = CapacityLimiter(MODELS)
        self._let_go = weakref.finalize(self, engine.close)  # also without close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Let go of the index and of the models."""
        with anyio.CancelScope(shield=True):
            await to_thread.run_sync(self._let_go)

    @property
    def path(self) -> Path:
        """The DuckDB file."""
        return self._engine.place.database

    async def _run(
        self,
        work: Callable[Given, Found],
        /,
        *given: Given.args,
        **named: Given.kwargs,
    ) -> Found:
        """Return the result of `work`, run in a thread for reads."""
        self._check()
        call = partial(work, *given, **named)
        return await stoppable(partial(to_thread.run_sync, call, limiter=self._readers))

    def _check(self) -> None:
        self._engine.database.check_own()
        if not self._let_go.alive:
            raise RuntimeError("This knowledge base is closed.")
