"""MCP over stdin and stdout: a message in each line.

The SDK's own transport loses answers when its input ends at once, and never answers a line that
is no message. This one reads and writes the lines, answers those, and hands the rest on.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import anyio
from anyio import from_thread
from anyio.lowlevel import current_token
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

if TYPE_CHECKING:
    from mcp.shared.message import SessionMessage

    from qmd.surface.mcp.server import Names
    from qmd.surface.tools.toolbox import Toolbox

MOST_BYTES = 16 * 1024 * 1024
"""Of a message."""

CANCELLED = "notifications/cancelled"

GRACE = 5.0
"""Seconds for what is under way when the input has ended."""

PARSE_ERROR, INVALID_REQUEST = -32700, -32600
"""Source: JSON-RPC 2.0, section 5.1."""


class Wire(NamedTuple):
    """The two descriptors that carry the protocol, out of everybody else's reach."""

    input: int
    output: int


def claimed() -> Wire:
    """Take stdin and stdout for the protocol.

    Whatever else reads then finds nothing, and whatever else prints goes to stderr: libraries
    and child processes cannot harm the protocol.
    """
    import fcntl

    sys.stdout.flush()
    wire = Wire(*(fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, 3) for number in (0, 1)))
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return wire


async def serve_stdio(
    toolbox: Toolbox, *, names: Names = "plain", wire: Wire | None = None
) -> None:
    """Serve until the input ends or a signal says so; what is under way is answered first.

    Args:
        names: under which the tools are listed.
        wire: taken from stdin and stdout, if there is none.
    """
    wire = wire or claimed()
    async with _lines(wire) as lines, anyio.create_task_group() as tasks:
        import gc

        gc.disable()  # a sixth of the time of loading the SDK
        from mcp.shared.message import SessionMessage

        from qmd.surface.mcp.server import make_server

        server = make_server(toolbox, names=names)
        gc.enable()
        incoming, received = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        to_send, outgoing = anyio.create_memory_object_stream[SessionMessage](0)
        talk = _Talk(wire, incoming, hung_up=tasks.cancel_scope.cancel)
        tasks.start_soon(talk.write_all, outgoing)
        tasks.start_soon(talk.read_all, lines)
        await server.run(received, to_send, server.create_initialization_options())


class _Talk:
    """One client on the wire, and its requests that have no answer yet.

    Args:
        hung_up: called when nobody reads what is written.
    """

    def __init__(
        self,
        wire: Wire,
        incoming: MemoryObjectSendStream[SessionMessage | Exception],
        *,
        hung_up: Callable[[], None],
    ) -> None:
        self._wire = wire
        self._hung_up = hung_up
        self._incoming = incoming
        self._open: set[Any] = set()
        self._answered = anyio.Event()
        self._turn = anyio.Lock()

    async def read_all(self, lines: MemoryObjectReceiveStream[bytes | Problem]) -> None:
        """Hand messages on until there are no more and all are answered."""
        async with self._incoming:
            async for line in lines:
                if isinstance(line, Problem):
                    await self._refuse(line)
                elif line.strip():
                    await self._receive(line)
            with anyio.move_on_after(GRACE):
                while self._open:
                    self._answered = anyio.Event()
                    await self._answered.wait()

    async def _receive(self, line: bytes) -> None:
        from mcp.shared.message import SessionMessage
        from mcp_types import JSONRPCNotification, JSONRPCRequest, jsonrpc_message_adapter
        from pydantic import ValidationError

        try:
            message = jsonrpc_message_adapter.validate_json(line, by_name=False)
        except ValidationError:
            await self._refuse(_problem(line))
            return
        if isinstance(message, JSONRPCRequest):
            self._open.add(_key(message.id))
        elif isinstance(message, JSONRPCNotification) and message.method == CANCELLED:
            # Its sender waits no more: the request gets no answer.
            self._settle((message.params or {}).get("requestId"))
        await self._incoming.send(SessionMessage(message))

    async def write_all(self, outgoing: MemoryObjectReceiveStream[SessionMessage]) -> None:
        """Write what the server says."""
        async for sent in outgoing:
            message = sent.message
            text = message.model_dump_json(by_alias=True, exclude_unset=True)
            await self._write(text.encode())
            if not hasattr(message, "method"):
                self._settle(message.id)

    def _settle(self, number: Any) -> None:
        self._open.discard(_key(number))
        self._answered.set()

    async def _refuse(self, problem: Problem) -> None:
        """Say what is wrong with a line that is no message."""
        error = {"code": problem.code, "message": problem.text}
        answer = {"jsonrpc": "2.0", "id": problem.id, "error": error}
        await self._write(json.dumps(answer).encode())

    async def _write(self, line: bytes) -> None:
        async with self._turn:
            try:
                await anyio.to_thread.run_sync(_write, self._wire.output, line + b"\n")
            except BrokenPipeError:
                self._hung_up()


