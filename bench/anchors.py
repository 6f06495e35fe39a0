"""Comparison with libraries of search on one corpus: tantivy, LanceDB and FTS5 of SQLite.

    python -m bench.anchors FOLDER... [--no-install] [--json]

Each indexes the Markdown files of FOLDER and is asked 600 questions of three words, none twice: the
same for all, made of words that some of the files have. What indexes is a process of its own, and
so is what answers. tantivy and LanceDB are installed into ~/.cache/qmd-anchors (0.5 GB); without
them the table says so. qmd answers as an MCP server over stdin and stdout, and the time is that
from request to answer; the libraries are called in the process that measures them.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench import engines, libraries, serving
from bench.alone import alone
from bench.corpora import combined, words_of
from bench.figures import cells, number
from bench.indexing import Cost, megabytes, tools_in, weighed
from bench.stdio import Server
from bench.usage import family_pss

FIRST, LATER = 100, 500
"""Questions that are asked right after the start, and those after them."""

SAMPLE = 3000
"""Files that the words of the questions are taken from, at most."""

LABELS = {
    "tantivy": "tantivy {}",
    "lancedb": "LanceDB {}, full-text",
    "sqlite": "SQLite {}, FTS5",
}
OURS = "qmd, MCP server"

HEADS = (
    "index, s",
    "index, s CPU",
    "index, MB of memory",
    "index, size, MB",
    "first {first} questions, p50, ms",
    "p95, ms",
    "{later} more, p50, ms",
    "p95, ms",
    "each, ms CPU",
    "answering, MB of memory (PSS)",
)


@dataclass(frozen=True, slots=True)
class Anchor:
    """Measurements of one engine.

    Attributes:
        wall, cpu: seconds that indexing took.
        memory: megabytes of the process that indexed, at most.
        size: megabytes of the index on disk.
        first_p50, first_p95: milliseconds of the first questions.
        later_p50, later_p95: milliseconds of those after them.
        each_cpu: milliseconds of processor time of a question, on average.
        answering: megabytes of the process that has answered, with its part of what it shares.
    """

    name: str
    wall: float
    cpu: float
    memory: float
    size: float
    first_p50: float
    first_p95: float
    later_p50: float
    later_p95: float
    each_cpu: float
    answering: float


@dataclass(frozen=True, slots=True)
class Anchors:
    """Measurements of all engines on one corpus.

    Attributes:
        day: of the run, in UTC.
        load: processes that wanted a processor before the run, as the system counts them.
        first, later: numbers of questions.
        missing: engines that were not measured, each with the reason.
    """

    corpus: str
    files: int
    megabytes: float
    day: str
    load: float
    first: int
    later: int
    rows: tuple[Anchor, ...]
    missing: tuple[str, ...] = ()


def measured_on(folders: list[Path], *, install: bool = True) -> list[Anchors]:
    """Measure each folder."""
    found = libraries.find(install=install)
    return [measured(folder.absolute(), found) for folder in folders]


def measured(folder: Path, found: libraries.Libraries) -> Anchors:
    """Measure one folder, each engine in turn."""
    load = os.getloadavg()[0]
    (files, size), _ = alone(read, folder)
    words, _ = alone(words_of, folder, SAMPLE, sample=SAMPLE)
    questions = combined(words, FIRST + LATER)
    print(f"Beside libraries of search on {folder.name}:", flush=True)
    rows, missing = [], []
    pythons = dict.fromkeys(libraries.PACKAGES, found.python) | {"sqlite": Path(sys.executable)}
    for name, python in pythons.items():
        if python is None:
            missing.append(f"{name}: {found.note}")
            continue
        try:
            rows.append(of_library(name, python, folder, questions))
        except RuntimeError as failure:
            missing.append(str(failure))
            continue
        print(line(rows[-1]), flush=True)
    rows.append(of_ours(folder, questions))
    print(line(rows[-1]), flush=True)
    return Anchors(
        corpus=folder.name,
        files=files,
        megabytes=size,
        day=datetime.now(UTC).date().isoformat(),
        load=load,
        first=FIRST,
        later=LATER,
        rows=tuple(rows),
        missing=tuple(missing),
    )


def read(folder: Path) -> tuple[int, float]:
    """Read all files, so that no engine waits for the disk; return their number and megabytes."""
    sizes = [len(file.read_bytes()) for file in folder.rglob("*.md")]
    return len(sizes), sum(sizes) / 1e6


def of_library(name: str, python: Path, folder: Path, questions: list[str]) -> Anchor:
    """Measure a library in processes of an interpreter that has it.

    Raises:
        RuntimeError: it failed, or found nothing at all.
    """
    command = [str(python), "-I", engines.__file__, name]
    environ = {each: os.environ[each] for each in ("PATH", "HOME")}
    with tempfile.TemporaryDirectory() as place:
        store, asked = Path(place, "index"), Path(place, "questions.json")
        asked.write_text(json.dumps(questions), encoding="utf-8")
        cost = weighed([*command, "index", str(store), str(folder)], environ, name)
        size = megabytes(store)
        with (
            tempfile.TemporaryFile("w+") as errors,
            subprocess.Popen(
                [*command, "ask", str(store), str(asked)],
                env=environ,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                cwd="/",
            ) as process,
        ):
            assert process.stdout is not None
            printed = process.stdout.readline()
            answering = family_pss(process.pid)  # it goes when its stdin is closed, which is now
            if not printed:
                process.wait()
                errors.seek(0)
                raise RuntimeError(f"{name}: {errors.read()[-500:]}")
    answers = json.loads(printed)
    if not answers["found"]:
        raise RuntimeError(f"{name}: it found nothing")
    label = LABELS[name].format(answers["version"])
    return anchor(label, cost, size, answers, answering)


def of_ours(folder: Path, questions: list[str]) -> Anchor:
    """Measure qmd: the command that indexes, and the MCP server that answers.

    Raises:
        RuntimeError: it failed, or found nothing at all.
    """
    with tempfile.TemporaryDirectory() as place:
        [tool] = tools_in(Path(place), None)
        cost = tool.run("collection", "add", str(folder), "--name", "corpus")
        size = tool.size
        [way] = [way for way in serving.ways(tool) if way.path == "/mcp"]
        server = Server(tool.command, tool.environ)

        def ask(question: str) -> list[object]:
            return server.ask(way.body(question))["structuredContent"]["results"]

        try:
            answers = engines.answer(ask, questions, lambda: server.cpu)
            answering = server.shared
        finally:
            server.close()
    if not answers["found"]:
        raise RuntimeError("qmd: it found nothing")
    return anchor(OURS, cost, size, answers, answering)


def anchor(name: str, cost: Cost, size: float, answers: dict[str, Any], answering: float) -> Anchor:
    """Make a row of what was measured.

    Args:
        answers: what `engines.answer` returned.
    """
    times = answers["times"]
    first, later = sorted(times[:FIRST]), sorted(times[FIRST:])
    quantiles = [serving.at(share, some) for some in (first, later) for share in (0.5, 0.95)]
    each = answers["cpu"] / len(times)
    return Anchor(name, cost.wall, cost.cpu, cost.memory, size, *quantiles, each, answering)


def line(row: Anchor) -> str:
    """Format a row of the table as Markdown."""
    return cells(row.name, *map(number, list(asdict(row).values())[1:]))


def markdown(table: Anchors) -> Iterator[str]:
    """Yield the lines of a table, with its heading."""
    yield f"### Beside libraries, {table.corpus}: {table.files:,} files, {table.megabytes:.1f} MB\n"
    yield "| " + cells(*HEADS).format(first=table.first, later=table.later)
    yield "|---|" + "---:|" * len(HEADS)
    yield from map(line, table.rows)
    yield f"\n{table.day}; load before the run: {table.load:.1f}."
    for each in table.missing:
        yield f"Not measured: {each}."
    yield ""


def main() -> None:
    """Print a table for each folder."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, nargs="+")
    parser.add_argument("--no-install", action="store_true", help="install nothing")
    parser.add_argument("--json", action="store_true", help="print JSON at the end")
    options = parser.parse_args()
    tables = measured_on(options.folder, install=not options.no_install)
    print("\n".join(each for table in tables for each in markdown(table)))
    if options.json:
        print(json.dumps([asdict(table) for table in tables], indent=1))


if __name__ == "__main__":
    main()
