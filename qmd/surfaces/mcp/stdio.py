"""MCP over stdin and stdout: a message in each line.

The SDK's own transport loses answers when its input ends at once, and never answers a line that
is no message. This one reads and writes the lines, answers those, and hands the rest on: to the
SDK's server, or to what answers the first messages of most clients before that is loaded.
"""

from __future__ import annotations

import logging
import os
import select
import signal
import stat
import sys
import threading
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from typing import TYPE_CHECKING

import anyio
from anyio import from_thread
from anyio.abc import TaskGroup, TaskStatus
from anyio.lowlevel import current_token

from qmd.named_tuple import NamedTuple
from qmd.surfaces.mcp.json_lines import LineSplitter, Problem
from qmd.surfaces.mcp.patience import Patience
from qmd.surfaces.mcp.plain_session import PlainSession
from qmd.surfaces.mcp.sdk_import import light
from qmd.surfaces.mcp.talk import Talk

if TYPE_CHECKING:
    from qmd.surfaces.mcp.session import SdkSession
    from qmd.surfaces.tools.dispatch import Toolbox


log = logging.getLogger("qmd.mcp")

MOST_AT_ONCE = 1 << 16
"""Bytes that one read takes: a pipe of Linux holds no more."""


class Wire(NamedTuple):
    """The two descriptors that carry the protocol, out of everybody else's reach."""

    input: int
    output: int


def claimed() -> Wire:
    """Take stdin and stdout for the protocol.

    Whatever else reads then finds nothing, and whatever else prints goes to stderr: libraries
    and child processes cannot harm the protocol.
    """
    sys.stdout.flush()
    wire = Wire(*map(_duplicate, (0, 1)))
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return wire


def _duplicate(number: int) -> int:
    """Duplicate a standard stream for this process alone, with a number above theirs."""
    if sys.platform == "win32":
        from qmd import windows

        made = os.dup(number)
        windows.binary(made)
        return made
    import fcntl

    return fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, 3)


async def serve_stdio(toolbox: Toolbox, *, wire: Wire | None = None) -> None:
    """Serve until the input ends or a signal says so; what is under way is answered first.

    Args:
        wire: taken from stdin and stdout, if there is none.
    """
    wire = wire or claimed()
    patience = Patience()
    async with _lines(wire, patience) as lines, anyio.create_task_group() as tasks:
        talk = Talk(wire.output, patience=patience, hung_up=tasks.cancel_scope.cancel)
        tasks.start_soon(_get_ready, toolbox, talk.begun)
        async with anyio.create_task_group() as serving:
            session = StdioSession(toolbox, talk, serving)
            await talk.read_all(lines, session.receive, session.input_ended)
            session.close()
        tasks.cancel_scope.cancel()


class StdioSession:
    """A session, in which the SDK takes over with the first message that it is needed for."""

    def __init__(self, toolbox: Toolbox, talk: Talk, tasks: TaskGroup) -> None:
        self._toolbox = toolbox
        self._talk = talk
        self._tasks = tasks
        self._plain = PlainSession(toolbox, talk, tasks)
        self._sdk: SdkSession | None = None

    async def receive(self, line: bytes) -> None:
        """Answer a message, now or later."""
        if self._sdk is None:
            if await self._plain.takes(line):
                return
            # In a thread, so that calls at work go on.
            made = await anyio.to_thread.run_sync(_load_session)
            self._sdk = made(self._toolbox, self._talk, self._plain.cancel)
            self._tasks.start_soon(self._sdk.run)
            await self._sdk.catch_up(self._plain.seen.values())
        await self._sdk.receive(line)

    def input_ended(self) -> None:
        """End what would wait for messages."""
        if self._sdk is not None:
            self._sdk.input_ended()

    def close(self) -> None:
        """End the session; calls that are at work get an error."""
        self._plain.close()
        if self._sdk is not None:
            self._sdk.close()


def _load_session() -> type[SdkSession]:
    with light():
        from qmd.surfaces.mcp.session import SdkSession
    return SdkSession


async def _get_ready(toolbox: Toolbox, begun: anyio.Event) -> None:
    """Make the tools ready as soon as the client has the answer that it waits for."""
    await begun.wait()
    await toolbox.get_ready()


