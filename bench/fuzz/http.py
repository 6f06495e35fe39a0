"""Requests to the HTTP server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from bench.fuzz.library import Embedder, library
from bench.fuzz.sources import Bytes, Input, Target

PLACES = (
    "/search /vsearch /query /get /multi_get /query_experiences /submit_experience /status /health "
    "/embed /mcp / /search/ /..%2f"
).split()
NAMES = (
    "query limit minScore collections collection file pattern texts searches type lex vec fromLine "
    "maxLines keywords offset"
).split()
TOOLS = "search get multi_get status query qmd_search x".split()
CALLS = "tools/call tools/list initialize resources/read ping x".split()
METHODS = ["POST"] * 6 + ["GET", "HEAD", "PUT", "OPTIONS"]

Headers = list[tuple[bytes, bytes]]


def http() -> Iterator[Target]:
    """Fuzz requests, access control included: each response is JSON or a page, and no failure."""
    with _served() as answer:

        def check(
            body: bytes, method: str, place: str, headers: Headers, cut: int, leaves: bool
        ) -> None:
            size = max(1, len(body) // (cut + 1))
            parts = [body[at : at + size] for at in range(0, len(body), size)] or [b""]
            said = answer(_scope(method, place, headers), parts, leaves)
            if leaves and not said:
                return
            start, *rest = said
            assert start["type"] == "http.response.start"
            assert start["status"] < 500 or start["status"] == 503, start
            assert all(message["type"] == "http.response.body" for message in rest)
            found = b"".join(message.get("body", b"") for message in rest)
            if found.startswith(b"<!doctype html>"):
                assert dict(start["headers"])[b"content-type"].startswith(b"text/html")
                found.decode()
            elif found and method != "HEAD" and not found.startswith((b"event:", b"data:")):
                json.loads(found)

        examples = (b"tea", b"notes/tea.md", b"\xfftea")
        words = 'tea¦notes¦"¦qmd://¦lex: ¦**/*¦\n¦#abc123'.split("¦")
        yield Target(_request, check, words, examples, linear=False)


def _request(source: Bytes) -> Input:
    method, place = source.pick(METHODS), source.pick(PLACES)
    cut, leaves = source.number(0, 3), source.number(0, 19) == 0
    return _body(source), method, place, _headers(source), cut, leaves


def _body(source: Bytes) -> bytes:
    kind = source.number(0, 9)
    if kind == 0:
        return source.rest()
    given = source.fields(NAMES, source.number(0, 6))
    if kind < 3:
        params = {"name": source.pick(TOOLS), "arguments": given}
        given = {"jsonrpc": "2.0", "id": 1, "method": source.pick(CALLS), "params": params}
    return json.dumps(given, ensure_ascii=source.number(0, 1) == 0).encode(errors="replace")


def _headers(source: Bytes) -> Headers:
    made = [
        (b"host", source.pick([b"127.0.0.1:8181", b"localhost", b"[::1]:9"])),
        (b"content-type", b"application/json"),
        (b"accept", b"application/json, text/event-stream"),
    ]
    if source.number(0, 4) == 0:
        name = source.pick([b"host", b"origin", b"content-type", b"accept", b"authorization"])
        made = [pair for pair in made if pair[0] != name or source.number(0, 1)]
        made.append((name, source.text().encode("latin-1", "replace").strip()))
    return made


def _scope(method: str, place: str, headers: Headers) -> dict[str, Any]:
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": place,
        "raw_path": place.encode(),
        "root_path": "",
        "query_string": b"",
        "headers": headers,
        "client": ("127.0.0.1", 5000),
        "server": ("127.0.0.1", 8181),
    }


@contextmanager
def _served():
    """Return the server without its sockets: a function from requests to responses."""
    import anyio
    from anyio.from_thread import start_blocking_portal

    from qmd.surfaces.http.access_control import Policy
    from qmd.surfaces.http.app import Options, Protocol, asgi_application
    from qmd.surfaces.tools.dispatch import Toolbox
    from qmd.surfaces.tools.server_tools import ServerTools

    with library() as engine, start_blocking_portal() as portal:
        engine.models.embedder = lambda space: Embedder()
        toolbox = Toolbox(engine, ServerTools(read_only=True))
        protocol = Protocol(toolbox, "plain")
        running = portal.start_task_soon(protocol.run)
        app = asgi_application(toolbox, protocol, Options(Policy()))

        async def answered(scope: dict[str, Any], parts: list[bytes], leaves: bool) -> list[Any]:
            said: list[Any] = []

            async def receive() -> dict[str, Any]:
                if parts:
                    part = parts.pop(0)
                    return {"type": "http.request", "body": part, "more_body": bool(parts)}
                if not leaves:
                    await anyio.sleep_forever()
                return {"type": "http.disconnect"}

            async def send(message: Any) -> None:
                said.append(message)

            with anyio.fail_after(30):
                await app(scope, receive, send)
            return said

        yield lambda *given: portal.call(answered, *given)
        portal.call(running.cancel)
        toolbox.close()
