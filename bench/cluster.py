"""An index in shards: build, queries, memory, the share of each worker, the cost of merging.

    python -m bench.cluster [--documents 100000] [--shards 8]
    python -m bench.cluster --embed 400                          # one worker and two
    python -m bench.cluster --documents 1000000 --apart          # a large one, each shard a process

Times are of the processor, so that other work on the machine counts for little. Shards are asked in
this process, each by itself, or with `--apart` in processes of their own, all at once; what a
network adds is not in it. A million documents take about 10 GB of disk meanwhile, in `--folder`.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from itertools import accumulate
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from bench.shards_apart import ShardsApart
from qmd.cluster.build import Built, Plan, Progress, build
from qmd.cluster.in_process import ShardsHere
from qmd.cluster.manifest import NAME
from qmd.cluster.open_index import ShardedIndex
from qmd.cluster.shard import ShardRequest
from qmd.cluster.shard_builder import ShardTask
from qmd.cluster.shard_builder import build as build_shard
from qmd.operations.search import search
from qmd.settings.environment import Machine, Place
from qmd.types import Collection

WORDS = 20_000
QUERIES = 60
SIMULATED = (8, 64, 512)

HOLD = """
import sys, pathlib
from qmd.cluster.shard import Shard
shard = Shard(pathlib.Path(sys.argv[1]))
shard.load()
lines = pathlib.Path("/proc/self/status").read_text().splitlines()
print(next(line.split()[1] for line in lines if line.startswith("VmRSS")))
shard.close()
"""
"""Program that holds one shard in memory, as a worker does, and prints its kB."""


class Timed(ShardsHere):
    """Shards that note the processor time of each."""

    def ask(self, requests: Mapping[int, ShardRequest]) -> Mapping[int, Any]:
        found = {}
        for number, request in requests.items():
            began = time.process_time()
            found[number] = self._shards[number].answer(request)
            spent = self.__dict__.setdefault("spent", [0.0] * self.count)
            spent[number] += time.process_time() - began
        return found


class Simulated:
    """Many shards whose replies are those of one, remembered from the first time.

    Attributes:
        waited: seconds of the processor for the replies, which workers would spend.
    """

    def __init__(self, one: ShardsHere, count: int) -> None:
        self._one = one
        self.count = count
        self.waited = 0.0
        self._known: dict[str, Any] = {}

    def ask(self, requests: Mapping[int, ShardRequest]) -> Mapping[int, Any]:
        found = {}
        began = time.process_time()
        for number, request in requests.items():
            # Whatever a shard is asked for, its first reply serves all others.
            key = request.kind + repr(request.arguments)
            if key not in self._known:
                self._known[key] = self._one.ask({0: request})[0]
            found[number] = self._known[key]
        self.waited += time.process_time() - began
        return found


def write(folder: Path, documents: int) -> None:
    """Write generated documents, whose words are as frequent as by Zipf's law."""
    chance = random.Random(1)
    words = [f"w{number:x}" for number in range(WORDS)]
    weights = list(accumulate(1 / (rank + 1) for rank in range(WORDS)))
    for number in range(documents):
        place = folder / f"{number % 1000:03}"
        if number < 1000:
            place.mkdir(parents=True)
        count = chance.randint(60, 100)
        text = " ".join(chance.choices(words, cum_weights=weights, k=count))
        (place / f"{number}.md").write_text(f"# Note {number}\n\n{text}\n")


def opened(folder: Path, built: Built, shards: Any) -> ShardedIndex:
    place = Place("index", folder / "index.yml", folder / "index.duckdb", None, folder / "trusted")
    return ShardedIndex(
        place,
        Machine(),
        manifest=folder / NAME,
        shards=shards,
        close_shards=lambda: None,
        size=built.manifest.bytes,
    )


def queries() -> list[str]:
    chance = random.Random(2)
    return [f"w{chance.randrange(20, 2000):x} w{chance.randrange(500):x}" for _ in range(QUERIES)]


def measure(documents: int, count: int) -> dict[str, Any]:
    facts: dict[str, Any] = {"documents": documents, "shards": count}
    with tempfile.TemporaryDirectory() as place:
        base = Path(place)
        write(base / "notes", documents)
        wall, began = time.monotonic(), time.process_time()
        plan = Plan(
            base / "kb", Collection("n", str(base / "notes"), "**/*.md"), count, False, Machine()
        )
        built = build(plan, lambda step, done, total: None)
        facts["build_wall_s"] = round(time.monotonic() - wall, 1)
        facts["build_cpu_s"] = round(time.process_time() - began, 1)
        facts["bytes"] = built.manifest.bytes
        paths = [base / "kb" / each.file for each in built.manifest.shards]
        held = subprocess.run(
            [sys.executable, "-c", HOLD, str(paths[0])], capture_output=True, text=True, check=True
        )
        facts["worker_mb"] = round(int(held.stdout) / 1024)
        shards = Timed(base / "kb", built.manifest, in_memory=True)
        shards.load()
        index = opened(base, built, shards)
        search(index, "w1 w2")
        times = []
        shards.__dict__["spent"] = [0.0] * count
        for text in queries():
            began = time.process_time()
            search(index, text)
            times.append(1000 * (time.process_time() - began))
        spent = shards.__dict__["spent"]
        facts["query_cpu_ms"] = halves(times)
        facts["busiest_of_2"] = round(sum(spent) / max(sum(spent[0::2]), sum(spent[1::2])), 2)
        facts["coordinator_share"] = round(1 - 1000 * sum(spent) / sum(times), 2)
        index.close()
        facts["coordinator_ms"] = simulated(base, built, shards)
        shards.close()
    return facts


