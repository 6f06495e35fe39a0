"""Sessions of MCP clients, and heads of HTTP requests."""

from __future__ import annotations

import ipaddress
import json
import os
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

from bench.fuzz.library import Embedder, library
from bench.fuzz.sources import Bytes, Input, Target

TOOLS = "search get multi_get status query qmd_search query_experiences x".split()
METHODS = (
    "initialize tools/list tools/call ping resources/list resources/templates/list resources/read "
    "prompts/list prompts/get completion/complete logging/setLevel x notifications/initialized "
    "notifications/cancelled notifications/progress roots/list"
).split()
NAMES = (
    "name arguments uri protocolVersion capabilities clientInfo requestId _meta progressToken "
    "cursor query limit file level reason"
).split()
HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "fuzz", "version": "1"},
}


def sessions() -> Iterator[Target]:
    """Messages of an MCP client in any order: each request has one answer, and all are JSON-RPC."""
    import anyio

    from qmd.surfaces.mcp.stdio import Wire, serve_stdio
    from qmd.surfaces.tools.dispatch import Toolbox
    from qmd.surfaces.tools.server_tools import ServerTools

    with library() as engine, tempfile.TemporaryFile() as told:
        engine.models.embedder = lambda space: Embedder()
        toolbox = Toolbox(engine, ServerTools(read_only=True))

        async def served(wire: Wire) -> None:
            with anyio.fail_after(60):
                await serve_stdio(toolbox, wire=wire)

        def check(data: bytes, ids: Counter[Any], cancelled: bool) -> None:
            reading, writing = os.pipe()
            try:
                os.write(writing, data)
                os.close(writing)
                os.ftruncate(told.fileno(), 0)
                os.lseek(told.fileno(), 0, os.SEEK_SET)
                anyio.run(served, Wire(reading, told.fileno()))
            finally:
                os.close(reading)
            os.lseek(told.fileno(), 0, os.SEEK_SET)
            lines = [json.loads(line) for line in told.read().splitlines()]
            answers = Counter[Any]()
            for line in lines:
                assert line["jsonrpc"] == "2.0"
                if "method" in line:
                    continue
                assert ("result" in line) != ("error" in line)
                if "error" in line:
                    assert isinstance(line["error"]["code"], int)
                    assert isinstance(line["error"]["message"], str)
                if line["id"] is not None:
                    answers[line["id"]] += 1
            assert not answers - ids, (answers, ids)
            if not cancelled:
                assert answers == ids, (answers, ids)

        yield Target(_talk, check, (), (b"tea", b"notes/tea.md"), linear=False)
        toolbox.close()


def _talk(source: Bytes) -> Input:
    """Lines of a client, the ids of its requests, and whether it cancels some."""
    lines, ids, cancelled = [], Counter[Any](), False
    if source.number(0, 3):
        lines.append({"jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": HELLO})
        lines.append({"jsonrpc": "2.0", "method": "notifications/initialized"})
        ids["hello"] += 1
    for number in range(source.number(1, 6)):
        method = source.pick(METHODS)
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
        if not method.startswith("notifications/"):
            message["id"] = source.pick([number, str(1000 + number), -number - 1])
            ids[message["id"]] += 1
        params = source.fields(NAMES, source.number(0, 3))
        if method == "tools/call":
            params |= {"name": source.pick(TOOLS), "arguments": source.fields(NAMES, 2)}
        if method == "initialize" and source.number(0, 1):
            params |= HELLO
        if source.number(0, 5) or method == "tools/call":
            message["params"] = params
        cancelled = cancelled or method == "notifications/cancelled"
        lines.append(message)
    text = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    return (
        text[:60_000] if len(text) < 60_000 else b"",
        ids if len(text) < 60_000 else Counter(()),
        cancelled,
    )


def guard() -> Iterator[Target]:
    """Heads of requests: only those with a name, a page and a token that may pass do."""
    import anyio

    from qmd.errors import UsageError
    from qmd.surfaces.http import access_control as ours

    token = "s3cret"

    async def passes(made: ours.Guard, scope: dict[str, Any]) -> int | None:
        """Status of a refusal; None: it was passed on."""
        said: list[Any] = []

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": b"{}", "more_body": False}

        async def send(message: Any) -> None:
            said.append(message)

        await made(scope, receive, send)
        return said[0]["status"] if said else None

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()

    def check(text: str, kind: int, path: str, with_token: bool, named: tuple[str, ...]) -> None:
        head = [("host", "127.0.0.1:8181"), ("authorization", f"Bearer {token}")]
        extra = ("host", "origin", "authorization", "content-type", "host", "origin")[kind]
        replaces = kind < 4
        head = [pair for pair in head if pair[0] != extra or not replaces]
        if extra != "content-type":
            head.append(("content-type", "application/json"))
        head.append((extra, text))
        headers = [
            (name.encode(), value.encode("latin-1", "replace").strip()) for name, value in head
        ]
        try:
            policy = ours.policy("127.0.0.1", hosts=named)
        except UsageError:
            return
        guarded = ours.Guard(app, policy, token=token if with_token else None)
        scope = {"type": "http", "method": "POST", "path": path, "headers": headers}
        status = anyio.run(passes, guarded, scope)
        assert status in (None, 401, 403, 415, 421)
        if status is not None:
            return
        values = [(name.decode(), value.decode("latin-1")) for name, value in headers]
        hosts = [value for name, value in values if name == "host"]
        assert len(hosts) == 1
        assert _is_here(f"http://{hosts[0]}", named)
        for origin in (value for name, value in values if name == "origin"):
            assert _is_here(origin, ())
        tokens = [value for name, value in values if name == "authorization"]
        if with_token:
            scheme, _, given = tokens[0].partition(" ")
            assert (len(tokens), scheme.lower(), given.strip()) == (1, "bearer", token)

    def made(source: Bytes) -> Input:
        kind, with_token = source.number(0, 5), source.number(0, 1) == 1
        path = source.pick(["/search", "/health", "/mcp"])
        is_named = source.number(0, 3) == 3
        text = source.text()
        named = (source.text(),) if is_named else ()
        return text, kind, path, with_token, named

    words = (
        "localhost¦127.0.0.1¦[::1]¦:8181¦http://¦https://¦.localhost¦evil.example¦@¦#¦?¦/¦\\¦0.0.0.0¦"
        "[::ffff:127.0.0.1]¦null¦Bearer ¦s3cret¦,¦ ¦\t¦%00¦127.1¦2130706433¦application/json"
    ).split("¦")
    examples = (b"http://localhost:3000", b"a.localhost:1", b"Bearer s3cret", b"[::1]:9", b"h\xffh")
    yield Target(made, check, words, examples)


def _is_here(url: str, named: tuple[str, ...]) -> bool:
    """Return whether another parser of URLs reads the host as this machine, or as one of names."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    if parts.scheme not in ("http", "https") or parts.username is not None:
        return False
    if host == "localhost" or host.endswith(".localhost"):
        return True
    bare = {host, parts.netloc.lower(), f"[{host}]"}
    if bare & {name.lower() for name in named}:
        return True
    with suppress(ValueError):
        address = ipaddress.ip_address(host)
        mapped = getattr(address, "ipv4_mapped", None)
        return address.is_loopback or (mapped is not None and mapped.is_loopback)
    return False
