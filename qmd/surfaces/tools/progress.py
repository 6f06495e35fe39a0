"""Progress of a tool, reported while it runs."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import TypeVar

import anyio

from qmd.errors import QmdError

Found = TypeVar("Found")
Tell = Callable[[float, float | None, str | None], None]
Progress = Callable[[float, float | None, str | None], Awaitable[None]]
"""Told (done, in all, what is being done)."""


BEAT = 2.0
"""Seconds after which a call tells that it is still at work, and again after as many."""


@asynccontextmanager
async def heartbeat(progress: Progress | None, name: str) -> AsyncIterator[None]:
    """Tell, while a call lasts long, how many seconds it has taken.

    What is done within must not raise: errors would become part of a group.
    """
    if progress is None:
        yield
        return

    async def beat() -> None:
        seconds = 0.0
        while True:
            await anyio.sleep(BEAT)
            seconds += BEAT
            await progress(seconds, None, f"{name}: {seconds:g} s")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(beat)
        yield
        tasks.cancel_scope.cancel()


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
