"""Methods of the Python clients, derived from operations."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Coroutine, Iterable, Sequence
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar, overload

from anyio import to_thread

from qmd.declaration import operation as declaration
from qmd.declaration.operation import Operation
from qmd.operations.threads import stoppable
from qmd.surfaces.python.arguments import checked, signature_of

if TYPE_CHECKING:
    from qmd.operations.index import Index
    from qmd.surfaces.python.base import Base

P = ParamSpec("P")
R = TypeVar("R")


def warn(
    operation: Operation, given: Sequence[Any], named: Iterable[str], *, depth: int = 3
) -> None:
    """Emit a DeprecationWarning for each deprecated thing that a call uses.

    Args:
        given: arguments by position.
        named: names of the other arguments.
        depth: frames from here to the caller, for whose line the warning is.
    """
    positional = [name for name, each in operation.parameters.items() if each.positional]
    used = [*positional[: len(given)], *operation.parameters.keys() & named]
    for name, advice in operation.deprecations(used).items():
        what = f"{operation.python}({name and name + '='})"
        warnings.warn(f"{what} is deprecated: {advice}", DeprecationWarning, stacklevel=depth)


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

    async def work(kb: Base, /, *given: Any, **named: Any) -> Any:
        values = checked(operation, signature, *given, **named)
        kb._check()
        run = partial(function, kb._engine, **values)
        limiter = kb._models if operation.asks_models else kb._readers

        async def limited() -> Any:
            async with limiter:
                return await run()

        with kb._engine.during(operation):
            if not operation.is_async:
                found = await stoppable(partial(to_thread.run_sync, run, limiter=limiter))
                return kb._engine.ended(found)
            if operation.writes:
                return await stoppable(run)
            return kb._engine.ended(await stoppable(limited))

    @wraps(function)
    async def call(kb: Base, /, *given: Any, **named: Any) -> Any:
        warn(operation, given, named)
        return await work(kb, *given, **named)

    # The blocking client warns in the thread of its caller.
    vars(call).update(operation=operation, work=work)
    call.__signature__ = signature  # type: ignore[attr-defined]  # what help() shows
    return call
