"""Fused scores, worked out by hand: words count 0.42, meaning 0.58; bm25 20 is half a score.

No number here is taken from the code.
"""

from __future__ import annotations

import pytest

from qmd.ranking.fusion import DEPTH, Listed, fused
from qmd.types import Nearest

FIRST, SECOND, THIRD = 1_000_001, 1_000_002, 1_000_003
"""Documents that the index does not have, so that no date counts."""


def words(scores, *, text="tea", weight=1.0):
    return Listed("lex", text, weight, scores, {})


def near(scores, *, text="tea", weight=1.0, kind="vec"):
    passages = {number: Nearest(number, score, 0, 9, 1) for number, score in scores.items()}
    return Listed(kind, text, weight, scores, passages)


def fuse(library, lists, fusion="scores", **options):
    given = {"banned": (), "half_life": None, "limit": 10, **options}
    return library.engine.read(lambda cursor: fused(cursor, lists, fusion, **given))


def scores(found):
    return [(each.document_id, pytest.approx(each.score, abs=1e-12)) for each in found]


def parts(ranked):
    """(rank, weight, contribution) of each list."""
    return [
        (part["rank"], pytest.approx(part["weight"]), pytest.approx(part["contribution"]))
        for part in ranked.explain["lists"]
    ]


def test_a_document_that_a_list_by_meaning_lacks_gets_its_lowest_cosine(library):
    found = fuse(library, [words({FIRST: 20.0, SECOND: 5.0}), near({SECOND: 0.8, THIRD: 0.5})])
    assert scores(found) == [
        (SECOND, 0.548),  # 0.42 × 5 / 25 + 0.58 × 0.8 = 0.084 + 0.464
        (FIRST, 0.5),  # 0.42 × 20 / 40 + 0.58 × 0.5 = 0.21 + 0.29
        (THIRD, 0.29),  # 0.58 × 0.5, and nothing from the words
    ]
    assert [parts(each) for each in found] == [
        [(2, 0.42, 0.084), (1, 0.58, 0.464)],
        [(1, 0.42, 0.21), (None, 0.58, 0.29)],
        [(None, 0.42, 0.0), (2, 0.58, 0.29)],
    ]


def test_the_lowest_cosine_is_never_below_0(library):
    found = fuse(library, [words({FIRST: 20.0}), near({SECOND: 0.5, THIRD: -0.25})])
    # 0.58 × 0.5; 0.42 × 20 / 40 + 0; 0.
    assert scores(found) == [(SECOND, 0.29), (FIRST, 0.21), (THIRD, 0.0)]


def test_an_empty_list_by_meaning_has_nothing_for_others(library):
    assert scores(fuse(library, [words({FIRST: 20.0}), near({})])) == [(FIRST, 0.21)]


def test_each_list_by_meaning_has_a_lowest_cosine_of_its_own(library):
    lists = [
        words({FIRST: 60.0}),
        near({SECOND: 0.9, THIRD: 0.4}, weight=2.0),
        near({THIRD: 0.6}, weight=1.0, kind="hyde"),
    ]
    # The weights are 0.42, 0.58 × 2 / 3 and 0.58 / 3.
    assert scores(fuse(library, lists)) == [
        (FIRST, 0.315 + 0.58 * (0.8 + 0.6) / 3),  # 0.42 × 60 / 80 + both floors
        (SECOND, 0.58 * (1.8 + 0.6) / 3),
        (THIRD, 0.58 * (0.8 + 0.6) / 3),
    ]


def test_a_document_without_a_vector_gets_from_meaning_what_its_words_get_it(library):
    lists = [words({FIRST: 20.0, SECOND: 5.0}), near({SECOND: 0.8, THIRD: 0.5})]
    found = fuse(library, lists, unknown=[FIRST])
    # 20 / 40 from its words: 0.42 × 0.5 + 0.58 × 0.5, and not 0.58 × the floor of 0.5 by chance.
    assert scores(found) == [(SECOND, 0.548), (FIRST, 0.5), (THIRD, 0.29)]
    found = fuse(library, [words({FIRST: 5.0}), near({SECOND: 0.8, THIRD: 0.5})], unknown=[FIRST])
    assert scores(found) == [(SECOND, 0.464), (THIRD, 0.29), (FIRST, 0.2)]  # 5 / 25
    assert parts(found[2]) == [(1, 0.42, 0.084), (None, 0.58, 0.116)]


