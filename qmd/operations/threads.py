"""Cancellable calls, which end after their threads."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

import anyio
from anyio.lowlevel import checkpoint_if_cancelled

from qmd.storage.cancellation import CURRENT, Stop, Stopped

Value = TypeVar("Value")

READERS, MODELS = 4, 1
"""Calls at once, of a process that stays, that only read the index, and that use a model."""

AGAIN = 0.02
"""Seconds after which what runs is asked again: between two statements nothing listens."""


async def stoppable(work: Callable[[], Awaitable[Value]]) -> Value:
    """Return the result of `work`; a cancellation interrupts its reads in threads.

    A thread cannot be cancelled: what runs in it is asked to stop, and waited for. The work is a
    task of its own, so that a cancellation by asyncio itself (`asyncio.timeout`) finds nothing
    but a wait, and ends the thread before it goes on, just as one by anyio.
    """
    stop = Stop()
    done = anyio.Event()
    outcome: list[Value] = []
    failure: BaseException | None = None

    async def run() -> None:
        nonlocal failure
        token = CURRENT.set(stop)
        try:
            outcome.append(await work())
        except BaseException as error:
            failure = error
            if isinstance(error, Stopped):
                await checkpoint_if_cancelled()  # that is why
            if not isinstance(error, Exception):
                raise
        finally:
            CURRENT.reset(token)
            done.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run)
        try:
            await done.wait()
        finally:
            if not done.is_set():
                tasks.cancel_scope.cancel()
            with anyio.CancelScope(shield=True):
                while not done.is_set():
                    stop.ask()
                    with anyio.move_on_after(AGAIN):
                        await done.wait()
                if failure is not None:  # asyncio.run cancels all tasks, and leaves the threads
                    stop.ask()
                    while stop.is_over_something:
                        await anyio.sleep(AGAIN)
                        stop.ask()
    if failure is not None:
        raise failure
    return outcome[0]
