"""Reranked scores, worked out by hand: w / rank + (1 - w) × judgement.

w is 0.75 for the ranks 1 to 3, 0.6 for 4 to 10, and 0.4 from 11 on.
"""

from __future__ import annotations

import pytest

from tests.ranking.hybrid.asking import ask, files, garage

WORDS = {"meaning": False}


def scores(answer):
    return [(file, pytest.approx(r.score)) for file, r in zip(files(answer), answer, strict=True)]


def test_a_judgement_of_a_half_for_all_lifts_the_last(helped, judge):
    garage(helped)
    judge.says = lambda passage: 0.5
    answer = ask(helped, "car", rerank=True, limit=12, **WORDS)
    assert scores(answer) == [
        ("00.md", 0.875),  # 0.75 + 0.125
        ("01.md", 0.5),  # 0.375 + 0.125
        ("02.md", 0.375),  # 0.25 + 0.125
        ("03.md", 0.35),  # 0.15 + 0.2
        ("10.md", 0.4 / 11 + 0.3),
        ("11.md", 0.4 / 12 + 0.3),
        ("04.md", 0.32),
        ("05.md", 0.3),
        ("06.md", 0.6 / 7 + 0.2),
        ("07.md", 0.275),
        ("08.md", 0.6 / 9 + 0.2),
        ("09.md", 0.26),
    ]
    assert [result.explain["rerank"] for result in answer] == [0.5] * 12
    assert [result.explain["rank"] for result in answer[3:6]] == [4, 11, 12]
    assert [result.explain["weight"] for result in answer[3:6]] == [0.6, 0.4, 0.4]


def test_those_that_are_not_judged_stay_behind_in_their_order(helped, judge):
    garage(helped)
    judge.says = lambda passage: 1 if "of 2." in passage else 0
    answer = ask(helped, "car", candidates=3, **WORDS, rerank=True, limit=5)
    assert scores(answer) == [
        ("00.md", 0.75),
        ("02.md", 0.5),  # 0.25 + 0.25
        ("01.md", 0.375),
        ("03.md", 0.15),
        ("04.md", 0.12),
    ]
    assert [result.explain["rerank"] for result in answer] == [0, 1, 0, None, None]
    [(question, passages)] = judge.asked
    assert (question, len(passages)) == ("car", 3)


def test_forty_documents_are_judged(helped, judge):
    for number in range(45):
        helped.write(f"{number:02}.md", f"A car of {number}.")
    helped.update()
    ask(helped, "car", rerank=True, **WORDS)
    [(_, passages)] = judge.asked
    assert len(passages) == 40


def test_equal_passages_are_judged_once_and_the_intent_is_part_of_the_question(helped, judge):
    for name in "ab":
        helped.write(f"{name}.md", "A car.")
    helped.update()
    answer = ask(helped, "lex: car\nintent: to drive", rerank=True, **WORDS)
    assert judge.asked == [("car\nto drive", ["A car."])]
    assert [result.explain["rerank"] for result in answer] == [0.5, 0.5]


@pytest.mark.parametrize(("more", "lines"), [("", 15), ("x", 14)])
def test_1500_characters_are_judged_where_no_vector_says_which(helped, judge, more, lines):
    body = ["car".ljust(99, "-")] + ["-" * 99] * 13 + ["-" * 99 + more]
    helped.write("long.md", "\n".join(body))
    helped.update()
    ask(helped, "car", rerank=True, **WORDS)
    [(_, [passage])] = judge.asked
    assert passage.split("\n") == body[:lines]


def test_a_failure_leaves_the_order_and_the_scores(helped, judge):
    garage(helped)
    plain = ask(helped, "car", limit=12, **WORDS)
    judge.says = lambda passage: float("nan")
    answer = ask(helped, "car", rerank=True, limit=12, **WORDS)
    assert scores(answer) == scores(plain)
    assert answer.notice == (
        "The results were not reranked. rerank.gguf gave a score that is no number."
    )
