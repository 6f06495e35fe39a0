"""MCP server over stdin and stdout, called by hand."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from typing import Any

from bench.usage import family, family_pss, peak, processor_seconds

HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "bench", "version": "1"},
}


class Server:
    """An initialized server.

    Attributes:
        ready: seconds from its start to its first answer.
    """

    def __init__(self, command: list[str], environ: dict[str, str]) -> None:
        self._began = time.perf_counter()
        self._process = subprocess.Popen(
            [*command, "mcp"],
            env=environ,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            cwd="/",
            start_new_session=True,
        )
        self._number = 0
        self.call("initialize", HELLO)
        self.ready = time.perf_counter() - self._began
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    @property
    def memory(self) -> float:
        """Megabytes of its largest process at most."""
        return max(map(peak, family(self._process.pid)))

    @property
    def cpu(self) -> float:
        """Seconds of processor time of its processes until now."""
        return sum(map(processor_seconds, family(self._process.pid)))

    @property
    def shared(self) -> float:
        """Megabytes of its processes now, each with its part of what it shares."""
        return family_pss(self._process.pid)

    def call(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Send a request and return its result.

        Raises:
            RuntimeError: it has gone, or the answer is an error.
        """
        return self.ask({"jsonrpc": "2.0", "method": method, "params": params})

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """Send a request with a new id and return its result.

        Raises:
            RuntimeError: as above.
        """
        self._number += 1
        self._send({**request, "id": self._number})
        assert self._process.stdout is not None
        for line in self._process.stdout:
            answer = json.loads(line)
            if answer.get("id") != self._number:
                continue
            if "error" in answer or answer["result"].get("isError"):
                raise RuntimeError(line[:500])
            return answer["result"]
        raise RuntimeError("the server has gone")

    def first_search(self, words: str) -> float:
        """Search by words, and return the seconds from the start of the process to the answer."""
        self.query(("lex", words))
        return time.perf_counter() - self._began

    def query(self, *searches: tuple[str, str]) -> int:
        """Ask for ten results.

        Args:
            searches: kinds, 'lex' or 'vec', and what is asked.

        Returns:
            The number of results.
        """
        asked = [{"type": kind, "query": text} for kind, text in searches]
        arguments = {"searches": asked, "rerank": False, "limit": 10}
        result = self.call("tools/call", {"name": "query", "arguments": arguments})
        return len(result["structuredContent"]["results"])

    def close(self) -> None:
        """End it, and the processes that it has started."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            assert stream is not None
            stream.close()

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()
