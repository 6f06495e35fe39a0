"""Weighted sums of lists, over generated lists, and where a document without a vector stands."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qmd.operations.documents import below
from qmd.ranking.fusion import Listed, fused
from qmd.types import Nearest

numbers = st.integers(10**6, 10**6 + 30)
"""Documents that the index does not have: none of them is recent."""

values = st.floats(0, 1).map(lambda score: round(score, 6))

ranked = st.lists(
    st.tuples(
        st.sampled_from(["lex", "vec"]),
        st.sampled_from([1.0, 2.0]) | st.floats(0.01, 2),
        st.dictionaries(numbers, values, max_size=12),
    ),
    max_size=5,
)


def listed(kind, weight, scores):
    best = dict(sorted(scores.items(), key=lambda item: (-item[1], item[0])))
    near = {n: Nearest(n, score, 0, 5, 1) for n, score in best.items() if kind != "lex"}
    return Listed(kind, "tea", weight, best, near)


def fuse(library, lists, **options):
    asked = {"banned": (), "half_life": None, "limit": 1000, **options}
    lists = [listed(*each) for each in lists]
    return library.engine.read(lambda cursor: fused(cursor, lists, "scores", **asked))


def shares(lists):
    """The weight of each list: all keyword lists 0.45 together, if there are others."""
    sums = {"lex": 0.0, "vec": 0.0}
    for kind, weight, _ in lists:
        sums[kind] += weight
    words = 0.45 if all(sums.values()) else 1.0 if sums["lex"] else 0.0
    of_all = {"lex": words, "vec": 1 - words}
    return [of_all[kind] * weight / sums[kind] for kind, weight, _ in lists]


def has(lists, document):
    """What a document has of each list."""
    return [
        share * scores.get(document, 0.0 if kind == "lex" else min(scores.values(), default=0.0))
        for share, (kind, _, scores) in zip(shares(lists), lists, strict=True)
    ]


@settings(max_examples=60)
@given(ranked)
def test_scores_are_added_up_by_weight(town, lists):
    documents = {document for _, _, scores in lists for document in scores}
    answer = fuse(town, lists)
    assert {each.document_id: each.score for each in answer} == pytest.approx(
        {document: sum(has(lists, document)) for document in documents}, abs=1e-11
    )
    assert [each.score for each in answer] == sorted((e.score for e in answer), reverse=True)
    assert fuse(town, lists, limit=3) == answer[:3]
    for each in answer:
        given_ = [part["contribution"] for part in each.explain["lists"]]
        assert given_ == pytest.approx(has(lists, each.document_id), abs=1e-11)


@settings(max_examples=150)
@given(st.dictionaries(numbers, values), st.dictionaries(numbers, values, min_size=1), st.data())
def test_as_many_are_before_a_document_without_a_vector_as_by_words(town, words, near, data):
    unknown = data.draw(st.sets(st.sampled_from(sorted(words)))) if words else set()
    near = {document: score for document, score in near.items() if document not in unknown}
    lists = [("lex", 1.0, words), ("vec", 1.0, near)]
    answer = fuse(town, lists, unknown=unknown)
    scores = [each.score for each in answer]
    assert scores == sorted(scores, reverse=True)
    known = {each.document_id: each.score for each in answer if each.document_id not in unknown}
    assert known == pytest.approx({d: sum(has(lists, d)) for d in known}, abs=1e-11)
    by_words = {document: words.get(document, 0.0) for document in [*known, *unknown]}
    for place, each in enumerate(answer):
        given_ = [part["contribution"] for part in each.explain["lists"]]
        assert sum(given_) == pytest.approx(each.score, abs=1e-11)
        assert -1e-11 <= given_[1] <= 0.55 + 1e-11
        if each.document_id in unknown:
            mine = by_words[each.document_id]
            before = [e.document_id for e in answer[:place]]
            wanted = sum(by_words[document] > mine for document in known)
            # Where several have the same score, it is before or behind all of them.
            above = sum(score > each.score for score in known.values())
            equal = sum(score == each.score for score in known.values())
            assert above <= wanted <= above + equal
            assert sum(d in known for d in before) in (above, wanted, above + equal)
            assert all(by_words[d] >= mine for d in before if d in unknown)


def test_a_new_document_that_fits_has_no_score_above_1(town):
    dated = {d.path: d.document_id for d in below(town.engine, "work")}
    names = {number: path for path, number in dated.items()}
    scores = {dated["0.md"]: 0.97, dated["1.md"]: 1.0, dated["2.md"]: 0.98, dated["3.md"]: 0.9}
    answer = fuse(town, [("vec", 1.0, scores)], half_life=1e9)
    assert [(names[e.document_id], e.score, e.explain["recency"]) for e in answer] == [
        ("1.md", 1, 0),
        ("2.md", 1, pytest.approx(0.02)),
        ("0.md", 1, pytest.approx(0.03)),
        ("3.md", pytest.approx(0.95), pytest.approx(0.05)),
    ]
    assert fuse(town, [("vec", 1.0, scores)], half_life=1e9, limit=2) == answer[:2]
