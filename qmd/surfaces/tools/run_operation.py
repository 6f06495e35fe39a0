"""Operations run for tools: in threads for reads, with few models at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from anyio import CapacityLimiter, to_thread

from qmd.declaration import operation as declaration
from qmd.errors import InvalidArgument
from qmd.operations.threads import MODELS, READERS
from qmd.surfaces.tools.schemas.derive import arguments_of, json_name

if TYPE_CHECKING:
    from qmd.operations.index import Index
    from qmd.surfaces.tools.progress import Progress
    from qmd.surfaces.tools.schemas.tool import Tool

Found = TypeVar("Found")


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

    async def read(self, work: Callable[..., Found], *given: Any, **named: Any) -> Found:
        """Return the result of `work`, run in a thread for reads."""
        return await to_thread.run_sync(partial(work, *given, **named), limiter=self.readers)

    async def ask_model(self, work: Callable[..., Found], *given: Any, **named: Any) -> Found:
        """Return the result of `work`, run in a thread for what asks models."""
        return await to_thread.run_sync(partial(work, *given, **named), limiter=self.models)

    def during(self, function: Callable[..., Any]) -> AbstractContextManager[None]:
        """Return the context of an operation, for what is read for it before or after it."""
        return self.engine.during(declaration.of(function))

    async def run(self, function: Callable[..., Any], asked: Mapping[str, Any], **more: Any) -> Any:
        """Run an operation: in the event loop if it is a coroutine function, else in a thread.

        Args:
            asked: its arguments by their names in JSON.
            more: further arguments, by their names in Python.

        Raises:
            InvalidArgument: with the name that the parameter has in JSON.
        """
        operation = declaration.of(function)
        limiter = self.models if operation.asks_models else self.readers
        work = partial(function, self.engine, **arguments_of(operation, asked), **more)
        try:
            with self.engine.during(operation):
                if not operation.is_async:
                    found = await to_thread.run_sync(work, limiter=limiter)
                elif operation.writes:
                    found = await work()
                else:
                    async with limiter:
                        found = await work()
                return self.engine.ended(found)
        except InvalidArgument as error:
            raise error.named(json_name(operation, error.parameter)) from error
