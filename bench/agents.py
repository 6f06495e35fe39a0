"""Servers for agents beside an update that never ends: errors, old answers, waits.

    python -m bench.agents [--seconds 120] [--servers 2]

Servers (`qmd mcp`, processes of their own, over stdin and stdout) answer without end while files
change one by one and `qmd update` (a process each time) follows. As soon as an update has
returned, every server is asked for the word that is new, and has to find it; between, it is asked
for other words. Besides errors and old answers, this prints what an answer and an update take,
and what of the processor a server takes to its first answer.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from bench.processes import generate, letters, named, vocabulary
from bench.usage import processor_seconds

COMMAND = (sys.executable, "-m", "qmd")

HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "bench", "version": "1"},
}


class Agent:
    """A server process and a client that sends one request after the other."""

    def __init__(self, environ: dict[str, str], *options: str) -> None:
        before = os.times()
        self.process = subprocess.Popen(
            [*COMMAND, "mcp", *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environ
        )
        self._turn = threading.Lock()
        self._asked = 0
        self.ask("initialize", HELLO)
        self.first = os.times().elapsed - before.elapsed
        self.processor = processor_seconds(self.process.pid)

    def ask(self, method: str, params: dict[str, object]) -> dict:
        """Send a request and return its result."""
        with self._turn:
            self.send(method, params)
            answer = json.loads(self.process.stdout.readline())
            assert answer["id"] == self._asked
        return answer["result"]

    def send(self, method: str, params: dict[str, object]) -> None:
        """Ask, and do not wait for the answer."""
        self._asked += 1
        line = {"jsonrpc": "2.0", "id": self._asked, "method": method, "params": params}
        self.process.stdin.write(json.dumps(line).encode() + b"\n")
        self.process.stdin.flush()

    def call(self, tool: str, arguments: dict[str, object]) -> dict:
        """Call a tool and return its data; an error is raised."""
        result = self.ask("tools/call", {"name": tool, "arguments": arguments})
        if result.get("isError"):
            raise RuntimeError(result["content"][0]["text"])
        return result["structuredContent"]

    def search(self, words: str) -> list[str]:
        """Files that have words; an answer that is an error is raised."""
        return [each["file"] for each in self.call("search", {"query": words})["results"]]

    def close(self) -> int:
        """End it; its exit code."""
        self.process.stdin.close()
        self.process.stdout.read()
        return self.process.wait(30)


def share(values: list[float], part: float) -> float:
    """Return the quantile of some values."""
    return sorted(values)[min(len(values) - 1, int(part * len(values)))]


def told(name: str, values: list[float]) -> str:
    """Format times on one line."""
    times = "  ".join(
        f"p{part * 100:.0f} {share(values, part) * 1000:5.0f}" for part in (0.5, 0.95)
    )
    return f"{name:24} {len(values):6}   {times} ms"


def main() -> int:
    """Run and report; 1 if anything was wrong."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--servers", type=int, default=2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        generate(work / "docs")
        environ = os.environ | {
            "QMD_CONFIG_DIR": str(work),
            "INDEX_PATH": str(work / "index.duckdb"),
        }
        add = [*COMMAND, "collection", "add", str(work / "docs"), "--name", "docs"]
        subprocess.run(add, env=environ, check=True, stdout=subprocess.DEVNULL)
        agents = [Agent(environ) for _ in range(options.servers)]
        answers: list[float] = []
        updates: list[float] = []
        errors: list[str] = []
        over = threading.Event()

        def chat(agent: Agent, number: int) -> None:
            chance = random.Random(number)
            while not over.is_set():
                began = time.perf_counter()
                try:
                    agent.search(" ".join(chance.sample(vocabulary(), 2)))
                except Exception as error:
                    errors.append(f"{type(error).__name__}: {error}")
                    return
                answers.append(time.perf_counter() - began)
                time.sleep(chance.uniform(0, 0.05))

        threads = [threading.Thread(target=chat, args=(a, n)) for n, a in enumerate(agents)]
        for thread in threads:
            thread.start()
        ends = time.monotonic() + options.seconds
        chance = random.Random(7)
        old = 0
        while time.monotonic() < ends:
            marker, place = letters(len(updates)), named(chance.randrange(400))
            with (work / "docs" / place).open("a", encoding="utf-8") as file:
                file.write(f"{marker}\n")
            began = time.perf_counter()
            done = subprocess.run(
                [*COMMAND, "update"], env=environ, capture_output=True, text=True, check=False
            )
            updates.append(time.perf_counter() - began)
            if done.returncode:
                errors.append(done.stderr)
            for agent in agents:
                try:
                    old += agent.search(marker) != [f"docs/{place}"]
                except Exception as error:
                    errors.append(f"{type(error).__name__}: {error}")
        over.set()
        for thread in threads:
            thread.join()
        codes = [agent.close() for agent in agents]
    print(f"{options.servers} servers, {options.seconds:.0f} s")
    print(told("answers", answers))
    print(told("updates (whole process)", updates))
    first = ", ".join(f"{a.first:.2f} s, {a.processor:.2f} s of the processor" for a in agents)
    print(f"to the first answer       {first}")
    print(f"old answers              {old:6}   of {len(updates) * len(agents)}")
    print(f"errors                   {len(errors):6}   exit codes {codes}")
    for error in errors[:5]:
        print(error)
    return 1 if errors or old or any(codes) else 0


if __name__ == "__main__":
    sys.exit(main())
