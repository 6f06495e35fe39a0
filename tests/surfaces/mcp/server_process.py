"""A server process that speaks MCP over stdin and stdout."""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import threading
from contextlib import suppress

LONG = 40
"""Seconds after which something that has to happen is taken for stuck."""

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": "hello",
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def request(number: object, name: str, **arguments: object) -> dict[str, object]:
    """A call of a tool."""
    params = {"name": name, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


class Server:
    """A server process, and what it writes, line by line."""

    def __init__(self, *command: str, cwd: object) -> None:
        self.process = subprocess.Popen(
            command or (sys.executable, "-m", "qmd", "mcp"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=cwd,
        )
        self._lines: queue.Queue[bytes] = queue.Queue()
        self._errors: queue.Queue[bytes] = queue.Queue()
        self._threads = [
            threading.Thread(target=_collect, args=each)
            for each in (
                (self.process.stdout, self._lines),
                (self.process.stderr, self._errors),
            )
        ]
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """Leave nothing of it."""
        self.process.kill()
        self.end()
        for thread in self._threads:
            thread.join(LONG)

    def send(self, *messages: object) -> None:
        """Write messages, or bytes as they are."""
        assert self.process.stdin is not None
        for message in messages:
            data = message if isinstance(message, bytes) else json.dumps(message).encode()
            self.process.stdin.write(data + b"\n")
        self.process.stdin.flush()

    def hello(self) -> dict:
        """Initialize."""
        self.send(INITIALIZE, INITIALIZED)
        return self.receive()

    def receive(self) -> dict:
        """The next message."""
        line = self._lines.get(timeout=LONG)
        assert line, "the server has ended"
        return json.loads(line)

    def until(self, words: str) -> None:
        """Wait until this stands on stderr."""
        while words.encode() not in (line := self._errors.get(timeout=LONG)):
            assert line, "the server has ended"

    def end(self) -> tuple[int, list[dict]]:
        """Close its input.

        Returns:
            Its exit code, and what it wrote until then.
        """
        assert self.process.stdin is not None
        with suppress(BrokenPipeError):
            self.process.stdin.close()
        return self.ended()

    def ended(self) -> tuple[int, list[dict]]:
        """The same, once it has ended by itself."""
        code = self.process.wait(LONG)
        rest = []
        while line := self._lines.get(timeout=LONG):
            rest.append(json.loads(line))
        self._lines.put(b"")
        return code, rest


def _collect(stream, lines) -> None:
    with stream:
        for line in stream:
            lines.put(line)
    lines.put(b"")


SLOW = """
import os
import sys
from qmd.__main__ import main
from qmd.surfaces.tools.answers import finding as toolbox

plain = toolbox.search

def search(engine, query, **options):
    if query == "for ever":
        os.write(1, b"began\\n")  # to stderr, if stdout belongs to the protocol
        return engine.read(lambda cursor: cursor.connection.execute(
            "select count(*) from range(1000000) a, range(1000000) b where a.range + b.range = 7"
        ).fetchall())
    if query == "a while":
        print("began", flush=True)
        engine.read(lambda cursor: cursor.connection.execute(
            "select count(*) from range(20000) a, range(2000) b where a.range + b.range = 7"
        ).fetchall())
        return plain(engine, "tea", **options)
    return plain(engine, query, **options)

toolbox.search = search
sys.argv = ["qmd", "mcp"]
main()
"""
"""The server, with two questions that take long."""


def found(answer: dict) -> list[str]:
    """Files of a search result."""
    return [each["file"] for each in answer["result"]["structuredContent"]["results"]]