def test_as_many_documents_of_a_list_are_fused_as_were_measured():
    assert DEPTH == {"scores": 200, "rrf": 20}


def test_a_list_alone_counts_in_full(library):
    found = fuse(library, [words({FIRST: 20.0, SECOND: 5.0, THIRD: 0.0})])
    assert [(each.explain["bonus"], each.explain["recency"]) for each in found] == [(0, 0)] * 3
    assert [each.explain["fused"] for each in found] == [each.score for each in found]
    assert scores(found) == [(FIRST, 0.5), (SECOND, 0.2), (THIRD, 0.0)]
    assert [parts(each) for each in found] == [[(1, 1.0, 0.5)], [(2, 1.0, 0.2)], [(3, 1.0, 0.0)]]
    found = fuse(library, [near({FIRST: 0.7, SECOND: -0.1})])
    assert scores(found) == [(FIRST, 0.7), (SECOND, 0.0)]


def test_two_lists_of_a_kind_share_all_of_the_weight(library):
    lists = [words({FIRST: 20.0}, weight=2.0), words({FIRST: 5.0, SECOND: 20.0}, weight=1.0)]
    # 2 / 3 × 0.5 + 1 / 3 × 0.2; 1 / 3 × 0.5.
    assert scores(fuse(library, lists)) == [(FIRST, 0.4), (SECOND, 0.5 / 3)]


def test_reciprocal_ranks_add_up_with_a_bonus_for_the_top(library):
    lists = [
        words({FIRST: 9.0, SECOND: 8.0, THIRD: 7.0}, weight=2.0),
        near({THIRD: 0.9, SECOND: 0.8}),
    ]
    found = fuse(library, lists, "rrf")
    assert scores(found) == [
        (THIRD, round(2 / 63 + 1 / 61 + 0.05, 12)),
        (FIRST, round(2 / 61 + 0.05, 12)),
        (SECOND, round(2 / 62 + 1 / 62 + 0.02, 12)),
    ]
    assert [each.explain["bonus"] for each in found] == [0.05, 0.05, 0.02]
    assert parts(found[1]) == [(1, 2.0, 2 / 61)]  # by ranks, a list that lacks it says nothing


@pytest.mark.parametrize("fusion", ["scores", "rrf"])
def test_what_a_question_excludes_does_not_answer_but_keeps_its_rank(library, fusion):
    lists = [words({FIRST: 20.0, SECOND: 5.0}), near({FIRST: 0.8, SECOND: 0.5})]
    [found] = fuse(library, lists, fusion, banned={FIRST})
    assert found.document_id == SECOND
    assert [part["rank"] for part in found.explain["lists"]] == [2, 2]


def test_the_nearest_passage_of_any_list_is_that_of_the_document(library):
    lists = [
        near({FIRST: 0.5}),
        near({FIRST: 0.7, SECOND: 0.6}, kind="hyde"),
        near({FIRST: 0.6}),
    ]
    found = {each.document_id: each for each in fuse(library, lists)}
    assert found[FIRST].near == Nearest(FIRST, 0.7, 0, 9, 1)
    assert found[SECOND].near == Nearest(SECOND, 0.6, 0, 9, 1)
    assert not found[FIRST].by_words


def test_a_document_is_told_to_be_found_by_words_only_if_it_was(library):
    found = fuse(library, [near({FIRST: 0.5}), words({SECOND: 5.0})])
    assert {each.document_id: (each.by_words, each.near is None) for each in found} == {
        FIRST: (False, False),
        SECOND: (True, True),
    }
