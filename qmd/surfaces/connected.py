"""Work for a request, which is cancelled when its client disconnects."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

import anyio
from starlette.exceptions import HTTPException
from starlette.requests import Request

Value = TypeVar("Value")

GONE = 499
"""Status of a request whose client has disconnected. Source: nginx."""


async def while_connected(request: Request, work: Callable[[], Awaitable[Value]]) -> Value:
    """Return the result of `work`, which is cancelled when the client disconnects.

    Raises:
        HTTPException: the client has gone.
    """
    outcome: list[Value] = []
    problem: Exception | None = None

    async def watch() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass
        tasks.cancel_scope.cancel()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(watch)
        try:
            outcome.append(await work())
        except Exception as error:
            problem = error
        tasks.cancel_scope.cancel()
    if problem is not None:
        raise problem
    if not outcome:
        raise HTTPException(GONE, "The client has gone.")
    return outcome[0]
