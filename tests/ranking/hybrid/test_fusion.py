"""How lists become one: what the statements make of them, and what it adds up to."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from qmd.models.registry import MINILM
from qmd.operations.documents import below
from qmd.operations.search import search
from qmd.operations.semantic_search import vector_search
from qmd.ranking.expansion import FIRST, FURTHER
from qmd.storage.cursor import as_json
from tests.ranking.hybrid.asking import (
    ASK,
    RRF,
    ask,
    assert_adds_up,
    blend,
    files,
    ranks,
    weights,
)
from tests.test_cases import recorded

# -- statements ----------------------------------------------------------------


def run(library, name, **parameters):
    return library.engine.read(lambda cursor: cursor.run(name, **parameters))


def fused(library, rows, *, limit=100, k=60, half_life=None, now="2031-01-01"):
    """(document, score, bonus, recency, parts) as search/fuse_ranks gives them."""
    fields = {"documents": "document_id", "lists": "list", "ranks": "rank", "weights": "weight"}
    documents = [row["document_id"] for row in rows]
    recent = (
        {}
        if half_life is None
        else dict(run(library, "search/recency", documents=documents, half_life=half_life, now=now))
    )
    found = run(
        library,
        "search/fuse_ranks",
        **{name: [row[field] for row in rows] for name, field in fields.items()},
        recency=[recent.get(document, 0.0) for document in documents],
        k=k,
        limit=limit,
    )
    return [(*row, sorted(parts, key=lambda part: part["list"])) for *row, parts in found]


def test_a_larger_k_lets_the_first_ranks_count_less(town):
    rows = [
        {"document_id": 1, "list": 0, "rank": 4, "weight": 1.0},
        {"document_id": 2, "list": 0, "rank": 9, "weight": 1.0},
    ]
    for k in (1, 60, 1000):
        found = dict(scores_of(fused(town, rows, k=k)))
        assert found == {1: round(1 / (k + 4), 12), 2: round(1 / (k + 9), 12)}


def scores_of(rows):
    return [(document, score) for document, score, *_ in rows]


@pytest.mark.parametrize("case", recorded("fusion.json", "rrf"))
def test_ranks_are_fused_as_recorded(town, case):
    number = {name: int(name, 36) for each in case["lists"] for name in each}
    weights = case["weights"] or [1] * len(case["lists"])
    rows = [
        {"list": place, "weight": weight, "document_id": number[name], "rank": rank}
        for place, (each, weight) in enumerate(zip(case["lists"], weights, strict=True))
        for rank, name in enumerate(each, start=1)
    ]
    assert scores_of(fused(town, rows)) == [
        (number[name], pytest.approx(score, abs=1e-9)) for name, score in case["expected"]
    ]


numbers = st.integers(10**6, 10**6 + 30)
"""Documents that the index does not have: none of them is recent."""

ranked = st.lists(
    st.tuples(
        st.sampled_from(["lex", "vec"]),
        st.sampled_from([1, 2]) | st.floats(0.01, 2),
        st.dictionaries(
            numbers, st.floats(-1, 60).map(lambda score: round(score, 6) + 0.0), max_size=12
        ),
    ),
    max_size=5,
)


def as_rows(lists):
    return [
        {
            "list": place,
            "kind": kind,
            "weight": weight,
            "document_id": document,
            "rank": rank,
            "score": max(score, 0) if kind == "lex" else score / 60,
        }
        for place, (kind, weight, scores) in enumerate(lists)
        for rank, (document, score) in enumerate(
            sorted(scores.items(), key=lambda item: (-item[1], item[0])), start=1
        )
    ]


@settings(max_examples=30)
@given(ranked)
def test_ranks_are_fused_as_the_header_says(town, lists):
    rows = as_rows(lists)
    expected: Counter[int] = Counter()
    places: dict[int, list[tuple[int, int]]] = {}
    for row in rows:
        expected[row["document_id"]] += row["weight"] / (60 + row["rank"])
        places.setdefault(row["document_id"], []).append((row["list"], row["rank"]))
    order = {}
    for document, listed in places.items():
        best = min(rank for _, rank in listed)
        order[document] = min(number for number, _ in listed), best, document
        expected[document] += {1: 0.05, 2: 0.02, 3: 0.02}.get(best, 0)
    answer = fused(town, rows)
    assert fused(town, rows[::-1]) == answer
    assert fused(town, rows, limit=3) == answer[:3]
    found = scores_of(answer)
    assert dict(found) == pytest.approx(dict(expected), abs=1e-12)
    assert found == sorted(found, key=lambda row: (-row[1], order[row[0]]))
    for _, score, bonus, recency, parts in answer:
        contributed = sum(part["contribution"] for part in parts)
        assert (contributed + bonus, recency) == (pytest.approx(score, abs=1e-12), 0)


@settings(max_examples=40)
@given(st.lists(st.none() | st.floats(0, 1), max_size=25))
@example([0.0, 0.0, 0.5])  # the second and the third score the same
def test_places_and_judgements_are_blended_as_the_header_says(town, judged):
    judged.sort(key=lambda score: score is None)  # as it is: the first are judged
    rows = [
        {"document_id": 100 - rank, "rank": rank, "rerank": score}
        for rank, score in enumerate(judged, start=1)
    ]
    expected = [(100 - rank, *blend(rank, score)[::-1]) for rank, score in enumerate(judged, 1)]
    found = run(town, "search/blend", fused=as_json(rows))
    assert found == run(town, "search/blend", fused=as_json(rows[::-1]))
    assert sorted(found) == [(d, pytest.approx(s, abs=1e-12), w) for d, s, w in sorted(expected)]
    assert found == sorted(found, key=lambda row: (-row[1], -row[0]))
    unjudged = [100 - row["rank"] for row in rows if row["rerank"] is None]
    assert [document for document, _, _ in found][len(rows) - len(unjudged) :] == unjudged


def test_half_of_what_a_new_document_gets_goes_with_each_half_life(town):
    dated = {d.path: d.document_id for d in below(town.engine, "work")}
    rows = [{"list": 0, "weight": 1, "document_id": number, "rank": 9} for number in dated.values()]
    # The documents are of the first days of 2030 to 2033.
    given = {"half_life": 365.0, "now": "2032-01-01"}
    by_ranks = {number: recency for number, _, _, recency, _ in fused(town, rows, **given)}
    by_scores = dict(run(town, "search/recency", documents=list(dated.values()), **given))
    expected = {"0.md": 0.05 / 4, "1.md": 0.05 / 2, "2.md": 0.05, "3.md": 0.05}
    for recency in (by_ranks, by_scores):
        assert {path: recency[number] for path, number in dated.items()} == pytest.approx(expected)


# -- fusion --------------------------------------------------------------------


@pytest.mark.parametrize("document", ASK.values(), ids=ASK)
@pytest.mark.parametrize(
    ("options", "rerank"),
    [({}, False), (RRF, False), ({"candidates": 3}, True), (RRF, True)],
    ids=["scores", "rrf", "scores, three judged", "rrf, judged"],
)
def test_every_score_can_be_added_up_by_hand(town, document, options, rerank):
    answer = ask(town, document, rerank=rerank, **options)
    assert answer.notice is None
    assert len(answer) >= 5
    for result in answer:
        assert_adds_up(result, reranked=rerank)
    scores = [result.score for result in answer]
    assert scores == sorted(scores, reverse=True)


def test_what_a_new_document_gets_is_part_of_the_sum(town):
    plain = {result.file: result for result in ask(town, "red car")}
    answer = ask(town, "red car", recent=100)
    for result in answer:
        explain = result.explain
        parts = sum(part["contribution"] for part in explain["lists"])
        assert explain["bonus"] == 0 <= explain["recency"] <= 0.05
        assert result.score == pytest.approx(parts + explain["recency"], abs=1e-9)
        if result.file in plain:
            assert parts == pytest.approx(plain[result.file].score, abs=1e-9)
    days = (datetime.now(UTC).date() - datetime(2030, 1, 1).date()).days
    [oldest] = [result for result in answer if result.file == "work/0.md"]
    expected = 0.05 * 0.5 ** (max(days, 0) / 100)
    assert oldest.explain["recency"] == pytest.approx(expected, rel=0.02)


def test_a_plain_question_is_searched_by_words_and_by_meaning_and_both_weigh_twice(town):
    answer = ask(town, "red car", **RRF)
    lists = {(p["kind"], p["query"], p["weight"]) for r in answer for p in r.explain["lists"]}
    assert lists == {("lex", "red car", FIRST), ("vec", "red car", FIRST)}
    assert (FIRST, FURTHER) == (2, 1)
    assert weights(ask(town, "red car")) == [0.45, 0.55]


def test_the_first_search_of_a_typed_query_weighs_twice(town):
    answer = ask(town, ASK["typed"], **RRF)
    listed = {p["query"]: p["weight"] for r in answer for p in r.explain["lists"]}
    assert listed == {"a vehicle": 2, "red car": 1, "The automobile is red.": 1, "door": 1}
    assert weights(ask(town, ASK["typed"])) == [0.55 * 2 / 3, 0.225, 0.55 / 3, 0.225]


def test_a_passage_that_would_answer_is_embedded_as_a_document_is(helped, fake):
    models = MINILM._replace(query="question: {text}", document="passage: {text}")
    fake.model = models
    space = helped.engine.models.space()
    helped.engine.models.space = lambda: space._replace(model=models._replace(uri=space.model.uri))
    helped.write("tea.md", "# Tea\n\nA cup.")
    helped.update()
    helped.embed()
    fake.made.clear()
    ask(helped, "vec: a drink\nhyde: Tea is a drink.\nlex: tea")
    assert fake.made == ["question: a drink", "passage: Tea is a drink."]


def test_all_texts_are_embedded_in_one_batch(town):
    batches = []
    _, fake = town.engine.models._loaded["embed"]
    fake.before = lambda batch, between: batches.append(batch)
    ask(town, "vec: a\nhyde: b\nvec: c\nlex: d")
    fake.before = lambda batch, between: None
    assert len(batches) == 1


@pytest.mark.parametrize("limit", [1, 3, 7, 8, 10])
@pytest.mark.parametrize("options", [{}, RRF, {"recent": 1e9}], ids=["scores", "rrf", "recency"])
def test_of_documents_that_score_the_same_the_first_by_path_are_found(
    equals, options, limit, monkeypatch
):
    monkeypatch.setattr("qmd.ranking.nearest.DEPTH", 1)
    monkeypatch.setattr("qmd.ranking.hybrid_lists.DEPTH", dict.fromkeys(("scores", "rrf"), 4))
    expected = [f"{name}.md" for name in "abcdefgh"[:limit]]
    assert files(search(equals.engine, "same text", limit=limit)) == expected
    assert files(vector_search(equals.engine, "same text", limit=limit)) == expected
    for document in ("same text", "lex: same text", "vec: same text", "lex: same\nvec: text"):
        answer = ask(equals, document, limit=limit, **options)
        assert files(answer) == expected
        for kind in ("lex", "vec"):
            told = [rank for result in answer for rank in ranks(result, kind) if rank]
            assert told == [*range(1, len(told) + 1)]