def apart(documents: int, count: int, folder: Path | None) -> dict[str, Any]:
    """Build and search shards that are held by a process each.

    Args:
        folder: for the documents and shards meanwhile; None: the system's own.
    """
    facts: dict[str, Any] = {"documents": documents, "shards": count}
    with tempfile.TemporaryDirectory(dir=folder) as place:
        base = Path(place)
        write(base / "notes", documents)
        told(facts, "written")
        wall, began = time.monotonic(), cpu_seconds()
        collection = Collection("n", str(base / "notes"), "**/*.md")
        plan = Plan(base / "kb", collection, count, False, Machine())
        built = build(plan, lambda step, done, total: None)
        facts["build_wall_s"] = round(time.monotonic() - wall)
        facts["build_cpu_s"] = round(cpu_seconds() - began)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        facts["build_peak_mb"] = peak >> 10
        facts["bytes"] = built.manifest.bytes
        told(facts, "built")
        shards = ShardsApart([base / "kb" / each.file for each in built.manifest.shards])
        facts["worker_mb_loaded"] = sorted(each.now for each in shards.held())
        index = opened(base, built, shards)
        search(index, "w1 w2")
        walls = []
        for text in queries():
            began = time.monotonic()
            search(index, text)
            walls.append(1000 * (time.monotonic() - began))
        facts["query_wall_ms"] = halves(walls)
        facts["worker_mb_asked"] = sorted(each.now for each in shards.held())
        facts["worker_mb_most"] = sorted(each.most for each in shards.held())
        index.close()
        shards.close()
        told(facts, "searched")
        facts["query_cpu_ms"] = halves(in_turn(base, built))
    return facts


def told(facts: Mapping[str, Any], step: str) -> None:
    """Write what is known so far, as a large run takes long."""
    print(json.dumps({"done": step, **facts}), file=sys.stderr, flush=True)


def cpu_seconds() -> float:
    """Return the seconds of the processor of this process and of those that it waited for."""
    own, others = (
        resource.getrusage(each) for each in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    return own.ru_utime + own.ru_stime + others.ru_utime + others.ru_stime


def halves(times: Sequence[float]) -> dict[str, float]:
    """Return the median, and what 95 of 100 are below."""
    return {
        "p50": round(statistics.median(times), 1),
        "p95": round(statistics.quantiles(times, n=20)[-1], 1),
    }


def in_turn(base: Path, built: Built) -> list[float]:
    """Return the milliseconds of the processor for each query, with all shards in this process."""
    shards = ShardsHere(base / "kb", built.manifest, in_memory=True)
    shards.load()
    index = opened(base, built, shards)
    search(index, "w1 w2")
    times = []
    for text in queries():
        began = time.process_time()
        search(index, text)
        times.append(1000 * (time.process_time() - began))
    index.close()
    shards.close()
    return times


class Workers:
    """Builds shards in processes of their own, as machines of a cluster do; see `Carry`.

    Args:
        count: of the processes, of which each builds every count-th shard.

    Attributes:
        spent: seconds of the processor for each of them.
    """

    def __init__(self, count: int) -> None:
        self._count = count
        self.spent: list[float] = []

    def __call__(self, tasks: Sequence[ShardTask], progress: Progress) -> None:
        plain = [
            each._replace(machine=each.machine._replace(chosen=dict(each.machine.chosen)))
            for each in tasks
        ]
        parts = [plain[place :: self._count] for place in range(self._count)]
        with get_context("spawn").Pool(self._count) as pool:
            self.spent = pool.map(build_some, parts, chunksize=1)


def build_some(tasks: Sequence[ShardTask]) -> float:
    """Build shards one after the other; return the seconds of the processor that it took."""
    began = time.process_time()
    for task in tasks:
        build_shard(task)
    return time.process_time() - began


def embedding(documents: int, count: int) -> dict[str, float]:
    """Embed the same documents with one worker and with two, and return the ratios."""
    walls, busiest = [], []
    with tempfile.TemporaryDirectory() as place:
        base = Path(place)
        write(base / "notes", documents)
        for workers in (1, 2):
            collection = Collection("n", str(base / "notes"), "**/*.md")
            plan = Plan(base / f"kb-{workers}", collection, count, True, Machine())
            carry = Workers(workers)
            began = time.monotonic()
            build(plan, lambda step, done, total: None, carry)
            walls.append(time.monotonic() - began)
            busiest.append(max(carry.spent))
    return {
        "documents": documents,
        "busiest": round(busiest[0] / busiest[1], 2),
        "wall": round(walls[0] / walls[1], 2),
    }


def simulated(base: Path, built: Built, one: ShardsHere) -> dict[int, float]:
    """Return the processor time of the coordinator for one query, by the number of shards."""
    found = {}
    for count in SIMULATED:
        shards = Simulated(one, count)
        index = opened(base, built, shards)
        times = []
        for text in queries()[:20]:
            began, waited = time.process_time(), shards.waited
            search(index, text)
            spent = time.process_time() - began - (shards.waited - waited)
            times.append(1000 * spent)
        found[count] = round(statistics.median(times), 1)
        index.close()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--shards", type=int, default=8)
    parser.add_argument("--embed", type=int, metavar="DOCUMENTS", help="measure embedding alone")
    parser.add_argument("--apart", action="store_true", help="each shard in a process of its own")
    parser.add_argument("--folder", type=Path, help="where --apart has its files meanwhile")
    given = parser.parse_args()
    if given.apart:
        facts: dict[str, Any] = apart(given.documents, given.shards, given.folder)
    elif given.embed:
        facts = embedding(given.embed, given.shards)
    else:
        facts = measure(given.documents, given.shards)
    print(json.dumps(facts, indent=1))


if __name__ == "__main__":
    main()
