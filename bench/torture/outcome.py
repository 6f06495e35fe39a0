"""Options and outcome of a torture test."""

from __future__ import annotations

from typing import NamedTuple


class Options(NamedTuple):
    """Options of a torture test."""

    minutes: float
    rounds: int
    seed: int
    files: int = 200_000


class Outcome(NamedTuple):
    """Outcome of a torture test."""

    figures: str
    wrong: list[str]
