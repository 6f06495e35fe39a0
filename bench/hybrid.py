"""Questions by words and meaning at once, warm and cold, beside another tool in the same run.

    python -m bench.hybrid FOLDER [--peer COMMAND] [--files N]

Both tools index and embed the same files with the same model. Warm: a process that stays, ours
asked through the engine, tobi/qmd through its MCP server; the same pairs of a keyword search and a
search by meaning, without a reranker. Cold: the whole process of a `query` command.
"""

from __future__ import annotations

import argparse
import json
import random
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import anyio

from bench.indexing import Tool
from qmd.config import locate, machine
from qmd.engine import Engine
from qmd.models.registry import EMBEDDED_FILE

PAIRS = (
    ("error handling", "what happens when something fails"),
    ("install", "how do I set it up on my machine"),
    ("memory leak", "the program needs more and more memory"),
    ("configuration file", "where are the settings kept"),
    ("thread pool", "doing several things at the same time"),
    ("release notes", "what is new in this version"),
    ("test coverage", "how do we know that it works"),
    ("performance", "why is it so slow"),
)
ROUNDS = 5


class Server:
    """An MCP server over stdio, asked by hand."""

    def __init__(self, command: list[str], environ: dict[str, str]) -> None:
        self._process = subprocess.Popen(
            [*command, "mcp"],
            env=environ,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            cwd="/",
        )
        self._number = 0
        about = {"name": "bench", "version": "1"}
        self.call(
            "initialize",
            {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": about},
        )
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def _send(self, message: dict) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()

    def call(self, method: str, params: dict) -> dict:
        """What it answers."""
        self._number += 1
        self._send({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        assert self._process.stdout is not None
        for line in self._process.stdout:
            answer = json.loads(line)
            if answer.get("id") == self._number:
                return answer
        raise RuntimeError("the server has gone")

    def query(self, lex: str, vec: str) -> None:
        """Ask for ten results."""
        searches = [{"type": "lex", "query": lex}, {"type": "vec", "query": vec}]
        answer = self.call(
            "tools/call",
            {"name": "query", "arguments": {"searches": searches, "rerank": False, "limit": 10}},
        )
        assert not answer.get("error"), answer
        assert not answer["result"].get("isError"), answer

    def close(self) -> None:
        """End it."""
        self._process.kill()
        self._process.wait()


def taken(ask: Callable[[str, str], None]) -> list[float]:
    """Milliseconds of each question, all asked once before."""
    for pair in PAIRS:
        ask(*pair)
    times = []
    for _ in range(ROUNDS):
        for pair in PAIRS:
            began = time.perf_counter()
            ask(*pair)
            times.append((time.perf_counter() - began) * 1000)
    return times


async def ours(engine: Engine) -> list[float]:
    """The same, through the engine."""

    async def ask(lex: str, vec: str) -> None:
        await engine.query(f"lex: {lex}\nvec: {vec}", limit=10)

    for pair in PAIRS:
        await ask(*pair)
    times = []
    for _ in range(ROUNDS):
        for pair in PAIRS:
            began = time.perf_counter()
            await ask(*pair)
            times.append((time.perf_counter() - began) * 1000)
    return times


def main() -> None:
    """Print both, and the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--peer", help="command of tobi/qmd")
    parser.add_argument("--files", type=int, default=40)
    options = parser.parse_args()
    files = sorted(file for file in options.folder.rglob("*.md") if file.stat().st_size < 4000)
    chosen = random.Random(5).sample(files, min(len(files), options.files))
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        (work / "docs").mkdir()
        for number, file in enumerate(chosen):
            shutil.copy(file, work / "docs" / f"{number}-{file.name}")
        tools = [Tool("qmd", [sys.executable, "-m", "qmd"], work / "ours")]
        tools[0].environ["PYTHONPATH"] = str(Path(__file__).parents[1])
        if options.peer:
            tools.append(Tool("peer", shlex.split(options.peer), work / "peer"))
        for tool in tools:
            tool.environ |= {
                "QMD_EMBED_MODEL": str(EMBEDDED_FILE),
                "QMD_FORCE_CPU": "1",
                "QMD_EMBED_CONTEXT_SIZE": "480",
            }
            tool.run("collection", "add", str(work / "docs"), "--name", "docs")
            tool.run("embed")
        place = locate(tools[0].environ, Path("/"))
        engine = Engine(place, machine(tools[0].environ), warm=True)
        warm = {"qmd": statistics.median(anyio.run(ours, engine))}
        engine.close()
        if options.peer:
            server = Server(shlex.split(options.peer), tools[1].environ)
            warm["peer"] = statistics.median(taken(server.query))
            server.close()
        asked = f"lex: {PAIRS[0][0]}\nvec: {PAIRS[0][1]}"
        cold = {}
        for tool in tools:
            costs = [tool.run("query", asked, "--no-rerank", "-n", "10").wall for _ in range(3)]
            cold[tool.name] = statistics.median(costs) * 1000
    for title, times in (("warm", warm), ("cold", cold)):
        line = ", ".join(f"{name} {value:.1f} ms" for name, value in times.items())
        ratio = f"; ratio {times['qmd'] / times['peer']:.2f}" if "peer" in times else ""
        print(f"{title} query, p50: {line}{ratio}")


if __name__ == "__main__":
    main()
