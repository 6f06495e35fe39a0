"""A session of the SDK's server, with a client whose lines are read and written here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCNotification, JSONRPCRequest

from qmd.surfaces.mcp.json_lines import Problem, message_of
from qmd.surfaces.mcp.server import make_server
from qmd.surfaces.mcp.subscriptions import Subscriptions
from qmd.surfaces.mcp.talk import CANCELLED, Talk

if TYPE_CHECKING:
    from qmd.surfaces.tools.dispatch import Toolbox


class SdkSession:
    """The SDK's server, and the messages from and to its client.

    Args:
        cancelled: called with the id of a request that the client waits for no more.
    """

    def __init__(self, toolbox: Toolbox, talk: Talk, cancelled: Callable[[Any], None]) -> None:
        self._talk = talk
        self._cancelled = cancelled
        self._subscriptions = Subscriptions(toolbox)
        self._server = make_server(toolbox, subscriptions=self._subscriptions)
        self._incoming, self._received = anyio.create_memory_object_stream[
            SessionMessage | Exception
        ](0)
        self._unsaid: Counter[Any] = Counter()

    async def run(self) -> None:
        """Serve until `close`."""
        to_send, outgoing = anyio.create_memory_object_stream[SessionMessage](0)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(write_outgoing, self._talk, outgoing, self._unsaid)
            async with anyio.create_task_group() as beside:
                beside.start_soon(self._subscriptions.watch)
                options = self._server.create_initialization_options()
                await self._server.run(self._received, to_send, options)
                beside.cancel_scope.cancel()

    async def catch_up(self, lines: Iterable[bytes]) -> None:
        """Tell the server of messages that have been answered already."""
        for line in lines:
            message = message_of(line)
            assert not isinstance(message, Problem)
            if isinstance(message, JSONRPCRequest):
                self._unsaid[message.id] += 1
            await self._incoming.send(SessionMessage(message))

    async def receive(self, line: bytes) -> None:
        """Hand a message on to the server, or answer what is none."""
        message = message_of(line)
        if isinstance(message, Problem):
            await self._talk.write(message.answer)
            return
        if isinstance(message, JSONRPCRequest):
            self._talk.ask(message.id)
        elif isinstance(message, JSONRPCNotification) and message.method == CANCELLED:
            # Its sender waits no more: the request gets no answer.
            number = (message.params or {}).get("requestId")
            self._talk.settle(number)
            self._cancelled(number)
        await self._incoming.send(SessionMessage(message))

    def input_ended(self) -> None:
        """End all streams, which gives their requests an answer."""
        self._subscriptions.close()

    def close(self) -> None:
        """End the server, and `run` with it."""
        self._incoming.close()


async def write_outgoing(
    talk: Talk,
    outgoing: MemoryObjectReceiveStream[SessionMessage],
    unsaid: Counter[Any],
) -> None:
    """Write what the server says.

    Args:
        unsaid: ids of requests whose answer the client has had.
    """
    async with outgoing:
        async for sent in outgoing:
            message = sent.message
            answered = None if hasattr(message, "method") else message.id
            if answered is not None and unsaid[answered]:
                unsaid[answered] -= 1
                continue
            text = message.model_dump_json(by_alias=True, exclude_unset=True)
            await talk.write(text.encode())
            talk.begun.set()
            if answered is not None:
                talk.settle(answered)
