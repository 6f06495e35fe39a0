"""Many processes on one index: waiting times and stale answers.

    python -m bench.processes [--seconds 120] [--commands]

Four processes search without end; for the last two thirds of the time two others change files
and run an update for each change. A change counts as acknowledged when its update has returned;
the next reader that is free then looks for its marker and has to find it. In the end all markers
are looked for once more.

A search is timed from the call to the answer. A writer's wait is timed from the call of
`Database.write` to the moment when its transaction runs: the gate, the attaching, the ledger.

With `--commands` each search and each update is a command, and so a process of its own: all of it
is timed, and of an update all that it took.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import queue
import random
import subprocess
import sys
import tempfile
import time
import traceback
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import chain, product
from multiprocessing.queues import Queue
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any, TypeVar

import anyio

from qmd.operations.documents import below
from qmd.operations.index import Index
from qmd.operations.search import search
from qmd.operations.update import run_update
from qmd.settings.environment import Place
from qmd.storage import document_lookup, maintenance
from qmd.storage.cursor import Cursor
from qmd.storage.database import Database

READERS, WRITERS, FILES = 4, 2, 400
IDLE_SHARE = 1 / 3

THINKING = 0.04
"""Seconds, at most, that a reader rests between two searches."""

REST = 0.04
"""Seconds, at most, that a writer rests between two updates."""

PATIENCE = 60.0
"""Seconds after the end, within which everybody has to be done."""

WAIT_TARGET, RATIO_TARGET = 1.0, 5.0

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Shared:
    """State shared by the processes.

    Attributes:
        acknowledged: markers not searched yet, with the path of their file.
        told: (kind, value) for the report.
        commands: whether each search and each update is a command.
    """

    work: Path
    commands: bool
    acknowledged: Queue[tuple[str, str]]
    told: Queue[tuple[str, Any]]
    begun: Event
    busy: Event
    ended: Event

    def engine(self, *, warm: bool = False) -> Index:
        """Open the index that all processes use."""
        config, index, trusted = (self.work / name for name in ("index.yml", "index.duckdb", "t"))
        return Index(Place("index", config, index, None, trusted), warm=warm)

    def command(self, *arguments: str) -> list[dict[str, Any]]:
        """Run a command and return its results.

        Raises:
            CalledProcessError: it failed.
        """
        place = {"QMD_CONFIG_DIR": str(self.work), "INDEX_PATH": str(self.work / "index.duckdb")}
        done = subprocess.run(
            [sys.executable, "-m", "qmd", *arguments, "--json"],
            env={**os.environ, **place},
            stdout=subprocess.PIPE,
            check=True,
        )
        records: list[dict[str, Any]] = json.loads(done.stdout)
        return records

    @contextmanager
    def searching(self) -> Iterator[Callable[[str], list[str]]]:
        """Yield a function that finds the files of documents with some words."""
        if self.commands:
            yield lambda words: [r["file"] for r in self.command("search", words, "-n", "10")]
            return
        with closing(self.engine(warm=True)) as engine:
            yield lambda words: [r.file for r in list(search(engine, words, limit=10))]

    @contextmanager
    def updating(self) -> Iterator[tuple[Callable[[], None], list[float]]]:
        """Yield a function that updates the index, and the seconds that it waited each time."""
        waits: list[float] = []

        def by_command() -> None:
            began = time.perf_counter()
            [record] = self.command("update")
            waits.append(time.perf_counter() - began)
            assert not record["removed"], record

        if self.commands:
            yield by_command, waits
            return
        with closing(self.engine()) as engine:
            engine.database = Timed(engine.place.database, waits)

            def in_place() -> None:
                [report] = anyio.run(run_update, engine)
                assert not report.failure, report
                assert not report.removed, report

            yield in_place, waits


class Timed(Database):
    """A database that records the waiting time of each write."""

    def __init__(self, path: Path, waits: list[float]) -> None:
        super().__init__(path)
        self.waits = waits

    def write(self, work: Callable[[Cursor], Result]) -> Result:
        """Run `work` as one transaction."""
        wanted = time.perf_counter()

        def begun(cursor: Cursor) -> Result:
            self.waits.append(time.perf_counter() - wanted)
            return work(cursor)

        return super().write(begun)


def told(work: Callable[[Shared, int], None], shared: Shared, number: int) -> None:
    """Run a process; what it cannot cope with is told."""
    try:
        work(shared, number)
    except BaseException:
        shared.told.put(("error", f"{work.__name__} {number}: {traceback.format_exc(limit=-3)}"))
    finally:
        shared.told.put(("done", number))


def read(shared: Shared, number: int) -> None:
    """Search until the end: for a marker if there is one, else for anything."""
    chance = random.Random(number)
    words = vocabulary()
    idle, busy, missed, looked = list[float](), list[float](), list[str](), 0
    with shared.searching() as search:
        search(words[0])
        shared.told.put(("ready", number))
        shared.begun.wait()
        while not shared.ended.is_set():
            time.sleep(chance.uniform(0, THINKING))
            times = busy if shared.busy.is_set() else idle
            try:
                marker, path = shared.acknowledged.get_nowait()
            except queue.Empty:
                marker = path = None
            asked = marker or " ".join(chance.sample(words, 2))
            began = time.perf_counter()
            found = search(asked)
            times.append(time.perf_counter() - began)
            if marker is not None:
                looked += 1
                if found != [f"docs/{path}"]:
                    missed.append(f"{marker} in {path}")
    for kind, value in [("idle", idle), ("busy", busy), ("looked", looked), ("missed", missed)]:
        shared.told.put((kind, value))


def write(shared: Shared, number: int) -> None:
    """Change one or a few files, update, acknowledge, until the end."""
    chance = random.Random(number)
    mine, updates = range(number, FILES, WRITERS), 0
    shared.told.put(("ready", number))
    shared.busy.wait()
    with shared.updating() as (update, waits):
        while not shared.ended.is_set():
            changed = []
            for place in chance.sample(mine, chance.choice([1, 1, 1, 3])):
                marker = letters(updates * 10 * WRITERS + len(changed) * WRITERS + number)
                append(shared.work / "docs" / named(place), marker, whole=chance.random() < 0.5)
                changed.append((marker, named(place)))
            update()
            updates += 1
            for each in changed:
                shared.acknowledged.put(each)
                shared.told.put(("acknowledged", each))
            time.sleep(chance.uniform(0, REST))
    shared.told.put(("updates", updates))
    shared.told.put(("waits", waits))


def append(file: Path, marker: str, *, whole: bool) -> None:
    """Put a marker at the end of a file: as editors do that write a new one, or in place."""
    if whole:
        new = file.with_suffix(".new")
        new.write_text(f"{file.read_text(encoding='utf-8')}{marker}\n", encoding="utf-8")
        new.replace(file)
    else:
        with file.open("a", encoding="utf-8") as open_file:
            open_file.write(f"{marker}\n")


def vocabulary() -> list[str]:
    """Words of the corpus."""
    return ["".join(each) for each in product("kmt", "aeiou", "lnrs", "aeiou")]


def letters(number: int) -> str:
    """Return a word for a number that begins no other word."""
    return "zz" + "".join("bcdfghjklm"[int(digit)] for digit in f"{number:08}") + "x"


def named(place: int) -> str:
    """Return the path of a file."""
    return f"{place % 8}/file-{place}.md"


def generate(folder: Path, files: int = FILES) -> None:
    """Files of some hundred words each."""
    chance = random.Random(0)
    words = vocabulary()
    weights = [1 / (rank + 3) for rank in range(len(words))]
    for place in range(files):
        text = chance.choices(words, weights, k=chance.randint(50, 400))
        file = folder / named(place)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"# File {place}\n\n{' '.join(text)}\n", encoding="utf-8")


def measure(work: Path, seconds: float, *, commands: bool) -> dict[str, list[Any]]:
    """Run all processes.

    Returns:
        What they told, by kind.
    """
    generate(work / "docs")
    (work / "index.yml").write_text(f"collections:\n  docs:\n    path: {work / 'docs'}\n")
    context = multiprocessing.get_context("spawn")
    queues = context.Queue(), context.Queue()
    shared = Shared(work, commands, *queues, *(context.Event() for _ in range(3)))
    engine = shared.engine()
    anyio.run(run_update, engine)
    engine.close()
    jobs = [partial(told, read, shared, number) for number in range(READERS)]
    jobs += [partial(told, write, shared, number) for number in range(WRITERS)]
    processes = [context.Process(target=job, daemon=True) for job in jobs]
    for process in processes:
        process.start()
    found: dict[str, list[Any]] = defaultdict(list)
    try:
        collect(shared, found, "ready", len(jobs))
        for event, share in ((shared.begun, IDLE_SHARE), (shared.busy, 1 - IDLE_SHARE)):
            event.set()
            time.sleep(seconds * share)
        shared.ended.set()
        collect(shared, found, "done", len(jobs))
    finally:
        for process in processes:
            process.kill()
            process.join()
    found["lost"] = lost(shared, found["acknowledged"])
    found["error"] += broken(shared)
    return found


def collect(shared: Shared, found: dict[str, list[Any]], awaited: str, count: int) -> None:
    """Sort what the processes tell by its kind, until `count` of them have told one of a kind."""
    deadline = time.monotonic() + PATIENCE
    while len(found[awaited]) < count and not (awaited == "ready" and found["error"]):
        try:
            kind, value = shared.told.get(timeout=max(0.0, deadline - time.monotonic()))
        except queue.Empty:
            found["error"].append(f"{count - len(found[awaited])} processes are not {awaited}")
            break
        found[kind].append(value)


def lost(shared: Shared, acknowledged: list[tuple[str, str]]) -> list[str]:
    """Acknowledged markers that the index does not have in the end."""
    engine = shared.engine()
    bodies = {
        document.path: body
        for document in below(engine, None)
        for body in engine.read(partial(document_lookup.bodies, hashes=[document.hash])).values()
    }
    return [marker for marker, path in acknowledged if f"{marker}\n" not in bodies[path]]


def broken(shared: Shared) -> list[str]:
    """Facts that do not hold in the end."""
    facts = shared.engine().read(maintenance.problems)
    return [f"not so {fact.times} times: {fact.fact}" for fact in facts if fact.times]


def at(share: float, times: list[float]) -> float:
    """Return a quantile, in milliseconds."""
    return 1000 * sorted(times)[min(len(times) - 1, int(share * len(times)))]


def main(seconds: float, *, commands: bool) -> int:
    """Print the figures."""
    with tempfile.TemporaryDirectory() as name:
        found = measure(Path(name), seconds, commands=commands)
    idle, busy, waits = (list(chain(*found[kind])) for kind in ("idle", "busy", "waits"))
    errors, missed = found["error"], [*chain(*found["missed"]), *found["lost"]]
    acknowledged, looked = len(found["acknowledged"]), sum(found["looked"])
    for line in [*errors, *missed]:
        print(line)
    print(f"errors                {len(errors)} (target 0)")
    print(f"acknowledged changes  {acknowledged} in {sum(found['updates'])} updates")
    print(f"not visible           {len(missed)} (target 0), {looked} looked for by the next reader")
    if not (idle and busy and waits):
        return 1
    written = "update, whole" if commands else "writer wait"
    for name, times in [(written, waits), ("reader idle", idle), ("reader busy", busy)]:
        figures = ", ".join(f"p{share} {at(share / 100, times):.0f}" for share in (50, 95, 99))
        print(f"{f'{name}, ms':21} {figures}, of {len(times)}")
    wait, ratio = at(0.99, waits) / 1000, at(0.95, busy) / at(0.95, idle)
    if not commands:
        print(f"writer wait p99       {wait:.2f} s (target {WAIT_TARGET})")
    print(f"reader p95 busy/idle  {ratio:.1f} (target {RATIO_TARGET})")
    return int(bool(errors or missed))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--commands", action="store_true")
    options = parser.parse_args()
    sys.exit(main(options.seconds, commands=options.commands))
