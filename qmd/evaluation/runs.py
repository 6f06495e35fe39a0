"""Runs in TREC format: ranked documents for each query.

query  Q0  document  rank  score  name
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from math import ceil, isfinite, nan
from pathlib import Path
from types import MappingProxyType
from urllib.parse import quote

from qmd import files
from qmd.errors import UsageError
from qmd.evaluation.fixtures import Fixture, JudgedQuery, line_error, numbered_lines
from qmd.named_tuple import NamedTuple

TIE_STEP = 1e-6
"""Least difference of two scores, relative from 1 on: trec_eval reads 24 bits of a score, and sorts
equal ones by name."""

_LINE = re.compile(r"\s*\S+\s+Q0\s+\S+\s+\d+\s+[-+.\deE]+\s+\S+\s*")
"""A line of a run."""


class RunEntry(NamedTuple):
    """A ranked document with its score."""

    document: str
    score: float


class QueryRun(NamedTuple):
    """Results of one query.

    Attributes:
        found: best first.
        milliseconds: None: it was not asked here.
        problem: why it could not be asked, or None.
    """

    found: tuple[RunEntry, ...] = ()
    milliseconds: float | None = None
    problem: str | None = None


class Run(NamedTuple):
    """Results of all queries by one method.

    Attributes:
        asked: by the id of the question; one that is not there found nothing.
        notices: notices of results, each with the number of its queries.
    """

    name: str
    asked: Mapping[str, QueryRun]
    notices: Mapping[str, int] = MappingProxyType({})

    @property
    def failed(self) -> dict[str, str]:
        """Errors of queries that failed, by id."""
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
    """Latency percentiles in milliseconds: median and 95 %."""

    p50: float
    p95: float


def spread(times: Iterable[float]) -> Spread | None:
    """Compute latency percentiles, or None without times."""
    ordered = sorted(times)
    if not ordered:
        return None
    return Spread(*(ordered[ceil(len(ordered) * share) - 1] for share in (0.50, 0.95)))


def break_ties(documents: Iterable[str], scores: Iterable[float]) -> tuple[RunEntry, ...]:
    """Separate equal scores, so that every tool sees the same order of the documents."""
    found: list[RunEntry] = []
    for document, score in zip(documents, scores, strict=True):
        if found:
            before = found[-1].score
            score = min(score, before - TIE_STEP * max(1.0, abs(before)))
        found.append(RunEntry(document, score))
    return tuple(found)


def check_run_files(path: Path, names: Iterable[str], *, force: bool) -> None:
    """Refuse to begin, if runs could not be written at the end.

    Args:
        names: of the runs.
        force: replace an existing file, even if it is no run.

    Raises:
        UsageError: a file has no folder, is a folder, or would replace a file that is no run.
    """
    files.check_writable(path)
    if files.is_stream(path):
        return
    for name in names:
        file = _path_of(name, path)
        files.check_writable(file)
        if not force and not files.is_stream(file):
            _check_replaceable(file)


def _check_replaceable(path: Path) -> None:
    try:
        with path.open(encoding="utf-8") as file:
            is_run = all(_LINE.fullmatch(line) for line in file)
    except FileNotFoundError:
        return
    except UnicodeDecodeError:
        is_run = False
    except OSError as error:
        raise UsageError(f"{path} cannot be replaced: {error.strerror}.") from error
    if not is_run:
        raise UsageError(
            f"{path} is there already, and no TREC run.\n\n"
            "Name another file, or replace this one with --force."
        )


def write(found: Iterable[Run], path: Path) -> None:
    """Write runs in TREC format, one file for each, or all to a stream.

    Each file name includes the name of the run; a blank becomes %20.

    Raises:
        UsageError: a file cannot be written.
    """
    if files.is_stream(path):
        with files.written(path) as file:
            file.writelines(line for run in found for line in _lines(run))
        return
    for run in found:
        with files.written(_path_of(run.name, path)) as file:
            file.writelines(_lines(run))


def _path_of(name: str, path: Path) -> Path:
    """Return the file of a run, if all are to be written to `path`."""
    return path.with_name(f"{path.stem}.{name}{path.suffix}")


def _lines(run: Run) -> Iterator[bytes]:
    for query, asked in run.asked.items():
        for rank, (document, score) in enumerate(asked.found, start=1):
            names = f"{_word(query)} Q0 {_word(document)}"
            yield f"{names} {rank} {score:.7f} {run.name}\n".encode()


def read(path: Path, fixture: Fixture, *, depth: int) -> Run:
    """Read a run in TREC format, sorted by score.

    Args:
        depth: documents of a question that count.

    Raises:
        UsageError: a line is no entry of a run, with its number; or no line names a query of the
            fixture.
    """
    found: dict[str, dict[str, float]] = {}
    for number, line in numbered_lines(path):
        try:
            query, _, document, _, written, _ = line.split()
            score = float(written)
        except ValueError:
            score = nan
        if not isfinite(score):
            raise line_error(
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


def _asked(
    fixture: Fixture, question: JudgedQuery, scores: Mapping[str, float], depth: int
) -> QueryRun:
    """Sort documents by score; ties by name from the end, as trec_eval does."""
    ordered = sorted(scores, key=lambda name: (scores[name], name), reverse=True)[:depth]
    judged = {_word(name): name for name in question.judged}
    names = fixture.named(question.judged, ([judged.get(name, name)] for name in ordered))
    return QueryRun(break_ties(names, (scores[name] for name in ordered)))


def _word(name: str) -> str:
    """Replace the blanks of a name."""
    return re.sub(r"\s", lambda blank: quote(blank[0]), name)
