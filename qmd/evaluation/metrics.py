"""Metrics of runs: nDCG, recall, MRR by ir-measures, and those of tobi/qmd's bench."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean

from qmd.evaluation import tobi_bench as peer
from qmd.evaluation.fixtures import FOLDER_DEPTH, Fixture, JudgedQuery
from qmd.evaluation.runs import QueryRun, Run
from qmd.evaluation.tobi_bench import TobiScores
from qmd.named_tuple import NamedTuple

QUALITY = "nDCG@10"
"""The metric that ranks runs and charts."""

MEASURES = (QUALITY, "R@10", "R@100", "RR", "AP", "P@5")
"""Metrics by their names in ir-measures."""

PEER = TobiScores._fields[:7]
"""Metrics of tobi/qmd that have a mean."""

TOPS = (1, 3, 5)

Hits = dict[str, dict[str, int]]


class Scores(NamedTuple):
    """Metrics of a run.

    Attributes:
        mean: over all queries with a judged document; one without results counts 0.
        each: the same of each question, by its id.
        peer: by the id of each question of a JSON fixture; of others nothing.
        hits: of those, by kind: questions, and those with an expected file on top.
    """

    mean: Mapping[str, float]
    each: Mapping[str, Mapping[str, float]]
    peer: Mapping[str, TobiScores]
    hits: Hits

    @property
    def peer_mean(self) -> dict[str, float]:
        """The means of what tobi/qmd counts."""
        return {
            name: fmean(getattr(each, name) for each in self.peer.values())
            for name in PEER
            if self.peer
        }


def score(run: Run, fixture: Fixture, *, depth: int) -> Scores:
    """Compute the metrics of a run.

    Args:
        depth: requested results; metrics that need more are left out.
    """
    import ir_measures
    from ir_measures import AP, RR, P, Qrel, R, ScoredDoc, nDCG

    known = dict(zip(MEASURES, (nDCG @ 10, R @ 10, R @ 100, RR, AP, P @ 5), strict=True))
    if depth < FOLDER_DEPTH:
        del known["R@100"]
    names = {measure: name for name, measure in known.items()}
    metrics = ir_measures.iter_calc(
        list(names),
        [
            Qrel(question.id, document, grade)
            for question in fixture.questions
            for document, grade in question.judged.items()
        ],
        [
            ScoredDoc(query, document, score)
            for query, asked in run.asked.items()
            for document, score in asked.found
        ],
    )
    each: dict[str, dict[str, float]] = {}
    for metric in metrics:
        each.setdefault(metric.query_id, {})[names[metric.measure]] = float(metric.value)
    counted = (
        {question.id: _peer(run, question) for question in fixture.questions}
        if fixture.is_typed
        else {}
    )
    return Scores(
        {name: fmean(figures[name] for figures in each.values()) for name in known},
        each,
        counted,
        _hits(fixture.questions, counted),
    )


def _peer(run: Run, question: JudgedQuery) -> TobiScores:
    found = run.asked.get(question.id, QueryRun()).found
    return peer.scores([each.document for each in found], list(question.judged), question.k)


def _hits(questions: Sequence[JudgedQuery], counted: Mapping[str, TobiScores]) -> Hits:
    hits: Hits = {}
    for question in questions:
        if question.id not in counted or not question.judged or not question.kind:
            continue
        row = hits.setdefault(question.kind, {"queries": 0, **{f"hit@{top}": 0 for top in TOPS}})
        row["queries"] += 1
        for top in TOPS:
            row[f"hit@{top}"] += bool(getattr(counted[question.id], f"recall_at_{top}"))
    return hits
