"""Requests a second of the HTTP server, beside that of another tool in the same run.

    python -m bench.serving [FOLDER] [--peer "NODE QMD_JS"] [--clients 8] [--seconds 60]

FOLDER of Markdown is indexed first; without it, the index that `qmd` itself would use here is
served as it is. Each client sends keyword queries over one connection, the next as soon as it has
the answer to the last. The same query goes to `/search` as plain JSON and to `/mcp` as a call of a
tool. The peer is tobi/qmd, whose `/search` and whose MCP tool `query` are asked for one `lex`
search without reranking. The tools take turns on each way.

The processor time is that of the server alone; its clients need about as much again.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any, NamedTuple

from bench.corpora import recombined
from bench.indexing import QUERIES, Tool, tools_in
from bench.usage import family, peak, processor_seconds

LIMIT = 10
PATIENCE = 120.0
"""Seconds for a server to answer for the first time."""

Body = Callable[[str], dict[str, Any]]


class Way(NamedTuple):
    """A kind of request: address and content."""

    name: str
    path: str
    body: Body


def call(tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Make a call of an MCP tool."""
    params = {"name": tool, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}


def lex(query: str) -> dict[str, Any]:
    """One keyword search, as the peer takes it."""
    return {"searches": [{"type": "lex", "query": query}], "limit": LIMIT, "rerank": False}


OURS = (
    Way("/search", "/search", lambda query: {"query": query, "limit": LIMIT}),
    Way("/mcp", "/mcp", lambda query: call("search", {"query": query, "limit": LIMIT})),
)
PEERS = (
    Way("/search", "/search", lex),
    Way("/mcp", "/mcp", lambda query: call("query", lex(query))),
)


def ways(tool: Tool) -> tuple[Way, ...]:
    """List the kinds of requests of a tool."""
    return OURS if tool.name == "qmd" else PEERS


class Outcome(NamedTuple):
    """Measurements of one kind of request.

    Attributes:
        times: milliseconds of each request, in order of length.
        problems: what was answered where no answer came.
        cpu: seconds of the server's processor time.
    """

    seconds: float
    times: list[float]
    problems: list[str]
    cpu: float

    @property
    def rate(self) -> float:
        """Requests a second."""
        return len(self.times) / self.seconds

    def at(self, share: float) -> float:
        """Return a quantile of the times of all requests."""
        return at(share, self.times)


def at(share: float, times: list[float]) -> float:
    """Return a quantile of sorted times."""
    return times[min(len(times) - 1, int(share * len(times)))]


class Server:
    """A running server."""

    def __init__(self, process: subprocess.Popen[bytes], port: int) -> None:
        self.process = process
        self.port = port

    @property
    def cpu(self) -> float:
        """Seconds of processor time until now, with that of the processes that it has started."""
        return sum(map(processor_seconds, family(self.process.pid)))

    @property
    def memory(self) -> float:
        """Megabytes of its largest process at most."""
        return max(map(peak, family(self.process.pid)))


