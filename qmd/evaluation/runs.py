"""What was found for the questions of a fixture; on disk in the form of TREC.

query  Q0  document  rank  score  name
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from math import ceil, isfinite, nan
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple
from urllib.parse import quote

from qmd.errors import UsageError
from qmd.evaluation.fixtures import Fixture, Question, lines, wrong

STEP = 1e-6
"""What scores of two documents differ by at least, as a share from 1 on: trec_eval reads 24 bits
of a score, and orders equal ones by name."""


class Found(NamedTuple):
    """A document that was found, and how good it is thought to be."""

    document: str
    score: float


class Asked(NamedTuple):
    """What a question found.

    Attributes:
        found: best first.
        milliseconds: None: it was not asked here.
        problem: why it could not be asked, or None.
    """

    found: tuple[Found, ...] = ()
    milliseconds: float | None = None
    problem: str | None = None


class Run(NamedTuple):
    """What all questions found in one way.

    Attributes:
        asked: by the id of the question; one that is not there found nothing.
        notices: what was said of answers, each with how many it was said of.
    """

    name: str
    asked: Mapping[str, Asked]
    notices: Mapping[str, int] = MappingProxyType({})

    @property
    def failed(self) -> dict[str, str]:
        """Why a question could not be asked, by its id."""
        return {name: each.problem for name, each in self.asked.items() if each.problem is not None}

    @property
    def milliseconds(self) -> list[float]:
        """The times of questions that were asked here."""
        return [
            each.milliseconds
            for each in self.asked.values()
            if each.milliseconds is not None and each.problem is None
        ]


class Spread(NamedTuple):
    """Times in milliseconds: half of all are at most `p50`, 19 of 20 at most `p95`."""

    p50: float
    p95: float


def spread(times: Iterable[float]) -> Spread | None:
    """How long it took, or None if nothing was timed."""
    ordered = sorted(times)
    if not ordered:
        return None
    return Spread(*(ordered[ceil(len(ordered) * share) - 1] for share in (0.50, 0.95)))


def apart(documents: Iterable[str], scores: Iterable[float]) -> tuple[Found, ...]:
    """Documents in their order, with scores that say the same order to every tool."""
    found: list[Found] = []
    for document, score in zip(documents, scores, strict=True):
        if found:
            before = found[-1].score
            score = min(score, before - STEP * max(1.0, abs(before)))
        found.append(Found(document, score))
    return tuple(found)


def path_of(run: Run, path: Path) -> Path:
    """Where a run is written, if all are to be written to `path`: each has its name put in."""
    return path.with_name(f"{path.stem}.{run.name}{path.suffix}")


def write(run: Run, path: Path) -> None:
    """Write a run in the form of TREC; a blank in a name becomes %20.

    Raises:
        UsageError: the file cannot be written.
    """
    try:
        with path.open("w", encoding="utf-8") as file:
            for query, asked in run.asked.items():
                for rank, (document, score) in enumerate(asked.found, start=1):
                    names = f"{_word(query)} Q0 {_word(document)}"
                    file.write(f"{names} {rank} {score:.7f} {run.name}\n")
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from error


def read(path: Path, fixture: Fixture, *, depth: int) -> Run:
    """What a run in the form of TREC found; its order is that of the scores.

    Args:
        depth: documents of a question that count.

    Raises:
        UsageError: a line is none, with its number; or no line names a query of the fixture.
    """
    found: dict[str, dict[str, float]] = {}
    for number, line in lines(path):
        try:
            query, _, document, _, written, _ = line.split()
            score = float(written)
        except ValueError:
            score = nan
        if not isfinite(score):
            raise wrong(
                path, number, "a line is: query Q0 document rank score name, with blanks between"
            )
        found.setdefault(query, {}).setdefault(document, score)
    asked = {
        question.id: _asked(fixture, question, found[query], depth)
        for question in fixture.questions
        if (query := _word(question.id)) in found
    }
    if not asked:
        raise UsageError(f"{path}: no line names a query of {fixture.name}.")
    return Run(path.stem, asked)


def _asked(fixture: Fixture, question: Question, scores: Mapping[str, float], depth: int) -> Asked:
    """Documents by their score, and those with the same by name from the end, as trec_eval does."""
    ordered = sorted(scores, key=lambda name: (scores[name], name), reverse=True)[:depth]
    judged = {_word(name): name for name in question.judged}
    names = fixture.named(question.judged, ([judged.get(name, name)] for name in ordered))
    return Asked(apart(names, (scores[name] for name in ordered)))


def _word(name: str) -> str:
    """A name without blanks."""
    return re.sub(r"\s", lambda blank: quote(blank[0]), name)
