"""Export and import: bytes of text a second, file sizes, and the gain of a repeated export.

    python -m bench.export FOLDER [--index FILE] [--rounds 5]

FOLDER is copied and indexed; with --index, a copy of that index is taken instead, with its vectors,
and nothing is changed in between. Prints wall and processor seconds, the best of the rounds.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import anyio

from qmd.exchange import manifest
from qmd.exchange.exporter import Exported, Wish
from qmd.operations.exchange import run_export, run_import
from qmd.operations.index import Index
from qmd.operations.update import run_update
from qmd.settings.environment import Machine, Place
from qmd.storage import maintenance


class Cost(NamedTuple):
    """Seconds of the clock, and of the processor."""

    wall: float
    cpu: float


def timed(work: Callable[[], object]) -> Cost:
    """Measure some work."""
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return Cost(time.perf_counter() - wall, time.process_time() - cpu)


def engine_in(folder: Path) -> Index:
    """Open an engine whose index and settings are in a folder."""
    folder.mkdir(exist_ok=True)
    place = Place(
        "index", folder / "index.yml", folder / "index.duckdb", None, folder / "trusted.json"
    )
    return Index(place, Machine(hub=folder / "hub"))


class Trial:
    """An index that is exported repeatedly."""

    def __init__(self, work: Path, rounds: int) -> None:
        self.work = work
        self.rounds = rounds
        self.engine = engine_in(work / "from")
        self.out = work / "out"

    def index(self, folder: Path) -> None:
        """Index a copy of a folder."""
        self.corpus = self.work / "corpus"
        shutil.copytree(folder, self.corpus)
        self.engine.place.config.write_text(f"collections:\n  corpus:\n    path: {self.corpus}\n")
        anyio.run(run_update, self.engine)

    def take(self, index: Path) -> None:
        """Have a copy of an index."""
        shutil.copy(index, self.engine.place.database)

    def text(self) -> int:
        """Bytes of all documents."""
        sizes = "select sum(strlen(body)) from documents join content using (hash)"
        [(count,)] = self.engine.read(lambda c: c.connection.execute(sizes).fetchall())
        return int(count)

    def afresh(self, wish: Wish) -> tuple[Cost, Exported]:
        """Return the best of several exports to a new folder."""
        taken = []
        for _ in range(self.rounds):
            shutil.rmtree(self.out, ignore_errors=True)
            done: list[Exported] = []
            taken.append((timed(lambda: done.append(self.export(wish))), done[0]))  # noqa: B023
        return min(taken, key=lambda each: each[0].wall)

    def export(self, wish: Wish | None = None) -> Exported:
        """Export once."""
        return run_export(self.engine, self.out, wish=wish or Wish())

    def again(self, what: str, *, write: Callable[[], object] = lambda: None) -> None:
        """Change something, and print what exporting it takes."""
        write()
        self.engine.read(lambda _: None)
        done: list[Exported] = []
        cost = timed(lambda: done.append(self.export()))
        print(
            f"again, {what}: {cost.wall:.2f} s, {cost.cpu:.2f} s CPU, "
            f"{done[0].written} of {done[0].files} files written"
        )

    def changed(self, count: int, seed: int) -> None:
        """Change some documents at random, and index them."""
        for file in random.Random(seed).sample(sorted(self.corpus.rglob("*.md")), count):
            with file.open("a", encoding="utf-8") as end:
                end.write(f"\n\nA line about zebra telemetry, number {seed}.\n")
        anyio.run(run_update, self.engine)

    def added(self, count: int) -> None:
        """Add some documents, and index them."""
        for number in range(count):
            (self.corpus / f"new-{number}.md").write_text(f"# New {number}\n\nZebra telemetry.\n")
        anyio.run(run_update, self.engine)

    def back(self) -> Cost:
        """Return the best of several imports into a new index, which is checked."""
        taken = []
        for number in range(self.rounds):
            other = engine_in(self.work / f"to{number}")
            taken.append(timed(lambda: run_import(other, self.out)))  # noqa: B023
            wrong = [each.fact for each in other.read(maintenance.problems) if each.times]
            if wrong:
                raise RuntimeError(f"The imported index is not sound: {wrong}")
            other.close()
        return min(taken)


def main() -> int:
    """Print all of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--index", type=Path, help="an index file to take instead")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    if not options.folder and not options.index:
        parser.error("name a folder or an index")
    with tempfile.TemporaryDirectory() as name:
        trial = Trial(Path(name), options.rounds)
        if options.index:
            trial.take(options.index)
        else:
            trial.index(options.folder)
        text = trial.text() / 1e6
        print(f"{trial.engine.totals().documents} documents, {text:.1f} MB of text, ", end="")
        print(f"index {trial.engine.place.database.stat().st_size / 1e6:.1f} MB")
        for what, wish in (
            ("documents with their texts", Wish(tables=("documents",))),
            ("everything", Wish()),
        ):
            cost, done = trial.afresh(wish)
            print(
                f"{what}: {cost.wall:.2f} s, {cost.cpu:.2f} s CPU, {text / cost.wall:.0f} MB/s, "
                f"{done.bytes / 1e6:.1f} MB, index held {done.held * 1000:.0f} ms"
            )
        for part in manifest.read_manifest(trial.out).parts:
            if part.rows:
                print(f"    {part.name:20} {part.rows:>10} rows  {part.bytes / 1e6:8.1f} MB")
        trial.again("nothing changed")
        if options.folder:
            trial.again("ten documents new", write=lambda: trial.added(10))
            trial.again("ten changed", write=lambda: trial.changed(10, 1))
            trial.again("the same ten", write=lambda: trial.changed(10, 1))
        cost = trial.back()
        print(f"import: {cost.wall:.2f} s, {cost.cpu:.2f} s CPU, {text / cost.wall:.0f} MB/s")
        trial.engine.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
