"""Keyword search by the tables, by postings of one process, and by the mapped sidecar.

    python -m bench.postings FOLDER [--questions 200] [--rounds 3] [--index FILE] [--words FILE]

FOLDER of Markdown is indexed first, unless an index of it is given (its settings are in the same
folder). FILE has words to ask for, for an index without its folder. Each way runs in a process of
its own, one after the other in each round, with the same questions: three words of documents, none
asked twice. What a server did before postings were mapped is "memory": it reads all of them from
the tables into memory of its own.

Prints for each way, of the best round, what it takes to be ready, the milliseconds of the first
two questions and of half and 95 of 100 of the others, processor time, and the memory at the end
as PSS: what several processes share counts in parts. "anew" is half of the questions that are each
the first after a write, as beside a writer that never pauses.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.corpora import combined, words_of
from bench.usage import pss

WAYS = ("tables", "memory", "mapped")
ANEW = 30
"""Questions that are asked right after a write each."""


def measure(way: str, index: Path, texts: Sequence[str]) -> dict[str, float]:
    """Measure one way in this process."""
    from qmd.operations.index import Index
    from qmd.operations.search import prepare, search
    from qmd.settings import environment

    environ = {**os.environ, "QMD_CONFIG_DIR": str(index.parent), "INDEX_PATH": str(index)}
    opened = Index(environment.locate(environ, index.parent), warm=True, stays=way == "mapped")
    opened.log = None
    began, spent = time.perf_counter(), time.process_time()
    if way != "mapped":
        opened.database.missed = None
    prepare(opened, 10)
    if way == "memory":
        opened.database.read(_hold_own)
    opened.holder.settle()
    ready = time.perf_counter() - began, time.process_time() - spent
    walls, spent = [], time.process_time()
    for text in texts:
        began = time.perf_counter()
        search(opened, text, limit=10)
        walls.append(1000 * (time.perf_counter() - began))
    cpu = 1000 * (time.process_time() - spent) / len(texts)
    later = sorted(walls[2:])
    memory = pss()
    anew = []
    for text in texts[-ANEW:]:
        opened.database.write(lambda _: None)
        began = time.perf_counter()
        search(opened, text, limit=10)
        anew.append(1000 * (time.perf_counter() - began))
    opened.close()
    return {
        "ready s": ready[0],
        "ready CPU s": ready[1],
        "first ms": walls[0],
        "second ms": walls[1],
        "p50 ms": later[len(later) // 2],
        "p95 ms": later[int(0.95 * len(later))],
        "CPU ms": cpu,
        "anew ms": sorted(anew)[len(anew) // 2],
        "PSS MB": memory,
    }


def _hold_own(cursor: Any) -> None:
    """Hold the postings in memory of this process, read from the tables."""
    import numpy as np

    from qmd.ranking import bm25, postings_reader
    from qmd.ranking.inverted_index import Inverted

    segment = postings_reader.whole(cursor)
    bm25.hold(cursor, Inverted([segment], np.empty(0, np.intp)))
    cursor.memory.stands_for_file = True


def run(index: Path, texts: Sequence[str], rounds: int) -> dict[str, dict[str, float]]:
    """Measure all ways in turn; of each the best round."""
    best: dict[str, dict[str, float]] = {}
    for _ in range(rounds):
        for way in WAYS:
            command = [sys.executable, "-m", "bench.postings", "--way", way, "--index", str(index)]
            done = subprocess.run(
                command, input=json.dumps(texts), stdout=subprocess.PIPE, text=True, check=True
            )
            found = json.loads(done.stdout)
            if way not in best or found["p50 ms"] < best[way]["p50 ms"]:
                best[way] = found
    return best


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--index", type=Path)
    parser.add_argument("--words", type=Path)
    parser.add_argument("--way", choices=WAYS, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.way:
        print(json.dumps(measure(given.way, given.index, json.load(sys.stdin))))
        return
    if given.folder is None and (given.index is None or given.words is None):
        parser.error("give FOLDER, or an index and words")
    words = given.words.read_text().split() if given.words else words_of(given.folder)
    with tempfile.TemporaryDirectory() as name:
        index = given.index
        if index is None:
            index = Path(name) / "index.duckdb"
            environ = {**os.environ, "QMD_CONFIG_DIR": name, "INDEX_PATH": str(index)}
            add = [sys.executable, "-m", "qmd", "collection", "add", str(given.folder)]
            subprocess.run(add, env=environ, check=True, stdout=subprocess.DEVNULL)
        found = run(index, combined(words, given.questions), given.rounds)
    names = list(found[WAYS[0]])
    print("".join(f"{each:>12}" for each in ["", *names]))
    for way, figures in found.items():
        print(f"{way:>12}" + "".join(f"{figures[each]:>12.2f}" for each in names))


if __name__ == "__main__":
    main()
