"""One client that talks JSON-RPC in lines, and what of it is not answered yet."""

from __future__ import annotations

import os
import re
import select
import sys
from collections import Counter
from collections.abc import AsyncIterable, Callable
from typing import Any

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCNotification, JSONRPCRequest

from qmd.surfaces.mcp.json_lines import Problem, message_of
from qmd.surfaces.mcp.patience import Patience

CANCELLED = "notifications/cancelled"

_NUMBER = re.compile("[0-9]{1,20}")


class Talk:
    """One client on the wire, and its requests that have no answer yet.

    Args:
        descriptor: to write to.
        incoming: takes the messages that were read.
        patience: with what is under way when the input has ended.
        hung_up: called when the client no longer reads.
        ended: called when the input has ended.
    """

    def __init__(
        self,
        descriptor: int,
        incoming: MemoryObjectSendStream[SessionMessage | Exception],
        *,
        patience: Patience,
        hung_up: Callable[[], None],
        ended: Callable[[], None] = lambda: None,
    ) -> None:
        self._descriptor = descriptor
        self._patience = patience
        self._hung_up = hung_up
        self._ended = ended
        self._incoming = incoming
        self._open: Counter[Any] = Counter()
        self._answered = anyio.Event()
        self._turn = anyio.Lock()
        self.begun = anyio.Event()
        """Set when something has been answered."""

    async def read_all(self, lines: AsyncIterable[bytes | Problem]) -> None:
        """Hand messages on until there are no more and all are answered."""
        async with self._incoming:
            async for line in lines:
                if isinstance(line, Problem):
                    await self._write(line.answer)
                elif line.strip():
                    await self._receive(line)
            self._patience.input_ended()
            self._ended()
            with self._patience.scope:
                while self._open:
                    self._answered = anyio.Event()
                    await self._answered.wait()

    async def _receive(self, line: bytes) -> None:
        message = message_of(line)
        if isinstance(message, Problem):
            await self._write(message.answer)
            return
        if isinstance(message, JSONRPCRequest):
            self._open[_key(message.id)] += 1
        elif isinstance(message, JSONRPCNotification) and message.method == CANCELLED:
            # Its sender waits no more: the request gets no answer.
            self._settle((message.params or {}).get("requestId"))
        await self._incoming.send(SessionMessage(message))

    async def write_all(self, outgoing: MemoryObjectReceiveStream[SessionMessage]) -> None:
        """Write what the server says."""
        async with outgoing:
            async for sent in outgoing:
                message = sent.message
                text = message.model_dump_json(by_alias=True, exclude_unset=True)
                await self._write(text.encode())
                self.begun.set()
                if not hasattr(message, "method"):
                    self._settle(message.id)

    def _settle(self, number: Any) -> None:
        if isinstance(number, str | int):  # a client may write anything there
            self._open -= Counter([_key(number)])
            self._answered.set()

    async def _write(self, line: bytes) -> None:
        async with self._turn:
            try:
                rest = _write_at_once(self._descriptor, line + b"\n")
                if rest:
                    await anyio.to_thread.run_sync(_write, self._descriptor, rest)
            except BrokenPipeError:
                self._hung_up()


def _key(number: Any) -> Any:
    """Normalize an id for comparison: some clients cancel '7' for 7."""
    is_number = isinstance(number, str) and _NUMBER.fullmatch(number)
    return int(number) if is_number else number


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
