"""Many inputs for one target, in a process of its own."""

from __future__ import annotations

import json
import mmap
import os
import random
import resource
import sys
import time
import traceback
from collections.abc import Sequence
from heapq import heappushpop
from pathlib import Path

from bench.fuzz.sources import Bytes, Target
from bench.fuzz.targets import opened

LONGEST = 2048
"""Bytes of an input."""

HANG = 120.0
"""Seconds after which an input is taken for one that never ends."""

SETTLED = 2000
"""Inputs before the size of the process is looked at: what is loaded once is loaded by then."""

SLOWEST = 12


class Note:
    """The current input, readable by another process after this one is gone."""

    def __init__(self, path: Path) -> None:
        if not path.exists():
            path.write_bytes(bytes(16 + LONGEST))
        with path.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), 16 + LONGEST)

    def write(self, number: int, data: bytes) -> None:
        """Note an input before it is tried."""
        head = number.to_bytes(8, "little") + len(data).to_bytes(8, "little")
        self._map[: 16 + len(data)] = head + data

    def read(self) -> tuple[int, bytes]:
        """Its number, and the input."""
        number, size = (int.from_bytes(self._map[at : at + 8], "little") for at in (0, 8))
        return number, self._map[16 : 16 + size]


class Trial:
    """Runner of inputs that records their outcome and ends the process after the last."""

    def __init__(self, target: Target, folder: Path, inputs: int, seconds: float) -> None:
        self._target = target
        self._folder = folder
        self._inputs = inputs
        self._ends = time.process_time() + seconds
        self._note = Note(folder / "note")
        self._done = 0
        self._before = 0.0
        self._failures: dict[str, tuple[str, str]] = {}
        self._slowest: list[tuple[float, bytes]] = [(0.0, b"")] * SLOWEST
        self._began = time.monotonic()

    def __call__(self, data: bytes) -> None:
        """Try one."""
        data = data[:LONGEST]
        self._done += 1
        self._note.write(self._done, data)
        began = time.process_time()
        try:
            tried(self._target, data)
        except BaseException as error:  # also a panic of what is written in Rust
            *_, place = traceback.extract_tb(error.__traceback__)
            key = f"{type(error).__name__} at {Path(place.filename).name}:{place.lineno}"
            told = "".join(traceback.format_exception(error, limit=-4))
            known = self._failures.get(key)
            if known is None or len(data) * 2 < len(known[1]):
                self._failures[key] = told[-1500:], data.hex()
        heappushpop(self._slowest, (time.process_time() - began, data))
        if self._done == min(SETTLED, self._inputs // 2):
            self._before = _peak()
        if self._done >= self._inputs or time.process_time() >= self._ends:
            self.end()

    def end(self) -> None:
        """Write what came of it."""
        result = {
            "inputs": self._done,
            "seconds": time.monotonic() - self._began,
            "failures": self._failures,
            "slowest": [data.hex() for _, data in sorted(self._slowest, reverse=True)],
            "grown": _peak() - self._before,
            "peak": _peak(),
            "linear": self._target.linear,
        }
        (self._folder / "result.json").write_text(json.dumps(result))
        sys.stdout.flush()
        os._exit(0)


def guided(name: str, folder: Path, inputs: int, seconds: float, seed: int) -> None:
    """Try inputs, led by what they reach in the code; never returns."""
    import atheris

    with atheris.instrument_imports(include=["qmd"]), opened(name) as target:
        corpus = folder / "corpus"
        corpus.mkdir()
        for number, example in enumerate(target.examples):
            (corpus / f"example-{number}").write_bytes(example)
        words = [word.encode() for word in target.words if word.isascii() and word.isprintable()]
        dictionary = folder / "words"  # may not be empty
        dictionary.write_text("".join(f'"{_escaped(word)}"\n' for word in [*words, b"tea"]))
        options = [f"-seed={seed}", f"-max_len={LONGEST}", f"-dict={dictionary}", "-runs=-1"]
        limits = [f"-timeout={HANG:.0f}", "-rss_limit_mb=0", "-detect_leaks=0"]
        trial = Trial(target, folder, inputs, seconds)
        atheris.Setup([sys.argv[0], *options, *limits, str(corpus)], trial)
        atheris.Fuzz()


def unguided(name: str, folder: Path, inputs: int, seconds: float, seed: int) -> None:
    """Try random changes of the examples; never returns."""
    chance = random.Random(seed)
    (folder / "corpus").mkdir()
    with opened(name) as target:
        trial = Trial(target, folder, inputs, seconds)
        while True:
            trial(changed(chance, target.examples))


def changed(chance: random.Random, examples: Sequence[bytes]) -> bytes:
    """One of the examples, or none, with random changes."""
    data = bytearray(chance.choice([*examples, b""]))
    for _ in range(chance.choice([1, 2, 5, 20])):
        at, size = chance.randint(0, len(data)), chance.choice([0, 0, 1, 5, 50])
        fresh = chance.randbytes(chance.choice([0, 1, 1, 4, 30]))
        piece = bytes(data[at : at + size])
        data[at : at + size] = chance.choice([fresh, fresh, piece * chance.randint(1, 9)])
    return bytes(data[:LONGEST])


def _escaped(word: bytes) -> str:
    return "".join(chr(c) if chr(c).isalnum() or c == 32 else f"\\x{c:02x}" for c in word)


def tried(target: Target, data: bytes) -> None:
    """Make an input of bytes, and check it."""
    target.check(*target.made(Bytes(data, target.words)))


def _peak() -> float:
    """Megabytes that this process had at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
