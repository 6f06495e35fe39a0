"""Pipeline stages: async generators, each in a task of its own, with bounded queues."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Iterable
from contextlib import aclosing, asynccontextmanager
from typing import Protocol, TypeVar

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

Item = TypeVar("Item")


class Stage(Protocol):
    """Starter of stages: runs an async generator in a task of its own."""

    def __call__(
        self, source: AsyncGenerator[Item, None], *, ahead: int = 1
    ) -> AsyncIterator[Item]:
        """Run a generator with `ahead` items waiting for the next stage."""
        ...


@asynccontextmanager
async def flow() -> AsyncGenerator[Stage, None]:
    """Open a scope for pipeline stages, with bounded queues between them.

    `ahead` is the number of items that wait between one stage and the next.

    A failure in any stage ends all of them and is raised from the block. Leaving
    the block early cancels what still runs.

    Source: a generator must not open a task group around its own yield (PEP 789), so
    this one does for all of them.
    """
    try:
        async with anyio.create_task_group() as tasks:

            def stage(source: AsyncGenerator[Item, None], *, ahead: int = 1) -> AsyncIterator[Item]:
                send, receive = anyio.create_memory_object_stream[Item](ahead)
                tasks.start_soon(_pump, source, send)
                return _drained(receive)

            yield stage
            tasks.cancel_scope.cancel()
    except BaseExceptionGroup as group:
        raise only(group) from None


async def _pump(source: AsyncGenerator[Item, None], send: MemoryObjectSendStream[Item]) -> None:
    async with send, aclosing(source):
        async for item in source:
            await send.send(item)


async def _drained(receive: MemoryObjectReceiveStream[Item]) -> AsyncGenerator[Item, None]:
    async with receive:
        async for item in receive:
            yield item


async def each(items: Iterable[Item]) -> AsyncGenerator[Item, None]:
    """Yield plain items as the source of a pipeline."""
    for item in items:
        yield item


def only(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """Return the only exception inside nested groups, or the group if there are several."""
    inner: BaseException = group
    while isinstance(inner, BaseExceptionGroup) and len(inner.exceptions) == 1:
        inner = inner.exceptions[0]
    return inner
