"""What a part is told, and what it tells."""

from __future__ import annotations

from typing import NamedTuple


class Options(NamedTuple):
    """How much of it."""

    minutes: float
    rounds: int
    seed: int
    files: int = 200_000


class Outcome(NamedTuple):
    """What came of a part."""

    figures: str
    wrong: list[str]
