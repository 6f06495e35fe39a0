"""The beginning of a session, without the SDK: to load it takes longer than to load all of qmd.

Answered are the greeting, the list of tools and calls of tools, as most clients write them; the
answers are those that the SDK would give. Whatever else a client writes is for the SDK's server,
which is then told of the greeting, and has the session from there on.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import anyio
from anyio.abc import TaskGroup

from qmd.surfaces.mcp.plain_messages import (
    PlainCall,
    PlainMessage,
    plain_call,
    plain_message,
    proposed_version,
)
from qmd.surfaces.mcp.results import (
    ToolNames,
    call_tool_result,
    initialize_result,
    list_tools_result,
)
from qmd.surfaces.mcp.talk import CANCELLED, Talk, request_key
from qmd.surfaces.tools.build_reply import UnknownTool

if TYPE_CHECKING:
    from qmd.surfaces.tools.dispatch import Toolbox

log = logging.getLogger("qmd.mcp")

INITIALIZED = "notifications/initialized"

CLOSED = {"code": -32000, "message": "Connection closed"}
"""Error of a request that the end of the session cuts off, as the SDK has it."""

FAILED = {"code": -32603, "message": "Internal error. See the server log."}
"""Source of the number: JSON-RPC 2.0, section 5.1."""


class PlainSession:
    """The beginning of a session.

    Attributes:
        seen: the messages that the SDK has to be told of when it takes over.
    """

    def __init__(self, toolbox: Toolbox, talk: Talk, tasks: TaskGroup) -> None:
        self._toolbox = toolbox
        self._talk = talk
        self._tasks = tasks
        self._names = ToolNames(toolbox)
        self._calls: dict[Any, _Call] = {}
        self.seen: dict[str, bytes] = {}

    async def takes(self, line: bytes) -> bool:
        """Take a message, and answer it now or later; False: it is for the SDK."""
        message = plain_message(line)
        if message is None:
            return False
        if not self.seen:
            version = proposed_version(message)
            if version is None:
                return False
            self.seen[message.method] = line
            await self._answer(message.id, initialize_result(self._names, version))
        elif message.method == "tools/call":
            return self._begins(message)
        elif message.method == CANCELLED and message.id is None:
            self._talk.settle(message.params.get("requestId"))
            self.cancel(message.params.get("requestId"))
        elif not message.params.keys() <= {"_meta"}:
            return False
        elif message.method == INITIALIZED and message.id is None:
            self.seen[message.method] = line
        elif message.method == "ping" and message.id is not None:
            await self._answer(message.id, {})
        elif message.method == "tools/list" and message.id is not None:
            await self._answer(message.id, list_tools_result(self._names))
        else:
            return False
        return True

    def cancel(self, number: Any) -> None:
        """Stop a call that its client waits for no more, and give it no answer."""
        if isinstance(number, str | int) and request_key(number) in self._calls:
            self._calls[request_key(number)].stop(None)

    def close(self) -> None:
        """Stop all calls, and say so."""
        for call in list(self._calls.values()):
            call.stop(CLOSED)

    async def _answer(self, number: Any, result: dict[str, Any]) -> None:
        await self._talk.say({"id": number, "result": result})
        self._talk.begun.set()

    def _begins(self, message: PlainMessage) -> bool:
        """Begin a call, if neither its tool nor its parameters are for the SDK."""
        asked = plain_call(message)
        if asked is None:
            return False
        try:
            tool = self._toolbox.tool(asked.name)
        except UnknownTool:
            return False
        if self._toolbox.options.needs_consent(tool):
            return False
        call = _Call(self._toolbox, asked)
        self._talk.ask(asked.id)
        self._calls[request_key(asked.id)] = call
        self._tasks.start_soon(self._run, call)
        return True

    async def _run(self, call: _Call) -> None:
        key = request_key(call.asked.id)
        answer = await call.run(self._talk)
        if self._calls.get(key) is call:
            del self._calls[key]
        if answer is None:
            return
        try:
            await self._talk.say({"id": call.asked.id, **answer})
        except ValueError:
            log.exception("An answer cannot be written as JSON")
            await self._talk.say({"id": call.asked.id, "error": FAILED})
        self._talk.settle(call.asked.id)


class _Call:
    """A call of a tool at work."""

    def __init__(self, toolbox: Toolbox, asked: PlainCall) -> None:
        self.asked = asked
        self._toolbox = toolbox
        self._scope = anyio.CancelScope()
        self._error: dict[str, Any] | None = None

    def stop(self, error: dict[str, Any] | None) -> None:
        """Stop it; with an error, that is the answer, and without there is none."""
        self._error = error
        self._scope.cancel()

    async def run(self, talk: Talk) -> dict[str, Any] | None:
        """Return the result or the error of the answer; None: there is to be no answer."""
        name, arguments, token = self.asked.name, self.asked.arguments, self.asked.token

        async def tell(done: float, total: float | None, doing: str | None) -> None:
            about = {"progressToken": token, "progress": done, "total": total, "message": doing}
            params = {key: value for key, value in about.items() if value is not None}
            await talk.say({"method": "notifications/progress", "params": params})

        with self._scope:
            progress = None if token is None else tell
            reply = await self._toolbox.call(name, arguments, progress=progress)
        # A call that is stopped may still have a reply: that the database has been interrupted.
        if not self._scope.cancel_called:
            return {"result": call_tool_result(reply, self._toolbox.tool(name))}
        return None if self._error is None else {"error": self._error}
