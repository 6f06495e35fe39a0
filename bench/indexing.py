"""Indexing, update and search of a folder of Markdown, beside another tool in the same run.

    python -m bench.indexing FOLDER [--peer COMMAND] [--words FILE]

FOLDER is copied first. COMMAND is that of tobi/qmd; its verbs are ours. FILE has one keyword query
to a line. Prints processor and wall seconds and the peak memory of whole processes, and the ratios;
and the size of our index file beside that of the texts.
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
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple, TypeVar

from bench.corpora import recombined

QUERIES = (
    "error handling",
    "exception",
    "memory leak",
    "thread pool",
    "file path",
    "compile flags",
)

Taken = TypeVar("Taken")


class Cost(NamedTuple):
    """Cost of one process and its children.

    Attributes:
        cpu, wall: seconds.
        memory: megabytes of the largest process at most.
    """

    cpu: float
    wall: float
    memory: float


class Tool:
    """A command line with an index of its own."""

    def __init__(self, name: str, command: list[str], home: Path) -> None:
        self.name = name
        self.command = command
        self._folders = {
            "XDG_CONFIG_HOME": home / "config",
            "XDG_CACHE_HOME": home / "cache",
        }
        kept = {"PATH": os.environ["PATH"], "HOME": str(home), "OPENBLAS_NUM_THREADS": "1"}
        self.environ = kept | {name: str(folder) for name, folder in self._folders.items()}
        self.forget()

    def forget(self) -> None:
        """Have no index, as in the beginning."""
        for folder in self._folders.values():
            shutil.rmtree(folder, ignore_errors=True)
            (folder / "qmd").mkdir(parents=True)

    @property
    def size(self) -> float:
        """Megabytes of the index on disk, with what is beside it."""
        return megabytes(self._folders["XDG_CACHE_HOME"] / "qmd")

    @property
    def index_file(self) -> float:
        """Megabytes of the index file alone, of ours."""
        return (self._folders["XDG_CACHE_HOME"] / "qmd/index.duckdb").stat().st_size / 1e6

    def run(self, *arguments: str) -> Cost:
        """Run one command to its end.

        Raises:
            RuntimeError: it failed; with what it printed.
        """
        return weighed([*self.command, *arguments], self.environ, f"{self.name} {arguments}")


def weighed(command: list[str], environ: dict[str, str], name: str) -> Cost:
    """Run a process to its end.

    Args:
        name: what it is called in an error.

    Raises:
        RuntimeError: it failed; with what it printed.
    """
    with tempfile.TemporaryFile() as printed:
        began = time.perf_counter()
        process = subprocess.Popen(
            command,
            env=environ,
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
            raise RuntimeError(f"{name}: {printed.read()[-500:]!r}")
    return Cost(usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / 1024)


def megabytes(folder: Path) -> float:
    """Sum the sizes of the files in a folder and below."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 1e6


def tools_in(work: Path, peer: list[str] | None) -> list[Tool]:
    """Ours, and the peer if there is one, with homes in a folder.

    Args:
        peer: the command of tobi/qmd.
    """
    ours = Tool("qmd", [sys.executable, "-m", "qmd"], work / "qmd")
    ours.environ["PYTHONPATH"] = str(Path(__file__).parents[1])
    return [ours, Tool("peer", peer, work / "peer")] if peer else [ours]


def in_turn(
    tools: list[Tool], run: Callable[[Tool], Taken], rounds: int = 1
) -> dict[str, list[Taken]]:
    """Run the tools in turn, with a changing first one."""
    taken: dict[str, list[Taken]] = {tool.name: [] for tool in tools}
    for number in range(rounds):
        for tool in tools if number % 2 == 0 else tools[::-1]:
            taken[tool.name].append(run(tool))
    return taken


def median(costs: list[Cost]) -> Cost:
    """Return the median of each figure."""
    return Cost(*(statistics.median(column) for column in zip(*costs, strict=True)))


def warm(environ: dict[str, str], queries: list[str]) -> float:
    """Median milliseconds of a keyword search through our library, asked in this process.

    Its words have been asked for before, but not together.
    """
    import qmd

    os.environ.update(environ)
    with qmd.connect() as kb:
        taken = []
        for turn in range(2):
            taken.clear()
            for query in recombined(queries, turn):
                began = time.perf_counter()
                kb.search(query, limit=10)
                taken.append((time.perf_counter() - began) * 1000)
    return statistics.median(taken)


def change(files: list[Path], chance: random.Random) -> None:
    """Add a line to each file."""
    for file in files:
        with file.open("a", encoding="utf-8") as end:
            end.write(f"\n\nA line about zebra telemetry, number {chance.randrange(10**6)}.\n")


def phases(
    tools: list[Tool], corpus: Path, queries: list[str], *, rounds: int, indexings: int = 1
) -> Iterator[tuple[str, dict[str, Cost]]]:
    """Measure the commands of indexing and keyword search, the tools in turn within each.

    Args:
        corpus: a folder that is changed on the way.
        rounds: of each command but the first, which runs `indexings` times.
    """

    def index(tool: Tool) -> Cost:
        tool.forget()
        return tool.run("collection", "add", str(corpus), "--name", "corpus")

    def middle(run: Callable[[Tool], Cost], rounds: int) -> dict[str, Cost]:
        taken = in_turn(tools, run, rounds)
        return {name: median(costs) for name, costs in taken.items()}

    yield "index", middle(index, indexings)
    yield "update, nothing changed", middle(lambda tool: tool.run("update"), rounds)
    files, chance = sorted(corpus.rglob("*.md")), random.Random(7)
    taken: dict[str, list[Cost]] = {tool.name: [] for tool in tools}
    for _ in range(max(1, rounds // 2)):
        change(chance.sample(files, max(1, len(files) // 100)), chance)
        for name, [cost] in in_turn(tools, lambda tool: tool.run("update")).items():
            taken[name].append(cost)
    yield "update, 1 % changed", {name: median(costs) for name, costs in taken.items()}
    asked = {tool.name: iter(queries * rounds) for tool in tools}
    yield (
        "search, cold",
        middle(lambda tool: tool.run("search", next(asked[tool.name]), "-n", "10"), rounds),
    )


def main() -> None:
    """Run all phases, the tools in turn within each."""
    from bench.alone import alone

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
        tools = tools_in(work, shlex.split(options.peer or ""))
        size = sum(f.stat().st_size for f in files) / 1e6
        print(f"{len(files)} files, {size:.1f} MB")
        for title, costs in phases(tools, corpus, queries, rounds=options.rounds):
            told(title, costs)
            if title == "index":
                taken = tools[0].index_file
                print(f"index file: {taken:.1f} MB, {taken / size:.2f} of the files")
        milliseconds, _ = alone(warm, tools[0].environ, queries)
        print(f"search, warm: p50 {milliseconds:.1f} ms")


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
