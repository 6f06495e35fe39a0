"""Fuzzing of all readers of input from users, files and clients.

    python -m bench.fuzz [--inputs 100000] [--seconds 60] [--only NAME…] [--seed 1]
    python -m bench.fuzz --replay NAME HEX

Each of `bench.fuzz.targets` is given so many inputs, in a process of its own, or as many as it
takes in so many seconds of the processor (some ask an index, and take 15 a second): those that lead
to places in the code where none has been before are kept and changed further (atheris; without it
they are random changes of the examples). An error without words for the user, an answer that cannot
be right, a crash, two minutes without an answer, or a process that grows is a failure.

The slowest inputs, and others, are then made longer, as they are and by repeating a part of them,
until they take long enough to be measured: twice the size may take `RATIO` times as long.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from bench.fuzz.growth import Growth, grow
from bench.fuzz.sources import Bytes
from bench.fuzz.targets import TARGETS, opened
from bench.fuzz.trial import HANG, Note, guided, unguided

RATIO = 3.0
"""Of the times of two inputs, one twice as long as the other."""

ROOM = 512
"""Megabytes by which a process may grow."""


def main() -> int:
    """Run and report; 1 if anything was wrong."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--inputs", type=int, default=100_000)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--replay", nargs=2, metavar=("NAME", "HEX"))
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.replay:
        return replayed(*options.replay)
    if options.child:
        kind, name, folder = options.child
        if kind == "grow":
            grow(name, Path(folder), options.seed)
        work = guided if kind == "guided" else unguided
        work(name, Path(folder), options.inputs, options.seconds, options.seed)
    unknown = set(options.only) - set(TARGETS)
    if unknown:
        parser.error(f"no such target: {', '.join(unknown)}. Known: {', '.join(TARGETS)}")
    kind = "guided"
    try:
        import atheris  # noqa: F401
    except ImportError:
        kind = "unguided"
        print("atheris is not installed: inputs are random changes of the examples")
    wrong = 0
    began = time.monotonic()
    for name in options.only or TARGETS:
        wrong += bool(examined(name, kind, options))
    print(f"{wrong} targets with failures, {time.monotonic() - began:.0f} s")
    return min(1, wrong)


def replayed(name: str, given: str) -> int:
    """Show an input, and let its error come through."""
    with opened(name) as target:
        parts = target.made(Bytes(bytes.fromhex(given), target.words))
        print(*map(repr, parts), sep="\n")
        target.check(*parts)
    return 0


def examined(name: str, kind: str, options: argparse.Namespace) -> int:
    """Fuzz one target and print a line; how many failures there were."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        failures = _child(kind, name, folder, options)
        found = _result(folder / "result.json")
        if found is None:
            print(f"{name:12} did not come to its end")
            return _told(name, failures)
        failures += [(key, *each) for key, each in found["failures"].items()]
        if found["grown"] > ROOM:
            failures.append((f"grew by {found['grown']:.0f} MB", "", ""))
        failures += _child("grow", name, folder, options) if found["linear"] else []
        grown = _result(folder / "grown.json")
    rate = found["inputs"] / found["seconds"]
    line = f"{name:12} {found['inputs']:7} inputs, {rate:6.0f}/s, {found['peak']:4.0f} MB"
    if grown is not None:
        growth = Growth(*grown["growth"])
        line += f", slowest {1000 * grown['slowest']:6.2f} ms of {grown['size']:4} bytes"
        line += f", twice as long takes x{growth.ratio} ({growth.size}: {growth.seconds:.2f} s)"
        if growth.ratio > RATIO:
            failures.append((f"not linear: {growth._replace(data='')}", "", growth.data))
    print(f"{line}, {len(failures)} failures", flush=True)
    return _told(name, failures)


def _child(
    kind: str, name: str, folder: Path, given: argparse.Namespace
) -> list[tuple[str, str, str]]:
    """Run a process to its end; what went wrong with it as a whole."""
    note = Note(folder / "note")
    options = ["--child", kind, name, str(folder), f"--inputs={given.inputs}"]
    options += [f"--seconds={given.seconds}", f"--seed={given.seed}"]
    with (
        (folder / f"{kind}.log").open("w+") as log,
        subprocess.Popen(
            [sys.executable, "-m", "bench.fuzz", *options], stdout=log, stderr=subprocess.STDOUT
        ) as process,
    ):
        last, since = 0, time.monotonic()
        while process.poll() is None:
            time.sleep(0.05)
            number, data = note.read()
            if number != last:
                last, since = number, time.monotonic()
            elif time.monotonic() - since > HANG:
                process.kill()
                process.wait()
                return [(f"no end within {HANG:.0f} s ({kind})", "", data.hex())]
        if process.returncode:
            log.seek(0)
            return [
                (f"exit {process.returncode} ({kind})", log.read()[-1500:], note.read()[1].hex())
            ]
    return []


def _result(file: Path) -> Any:
    return json.loads(file.read_text()) if file.exists() else None


def _told(name: str, failures: list[tuple[str, str, str]]) -> int:
    for key, told, data in failures:
        print(f"\n  {name}: {key}\n{told}")
        if data:
            print(f"  python -m bench.fuzz --replay {name} {data}\n", flush=True)
    return len(failures)


if __name__ == "__main__":
    sys.exit(main())