class Problem(NamedTuple):
    """Why a line is no message.

    Attributes:
        id: of the request that it would have been, or None.
    """

    code: int
    text: str
    id: str | int | None = None


def _problem(line: bytes) -> Problem:
    """What is wrong with a line, for its sender."""
    try:
        found = json.loads(line.decode())
    except UnicodeDecodeError:
        return Problem(PARSE_ERROR, "Parse error: the message is not valid UTF-8")
    except (ValueError, RecursionError):
        return Problem(PARSE_ERROR, "Parse error: the message is not valid JSON")
    if not isinstance(found, dict):
        return Problem(INVALID_REQUEST, "Invalid Request: a message is one JSON object in one line")
    number = found.get("id")
    known = number if isinstance(number, str | int) and not isinstance(number, bool) else None
    try:
        json.dumps(found, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        known = known if not isinstance(known, str) or known.isascii() else None
        text = "Parse error: the message has a surrogate without its other half"
        return Problem(PARSE_ERROR, text, known)
    return Problem(INVALID_REQUEST, "Invalid Request: this is not a message of JSON-RPC 2.0", known)


def _key(number: Any) -> Any:
    """An id as it is compared: some clients cancel '7' for 7."""
    return int(number) if isinstance(number, str) and number.isdigit() else number


@asynccontextmanager
async def _lines(wire: Wire) -> AsyncIterator[MemoryObjectReceiveStream[bytes | Problem]]:
    """The lines of the input; they end with it, or with a signal to stop."""
    send, receive = anyio.create_memory_object_stream[bytes | Problem](0)
    token = current_token()

    def read() -> None:
        """In a thread of its own, which nobody waits for: a read cannot be interrupted."""
        try:
            for line in _split(lambda: os.read(wire.input, 1 << 16)):
                from_thread.run(send.send, line, token=token)
            from_thread.run_sync(send.close, token=token)
        except (anyio.ClosedResourceError, anyio.BrokenResourceError, RuntimeError):
            return  # the server has ended first

    async def end_on_signal() -> None:
        with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
            async for _ in signals:
                send.close()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(end_on_signal)
        threading.Thread(target=read, name="qmd-stdin", daemon=True).start()
        with send, receive:
            yield receive
        tasks.cancel_scope.cancel()


def _split(read: Callable[[], bytes]) -> Iterator[bytes | Problem]:
    """Lines of what `read` gives piece by piece; one that is too long is told of, and left out."""
    held = bytearray()
    skipping = False
    while piece := read():
        *ended, rest = piece.split(b"\n")
        for part in ended:
            line = bytes(held) + part
            held.clear()
            if not skipping and len(line) <= MOST_BYTES:
                yield line
            elif not skipping:
                yield _TOO_LONG
            skipping = False
        if not skipping:
            held += rest
        if len(held) > MOST_BYTES:
            yield _TOO_LONG
            held.clear()
            skipping = True
    if held:
        yield bytes(held)


_TOO_LONG = Problem(
    INVALID_REQUEST, f"Invalid Request: the message has more than {MOST_BYTES >> 20} MiB"
)


def _write(descriptor: int, data: bytes) -> None:
    """Write all of it, however little is taken at once."""
    left = memoryview(data)
    while left:
        left = left[os.write(descriptor, left) :]
