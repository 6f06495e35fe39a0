"""Index, update and search a folder of Markdown, beside another tool in the same run.

    python -m bench.indexing FOLDER [--peer COMMAND] [--words FILE]

FOLDER is copied first. COMMAND is that of tobi/qmd; its verbs are ours. FILE has one keyword query
to a line. Prints processor and wall seconds and the peak memory of whole processes, and the ratios.
"""

from __future__ import annotations

import argparse
import os
import random
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

QUERIES = (
    "error handling",
    "exception",
    "memory leak",
    "thread pool",
    "file path",
    "compile flags",
)


class Cost(NamedTuple):
    """What one process took. Seconds and megabytes."""

    cpu: float
    wall: float
    memory: float


class Tool:
    """A command line with an index of its own."""

    def __init__(self, name: str, command: list[str], home: Path) -> None:
        self.name = name
        self._command = command
        home.mkdir()
        kept = {"PATH": os.environ["PATH"], "HOME": str(home), "OPENBLAS_NUM_THREADS": "1"}
        folders = {"XDG_CONFIG_HOME": str(home / "config"), "XDG_CACHE_HOME": str(home / "cache")}
        self.environ = kept | folders
        for folder in folders.values():
            Path(folder, "qmd").mkdir(parents=True)

    def run(self, *arguments: str) -> Cost:
        """Run one command to its end.

        Raises:
            RuntimeError: it failed; with what it printed.
        """
        with tempfile.TemporaryFile() as printed:
            began = time.perf_counter()
            process = subprocess.Popen(
                [*self._command, *arguments],
                env=self.environ,
                stdin=subprocess.DEVNULL,
                stdout=printed,
                stderr=subprocess.STDOUT,
                cwd="/",
            )
            _, status, usage = os.wait4(process.pid, 0)
            wall = time.perf_counter() - began
            process.returncode = os.waitstatus_to_exitcode(status)
            if process.returncode:
                printed.seek(0)
                raise RuntimeError(f"{self.name} {arguments}: {printed.read()[-500:]!r}")
        return Cost(usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / 1024)


def median(costs: list[Cost]) -> Cost:
    """The median of each figure."""
    return Cost(*(statistics.median(column) for column in zip(*costs, strict=True)))


def warm(home: Path, queries: list[str]) -> float:
    """Median milliseconds of a keyword search, snippets included, in a process that stays."""
    from qmd.config import locate
    from qmd.engine import Engine

    environ = {"HOME": str(home), "XDG_CONFIG_HOME": str(home / "config")}
    engine = Engine(locate(environ | {"XDG_CACHE_HOME": str(home / "cache")}, Path("/")), warm=True)
    taken = []
    for _ in range(2):
        taken.clear()
        for query in queries:
            began = time.perf_counter()
            engine.search(query, limit=10)
            taken.append((time.perf_counter() - began) * 1000)
    engine.close()
    return statistics.median(taken)


def main() -> None:
    """Run all phases, the tools in turn within each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--peer", help="command of tobi/qmd")
    parser.add_argument("--words", type=Path, help="keyword queries, one to a line")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    queries = options.words.read_text().splitlines() if options.words else list(QUERIES)
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        corpus = work / "corpus"
        shutil.copytree(options.folder, corpus)
        files = sorted(corpus.rglob("*.md"))
        tools = [Tool("qmd", [sys.executable, "-m", "qmd"], work / "ours")]
        tools[0].environ["PYTHONPATH"] = str(Path(__file__).parents[1])
        if options.peer:
            tools.append(Tool("peer", shlex.split(options.peer), work / "peer"))

        def phase(title: str, *arguments: str, rounds: int = 1) -> None:
            taken: dict[str, list[Cost]] = {tool.name: [] for tool in tools}
            for _ in range(rounds):
                for tool in tools:
                    taken[tool.name].append(tool.run(*arguments))
            told(title, {name: median(costs) for name, costs in taken.items()})

        print(f"{len(files)} files, {sum(f.stat().st_size for f in files) / 1e6:.1f} MB")
        phase("index", "collection", "add", str(corpus), "--name", "corpus")
        phase("update, nothing changed", "update", rounds=options.rounds)
        for file in random.Random(7).sample(files, max(1, len(files) // 100)):
            with file.open("a", encoding="utf-8") as end:
                end.write("\n\nA line about zebra telemetry.\n")
        phase("update, 1 % changed", "update")
        phase("search, cold", "search", queries[0], "-n", "10", rounds=options.rounds)
        print(f"search, warm: p50 {warm(work / 'ours', queries):.1f} ms")


def told(title: str, costs: dict[str, Cost]) -> None:
    """Print one phase."""
    line = "; ".join(
        f"{name} {cost.cpu:.2f} s CPU, {cost.wall:.2f} s, {cost.memory:.0f} MB"
        for name, cost in costs.items()
    )
    if len(costs) == 2:
        ours, peer = costs.values()
        line += f"; CPU ratio {ours.cpu / peer.cpu:.3f}, wall ratio {ours.wall / peer.wall:.3f}"
    print(f"{title}: {line}", flush=True)


if __name__ == "__main__":
    main()
