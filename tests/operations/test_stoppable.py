"""Calls that are cancelled take their threads with them, whoever cancels them."""

from __future__ import annotations

import asyncio
import threading
from functools import partial

import anyio
import pytest
from anyio import to_thread

from qmd.operations.threads import stoppable

FOREVER = "select count(*) from range(1000000) a, range(1000000) b where a.range + b.range = 7"
"""A statement that would take minutes."""

LONG = 20
"""Seconds after which something that has to happen is taken for stuck."""


class Slow:
    """A read that would take minutes.

    Attributes:
        began: set when its statement begins.
        ended: whether it was interrupted.
    """

    def __init__(self, engine) -> None:
        self._engine = engine
        self.began = threading.Event()
        self.ended = False

    def _read(self, cursor) -> None:
        self.began.set()
        try:
            cursor.connection.execute(FOREVER).fetchall()
        finally:
            self.ended = True

    async def __call__(self) -> None:
        await stoppable(partial(to_thread.run_sync, self._engine.read, self._read))


@pytest.fixture
def slow(library):
    library.write("tea.md", "# Tea\n")
    library.update()
    return Slow(library.engine)


def test_a_timeout_of_asyncio_interrupts_the_read_and_waits_for_its_thread(slow):
    async def work():
        async with asyncio.timeout(LONG):
            task = asyncio.ensure_future(slow())
            await asyncio.to_thread(slow.began.wait)
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.05):
                    await task
            assert slow.ended

    asyncio.run(work())


def test_a_cancelled_scope_interrupts_the_read_and_waits_for_its_thread(slow):
    async def work():
        with anyio.fail_after(LONG):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(slow)
                await to_thread.run_sync(slow.began.wait)
                tasks.cancel_scope.cancel()
            assert slow.ended

    anyio.run(work)


def test_what_the_work_raises_comes_out_as_it_is():
    async def fail():
        raise LookupError("nothing here")

    with pytest.raises(LookupError, match="nothing here"):
        anyio.run(stoppable, fail)


def test_work_that_waits_for_something_else_is_cancelled_as_well():
    ended = []

    async def wait():
        try:
            await anyio.sleep_forever()
        finally:
            ended.append(True)

    async def by_asyncio():
        async with asyncio.timeout(LONG) as limit:
            task = asyncio.ensure_future(stoppable(wait))
            await asyncio.sleep(0.05)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        assert not limit.expired()

    async def by_anyio():
        with anyio.fail_after(LONG):
            with anyio.move_on_after(0.05) as scope:
                await stoppable(wait)
            assert scope.cancelled_caught

    asyncio.run(by_asyncio())
    anyio.run(by_anyio)
    assert ended == [True, True]
