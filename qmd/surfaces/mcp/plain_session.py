"""The beginning of a session, without the SDK: to load it takes longer than to load all of qmd.

Answered are the greeting, lists, and calls of tools, as most clients write them; the answers are
those that the SDK would give. Whatever else a client writes is for the SDK's server,
which is then told of the greeting, and has the session from there on.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
from anyio.abc import TaskGroup

from qmd.errors import QmdError
from qmd.operations.resources import resource_page
from qmd.surfaces.mcp import results
from qmd.surfaces.mcp.plain_messages import (
    PlainCall,
    PlainMessage,
    plain_call,
    plain_message,
    proposed_version,
)
from qmd.surfaces.mcp.talk import CANCELLED, Talk, is_request_id, request_key
from qmd.surfaces.tools.build_reply import UnknownTool

if TYPE_CHECKING:
    from qmd.surfaces.tools.dispatch import Toolbox
    from qmd.surfaces.tools.schemas.tool import Tool

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
        self._names = results.ToolNames(toolbox)
        self._settled: dict[str, Callable[[], dict[str, Any]]] = {
            "ping": dict,
            "tools/list": partial(results.list_tools_result, self._names),
            "prompts/list": results.list_prompts_result,
            "resources/templates/list": results.list_templates_result,
        }
        self._calls: dict[str | int, _Call] = {}  # the last one of each id
        self._at_work: set[_Call] = set()
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
            await self._answer(message.id, results.initialize_result(self._names, version))
        elif message.method == "tools/call":
            return self._begins_call(message)
        elif message.method == CANCELLED and message.id is None:
            self._talk.settle(message.params.get("requestId"))
            self.cancel(message.params.get("requestId"))
        elif not message.params.keys() <= {"_meta"}:
            return False
        elif message.method == INITIALIZED and message.id is None:
            self.seen[message.method] = line
        elif message.id is None:
            return False
        elif message.method == "resources/list":
            self._begin(message.id, self._list_resources)
        elif message.method in self._settled:
            await self._answer(message.id, self._settled[message.method]())
        else:
            return False
        return True

    def cancel(self, number: Any) -> None:
        """Stop a call that its client waits for no more, and give it no answer."""
        if is_request_id(number) and request_key(number) in self._calls:
            self._calls[request_key(number)].stop(None)

    def close(self) -> None:
        """Stop all calls, and say so."""
        for call in list(self._at_work):
            call.stop(CLOSED)

    async def _answer(self, number: Any, result: dict[str, Any]) -> None:
        await self._talk.say({"id": number, "result": result})
        self._talk.begun.set()

    def _begins_call(self, message: PlainMessage) -> bool:
        """Begin a call of a tool, if neither the tool nor its parameters are for the SDK."""
        asked = plain_call(message)
        if asked is None:
            return False
        try:
            tool = self._toolbox.tool(asked.name)
        except UnknownTool:
            return False
        if self._toolbox.options.needs_consent(tool):
            return False
        self._begin(asked.id, partial(self._call_tool, asked, tool))
        return True

    async def _call_tool(self, asked: PlainCall, tool: Tool) -> dict[str, Any]:
        async def tell(done: float, total: float | None, doing: str | None) -> None:
            about = {"total": total, "message": doing}
            given = {key: value for key, value in about.items() if value is not None}
            params = {"progressToken": asked.token, "progress": done, **given}
            await self._talk.say({"method": "notifications/progress", "params": params})

        progress = None if asked.token is None else tell
        reply = await self._toolbox.call(asked.name, asked.arguments, progress=progress)
        return {"result": results.call_tool_result(reply, tool)}

    async def _list_resources(self) -> dict[str, Any]:
        try:
            found = await self._toolbox.look(resource_page, "", results.MOST_LISTED + 1)
        except QmdError as error:
            return {"error": results.failure(error, {})}
        return {"result": results.list_resources_result(found)}

    def _begin(self, number: str | int, work: Callable[[], Awaitable[dict[str, Any]]]) -> None:
        call = _Call(number, work)
        self._talk.ask(number)
        self._calls[request_key(number)] = call
        self._at_work.add(call)
        self._tasks.start_soon(self._run, call)

    async def _run(self, call: _Call) -> None:
        key = request_key(call.number)
        try:
            answer = await call.run()
        except Exception:
            log.exception("A request failed")
            answer = {"error": FAILED}
        finally:
            self._at_work.discard(call)
        if self._calls.get(key) is call:
            del self._calls[key]
        if answer is None:
            return
        try:
            await self._talk.say({"id": call.number, **answer})
        except ValueError:
            log.exception("An answer cannot be written as JSON")
            await self._talk.say({"id": call.number, "error": FAILED})
        self._talk.settle(call.number)


class _Call:
    """A request at work."""

    def __init__(self, number: str | int, work: Callable[[], Awaitable[dict[str, Any]]]) -> None:
        self.number = number
        self._work = work
        self._scope = anyio.CancelScope()
        self._error: dict[str, Any] | None = None

    def stop(self, error: dict[str, Any] | None) -> None:
        """Stop it; with an error, that is the answer, and without there is none.

        What has been stopped before stays as it is: its client wants no answer.
        """
        if not self._scope.cancel_called:
            self._error = error
            self._scope.cancel()

    async def run(self) -> dict[str, Any] | None:
        """Return the result or the error of the answer; None: there is to be no answer."""
        with self._scope:
            answer = await self._work()
        # What is stopped may still have an answer: that the database has been interrupted.
        if not self._scope.cancel_called:
            return answer
        return None if self._error is None else {"error": self._error}
