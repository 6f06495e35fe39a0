"""Fused scores, worked out by hand: words count 0.45, meaning 0.55.

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


def test_a_document_that_a_list_by_meaning_lacks_gets_its_lowest_score(library):
    found = fuse(library, [words({FIRST: 0.5, SECOND: 0.2}), near({SECOND: 0.8, THIRD: 0.5})])
    assert scores(found) == [
        (SECOND, 0.53),  # 0.45 × 0.2 + 0.55 × 0.8 = 0.09 + 0.44
        (FIRST, 0.5),  # 0.45 × 0.5 + 0.55 × 0.5 = 0.225 + 0.275
        (THIRD, 0.275),  # 0.55 × 0.5, and nothing from the words
    ]
    assert [parts(each) for each in found] == [
        [(2, 0.45, 0.09), (1, 0.55, 0.44)],
        [(1, 0.45, 0.225), (None, 0.55, 0.275)],
        [(None, 0.45, 0.0), (2, 0.55, 0.275)],
    ]


def test_an_empty_list_by_meaning_has_nothing_for_others(library):
    assert scores(fuse(library, [words({FIRST: 0.5}), near({})])) == [(FIRST, 0.225)]


def test_each_list_by_meaning_has_a_lowest_score_of_its_own(library):
    lists = [
        words({FIRST: 0.75}),
        near({SECOND: 0.9, THIRD: 0.4}, weight=2.0),
        near({THIRD: 0.6}, weight=1.0, kind="hyde"),
    ]
    # The weights are 0.45, 0.55 × 2 / 3 and 0.55 / 3.
    assert scores(fuse(library, lists)) == [
        (FIRST, 0.3375 + 0.55 * (0.8 + 0.6) / 3),  # 0.45 × 0.75 + both floors
        (SECOND, 0.55 * (1.8 + 0.6) / 3),
        (THIRD, 0.55 * (0.8 + 0.6) / 3),
    ]


def test_a_document_without_a_vector_has_the_score_of_its_words(library):
    lists = [words({FIRST: 0.8, SECOND: 0.2}), near({SECOND: 0.7, THIRD: 0.5})]
    found = fuse(library, lists, unknown=[FIRST])
    # 0.45 × 0.2 + 0.55 × 0.7 and 0.55 × 0.5; of the first, the rest is what meaning would give.
    assert scores(found) == [(FIRST, 0.8), (SECOND, 0.475), (THIRD, 0.275)]
    assert parts(found[0]) == [(1, 0.45, 0.36), (None, 0.55, 0.44)]


def test_a_document_without_a_vector_stands_where_its_words_put_it(library):
    # The first is before all others by words: it has no less than the best of them.
    lists = [words({FIRST: 0.5, SECOND: 0.2}), near({SECOND: 0.8, THIRD: 0.5})]
    found = fuse(library, lists, unknown=[FIRST])
    assert scores(found) == [(FIRST, 0.53), (SECOND, 0.53), (THIRD, 0.275)]
    assert parts(found[0]) == [(1, 0.45, 0.225), (None, 0.55, 0.305)]
    # One is before it by words: so is one in the end, here with less than its words are worth.
    lists = [words({SECOND: 0.3, FIRST: 0.25}), near({SECOND: 0.1, THIRD: 0.05})]
    found = fuse(library, lists, unknown=[FIRST])
    assert scores(found) == [(SECOND, 0.19), (FIRST, 0.19), (THIRD, 0.0275)]
    assert parts(found[1]) == [(2, 0.45, 0.1125), (None, 0.55, 0.0775)]
    # And one is behind it that meaning has put there, with more than its words are worth.
    lists = [words({SECOND: 0.4, FIRST: 0.2}), near({THIRD: 0.6, SECOND: 0.3})]
    found = fuse(library, lists, unknown=[FIRST])
    assert scores(found) == [(SECOND, 0.345), (FIRST, 0.33), (THIRD, 0.33)]


def test_as_many_documents_of_a_list_are_fused_as_were_measured():
    assert DEPTH == {"scores": 200, "rrf": 20}


def test_a_list_alone_counts_in_full(library):
    for list_ in (words, near):
        found = fuse(library, [list_({FIRST: 0.5, SECOND: 0.2, THIRD: 0.0})])
        assert [(each.explain["bonus"], each.explain["recency"]) for each in found] == [(0, 0)] * 3
        assert [each.explain["fused"] for each in found] == [each.score for each in found]
        assert scores(found) == [(FIRST, 0.5), (SECOND, 0.2), (THIRD, 0.0)]
        assert [parts(each) for each in found] == [
            [(1, 1.0, 0.5)],
            [(2, 1.0, 0.2)],
            [(3, 1.0, 0.0)],
        ]


def test_two_lists_of_a_kind_share_all_of_the_weight(library):
    lists = [words({FIRST: 0.5}, weight=2.0), words({FIRST: 0.2, SECOND: 0.5}, weight=1.0)]
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
    lists = [words({FIRST: 0.5, SECOND: 0.2}), near({FIRST: 0.8, SECOND: 0.5})]
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
    found = fuse(library, [near({FIRST: 0.5}), words({SECOND: 0.2})])
    assert {each.document_id: (each.by_words, each.near is None) for each in found} == {
        FIRST: (False, False),
        SECOND: (True, True),
    }


@pytest.fixture
def dated(library):
    """Documents of the index: a week old, of today, and very old; in the order of paths."""
    library.write("a.md", "---\ndate: 2024-05-10\n---\n# Kettle\n")
    library.write("b.md", "---\ndate: 2024-05-17\n---\n# Kettle\n")
    library.write("c.md", "---\ndate: 1970-01-01\n---\n# Kettle\n")
    library.update()
    rows = library.ask("select document_id from documents order by path")
    return library, *(number for (number,) in rows)


def test_a_recent_document_gains_a_twentieth_at_most_and_none_above_one(dated, monkeypatch):
    monkeypatch.setattr("qmd.ranking.fusion._now", lambda: "2024-05-17 00:00:00")
    library, week, today, old = dated
    found = fuse(library, [words({week: 0.52, today: 0.5, old: 0.51})], half_life=7.0)
    assert scores(found) == [(today, 0.55), (week, 0.545), (old, 0.51)]
    assert [each.explain["recency"] for each in found] == pytest.approx([0.05, 0.025, 0])
    [found] = fuse(library, [words({today: 0.98})], half_life=7.0)
    assert (found.score, found.explain["recency"]) == (1.0, 0.02)


@pytest.mark.parametrize("fusion", ["scores", "rrf"])
def test_documents_with_equal_scores_go_by_path(dated, fusion):
    library, first, second, third = dated
    lists = [words({third: 0.5, first: 0.4}), words({first: 0.5, third: 0.4})]
    assert [each.document_id for each in fuse(library, lists, fusion)] == [first, third]
    lists = [words({third: 0.5, second: 0.5, first: 0.5}), words({})]
    assert [each.document_id for each in fuse(library, lists, limit=2)] == [first, second]


def test_as_many_documents_are_fused_by_ranks_as_are_asked_for(dated):
    library, first, second, third = dated
    lists = [words({third: 0.5, second: 0.4, first: 0.3})]
    assert [each.document_id for each in fuse(library, lists, "rrf", limit=2)] == [third, second]
    assert [each.document_id for each in fuse(library, lists, "rrf", limit=1)] == [third]
