"""MCP over HTTP."""

from __future__ import annotations

import anyio
import httpx
import pytest

from qmd.surfaces.tools.dispatch import Toolbox
from qmd.surfaces.tools.server_tools import ServerTools
from tests.surfaces.http.wire import SSE, said
from tests.surfaces.service import LONG, service


def test_mcp_needs_no_session_and_no_greeting(served):
    params = {"name": "search", "arguments": {"query": "boil"}}
    call = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}
    [message] = said(served.post("/mcp", call, headers=SSE))
    assert message["id"] == 7
    [result] = message["result"]["structuredContent"]["results"]
    assert result["file"] == "notes/tea.md"


def test_mcp_greets_who_greets(served):
    params = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }
    call = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
    answer = served.post("/mcp", call, headers=SSE)
    [message] = said(answer)
    assert message["result"]["serverInfo"]["name"] == "qmd"
    assert message["result"]["protocolVersion"] == "2025-06-18"
    assert "mcp-session-id" not in answer.headers


def test_the_client_of_the_sdk_finds_and_reads(served):
    from mcp.client import Client

    async def work():
        with anyio.fail_after(LONG):
            async with Client(f"{served.url}/mcp") as client:
                names = [tool.name for tool in (await client.list_tools()).tools]
                found = await client.call_tool("search", {"query": "boil"})
                return names, found.structured_content

    names, found = anyio.run(work)
    assert "multi_get" in names
    assert found["results"][0]["file"] == "notes/tea.md"


def test_progress_comes_while_the_call_is_at_work(shelf):
    params = {"name": "update", "arguments": {}, "_meta": {"progressToken": "p"}}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    shelf.write("new.md", "# New\n\nWater.\n")
    with service(Toolbox(shelf.engine, ServerTools(allow_write=True))) as server:
        *told, answer = said(server.post("/mcp", call, headers=SSE))
    assert {message["method"] for message in told} == {"notifications/progress"}
    assert answer["result"]["structuredContent"]["collections"][0]["new"] == 1


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_there_are_no_sessions_to_listen_to_or_to_end(served, method):
    answer = httpx.request(method, f"{served.url}/mcp", headers=SSE, timeout=LONG)
    assert answer.status_code == answer.json()["status_code"] == 405


@pytest.mark.parametrize(
    ("body", "number", "code", "told"),
    [
        (b"{", None, -32700, "the message is not valid JSON"),
        (b"\xff", None, -32700, "the message is not valid UTF-8"),
        (b'{"jsonrpc": "2.0", "id": 7, "method": "\\ud83d"}', 7, -32700, "has a surrogate"),
        (b'[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]', None, -32600, "is one JSON object"),
        (b"[]", None, -32600, "is one JSON object"),
        (b'"ping"', None, -32600, "is one JSON object"),
        (b'{"jsonrpc": "1.0", "id": 7, "method": "ping"}', 7, -32600, "not a message"),
        (b'{"jsonrpc": "2.0", "id": "x", "method": 5}', "x", -32600, "not a message"),
        (b"", None, -32700, "the message is not valid JSON"),
    ],
)
def test_what_is_no_message_is_told_in_the_protocol(served, body, number, code, told):
    headers = {"content-type": "application/json", **SSE}
    answer = httpx.post(f"{served.url}/mcp", content=body, headers=headers, timeout=LONG)
    assert answer.status_code == 400
    error = answer.json()["error"]
    assert (answer.json()["id"], error["code"]) == (number, code)
    assert told in error["message"]


def test_a_client_has_to_take_both_kinds_of_answers(served):
    call = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    for accept in ("application/json", "text/event-stream"):
        assert served.post("/mcp", call, headers={"accept": accept}).status_code == 406
    assert said(served.post("/mcp", call, headers={"accept": "*/*"})) == [
        {"jsonrpc": "2.0", "id": 1, "result": {}}
    ]


def test_tools_are_listed_under_the_names_that_are_wished(shelf):
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    with service(Toolbox(shelf.engine, ServerTools(tool_names="prefixed"))) as server:
        [message] = said(server.post("/mcp", call, headers=SSE))
    names = [tool["name"] for tool in message["result"]["tools"]]
    assert all(name.startswith("qmd_") for name in names)
