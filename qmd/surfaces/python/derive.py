"""Methods of the Python clients, derived from operations."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar, overload

from anyio import to_thread

from qmd.declaration import operation as declaration
from qmd.operations.threads import stoppable
from qmd.surfaces.python.arguments import checked, signature_of

if TYPE_CHECKING:
    from qmd.operations.index import Index
    from qmd.surfaces.python.base import Base

P = ParamSpec("P")
R = TypeVar("R")


@overload
def awaited(
    function: Callable[Concatenate[Index, P], Coroutine[Any, Any, R]],
) -> Callable[Concatenate[Base, P], Coroutine[Any, Any, R]]: ...
@overload
def awaited(
    function: Callable[Concatenate[Index, P], R],
) -> Callable[Concatenate[Base, P], Coroutine[Any, Any, R]]: ...
def awaited(function: Callable[..., Any]) -> Callable[..., Coroutine[Any, Any, Any]]:
    """Make the awaited method of an operation.

    It checks the arguments, runs in a worker thread unless the operation is a coroutine function,
    and stops when the task that waits for it is cancelled.
    """
    operation = declaration.of(function)
    signature = signature_of(operation)

    @wraps(function)
    async def call(kb: Base, /, *given: Any, **named: Any) -> Any:
        values = checked(operation, signature, *given, **named)
        kb._check()
        kb._engine.begin(operation)
        run = partial(function, kb._engine, **values)
        limiter = kb._models if operation.asks_models else kb._readers
        if not operation.is_async:
            found = await stoppable(partial(to_thread.run_sync, run, limiter=limiter))
            return kb._engine.ended(found)
        if operation.writes:
            return await stoppable(run)

        async def limited() -> Any:
            async with limiter:
                return await run()

        return kb._engine.ended(await stoppable(limited))

    call.__signature__ = signature  # type: ignore[attr-defined]  # what help() shows
    return call