@contextmanager
def running(command: list[str], environ: dict[str, str]):
    """Start a server on a free port and wait for its first response."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [*command, "mcp", "--http", "--port", str(port)],
        env=environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        until = time.monotonic() + PATIENCE
        while True:
            link = HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
            try:
                link.request("GET", "/health")
                link.getresponse().read()
                break
            except OSError:
                if process.poll() is not None or time.monotonic() > until:
                    raise
                time.sleep(0.02)
            finally:
                link.close()
        yield Server(process, port)
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(PATIENCE)


HEADERS = {
    "Content-Type": "application/json",
    "Accept": "application/json, text/event-stream",
}


def ask(link: HTTPConnection, way: Way, query: str) -> str | None:
    """Send a request; return the problem with the response, or None."""
    link.request("POST", way.path, json.dumps(way.body(query)), HEADERS)
    answer = link.getresponse()
    text = answer.read().decode()
    if answer.status != 200:
        return f"{answer.status} {text[:200]}"
    if way.path != "/mcp":
        return None if json.loads(text)["results"] else f"nothing found for {query}"
    data = next((line[6:] for line in text.splitlines() if line.startswith("data: ")), text)
    result = json.loads(data).get("result", {})
    return None if result and not result.get("isError") else text[:200]


def measure(
    server: Server, way: Way, queries: list[str], *, clients: int, seconds: float
) -> Outcome:
    """Let clients ask for a while."""
    times: list[float] = []
    problems: list[str] = []
    until = time.perf_counter() + seconds

    def work(number: int) -> None:
        link = HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
        at = number * len(queries) // clients
        while (began := time.perf_counter()) < until:
            try:
                problem = ask(link, way, queries[at % len(queries)])
            except (OSError, HTTPException, ValueError) as error:
                problem = repr(error)
                link.close()
            times.append((time.perf_counter() - began) * 1000)
            problems.extend([problem] if problem else [])
            at += 1
        link.close()

    before, began = server.cpu, time.perf_counter()
    threads = [threading.Thread(target=work, args=(number,)) for number in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    passed = time.perf_counter() - began
    return Outcome(passed, sorted(times), problems, server.cpu - before)


def told(name: str, way: Way, found: Outcome) -> None:
    """Print what came of one way."""
    cpu = found.cpu * 1000 / len(found.times)
    print(
        f"{name:4} {way.name:8} {found.rate:7.1f} requests/s, p50 {found.at(0.5):6.1f} ms, "
        f"p95 {found.at(0.95):6.1f} ms, server CPU {cpu:5.2f} ms each, "
        f"errors {len(found.problems)} of {len(found.times)}",
        flush=True,
    )
    for problem in sorted(set(found.problems))[:3]:
        print(f"     {problem}")


def served(
    tools: list[Tool], queries: list[str], *, clients: int, seconds: float
) -> Iterator[tuple[Way, str, Outcome, float]]:
    """Measure each kind of request, the tools in turn.

    The same words are asked for in many pairs: of twenty lines there are 400, and from then on they
    are asked again.

    Yields:
        Our way, the name of the tool, what came of it, and the server's megabytes at most.
    """
    lines = queries
    queries = [each for turn in range(1, max(2, len(lines))) for each in recombined(lines, turn)]
    for number, ours in enumerate(OURS):
        for tool in tools:
            way = ways(tool)[number]
            with running(tool.command, tool.environ) as server:
                measure(server, way, lines, clients=1, seconds=1)
                found = measure(server, way, queries, clients=clients, seconds=seconds)
                yield ours, tool.name, found, server.memory


def main() -> int:
    """Run all ways, the tools in turn on each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--peer", help="paths of node and of tobi/qmd's qmd.js")
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--words", type=Path, help="keyword queries, one to a line")
    options = parser.parse_args()
    if options.peer and options.folder is None:
        parser.error("--peer needs a FOLDER: it cannot read our index")
    queries = options.words.read_text().splitlines() if options.words else list(QUERIES)
    failed = 0
    with tempfile.TemporaryDirectory() as name:
        tools = tools_in(Path(name), shlex.split(options.peer or ""))
        if options.folder is None:
            tools[0].environ = dict(os.environ)
        else:
            for tool in tools:
                tool.run("collection", "add", str(options.folder.resolve()), "--name", "corpus")
        rates: dict[str, dict[str, float]] = {}
        for way, tool, found, memory in served(
            tools, queries, clients=options.clients, seconds=options.seconds
        ):
            told(tool, way, found)
            print(f"     memory {memory:.0f} MB at most", flush=True)
            failed += len(found.problems)
            rates.setdefault(way.name, {})[tool] = found.rate
        for way_name, rate in rates.items():
            if len(rate) == 2:
                print(f"{way_name}: {rate['qmd'] / rate['peer']:.2f} times the peer's requests/s")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
