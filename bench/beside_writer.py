"""Searches of a process that stays, in quiet and beside one that updates without pause.

    python -m bench.beside_writer FOLDER [--seconds 20] [--unknown]

FOLDER of Markdown is copied and indexed. Questions of three words of its files are asked, none
twice; with `--unknown`, one in eight has a word that no file has. Another process adds a line to a
file and updates, again and again. Prints milliseconds by the clock and of processor time, and the
95th percentile beside the writer divided by that in quiet.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from bench.alone import alone
from bench.corpora import combined, words_of
from bench.indexing import change, tools_in
from bench.serving import at

QUESTIONS, SAMPLE = 4000, 3000
"""Questions, and files that their words are taken from, at most."""

REST = 0.01
"""Seconds between two questions."""

SETTLING = 3.0
"""Seconds for the postings to be mapped."""

UNKNOWN = 8
"""One of so many questions has a word that no file has."""


class Taken(NamedTuple):
    """Milliseconds of the questions of one phase."""

    wall: list[float]
    cpu: list[float]


def update_without_pause(folder: Path) -> None:
    """Change a file and update, until this process is killed."""
    import qmd

    files, chance = sorted(folder.rglob("*.md")), random.Random(5)
    with qmd.connect() as kb:
        while True:
            change([chance.choice(files)], chance)
            kb.update()
            print("updated", flush=True)


def measured(
    environ: dict[str, str], questions: list[str], seconds: float, folder: Path
) -> tuple[Taken, Taken, int]:
    """Ask in quiet and beside a writer; return also the number of its updates."""
    import qmd

    os.environ.update(environ)
    left = iter(questions)
    with qmd.connect() as kb:

        def asked(goes_on: Callable[[], bool]) -> Taken:
            wall, cpu = [], []
            while goes_on():
                began, used = time.perf_counter(), time.process_time()
                kb.search(next(left))
                wall.append((time.perf_counter() - began) * 1000)
                cpu.append((time.process_time() - used) * 1000)
                time.sleep(REST)
            return Taken(sorted(wall), sorted(cpu))

        def until(end: float) -> Callable[[], bool]:
            return lambda: time.monotonic() < end

        kb.search(next(left))
        time.sleep(SETTLING)
        kb.search(next(left))
        quiet = asked(until(time.monotonic() + seconds))
        command = [sys.executable, "-m", "bench.beside_writer", "--write", str(folder)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
            assert writer.stdout is not None
            writer.stdout.readline()
            beside = asked(until(time.monotonic() + seconds))
            writer.kill()
            updates = len(writer.stdout.readlines())
    return quiet, beside, updates


def lines(quiet: Taken, beside: Taken, updates: int) -> Iterator[str]:
    """Yield the lines of a table."""
    yield f"{'ms':16}{'questions':>10}{'p50':>8}{'p95':>8}{'most':>8}{'CPU p50':>9}{'CPU p95':>9}"
    for name, each in (("in quiet", quiet), ("beside a writer", beside)):
        wall = "".join(f"{at(share, each.wall):8.1f}" for share in (0.5, 0.95, 1))
        cpu = "".join(f"{at(share, each.cpu):9.1f}" for share in (0.5, 0.95))
        yield f"{name:16}{len(each.wall):10}{wall}{cpu}"
    wall, cpu = (at(0.95, b) / at(0.95, a) for a, b in zip(quiet, beside, strict=True))
    yield f"{updates} updates; p95 by the clock {wall:.1f} x that in quiet, of CPU {cpu:.1f} x"


def main() -> None:
    """Measure, and print it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--unknown", action="store_true", help="ask for unknown words, too")
    parser.add_argument("--write", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.write:
        update_without_pause(options.folder)
    with tempfile.TemporaryDirectory() as name:
        corpus = Path(name, "corpus")
        shutil.copytree(options.folder, corpus, symlinks=True)
        words, _ = alone(words_of, corpus, SAMPLE, sample=SAMPLE)
        questions = combined(words, QUESTIONS)
        if options.unknown:
            questions = [
                f"{question} {word_of(at)}" if at % UNKNOWN == 0 else question
                for at, question in enumerate(questions)
            ]
        [tool] = tools_in(Path(name, "index"), None)
        tool.run("collection", "add", str(corpus), "--name", "corpus")
        print("\n".join(lines(*measured(tool.environ, questions, options.seconds, corpus))))


def word_of(number: int) -> str:
    """Make a word that no file has."""
    chance = random.Random(number)
    return "".join(chance.choice("bcdfghjklmnpqrstvwxz") + chance.choice("aeiou") for _ in range(4))


if __name__ == "__main__":
    main()
