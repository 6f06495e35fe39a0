"""A model judges the best results, and what its failure costs."""

from __future__ import annotations

import math
from asyncio import CancelledError
from contextlib import suppress

import pytest

from qmd.errors import IndexNotWritable, ModelFailure
from qmd.models.protocols import nothing
from qmd.ranking import hybrid
from qmd.ranking.reranking import PASSAGE
from tests.ranking.hybrid.asking import ask, assert_adds_up, blend, files, found, garage, shelf
from tests.ranking.hybrid.fakes import SHORT, fail, never


def replace_judge(library, content):
    """Put another model in the place of the one that judges: nothing kept is its answer."""
    (library.folder / "rerank.gguf").write_bytes(b"GGUF" + content.encode())


def inverted(judge):
    """Lets the judge prefer what fusion does not: the last passage gets 1, the first 0."""

    def score(query, passages, *, between=nothing):
        judge.asked.append((query, list(passages)))
        return [at / max(len(passages) - 1, 1) for at in range(len(passages))]

    judge.score = score


def test_a_judge_moves_results_by_the_formula(helped, judge):
    garage(helped)
    inverted(judge)
    for fusion in ("scores", "rrf"):
        replace_judge(helped, fusion)
        fused = found(helped, "car", limit=12, fusion=fusion)
        answer = ask(helped, "car", limit=12, fusion=fusion, rerank=True)
        expected = {file: blend(rank, (rank - 1) / 11)[1] for rank, file in enumerate(fused, 1)}
        assert files(answer) == sorted(fused, key=lambda file: -expected[file])
        assert files(answer) != fused
        for file, result in zip(files(answer), answer, strict=True):
            assert result.score == pytest.approx(expected[file], abs=1e-9)
            assert_adds_up(result, reranked=True)


def test_the_passage_that_is_nearest_is_judged(helped, judge):
    helped.configure(more="chunk: {tokens: 20, overlap: 0}")
    parts = [f"# Part {n}\n\n{'other words here ' * 4}" for n in range(5)]
    parts[3] = "# Part 3\n\nThe automobile of the doctor."
    helped.write("long.md", "\n\n".join(parts))
    helped.update()
    helped.embed()
    ask(helped, "vec: vehicle", rerank=True)
    [(question, [passage])] = judge.asked
    assert question == "vehicle"
    assert "automobile of the doctor" in passage
    assert len(passage) < 100


def test_without_vectors_the_part_with_the_words_is_judged(helped, judge):
    filler = "\n".join(f"Line {n} about something else." for n in range(300))
    helped.write("long.md", f"{filler}\nThe samovar stands here.\n{filler}")
    helped.update()
    ask(helped, "samovar", rerank=True, meaning=False)
    [(_, [passage])] = judge.asked
    assert "The samovar stands here." in passage
    assert len(passage) <= PASSAGE


def test_what_was_kept_is_answered_without_loading_a_model(helped, judge, writer, monkeypatch):
    shelf(helped)
    writer.says = "lex: tea leaves\n"
    first = ask(helped, "tea", expand=True, rerank=True)

    def load(model, machine):
        raise ModelFailure("It was loaded.")

    helped.engine.models._loaded.pop("rerank")
    helped.engine.models._loaded.pop("generate")
    monkeypatch.setattr("qmd.models.selection.reranker", load)
    monkeypatch.setattr("qmd.models.selection.generator", load)
    assert ask(helped, "tea", expand=True, rerank=True) == first
    replace_judge(helped, "another")
    assert "It was loaded." in ask(helped, "tea", expand=True, rerank=True).notice


def test_a_document_found_by_a_rare_word_shows_it_and_is_judged_by_it(helped, judge):
    filler = "\n\n".join(f"Line {n} of something else altogether." for n in range(60))
    helped.write(
        "long.md", f"# Lesson\n\nThe lesson of a teacher.\n\n{filler}\n\nKubernetes is hard."
    )
    helped.update()
    helped.embed()
    [result] = ask(helped, "kubernetes lesson teacher", rerank=True)
    assert "Lesson" in result.snippet  # the passage near to it has words of the question
    [result] = ask(helped, "lex: kubernetes\nvec: lesson of a teacher", rerank=True)
    assert "Kubernetes is hard." in result.snippet
    assert result.line == len(f"# Lesson\n\nThe lesson of a teacher.\n\n{filler}\n\n".split("\n"))
    assert "Kubernetes is hard." in judge.asked[-1][1][0]


def test_equal_passages_are_judged_once_and_each_only_once(helped, judge):
    for name in "abc":
        helped.write(f"{name}.md", "# Tea\n\nA cup of tea.")
    helped.write("d.md", "# Green tea\n\nAnother cup of tea.")
    helped.update()
    helped.embed()
    first = ask(helped, "tea", rerank=True)
    [(_, passages)] = judge.asked
    assert len(passages) == len(set(passages)) == 2
    assert len(first) == 4
    assert ask(helped, "tea", rerank=True) == first
    assert len(judge.asked) == 1
    helped.write("d.md", "# Black tea\n\nA changed cup of tea.")
    helped.update()
    helped.embed()
    ask(helped, "tea", rerank=True)
    assert judge.asked[1][1] == ["# Black tea\n\nA changed cup of tea."]
    ask(helped, "cup", rerank=True)
    assert (judge.asked[2][0], len(judge.asked[2][1])) == ("cup", 2)
    replace_judge(helped, "another")
    ask(helped, "cup", rerank=True)
    assert len(judge.asked) == 4


