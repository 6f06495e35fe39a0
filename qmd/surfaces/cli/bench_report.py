"""Report of `qmd bench`, for people and for programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from qmd.evaluation import Backend
from qmd.named_tuple import NamedTuple
from qmd.surfaces import formats, wording

if TYPE_CHECKING:
    from qmd.evaluation.fixtures import Fixture
    from qmd.evaluation.metrics import Scores
    from qmd.evaluation.runs import Run, Spread

SHOWN = 10
"""Documents of a question in JSON."""

STAGES = {"words": "keyword list", "embed": "embedding the query", "vectors": "vector list"}

PEER = {
    "precision_at_k": "P@k",
    "recall": "recall",
    "recall_at_1": "R@1",
    "recall_at_3": "R@3",
    "recall_at_5": "R@5",
    "mrr": "MRR",
    "f1": "F1",
}
"""What tobi/qmd calls its figures, in JSON and on the terminal."""


class Outcome(NamedTuple):
    """The result of a run.

    Attributes:
        rows: each run with its figures, those that were asked here first.
        model: of the vectors that were searched, or None.
    """

    fixture: Fixture
    depth: int
    rows: list[tuple[Run, Scores]]
    left_out: dict[Backend, str]
    stages: dict[str, Spread]
    model: str | None


def amount_of_queries(count: int) -> str:
    """So many queries, in words."""
    return f"{count} query" if count == 1 else f"{count} queries"


# -- for people ----------------------------------------------------------------------


def report(outcome: Outcome) -> str:
    """Tables of all figures."""
    fixture = outcome.fixture
    facts = [
        amount_of_queries(len(fixture.questions)),
        f"{wording.amount(outcome.depth, 'result')} each",
    ]
    facts += [f"vectors of {outcome.model}"] if outcome.model else []
    parts = [f"{fixture.name}: {', '.join(facts)}\n", _figures(outcome)]
    if outcome.stages:
        parts.append("Parts of a hybrid search\n" + _stages(outcome))
    if fixture.is_typed:
        parts.append("As tobi/qmd's bench counts\n" + _peer_figures(outcome))
    if any(scores.hits for _, scores in outcome.rows):
        parts.append("Queries with an expected file on top\n" + _hits(outcome))
    return "\n".join(parts)


def _table(rows: Sequence[Sequence[str]], *, names: int = 1) -> str:
    """Rows under a header; all columns but the first ones hold numbers."""
    return formats.table(rows, right=frozenset(range(names, len(rows[0]))))


def _figures(outcome: Outcome) -> str:
    from qmd.evaluation.runs import spread

    names = list(outcome.rows[0][1].mean)
    rows = [["", *names, "queries", "empty", "failed", "p50 ms", "p95 ms"]]
    for run, scores in outcome.rows:
        time = spread(run.milliseconds)
        rows.append(
            [
                run.name,
                *(f"{scores.mean[name]:.3f}" for name in names),
                str(len(scores.each)),
                str(_empty(outcome.fixture, run)),
                str(len(run.failed)),
                *((f"{time.p50:.1f}", f"{time.p95:.1f}") if time else ("", "")),
            ]
        )
    return _table(rows)


def _empty(fixture: Fixture, run: Run) -> int:
    """Count the queries without results."""
    answered = {name for name, asked in run.asked.items() if asked.found or asked.problem}
    return sum(question.id not in answered for question in fixture.questions)


def _stages(outcome: Outcome) -> str:
    rows = [["", "p50 ms", "p95 ms"]]
    for stage, time in outcome.stages.items():
        rows.append([STAGES[stage], f"{time.p50:.1f}", f"{time.p95:.1f}"])
    return _table(rows)


def _peer_figures(outcome: Outcome) -> str:
    rows = [["", *PEER.values()]]
    for run, scores in outcome.rows:
        mean = scores.peer_mean
        rows.append([run.name, *(f"{mean[name]:.3f}" for name in PEER)])
    return _table(rows)


def _hits(outcome: Outcome) -> str:
    rows = []
    for run, scores in outcome.rows:
        for kind, counts in scores.hits.items():
            rows.append([run.name, kind, *map(str, counts.values())])
            header = ["", "", *counts]
    return _table([header, *rows], names=2)


# -- for programs --------------------------------------------------------------------


def report_json(outcome: Outcome) -> dict[str, object]:
    """All figures, and what each query found."""
    return {
        "fixture": outcome.fixture.name,
        "queries": len(outcome.fixture.questions),
        "depth": outcome.depth,
        "model": outcome.model,
        "leftOut": [{"backend": name, "reason": why} for name, why in outcome.left_out.items()],
        "stages": {stage: _rounded(time) for stage, time in outcome.stages.items()},
        "rows": [_row(outcome, run, scores) for run, scores in outcome.rows],
    }


def _row(outcome: Outcome, run: Run, scores: Scores) -> dict[str, object]:
    from qmd.evaluation.runs import spread

    return {
        "name": run.name,
        "measures": dict(scores.mean),
        "peer": scores.peer_mean or None,
        "hits": scores.hits or None,
        "queries": len(scores.each),
        "empty": _empty(outcome.fixture, run),
        "failed": len(run.failed),
        "milliseconds": _rounded(spread(run.milliseconds)),
        "perQuery": _per_query(outcome, run, scores),
    }


def _per_query(outcome: Outcome, run: Run, scores: Scores) -> list[dict[str, object]]:
    from qmd.evaluation.runs import QueryRun

    records = []
    for question in outcome.fixture.questions:
        asked = run.asked.get(question.id, QueryRun())
        record: dict[str, object] = {"id": question.id, "query": question.text}
        if question.kind:
            record["type"] = question.kind
        record["measures"] = scores.each.get(question.id)
        if question.id in scores.peer:
            record["peer"] = scores.peer[question.id]._asdict()
        record["milliseconds"] = asked.milliseconds and round(asked.milliseconds, 3)
        record["found"] = [each.document for each in asked.found[:SHOWN]]
        record["problem"] = asked.problem
        records.append(record)
    return records


def _rounded(time: Spread | None) -> dict[str, float] | None:
    return time and {name: round(value, 3) for name, value in time._asdict().items()}
