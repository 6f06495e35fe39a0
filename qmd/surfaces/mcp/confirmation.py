"""Consent of the user, for which the client asks before an agent writes a document."""

from __future__ import annotations

import hmac
import json
import secrets
from collections.abc import Mapping
from typing import Any, Literal

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import NoBackChannelError
from mcp_types.version import is_version_at_least

from qmd.surfaces.tools.schemas.tool import Tool
from qmd.visible import shown

DECLINED = "The user declined. Nothing was written."

BY_RESULT = "2026-07-28"
"""First revision of the protocol in which a server asks by the result of a call."""

_KEY = "consent"
_SCHEMA: dict[str, Any] = {"type": "object", "properties": {}}
_SECRET = secrets.token_bytes(32)
_MOST_SHOWN = 200
"""Characters of an argument in the question."""

_CAPABILITY = types.ClientCapabilities(elicitation=types.ElicitationCapability())

Consent = Literal["given", "declined", "impossible"] | types.InputRequiredResult


async def ask_for_consent(
    context: ServerRequestContext[Any, Any], params: types.CallToolRequestParams, tool: Tool
) -> Consent:
    """Have the client ask the user whether a tool may write.

    Since the revision `BY_RESULT` the question is the result of the call, which the client repeats
    with the answer; before, it is a request to the client.
    """
    if not context.session.check_client_capability(_CAPABILITY):
        return "impossible"
    arguments = params.arguments or {}
    asked = types.ElicitRequestFormParams(
        message=question(tool, arguments), requested_schema=_SCHEMA
    )
    if is_version_at_least(context.protocol_version, BY_RESULT):
        return _answered_by_result(params, asked, _mark(tool.name, arguments))
    try:
        answer = await context.session.elicit_form(asked.message, _SCHEMA, context.request_id)
    except NoBackChannelError:
        return "impossible"
    return _consent(answer)


def question(tool: Tool, arguments: Mapping[str, Any]) -> str:
    """Write the question, with the arguments of the call, a line each."""
    lines = [f"Allow qmd: {tool.title}?"]
    for name, value in arguments.items():
        whole = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        lines.append(f"{shown(name)}: {shown(whole, most=_MOST_SHOWN)}")
    return "\n".join(lines)


def _answered_by_result(
    params: types.CallToolRequestParams, asked: types.ElicitRequestFormParams, mark: str
) -> Consent:
    """Take the answer that comes with a call; without one for this very call, ask."""
    answer = (params.input_responses or {}).get(_KEY)
    is_for_this = hmac.compare_digest((params.request_state or "").encode(), mark.encode())
    if isinstance(answer, types.ElicitResult) and is_for_this:
        return _consent(answer)
    return types.InputRequiredResult(
        input_requests={_KEY: types.ElicitRequest(params=asked)}, request_state=mark
    )


def _consent(answer: types.ElicitResult) -> Consent:
    return "given" if answer.action == "accept" else "declined"


def _mark(name: str, arguments: Mapping[str, Any]) -> str:
    """Return what only this process can write, and only about this call."""
    call = json.dumps([name, arguments], sort_keys=True).encode()
    return hmac.new(_SECRET, call, "sha256").hexdigest()