def test_a_judge_sees_the_questions_but_no_passage_that_would_answer(helped, judge):
    garage(helped)
    ask(helped, "lex: car\nhyde: A car is here.\nvec: vehicle\nvec: car", rerank=True)
    ask(helped, "hyde: A car is here.", rerank=True)
    assert [question for question, _ in judge.asked] == ["car vehicle", "A car is here."]


def test_no_more_than_the_candidates_are_judged_and_the_rest_comes_after_them(helped, judge):
    garage(helped)
    inverted(judge)
    fused = found(helped, "car", limit=12)
    for candidates in (0, 1, 5, 12, 40):
        judge.asked.clear()
        replace_judge(helped, f"{candidates:03}")
        answer = ask(helped, "car", limit=12, rerank=True, candidates=candidates)
        assert sum(len(passages) for _, passages in judge.asked) == min(candidates, 12)
        assert set(files(answer)[:candidates]) == set(fused[:candidates])
        assert files(answer)[candidates:] == fused[candidates:]
        unjudged = [result for result in answer if result.explain["rerank"] is None]
        assert len(unjudged) == max(12 - candidates, 0)
        for result in answer:
            assert_adds_up(result, reranked=True)


@pytest.mark.parametrize(
    ("before", "reason"),
    [
        (fail, "It broke."),
        (never, "The model took longer than 0.05 s."),
        (None, "rerank.gguf gave a score that is no number."),
    ],
    ids=["failure", "timeout", "nan"],
)
def test_a_judge_that_gives_no_scores_leaves_the_order_of_fusion(helped, judge, before, reason):
    garage(helped)
    if before is None:
        judge.says = lambda passage: math.nan if passage.endswith("of 3.") else 0.5
    else:
        judge.before = before
    fused = ask(helped, "car", limit=12)
    answer = ask(helped, "car", limit=12, rerank=True, timeout=SHORT)
    assert answer == fused
    assert answer.notice == f"The results were not reranked. {reason}"
    assert helped.ask("select count(*) from cache") == [(0,)]


def test_a_document_that_goes_before_it_is_judged_is_left_out(helped, judge, monkeypatch):
    garage(helped)
    documents = hybrid.bm25.documents

    def without_one(cursor, ids, from_file=None):
        there = documents(cursor, ids, from_file)
        return {number: text for number, text in there.items() if text.path != "03.md"}

    monkeypatch.setattr(hybrid.bm25, "documents", without_one)
    answer = ask(helped, "car", limit=12, rerank=True)
    assert len(answer) == 11
    assert "03.md" not in files(answer)


@pytest.mark.parametrize("kind", ["ranker", "judge"])
def test_a_tiny_model_reranks_and_its_scores_are_kept(meaning, request, kind):
    file = request.getfixturevalue(f"tiny_{kind}")
    chosen = {**meaning.engine.models.machine.chosen, "rerank": str(file)}
    meaning.engine.models.machine = meaning.engine.models.machine._replace(chosen=chosen)
    for number, word in enumerate(["tea", "river", "car", "snow", "bread"]):
        meaning.write(f"{word}.md", f"# {word}\n\nThe {word} of the house in the year {number}.")
    meaning.update()
    meaning.embed()
    answer = ask(meaning, "house", rerank=True)
    assert answer.notice is None
    assert len(answer) == 5
    for result in answer:
        assert_adds_up(result, reranked=True)
    judged = [result.explain["rerank"] for result in answer]
    assert all(0 <= score <= 1 for score in judged)
    assert len(set(judged)) > 1
    assert meaning.ask("select kind, count(*) from cache group by kind") == [("rerank", 5)]
    assert ask(meaning, "house", rerank=True) == answer
    assert meaning.ask("select count(*) from cache") == [(5,)]


def test_an_index_that_cannot_be_written_answers_all_the_same(helped, writer, judge, monkeypatch):
    garage(helped)
    expected = ask(helped, "car", expand=True, rerank=True)
    helped.engine.database.write(lambda cursor: cursor.run("maintenance/clear_cache"))

    def refuse(work):
        raise IndexNotWritable(helped.engine.place.database, "Read-only file system")

    monkeypatch.setattr(helped.engine.database, "write", refuse)
    for _ in range(2):
        assert ask(helped, "car", expand=True, rerank=True) == expected
    assert len(writer.asked) == len(judge.asked) == 3


def test_an_answer_that_comes_too_late_is_told_and_kept_for_the_next_time(helped, judge):
    garage(helped)
    inverted(judge)
    fused = found(helped, "car", limit=12)

    score = judge.score

    def late(query, passages, *, between):
        with suppress(CancelledError):
            never(between)
        return score(query, passages)

    judge.score = late
    answer = ask(helped, "car", limit=12, rerank=True, timeout=SHORT)
    assert files(answer) == fused
    assert answer.notice == "The results were not reranked. The model took longer than 0.05 s."
    answer = ask(helped, "car", limit=12, rerank=True, timeout=SHORT)
    assert answer.notice is None
    assert files(answer) != fused
    assert len(judge.asked) == 1
