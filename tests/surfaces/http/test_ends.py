"""Clients that leave, and servers that end."""

from __future__ import annotations

import json
import socket

import anyio
import pytest

from qmd.surfaces.http import app
from qmd.surfaces.http.app import load_sdk
from qmd.surfaces.tools.dispatch import Toolbox
from tests.surfaces.http.wire import HEAD, JSON, SSE
from tests.surfaces.service import LONG, Waiting, all_of, service, until


@pytest.mark.parametrize("path", ["/search", "/embed", "/mcp", "/mcp of 2026"])
def test_a_call_ends_when_its_client_leaves(waiting, path):
    tools, server = waiting
    params = {"name": "search", "arguments": {}}
    body = {"texts": []} if path == "/embed" else {"query": "tea"}
    headers = dict(SSE)
    if path == "/embed":
        body = {"texts": ["tea"]}
    if path.startswith("/mcp"):
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    if path.endswith("2026"):
        params["_meta"] = {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        }
        headers |= {
            "mcp-protocol-version": "2026-07-28",
            "mcp-method": "tools/call",
            "mcp-name": "search",
        }
    data = json.dumps(body).encode()
    head = f"POST {path.split()[0]} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(data)}\r\n"
    more = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    with server.connect() as link:
        link.sendall(head.encode() + JSON + more.encode() + b"\r\n" + data)
        assert tools.begun.wait(LONG)
    assert tools.cancelled.wait(LONG)


@pytest.mark.parametrize("path", ["/search", "/mcp"])
def test_a_server_that_is_to_end_answers_first(path):
    tools = Waiting()
    params = {"name": "search", "arguments": {}}
    call = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}
    with service(tools) as server, anyio.from_thread.start_blocking_portal() as portal:
        asked = portal.start_task_soon(
            anyio.to_thread.run_sync, lambda: server.post(path, call, headers=SSE)
        )
        assert tools.begun.wait(LONG)
        server.end()
        until(server.is_deaf)
        tools.go_on.set()
        answer = asked.result(LONG)
    assert answer.status_code == 200
    assert "Found nothing." in answer.text


@pytest.mark.parametrize("path", ["/search", "/mcp"])
def test_a_server_that_is_to_end_does_not_wait_for_ever(path, monkeypatch, caplog):
    monkeypatch.setattr(app, "GRACE", 0.01)
    tools = Waiting()
    params = {"name": "search", "arguments": {}}
    call = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}
    with service(tools) as server, anyio.from_thread.start_blocking_portal() as portal:
        asked = portal.start_task_soon(
            anyio.to_thread.run_sync, lambda: server.post(path, call, headers=SSE)
        )
        assert tools.begun.wait(LONG)
        server.end()
        answer = asked.result(LONG)
    assert tools.cancelled.is_set()
    assert answer.text == "" if path == "/mcp" else answer.status_code == 503
    assert "Traceback" not in caplog.text


def test_a_server_that_is_to_end_does_not_wait_for_who_has_not_asked_yet(caplog):
    with service(Waiting()) as server, server.connect() as half:
        half.sendall(HEAD + b"Content-Length: 9\r\n\r\n{")
        assert server.get("/health").status_code == 200
        server.end()
        assert all_of(half) == b""
    assert not caplog.text


def test_streams_are_not_cut_off_by_a_signal():
    from sse_starlette.sse import AppStatus

    load_sdk()
    assert not AppStatus.enable_automatic_graceful_drain


def test_a_port_is_given_back_at_the_end(shelf):
    with service(Toolbox(shelf.engine)) as server:
        port = server.port
    with socket.socket() as again:
        again.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        again.bind(("127.0.0.1", port))
