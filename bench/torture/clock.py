"""Clocks and file times that jump: nothing is lost, and every command ends."""

from __future__ import annotations

import os
import random
import shutil
import time
from pathlib import Path

from bench.processes import append, generate, letters, named
from bench.torture.outcome import Options, Outcome
from bench.torture.proof import Home

YEAR = 31_556_952
"""Seconds."""


SHIFTED = """
import itertools, sys, time
shift, jumps = int(sys.argv.pop(1)) * 10**9, itertools.count()
real = time.time_ns
time.time_ns = lambda: real() + shift * (1 if shift > 10**12 else next(jumps) % 2)
time.time = lambda: time.time_ns() / 10**9
from qmd.__main__ import main
main()
"""
"""The command line with a clock that is shifted, or jumps to and fro by less than half an hour."""


def clock(work: Path, options: Options) -> Outcome:
    """Clocks that are wrong, or jump, and files with times of any year."""
    home = Home(work)
    generate(home.docs, 80)
    wrong = []
    said = home.run("collection", "add", str(home.docs))
    wrong += [said.problem] if said.problem else []
    shifts = [0, 10 * YEAR, -10 * YEAR, 250 * YEAR, -60 * YEAR, 3600, -3600, 600, -600, 1]
    ways: list[tuple[str, dict[str, object]]] = [
        (f"clock {shift:+} s", {"code": ("-c", SHIFTED, str(shift))}) for shift in shifts
    ]
    faketime = shutil.which("faketime")
    if faketime:
        # With DONT_FAKE_MONOTONIC, version 0.9.10 refuses each sleep of Python (EINVAL).
        still = {**home.environ, "NO_FAKE_STAT": "1"}
        ways += [
            (f"faketime {at}", {"before": (faketime, "-f", at), "env": still})
            for at in ("+10y", "-10y", "-1h", "@2001-09-09 01:46:40")
        ]
    chance = random.Random(options.seed)
    asked = 0
    for number, (name, how) in enumerate(ways * 2):
        fresh = {}
        for place in chance.sample(range(80), 4):
            marker, file = letters(10 * number + len(fresh)), home.docs / named(place)
            append(file, marker, whole=chance.random() < 0.5)
            moment = time.time() + chance.choice([0, *shifts])
            if chance.random() < 0.7:
                os.utime(file, (moment, moment))
            fresh[marker] = f"docs/{named(place)}"
        for again in (False, True):
            said = home.run("update", **how)
            if said.problem:
                wrong.append(f"{name}: {said.problem}")
            elif again and "0 new, 0 updated" not in said.out:
                wrong.append(f"{name}: never content: {said.out}")
        for marker, file in fresh.items():
            asked += 1
            if home.search(marker) != [file]:
                wrong.append(f"{name}: lost {marker} of {file}")
        for verb in (["search", "kara"], ["status"], ["cleanup"], ["ls", "docs"], ["doctor"]):
            said = home.run(*verb, **how)
            if said.problem:
                wrong.append(f"{name}: {verb[0]}: {said.problem}")
    wrong += home.wrong()
    faked = "" if faketime else ", faketime is not installed"
    return Outcome(f"{2 * len(ways)} updates, {asked} changes asked for{faked}", wrong)
