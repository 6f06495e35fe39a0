"""Relevance over the notes of examples/, by questions that people judged: examples/judged.json.

The figures are those that were measured; a change of either sign has to be looked at. Keyword
figures are the same everywhere. Vectors differ in the last digits between processors, so that
documents which are nearly equally near may change places.
"""

from __future__ import annotations

from collections import Counter
from functools import partial
from pathlib import Path

import anyio
import pytest

from bench.relevance import engine_over
from qmd.evaluation import Backend, fixtures
from qmd.evaluation.index_under_test import Bench, missing_documents
from qmd.evaluation.metrics import score
from qmd.evaluation.runner import ask
from qmd.operations.documents import below
from qmd.operations.embed import run_embed

EXAMPLES = Path(__file__).parents[1] / "examples"

SAME, NEAR = 0.0001, 0.02
"""Tolerance of nDCG@10: by words, and where vectors are compared."""


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    """The notes in an index of their own, and the questions."""
    fixture = fixtures.read(EXAMPLES / "judged.json")._replace(collection=None)
    engine = engine_over(EXAMPLES / "notes", tmp_path_factory.mktemp("judged"))
    yield Bench(engine, fixture)
    engine.close()


@pytest.fixture(scope="module")
def embedded(bench):
    """The same, with the vectors of the model that needs no download."""
    anyio.run(run_embed, bench.engine)
    return bench


def ndcg(bench, backend):
    """nDCG@10 of all questions, and of each kind."""
    work = partial(
        ask, bench, [backend], meaning=True, depth=10, progress=lambda _: lambda done, of: None
    )
    [run] = anyio.run(work)
    scores = score(run, bench.fixture, depth=10)
    kinds = {}
    for question in bench.fixture.questions:
        kinds.setdefault(question.kind, []).append(scores.each[question.id]["nDCG@10"])
    return scores.mean["nDCG@10"], {kind: sum(all_) / len(all_) for kind, all_ in kinds.items()}


def test_every_judged_note_is_there_and_every_note_is_judged(bench):
    assert missing_documents(bench) == []
    judged = {name for question in bench.fixture.questions for name in question.judged}
    assert len(judged) == len(below(bench.engine, None)) == 50


def test_there_are_questions_of_every_kind(bench):
    assert Counter(question.kind for question in bench.fixture.questions) == {
        "exact": 12,
        "paraphrase": 21,
        "name": 12,
        "identifier": 14,
        "phrase": 10,
        "exclusion": 7,
        "date": 10,
        "cjk": 12,
        "several": 12,
        "misleading": 17,
    }
    assert {grade for each in bench.fixture.questions for grade in each.judged.values()} == {
        1,
        2,
        3,
    }


def test_words_find_what_people_judged_relevant(bench):
    mean, kinds = ndcg(bench, Backend.BM25)
    assert mean == pytest.approx(0.9214, abs=SAME)
    assert kinds == pytest.approx(
        {
            "exact": 0.9449,
            "paraphrase": 0.6906,
            "name": 0.9732,
            "identifier": 0.9938,
            "phrase": 1,
            "exclusion": 0.9876,
            "date": 0.9859,
            "cjk": 1,
            "several": 0.8847,
            "misleading": 0.9528,
        },
        abs=SAME,
    )


@pytest.mark.parametrize(
    ("backend", "expected"), [(Backend.VECTOR, 0.7357), (Backend.HYBRID, 0.9534)]
)
def test_meaning_and_both_find_what_people_judged_relevant(embedded, backend, expected):
    mean, kinds = ndcg(embedded, backend)
    assert mean == pytest.approx(expected, abs=NEAR)
    assert kinds["paraphrase"] > 0.76  # 0.6906 by words


def test_a_note_that_is_not_among_the_nearest_is_not_lost(embedded, monkeypatch):
    """Of ten nearest."""
    monkeypatch.setattr("qmd.ranking.hybrid_lists.DEPTH", {"scores": 10, "rrf": 10})
    mean, _ = ndcg(embedded, Backend.HYBRID)
    assert mean == pytest.approx(0.9462, abs=NEAR)
