"""Progress of a tool, reported while it runs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeVar

import anyio

from qmd.errors import QmdError

Found = TypeVar("Found")
Tell = Callable[[float, float | None, str | None], None]
Progress = Callable[[float, float | None, str | None], Awaitable[None]]
"""Told (done, in all, what is being done)."""


async def telling(progress: Progress | None, work: Callable[[Tell], Awaitable[Found]]) -> Found:
    """Return the result of `work`; progress is sent without waiting, or dropped."""
    if progress is None:
        return await work(lambda done, total, doing: None)
    latest, told = anyio.create_memory_object_stream[tuple[float, float | None, str | None]](1)
    outcome: list[Found] = []
    failure: QmdError | None = None

    async def pass_on() -> None:
        with told:
            async for done, total, doing in told:
                await progress(done, total, doing)

    def tell(done: float, total: float | None, doing: str | None) -> None:
        with suppress(anyio.WouldBlock):
            latest.send_nowait((done, total, doing))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(pass_on)
        with latest:
            try:
                outcome.append(await work(tell))
            except QmdError as error:  # not as a part of a group
                failure = error
    if failure is not None:
        raise failure
    return outcome[0]
