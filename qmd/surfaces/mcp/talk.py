"""One client that talks JSON-RPC in lines, and what of it is not answered yet."""

from __future__ import annotations

import json
import os
import select
import sys
from collections import Counter
from collections.abc import AsyncIterable, Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any, TypeGuard

import anyio

from qmd.surfaces.mcp.json_lines import Problem
from qmd.surfaces.mcp.patience import Patience

CANCELLED = "notifications/cancelled"


class Talk:
    """One client on the wire, and its requests that have no answer yet.

    Args:
        descriptor: to write to.
        patience: with what is under way when the input has ended.
        hung_up: called when the client no longer reads.
    """

    def __init__(self, descriptor: int, *, patience: Patience, hung_up: Callable[[], None]) -> None:
        self._descriptor = descriptor
        self._patience = patience
        self._hung_up = hung_up
        self._open: Counter[Any] = Counter()
        self._answered = anyio.Event()
        self._turn = anyio.Lock()
        self.begun = anyio.Event()
        """Set when something has been answered."""

    async def read_all(
        self,
        lines: AsyncIterable[bytes | Problem],
        receive: Callable[[bytes], Awaitable[None]],
        ended: Callable[[], None],
    ) -> None:
        """Hand lines on until there are no more and all requests are answered.

        Args:
            receive: takes a line that may be a message.
            ended: called when the input has ended.
        """
        async for line in lines:
            if isinstance(line, Problem):
                await self.write(line.answer)
            elif line.strip():
                await receive(line)
        self._patience.input_ended()
        ended()
        with self._patience.scope:
            while self._open:
                self._answered = anyio.Event()
                await self._answered.wait()

    def ask(self, number: Any) -> None:
        """Note a request, which waits for its answer."""
        self._open[request_key(number)] += 1

    def settle(self, number: Any) -> None:
        """Note that a request has its answer, or will get none."""
        if is_request_id(number):  # a client may write anything there
            self._open -= Counter([request_key(number)])
            self._answered.set()

    async def say(self, message: Mapping[str, Any]) -> None:
        """Write a message.

        Raises:
            ValueError: it holds a number that JSON has none for.
        """
        said = {"jsonrpc": "2.0", **message}
        text = json.dumps(said, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        await self.write(text.encode())

    async def write(self, line: bytes) -> None:
        """Write a line."""
        async with self._turn:
            try:
                rest = _write_at_once(self._descriptor, line + b"\n")
                if rest:
                    await anyio.to_thread.run_sync(_write, self._descriptor, rest)
            except BrokenPipeError:
                self._hung_up()


def is_request_id(value: object) -> TypeGuard[str | int]:
    """Check for an id: True is none, though it equals 1."""
    return isinstance(value, str) or type(value) is int


def request_key(number: str | int) -> str | int:
    """Normalize an id for comparison, as the SDK does: some clients cancel '7' for 7."""
    with suppress(ValueError):
        return int(number)
    return number


def _write_at_once(descriptor: int, data: bytes) -> memoryview:
    """Write what is taken without waiting, which is usually all.

    Returns:
        The rest.

    Source: POSIX, write(): a pipe that can be written to takes so much at least, and so does a
    socket. A terminal need not, and Windows does not tell.
    """
    left = memoryview(data)
    if os.isatty(descriptor) or sys.platform == "win32":
        return left
    taken = select.poll()
    taken.register(descriptor, select.POLLOUT)
    while left and taken.poll(0):
        left = left[os.write(descriptor, left[: select.PIPE_BUF]) :]
    return left


def _write(descriptor: int, left: memoryview) -> None:
    """Write all of it, however little is taken at once."""
    while left:
        left = left[os.write(descriptor, left) :]