@asynccontextmanager
async def _lines(wire: Wire, patience: Patience) -> AsyncIterator[InputLines]:
    """Give the lines of the input, until its end or a signal to stop.

    Args:
        patience: with what is under way; a signal that comes later shortens it.
    """
    async with anyio.create_task_group() as tasks, _pieces(wire.input) as next_piece:
        lines = InputLines(next_piece, patience)
        if sys.platform != "win32":  # where Ctrl-C raises KeyboardInterrupt
            await tasks.start(lines.end_on_signal)
        yield lines
        tasks.cancel_scope.cancel()


class InputLines:
    """The lines of the input.

    Args:
        next_piece: reads bytes, none at the end.
        patience: see `_lines`.
    """

    def __init__(self, next_piece: Callable[[], Awaitable[bytes]], patience: Patience) -> None:
        self._next_piece = next_piece
        self._patience = patience
        self._splitter = LineSplitter()
        self._lines: deque[bytes | Problem] = deque()
        self._reading = anyio.CancelScope()
        self._has_ended = False

    def __aiter__(self) -> InputLines:
        return self

    async def __anext__(self) -> bytes | Problem:
        while not self._lines and not self._has_ended:
            with anyio.CancelScope() as self._reading:
                piece = await self._next_piece()
                self._has_ended |= not piece
                self._lines.extend(self._splitter.split(piece) if piece else self._splitter.end())
        if not self._lines:
            raise StopAsyncIteration
        return self._lines.popleft()

    async def end_on_signal(self, *, task_status: TaskStatus[None]) -> None:
        """End the lines with a signal; one that comes when they have ended shortens the wait."""
        with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
            task_status.started()
            async for _ in signals:
                if self._has_ended:
                    self._patience.hurry()
                self.end()

    def end(self) -> None:
        """End the lines; those that have come and are not taken yet are left."""
        self._has_ended = True
        self._lines.clear()
        self._reading.cancel()


@asynccontextmanager
async def _pieces_in_loop(descriptor: int) -> AsyncIterator[Callable[[], Awaitable[bytes]]]:
    """Give what reads a pipe or a socket as soon as there is something: no thread wakes up."""

    async def next_piece() -> bytes:
        while True:
            await anyio.wait_readable(descriptor)
            with suppress(BlockingIOError):  # another process has read it
                return _read(descriptor)

    yield next_piece


@asynccontextmanager
async def _pieces_in_thread(descriptor: int) -> AsyncIterator[Callable[[], Awaitable[bytes]]]:
    """Give what reads a terminal, a file or what Windows has, in a thread without a join."""
    send, receive = anyio.create_memory_object_stream[bytes](0)
    token = current_token()

    def read() -> None:
        try:
            while piece := _waited_for(descriptor):
                from_thread.run(send.send, piece, token=token)
            from_thread.run_sync(send.close, token=token)
        except (anyio.ClosedResourceError, anyio.BrokenResourceError, RuntimeError):
            return  # the server has ended first

    async def next_piece() -> bytes:
        with suppress(anyio.EndOfStream):
            return await receive.receive()
        return b""

    threading.Thread(target=read, name="qmd-stdin", daemon=True).start()
    with send, receive:
        yield next_piece


def _waited_for(descriptor: int) -> bytes:
    """Read what there is or comes next, of a terminal that others have set not to wait, too."""
    while True:
        try:
            return _read(descriptor)
        except BlockingIOError:
            select.select([descriptor], [], [])


def _read(descriptor: int) -> bytes:
    """Read what there is; nothing at the end, which a client that is gone may have left so.

    Raises:
        BlockingIOError: there is nothing yet.
    """
    try:
        return os.read(descriptor, MOST_AT_ONCE)
    except BlockingIOError:
        raise
    except OSError as error:
        log.debug("The input has ended: %s", error)
        return b""


def _pieces(descriptor: int) -> AbstractAsyncContextManager[Callable[[], Awaitable[bytes]]]:
    """Give what reads an input; see the two ways."""
    kind = os.fstat(descriptor).st_mode
    if sys.platform != "win32" and (stat.S_ISFIFO(kind) or stat.S_ISSOCK(kind)):
        return _pieces_in_loop(descriptor)
    return _pieces_in_thread(descriptor)
