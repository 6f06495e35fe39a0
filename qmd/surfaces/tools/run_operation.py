"""Operations run for tools: in threads for reads, with few models at once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
from anyio import CapacityLimiter, to_thread

from qmd.declaration import operation as declaration
from qmd.errors import InvalidArgument
from qmd.named_tuple import NamedTuple
from qmd.operations.threads import MODELS, READERS
from qmd.storage import cancellation
from qmd.surfaces.tools.build_reply import NotReady
from qmd.surfaces.tools.schemas.derive import arguments_of, json_name

if TYPE_CHECKING:
    from qmd.operations.index import Index
    from qmd.surfaces.tools.progress import Progress
    from qmd.surfaces.tools.schemas.tool import Tool

Found = TypeVar("Found")

ENOUGH = 8.0
"""Seconds after which a call tells that its answer is being prepared: less than it may take."""


class ToolCall(NamedTuple):
    """A call of a tool.

    Attributes:
        tool: under the name that the caller has for it.
        given: arguments as they came.
        progress: told how far the call is; None: the caller does not ask.
    """

    tool: Tool
    given: Mapping[str, Any]
    progress: Progress | None = None


def _plainly(index: Index, work: Callable[[], Found]) -> Found:
    return work()


class OperationRunner:
    """An open index, and the threads that work on it.

    Attributes:
        engine: the index.
        models: limit of threads that ask models.
    """

    def __init__(self, engine: Index) -> None:
        self.engine = engine
        self.models = CapacityLimiter(MODELS)
        self.readers = CapacityLimiter(READERS)
        self._preparing = threading.Lock()
        self._stop = cancellation.Stop()

    def close(self) -> None:
        """End what goes on after its call."""
        self._stop.ask()

    async def read(self, work: Callable[..., Found], *given: Any, **named: Any) -> Found:
        """Return the result of `work`, run in a thread for reads."""
        return await to_thread.run_sync(partial(work, *given, **named), limiter=self.readers)

    async def ask_model(self, work: Callable[..., Found], *given: Any, **named: Any) -> Found:
        """Return the result of `work`, run in a thread for what asks models."""
        return await to_thread.run_sync(partial(work, *given, **named), limiter=self.models)

    def during(self, function: Callable[..., Any]) -> AbstractContextManager[None]:
        """Return the context of an operation, for what is read for it before or after it."""
        return self.engine.during(declaration.of(function))

    async def prepare(self, function: Callable[..., Any], asked: Mapping[str, Any]) -> Any:
        """Run an operation that reads, and that may first prepare what later calls use, too.

        When the call has no more time, the work goes on. Calls that come meanwhile wait for it,
        so that it is done once.

        Raises:
            NotReady: the work goes on.
            IndexBusy: it waits for another process.
            InvalidArgument: see `run`.
        """
        if self.engine.deadline:  # each machine prepares its own
            return await self.run(function, asked)

        def work(*given: Any, **named: Any) -> Any:
            with cancellation.holding(self._preparing):
                return function(*given, **named)

        operation = declaration.of(function)
        call = partial(work, self.engine, **arguments_of(operation, asked))
        token = cancellation.CURRENT.set(self._stop)  # not that of the call
        try:
            with anyio.move_on_after(ENOUGH):
                return await to_thread.run_sync(call, abandon_on_cancel=True, limiter=self.readers)
        except InvalidArgument as error:
            raise error.named(json_name(operation, error.parameter)) from error
        finally:
            cancellation.CURRENT.reset(token)
        raise self.engine.database.busy_for(ENOUGH) or NotReady(ENOUGH)

    async def run(
        self,
        function: Callable[..., Any],
        asked: Mapping[str, Any],
        *,
        through: Callable[[Index, Callable[[], Any]], Any] = _plainly,
        **more: Any,
    ) -> Any:
        """Run an operation: in the event loop if it is a coroutine function, else in a thread.

        Args:
            asked: its arguments by their names in JSON.
            through: calls an operation that has a thread, in that, and returns its result.
            more: further arguments, by their names in Python.

        Raises:
            InvalidArgument: with the name that the parameter has in JSON.
        """
        operation = declaration.of(function)
        assert through is _plainly or not operation.is_async
        limiter = self.models if operation.asks_models else self.readers
        work = partial(function, self.engine, **arguments_of(operation, asked), **more)
        try:
            with self.engine.during(operation):
                if not operation.is_async:
                    found = await to_thread.run_sync(through, self.engine, work, limiter=limiter)
                elif operation.writes:
                    found = await work()
                else:
                    async with limiter:
                        found = await work()
                return self.engine.ended(found)
        except InvalidArgument as error:
            raise error.named(json_name(operation, error.parameter)) from error
