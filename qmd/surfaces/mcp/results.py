"""Results of requests as the JSON of the protocol, which needs no SDK."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from qmd.errors import QmdError
from qmd.surfaces.mcp import guide
from qmd.surfaces.tools import schemas
from qmd.surfaces.tools.build_reply import code_of
from qmd.surfaces.tools.reply import MARKDOWN, Code, Reply, Resource
from qmd.surfaces.tools.reply_text import LONGEST_TITLE, moment
from qmd.surfaces.tools.schemas.listing import listed
from qmd.surfaces.tools.schemas.tool import Tool
from qmd.text import paths
from qmd.version import __version__

if TYPE_CHECKING:
    from qmd.operations.resources import ListedResource
    from qmd.surfaces.tools.dispatch import Toolbox

ERROR_CODE = "qmd/errorCode"
"""Key in the `_meta` of a result that is an error: the name of the error."""

DEPRECATED = "qmd/deprecated"
"""Key in the `_meta` of a result that lists deprecations; its last texts repeat them."""

NAME = TITLE = "qmd"
DESCRIPTION = "Search everything you have written down, on your own machine."

CAPABILITIES: Mapping[str, Mapping[str, bool]] = {
    "completions": {},
    "prompts": {"listChanged": False},
    "resources": {"listChanged": False, "subscribe": True},
    "tools": {"listChanged": False},
}
"""Capabilities in a session, as the SDK derives them from the handlers of its server."""

MOST_LISTED = 200
"""Resources of a page."""

TEMPLATE = paths.SCHEME + "{+path}"

COLLECTION = "collection"
"""Argument of the prompt."""

INVALID_PARAMS, INTERNAL_ERROR = -32602, -32603
"""Source: JSON-RPC 2.0, section 5.1."""

_OF_CALLER = (
    Code.INVALID_PARAMS,
    Code.UNKNOWN_COLLECTION,
    Code.NOT_FOUND,
    Code.AMBIGUOUS_PATH,
)
"""Errors of the caller, for which JSON-RPC has a number."""


class ToolNames:
    """The tools of a server by the names that its client has for them.

    Attributes:
        called: the tools, each by the name that texts have for it.
        listed: the tools by the names in the list of tools.
    """

    def __init__(self, toolbox: Toolbox) -> None:
        names = toolbox.options.tool_names
        plain, prefixed = (
            {prefix + tool.name: tool for tool in toolbox.tools} for prefix in ("", schemas.PREFIX)
        )
        self.called = prefixed if names == "prefixed" else plain
        self.listed = plain | prefixed if names == "both" else self.called


def initialize_result(names: ToolNames, version: str) -> dict[str, Any]:
    """Return the result of `initialize`.

    Args:
        version: of the protocol, as agreed.
    """
    return {
        "protocolVersion": version,
        "capabilities": CAPABILITIES,
        "serverInfo": {
            "name": NAME,
            "title": TITLE,
            "description": DESCRIPTION,
            "version": __version__,
        },
        "instructions": guide.instructions(names.called),
    }


def list_tools_result(names: ToolNames) -> dict[str, Any]:
    """Return the result of `tools/list`: all tools at once."""
    return {"tools": [_listing(name, listed(tool)) for name, tool in names.listed.items()]}


def _listing(name: str, tool: Tool) -> dict[str, Any]:
    output = {} if tool.output is None else {"outputSchema": tool.output}
    return {
        "name": name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": tool.input,
        **output,
        "annotations": tool.annotations,
    }


def call_tool_result(reply: Reply, tool: Tool) -> dict[str, Any]:
    """Return the result of `tools/call`.

    The text of a tool without an output schema says all: programs gain nothing by a second copy,
    which some hosts hand to their model.
    """
    result: dict[str, Any] = {
        "content": [
            {"type": "text", "text": part}
            if isinstance(part, str)
            else {"type": "resource", "resource": resource_contents(part, uri=part.uri)}
            for part in (*reply.content, *reply.deprecated)
        ],
        "isError": reply.error is not None,
    }
    if reply.structured is not None and tool.output is not None:
        result["structuredContent"] = reply.structured
    meta: dict[str, Any] = {ERROR_CODE: reply.error} if reply.error else {}
    if reply.deprecated:
        meta[DEPRECATED] = list(reply.deprecated)
    return result | ({"_meta": meta} if meta else {})


def resource_contents(found: Resource, *, uri: str) -> dict[str, Any]:
    """Return a document as the contents of a resource, with its names."""
    return {
        "uri": uri,
        "name": found.name,
        "title": found.title,
        "mimeType": MARKDOWN,
        "text": found.text,
    }


def list_resources_result(found: Sequence[ListedResource]) -> dict[str, Any]:
    """Return the result of `resources/list`.

    Args:
        found: documents by path, one more than a page has if there are more.
    """
    shown = found[:MOST_LISTED]
    result: dict[str, Any] = {"resources": [_resource(each) for each in shown]}
    if len(found) > MOST_LISTED:
        name = shown[-1].name
        result["nextCursor"] = base64.urlsafe_b64encode(name.encode()).decode().rstrip("=")
    return result


def _resource(document: ListedResource) -> dict[str, Any]:
    title = document.title[:LONGEST_TITLE]
    return {
        "uri": paths.uri(document.collection, document.path),
        "name": document.name,
        **({"title": title} if title else {}),
        "mimeType": MARKDOWN,
        "size": document.size,
        "annotations": {"lastModified": moment(document.modified)},
    }


def list_templates_result() -> dict[str, Any]:
    """Return the result of `resources/templates/list`: that of all documents."""
    template = {
        "uriTemplate": TEMPLATE,
        "name": "document",
        "title": "QMD Document",
        "description": "A document of the index, with its lines numbered.",
        "mimeType": MARKDOWN,
    }
    return {"resourceTemplates": [template]}


def list_prompts_result() -> dict[str, Any]:
    """Return the result of `prompts/list`: the guide."""
    argument = {
        "name": COLLECTION,
        "description": "Where to search; all without.",
        "required": False,
    }
    prompt = {
        "name": guide.PROMPT,
        "title": guide.PROMPT_TITLE,
        "description": guide.PROMPT_DESCRIPTION,
        "arguments": [argument],
    }
    return {"prompts": [prompt]}


def failure(error: QmdError, data: Mapping[str, Any]) -> dict[str, Any]:
    """Return an error of the protocol for one of an operation."""
    code = code_of(error)
    number = INVALID_PARAMS if code in _OF_CALLER else INTERNAL_ERROR
    return {"code": number, "message": error.told("tool"), "data": {**data, "code": code}}
