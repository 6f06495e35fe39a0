"""Growing inputs for one target, in a process of its own."""

from __future__ import annotations

import json
import os
import random
import sys
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from bench.fuzz.sources import Bytes, Target
from bench.fuzz.targets import opened
from bench.fuzz.trial import Note, tried

GROWING = 20.0
"""Seconds for making the inputs of a target longer."""

MEASURABLE, ENOUGH = 0.03, 0.25
"""Seconds from which on a time can be told from noise, and from which on nothing is made longer."""

LARGEST = 1 << 18
"""Characters of an input that was made longer."""


class Growth(NamedTuple):
    """Cost of an input as it grows.

    Attributes:
        ratio: of the time to that of half the size.
        size: characters.
        seconds: of the processor.
        part: that was repeated.
        data: input that was made longer, in hexadecimal digits.
    """

    ratio: float
    size: int
    seconds: float
    part: str
    data: str = ""


def grow(name: str, folder: Path, seed: int) -> None:
    """Write what the slowest inputs take, and what some take that are made longer."""
    chance = random.Random(seed)
    result = json.loads((folder / "result.json").read_text())
    corpus = sorted((folder / "corpus").iterdir())
    chosen = [bytes.fromhex(each) for each in result["slowest"]]
    with opened(name) as target:
        slowest, worst = (0.0, b""), Growth(0.0, 0, 0.0, "")
        for data in chosen:
            taken = _least(lambda data=data: tried(target, data))
            slowest = max(slowest, (taken, data))
        chosen += target.examples
        chosen += [file.read_bytes() for file in chance.sample(corpus, min(40, len(corpus)))]
        ends = time.monotonic() + GROWING
        note = Note(folder / "note")
        for number, data in enumerate(chosen * 20):
            if time.monotonic() > ends:
                break
            text, *others = target.made(Bytes(data, target.words))
            if text:
                note.write(number, data)
                growth = _grown(target, text, others, chance, whole=number < len(chosen))
                worst = max(worst, growth._replace(data=data.hex()))
    told = {"slowest": slowest[0], "size": len(slowest[1]), "growth": worst}
    (folder / "grown.json").write_text(json.dumps(told))
    sys.stdout.flush()
    os._exit(0)


def _grown(target: Target, text: Any, others: Any, chance: random.Random, *, whole: bool) -> Growth:
    """Repeat a text, or a part of it, until it takes long enough to tell how that grows."""
    at = 0 if whole else chance.randrange(len(text))
    end = len(text) if whole else min(len(text), at + chance.choice([1, 2, 3, 8, 30]))
    part = text[at:end]

    def made(size: int) -> Any:
        # An even number of times: an odd quote would be refused at once in one of two sizes.
        return text[:at] + part * (2 + size // len(part) // 2 * 2) + text[end:]

    def seconds(size: int) -> float:
        longer = made(size)
        return _least(lambda: target.check(longer, *others))

    sizes = [1 << power for power in range(9, LARGEST.bit_length()) if 1 << power >= len(text)]
    times: dict[int, float] = {}
    for before, size in pairwise(sizes):
        times[size] = seconds(size)
        if times[size] < ENOUGH and size < LARGEST:
            continue
        if times[size] < MEASURABLE:
            break
        ratio = min(_ratio(seconds, before) for _ in range(3 if times[size] < 2 else 1))
        return Growth(ratio, size, times[size], repr(part)[:60])
    return Growth(0.0, 0, 0.0, "")


def _ratio(seconds: Callable[[int], float], size: int) -> float:
    half, whole = seconds(size), seconds(2 * size)
    return round(whole / max(half, 1e-4), 2)


def _least(work: Callable[[], object]) -> float:
    """Seconds of the processor, the least of three."""
    times = []
    for _ in range(3):
        began = time.process_time()
        work()
        times.append(time.process_time() - began)
        if times[-1] > 2:
            break
    return min(times)
