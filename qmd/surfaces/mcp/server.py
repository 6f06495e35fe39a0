"""The tools as an MCP server, for every revision of the protocol that the SDK speaks."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import mcp_types as types
from mcp.server.caching import CacheHint
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError

from qmd.errors import Ambiguous, DocumentNotFound, QmdError
from qmd.operations.resources import (
    completed_collections,
    completed_documents,
    resource_page,
)
from qmd.surfaces.mcp import guide, results
from qmd.surfaces.mcp.confirmation import DECLINED, Consent, ask_for_consent
from qmd.surfaces.tools.build_reply import UnknownTool
from qmd.surfaces.tools.dispatch import Toolbox
from qmd.surfaces.tools.paging import NO_CURSOR
from qmd.surfaces.tools.reply import Code, Reply, Resource, refusal
from qmd.surfaces.tools.schemas.tool import Tool
from qmd.text import paths
from qmd.version import __version__

if TYPE_CHECKING:
    from qmd.surfaces.mcp.subscriptions import Subscriptions

Context = ServerRequestContext[Any, Any]

MOST_COMPLETED = 100
"""Values that complete what is typed. Source: MCP 2025-11-25, completion."""

COMPLETIONS = {
    ("ref/prompt", guide.PROMPT, results.COLLECTION): completed_collections,
    ("ref/resource", results.TEMPLATE, "path"): completed_documents,
}
"""Function that completes an argument, by the kind and name of its prompt or resource."""

SETTLED = CacheHint(ttl_ms=3_600_000, scope="public")
"""Lists that only change with the server."""


def make_server(toolbox: Toolbox, *, subscriptions: Subscriptions | None = None) -> Server[Any]:
    """Make a server for a toolbox.

    Args:
        subscriptions: of the client; None: the connection does not last.
    """
    served = _Served(toolbox)
    server: Server[Any] = Server(
        results.NAME,
        version=__version__,
        title=results.TITLE,
        description=results.DESCRIPTION,
        instructions=guide.instructions(served.called),
        cache_hints={
            "tools/list": SETTLED,
            "prompts/list": SETTLED,
            "resources/list": CacheHint(ttl_ms=0, scope="private"),
            "resources/templates/list": SETTLED,
        },
        get_tool_input_schema=served.input_schema,
        on_list_tools=served.list_tools,
        on_call_tool=served.call_tool,
        on_list_resources=served.list_resources,
        on_list_resource_templates=served.list_templates,
        on_read_resource=served.read_resource,
        on_list_prompts=served.list_prompts,
        on_get_prompt=served.get_prompt,
        on_completion=served.complete,
        on_subscribe_resource=subscriptions.subscribe if subscriptions else None,
        on_unsubscribe_resource=subscriptions.unsubscribe if subscriptions else None,
        on_subscriptions_listen=subscriptions.listen if subscriptions else None,
    )
    server.middleware = [_with_names]  # in place of tracing, which is not exported
    return server


class _Served:
    """The handlers of one server."""

    def __init__(self, toolbox: Toolbox) -> None:
        self._toolbox = toolbox
        self._names = results.ToolNames(toolbox)
        self.called = self._names.called

    def input_schema(self, name: str) -> Mapping[str, Any] | None:
        """Return the input schema of a tool, or None if there is no such tool."""
        try:
            return self._toolbox.tool(name).input
        except UnknownTool:
            return None

    async def list_tools(
        self, context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        """All tools at once."""
        return types.ListToolsResult.model_validate(results.list_tools_result(self._names))

    async def call_tool(
        self, context: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        """Call a tool; its errors, too, are results that a model can read."""
        try:
            tool = self._toolbox.tool(params.name)
        except UnknownTool as error:
            known = UnknownTool(error.name, list(self.called))
            raise MCPError(types.INVALID_PARAMS, str(known)) from error
        consent: Consent = "impossible"
        if self._toolbox.options.needs_consent(tool):
            consent = await ask_for_consent(context, params, tool)
        if isinstance(consent, types.InputRequiredResult):
            return consent
        if consent == "declined":
            return _result(refusal(Code.NO_CONSENT, DECLINED), tool)
        reply = await self._toolbox.call(
            params.name,
            params.arguments or {},
            progress=context.session.report_progress,
            has_consent=consent == "given",
        )
        return _result(reply, tool)

    async def list_resources(
        self, context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        """List documents by path, so many at a time."""
        after = _read_cursor(params.cursor if params else None)
        try:
            found = await self._toolbox.look(resource_page, after, results.MOST_LISTED + 1)
        except QmdError as error:
            raise _failure(error, {}) from error
        return types.ListResourcesResult.model_validate(results.list_resources_result(found))

    async def list_templates(
        self, context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        """List the template of the resources of all documents."""
        return types.ListResourceTemplatesResult.model_validate(results.list_templates_result())

    async def read_resource(
        self, context: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        """Read a document; a missing or ambiguous name is an error of the protocol."""
        uri = str(params.uri)
        data: dict[str, Any] = {"uri": uri}
        try:
            if not uri.startswith(paths.SCHEME):
                raise DocumentNotFound(uri)
            found = await self._toolbox.resource(uri.removeprefix(paths.SCHEME))
        except QmdError as error:
            if isinstance(error, DocumentNotFound):
                data["suggestions"] = list(error.similar)
            if isinstance(error, Ambiguous):
                data["suggestions"] = list(error.candidates)
            raise _failure(error, data) from error
        except TimeoutError as error:
            raise MCPError(types.INTERNAL_ERROR, "Timed out.", data) from error
        return types.ReadResourceResult(contents=[_contents(found, uri=uri)])

    async def list_prompts(
        self, context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListPromptsResult:
        """List the guide."""
        return types.ListPromptsResult.model_validate(results.list_prompts_result())

    async def get_prompt(
        self, context: Context, params: types.GetPromptRequestParams
    ) -> types.GetPromptResult:
        """Return the guide."""
        if params.name != guide.PROMPT:
            raise MCPError(
                types.INVALID_PARAMS, f"Unknown prompt: {params.name}. Known: {guide.PROMPT}."
            )
        chosen = (params.arguments or {}).get(results.COLLECTION)
        text = types.TextContent(type="text", text=guide.guide(self.called, chosen or None))
        message = types.PromptMessage(role="user", content=text)
        return types.GetPromptResult(description=guide.PROMPT_DESCRIPTION, messages=[message])

    async def complete(
        self, context: Context, params: types.CompleteRequestParams
    ) -> types.CompleteResult:
        """Complete the path of a document, or the collection of the guide."""
        ref, argument = params.ref, params.argument
        named = ref.name if isinstance(ref, types.PromptReference) else ref.uri
        work = COMPLETIONS.get((ref.type, named, argument.name))
        if work is None:
            raise MCPError(types.INVALID_PARAMS, f"Nothing completes {argument.name!r} there.")
        try:
            found = await self._toolbox.look(work, argument.value, MOST_COMPLETED)
        except QmdError as error:
            raise _failure(error, {}) from error
        more = found.total > len(found.values)
        completion = types.Completion(values=found.values, total=found.total, has_more=more)
        return types.CompleteResult(completion=completion)


def _failure(error: QmdError, data: Mapping[str, Any]) -> MCPError:
    """Return an error of the protocol for one of an operation."""
    return MCPError(**results.failure(error, data))


def _read_cursor(cursor: str | None) -> str:
    """Return the document before a page; '' for the first page.

    Raises:
        MCPError: the cursor is none of this server.
    """
    if cursor is None:
        return ""
    try:
        name = base64.b64decode(
            cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True
        ).decode()
    except ValueError as error:
        raise MCPError(types.INVALID_PARAMS, NO_CURSOR) from error
    if "/" not in name:
        raise MCPError(types.INVALID_PARAMS, NO_CURSOR)
    return name


def _result(reply: Reply, tool: Tool) -> types.CallToolResult:
    """Convert a reply to a result of the protocol."""
    for part in reply.content:
        if isinstance(part, Resource):
            _note_names(part, part.uri)
    return types.CallToolResult.model_validate(results.call_tool_result(reply, tool))


def _contents(found: Resource, *, uri: str) -> types.TextResourceContents:
    _note_names(found, uri)
    contents = results.resource_contents(found, uri=uri)
    return types.TextResourceContents.model_validate(contents)


def _note_names(found: Resource, uri: str) -> None:
    named = _NAMED.get(None)
    if named is not None:
        named[uri] = {"name": found.name, "title": found.title}


_NAMED: ContextVar[dict[str, dict[str, str]]] = ContextVar("named")
"""Name and title of the documents in an answer, by URI."""


async def _with_names(ctx: Context, call_next: CallNext) -> HandlerResult:
    """Give the documents of an answer their names back, which the SDK's types have no room for."""
    if ctx.method not in ("tools/call", "resources/read"):
        return await call_next(ctx)
    named: dict[str, dict[str, str]] = {}
    token = _NAMED.set(named)
    try:
        result = await call_next(ctx)
    finally:
        _NAMED.reset(token)
    if isinstance(result, dict):
        parts = [each["resource"] for each in result.get("content", ()) if "resource" in each]
        for part in [*parts, *result.get("contents", ())]:
            part.update(named.get(part["uri"], {}))
    return result
