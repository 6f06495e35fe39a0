"""Judged questions, runs and their figures."""

from __future__ import annotations

import json
import re
import struct
from math import log2

import pytest

from qmd.errors import UsageError, extras
from qmd.evaluation import charts, fixtures, metrics, runs, tobi_bench
from qmd.evaluation.fixtures import Fixture, JudgedQuery
from qmd.evaluation.runner import strip_query_syntax
from qmd.evaluation.runs import QueryRun, Run, RunEntry, Spread
from tests.test_cases import recorded


def folder_of(path, **files):
    """A folder with files, named with _ for the dot."""
    path.mkdir()
    for name, text in files.items():
        (path / name.replace("_", ".")).write_text(text, encoding="utf-8")
    return path


def found(*documents):
    """What a question found, with scores that fall."""
    return QueryRun(tuple(RunEntry(name, 1.0 - place / 10) for place, name in enumerate(documents)))


# -- as tobi/qmd counts ----------------------------------------------------------


@pytest.mark.parametrize("case", recorded("fusion.json", "bench_score"))
def test_figures_of_the_peer_are_as_recorded(case):
    counted = tobi_bench.scores(case["results"], case["expected_files"], case["k"])
    assert counted._asdict() == case["expected"]


def test_figures_of_the_peer_follow_their_formulas():
    counted = tobi_bench.scores(["x", "b", "y", "a"], ["a", "b", "c"], 2)
    assert counted.precision_at_k == 1 / 2
    assert counted.recall == 2 / 3
    assert (counted.recall_at_1, counted.recall_at_3, counted.recall_at_5) == (0, 1 / 3, 2 / 3)
    assert counted.mrr == 1 / 2
    assert counted.f1 == 2 * (1 / 2) * (2 / 3) / (1 / 2 + 2 / 3)
    assert counted.hits_at_k == 1
    assert (counted.matched_files, counted.unmatched_expected_files) == (["a", "b"], ["c"])


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("qmd://notes/work/plan.md", "work/plan.md", True),
        ("qmd://notes/work/plan.md", "notes/work/plan.md", True),
        ("qmd://notes/work/plan.md", "PLAN.MD", True),
        ("plan.md", "/work/plan.md/", True),
        ("work/plan.md", "home/plan.md", False),
        ("plan.md", "plan.txt", False),
    ],
)
def test_two_names_are_one_file_if_either_ends_with_the_other(one, other, same):
    assert tobi_bench.same_file(one, other) is same
    assert tobi_bench.same_file(other, one) is same


# -- fixtures --------------------------------------------------------------------

QUERIES = '{"_id": "q1", "text": "green tea"}\n\n{"_id": "q2", "text": "coffee"}\n'
BEIR = "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t0\nq2\td3\t1\n"
TREC = "q1 0 d1 2\nq1 0 d2 0\nq2 Q0 d3 1\n"
JUDGED = {"q1": {"d1": 2, "d2": 0}, "q2": {"d3": 1}}


def judged(fixture):
    return {question.id: dict(question.judged) for question in fixture.questions}


@pytest.mark.parametrize(
    "files",
    [
        {"queries_jsonl": QUERIES, "qrels_tsv": BEIR},
        {"queries_jsonl": "\ufeff" + QUERIES.replace("\n", "\r\n"), "qrels_trec": TREC},
        {"queries_tsv": "q1\tgreen tea\nq2\tcoffee\n", "my_qrels": TREC.replace(" ", "\t")},
        {"queries_tsv": "qid\ttext\nq1\tgreen tea\nq2\tcoffee\n", "qrels_txt": TREC},
    ],
)
def test_queries_and_judgements_of_every_form_say_the_same(tmp_path, files):
    fixture = fixtures.read(folder_of(tmp_path / "tea", **files))
    assert fixture.name == "tea"
    assert [question.text for question in fixture.questions] == ["green tea", "coffee"]
    assert judged(fixture) == JUDGED
    assert (fixture.depth, fixture.corpus, fixture.remark) == (100, None, None)


def test_judgements_in_a_folder_of_their_own_are_those_for_testing(tmp_path):
    folder = folder_of(tmp_path / "tea", queries_jsonl=QUERIES, corpus_jsonl="")
    (folder / "qrels").mkdir()
    (folder / "qrels" / "train.tsv").write_text(BEIR.replace("d1", "d9"))
    (folder / "qrels" / "test.tsv").write_text(BEIR)
    fixture = fixtures.read(folder)
    assert judged(fixture) == JUDGED
    assert fixture.corpus == folder / "corpus.jsonl"


def test_only_queries_that_are_judged_and_known_count(tmp_path):
    more = QUERIES + '{"_id": 3, "text": "not judged"}\n'
    folder = folder_of(tmp_path / "tea", queries_jsonl=more, qrels_tsv=BEIR + "q9\td1\t1\n")
    fixture = fixtures.read(folder)
    assert judged(fixture) == JUDGED
    assert fixture.remark == "qrels.tsv judges queries that queries.jsonl does not have: q9"


def test_a_json_fixture_has_kinds_and_asks_for_as_much_as_it_needs(tmp_path):
    file = tmp_path / "notes.json"
    first = {"query": "tea", "expected_files": ["a.md"], "expected_in_top_k": 12, "type": "exact"}
    second = {"id": "s", "query": "cha", "expected_files": ["a.md", "b.md"], "difficulty": "hard"}
    file.write_text(json.dumps({"collection": "notes", "queries": [first, second]}))
    fixture = fixtures.read(file)
    assert fixture.questions == (
        JudgedQuery("1", "tea", {"a.md": 1}, 12, "exact"),
        JudgedQuery("s", "cha", {"a.md": 1, "b.md": 1}, 10, "hard"),
    )
    assert (fixture.depth, fixture.collection, fixture.is_typed) == (12, "notes", True)


def test_expected_files_of_a_json_fixture_may_have_grades(tmp_path):
    file = tmp_path / "notes.json"
    file.write_text(document({"query": "tea", "expected_files": {"a.md": 3, "b.md": 1}}))
    assert judged(fixtures.read(file)) == {"1": {"a.md": 3, "b.md": 1}}


ONE = {"query": "tea", "expected_files": ["a.md"]}


def document(*queries, **more):
    """The text of a JSON fixture."""
    return json.dumps({"queries": queries, **more})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{\n"queries": [\n}', "fixture.json:3: this is not JSON"),
        ("[" * 100_000, "fixture.json:1: this cannot be read"),
        ("[]", "has no list 'queries'"),
        (document(), "judges nothing"),
        (document({"query": "tea", "expected_files": []}), "judges nothing"),
        (document({"expected_files": ["a"]}), "query 1 needs a text 'query'"),
        (document(ONE, {"query": "tea"}), "query 2 needs a list 'expected_files'"),
        (document(ONE | {"expected_files": "a.md"}), "query 1 needs a list 'expected_files'"),
        (document(ONE | {"expected_files": {"": 1}}), "query 1 needs a list 'expected_files'"),
        (document(ONE | {"expected_files": {"a": 0}}), "query 1: the grade of 'a' has to be"),
        (document(ONE | {"expected_files": {"a": True}}), "query 1: the grade of 'a' has to be"),
        (document(ONE | {"expected_files": {"a": 1.5}}), "query 1: the grade of 'a' has to be"),
        (document(ONE | {"expected_in_top_k": 0}), "'expected_in_top_k' has to"),
        (document(ONE, collection=1), "'collection' has to be text"),
        (document(ONE, ONE | {"id": 1}), "has the query '1' twice"),
    ],
)
def test_a_json_file_that_is_no_fixture_is_told_as_such(tmp_path, text, message):
    file = tmp_path / "fixture.json"
    file.write_text(text)
    with pytest.raises(UsageError) as caught:
        fixtures.read(file)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, "neither queries.jsonl nor queries.tsv"),
        ({"queries_jsonl": QUERIES}, "it has no qrels"),
        ({"queries_jsonl": "", "qrels_tsv": BEIR}, "queries.jsonl has no queries"),
        ({"queries_jsonl": QUERIES + "{", "qrels_tsv": BEIR}, "queries.jsonl:4: this is not JSON"),
        ({"queries_jsonl": '{"_id": "1"}', "qrels_tsv": BEIR}, "queries.jsonl:1: a line needs"),
        ({"queries_jsonl": "[1]", "qrels_tsv": BEIR}, "queries.jsonl:1: a line needs"),
        ({"queries_jsonl": QUERIES * 2, "qrels_tsv": BEIR}, "has the query 'q1' twice"),
        ({"queries_tsv": "q1 green tea", "qrels_tsv": BEIR}, "queries.tsv:1: a line is"),
        ({"queries_jsonl": QUERIES, "qrels_tsv": BEIR.split("\n")[0]}, "qrels.tsv judges nothing"),
        ({"queries_jsonl": QUERIES, "qrels_tsv": BEIR + "q1\td4"}, "qrels.tsv:5: a line is"),
        ({"queries_jsonl": QUERIES, "qrels_tsv": BEIR + "q1\td4\tyes"}, "qrels.tsv:5: a line is"),
        ({"queries_jsonl": QUERIES, "qrels_tsv": "1\td1\t1\n2\td1\t1"}, "no line names a query"),
    ],
)
def test_a_folder_that_is_no_fixture_is_told_as_such(tmp_path, files, message):
    folder = folder_of(tmp_path / "tea", **files)
    with pytest.raises(UsageError) as caught:
        fixtures.read(folder)
    assert message in str(caught.value)


def test_a_fixture_has_to_be_there_and_to_be_text(tmp_path):
    with pytest.raises(UsageError, match="Fixture not found"):
        fixtures.read(tmp_path / "absent.json")
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match="is not UTF-8 text"):
        fixtures.read(tmp_path / "bytes.json")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"_id": "d1", "text": "a"}\n{"_id": "d1", "text": "b"}', "has 'd1' twice"),
        ('{"_id": "d1", "text": "a"}\n{"_id": "d2"}', "corpus.jsonl:2: a line needs"),
    ],
)
def test_documents_of_a_corpus_have_names_of_their_own_and_texts(tmp_path, text, message):
    folder = folder_of(tmp_path / "tea", corpus_jsonl=text)
    with pytest.raises(UsageError) as caught:
        list(fixtures.corpus_documents(folder / "corpus.jsonl"))
    assert message in str(caught.value)


def test_a_sample_is_the_same_every_time_and_keeps_the_order():
    fixture = Fixture("many", tuple(JudgedQuery(f"{n:02}", "tea", {"d": 1}) for n in range(50)))
    names = [question.id for question in fixture.sampled(9).questions]
    assert names == [question.id for question in fixture.sampled(9).questions]
    assert names == sorted(set(names))
    assert len(names) == 9
    assert names != [question.id for question in fixture.questions[:9]]
    assert fixture.sampled(50) == fixture.sampled(99) == fixture


def test_a_document_is_known_by_path_docid_and_uri():
    fixture = Fixture("own", ())
    wanted = ["notes/a b.md", "#0A1b2c", "qmd://notes/c%20d.md"]
    documents = [
        ("notes/c d.md", "#000001"),
        ("notes/e.md", "#0a1b2c"),
        ("notes/a b.md", "#000002"),
        ("notes/f.md", "#0a1b2c"),
    ]
    assert fixture.named(wanted, documents) == [
        "qmd://notes/c%20d.md", "#0A1b2c", "notes/a b.md", "notes/f.md",
    ]  # fmt: skip


def test_a_document_of_a_json_fixture_is_known_by_the_end_of_its_path():
    fixture = Fixture("own", (), is_typed=True)
    documents = [["qmd://notes/x/tea.md"], ["qmd://notes/y/TEA.md"], ["qmd://notes/y/b.md"]]
    assert fixture.named(["y/b.md", "tea.md"], documents) == [
        "tea.md", "qmd://notes/y/TEA.md", "y/b.md",
    ]  # fmt: skip


def test_names_of_a_corpus_are_no_docids(tmp_path):
    fixture = Fixture("own", (), corpus=tmp_path)
    assert fixture.named(["abcdef01"], [["abcdef02"], ["abcdef01"]]) == ["abcdef02", "abcdef01"]


# -- runs ------------------------------------------------------------------------

TEA = Fixture(
    "tea",
    (JudgedQuery("q 1", "tea", {"a b.md": 1, "c.md": 2}), JudgedQuery("q2", "x", {"a b.md": 1})),
)


def test_a_run_is_read_as_it_was_written(tmp_path):
    run = Run("bm25", {"q 1": found("x.md", "a b.md", "c.md"), "q2": found("a b.md")})
    runs.write([run], tmp_path / "tea.run")
    [file] = tmp_path.iterdir()
    assert file.name == "tea.bm25.run"
    assert file.read_text().splitlines()[1] == "q%201 Q0 a%20b.md 2 0.9000000 bm25"
    again = runs.read(file, TEA, depth=100)
    assert again.name == "tea.bm25"
    assert again.asked == run.asked


def test_equal_scores_of_a_run_are_ordered_as_trec_eval_does_and_cut(tmp_path):
    file = tmp_path / "other.run"
    file.write_text(
        "q2 Q0 a 1 0.5 x\nq2 Q0 c 2 0.5 x\nq2 Q0 b 3 7 x\nq2 Q0 d 4 0.1 x\nz Q0 a 1 1 x"
    )
    asked = runs.read(file, TEA, depth=3).asked
    assert {name: [each.document for each in x.found] for name, x in asked.items()} == {
        "q2": ["b", "c", "a"]
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("q2 Q0 a 1 0.5 x\nq2 Q0 a 1 0.5", "other.run:2: a line is: query Q0"),
        ("q2 Q0 a 1 high x", "other.run:1: a line is: query Q0"),
        ("q2 Q0 a 1 nan x", "other.run:1: a line is: query Q0"),
        ("q3 Q0 a 1 0.5 x", "no line names a query of tea"),
    ],
)
def test_a_file_that_is_no_run_is_told_as_such(tmp_path, text, message):
    file = tmp_path / "other.run"
    file.write_text(text)
    with pytest.raises(UsageError) as caught:
        runs.read(file, TEA, depth=10)
    assert message in str(caught.value)


@pytest.mark.parametrize("score", [0.5, 0.0, -3.0, 40.0])
def test_scores_in_24_bits_say_the_order(score):
    scores = [x.score for x in runs.break_ties("abcd", [score, score, score, score - 1e-9])]
    in_24_bits = [struct.unpack("f", struct.pack("f", each))[0] for each in scores]
    assert in_24_bits == sorted(set(in_24_bits), reverse=True)
    assert len(set(in_24_bits)) == 4
    assert scores[0] == score


def test_the_spread_of_times_is_the_middle_and_what_few_exceed():
    assert runs.spread(range(100, 0, -1)) == Spread(50, 95)
    assert runs.spread([7]) == Spread(7, 7)
    assert runs.spread([]) is None


# -- figures ---------------------------------------------------------------------

GRADED = Fixture(
    "graded",
    (
        JudgedQuery("one", "x", {"good": 2, "fair": 1, "bad": 0, "gone": 1}),
        JudgedQuery("two", "x", {"good": 1}),
        JudgedQuery("none", "x", {}),
    ),
)


def test_figures_follow_their_formulas_and_a_query_without_results_counts_0():
    run = Run("mine", {"one": found("other", "fair", "bad", "good"), "three": found("good")})
    scores = metrics.score(run, GRADED, depth=100)
    ideal = 2 / log2(2) + 1 / log2(3) + 1 / log2(4)
    expected = {
        "nDCG@10": (1 / log2(3) + 2 / log2(5)) / ideal,
        "R@10": 2 / 3,
        "R@100": 2 / 3,
        "RR": 1 / 2,
        "AP": (1 / 2 + 2 / 4) / 3,
        "P@5": 2 / 5,
    }
    assert scores.each["one"] == pytest.approx(expected)
    assert set(scores.each) == {"one", "two"}
    assert set(scores.each["two"].values()) == {0}
    assert scores.mean == pytest.approx({name: x / 2 for name, x in expected.items()})
    assert (scores.peer, scores.peer_mean, scores.hits) == ({}, {}, {})


def test_what_looks_deeper_than_was_asked_is_left_out():
    scores = metrics.score(Run("mine", {}), GRADED, depth=99)
    assert list(scores.mean) == ["nDCG@10", "R@10", "RR", "AP", "P@5"]
    assert set(scores.mean.values()) == {0}


def test_hits_are_counted_by_the_kind_of_a_query():
    names = ["a.md", "b.md", "c.md", "d.md"]
    questions = (
        JudgedQuery("1", "x", {"a.md": 1}, kind="easy"),
        JudgedQuery("2", "x", {"c.md": 1, "e.md": 1}, kind="easy"),
        JudgedQuery("3", "x", {"d.md": 1}, kind="hard"),
        JudgedQuery("4", "x", {}, kind="hard"),
        JudgedQuery("5", "x", {"a.md": 1}),
    )
    run = Run("mine", {each.id: found(*names) for each in questions})
    scores = metrics.score(run, Fixture("kinds", questions, is_typed=True), depth=10)
    assert scores.hits == {
        "easy": {"queries": 2, "hit@1": 1, "hit@3": 2, "hit@5": 2},
        "hard": {"queries": 1, "hit@1": 0, "hit@3": 0, "hit@5": 1},
    }
    assert scores.peer_mean["recall"] == (1 + 1 / 2 + 1 + 0 + 1) / 5


def test_a_question_loses_what_has_a_meaning_in_the_query_syntax():
    assert (
        strip_query_syntax('the "lift" of a -wing at --high-speed')
        == "the lift of a wing at high-speed"
    )


# -- charts ----------------------------------------------------------------------


def test_a_chart_names_every_row(tmp_path):
    points = [
        charts.Point("bm25", 0.381, 2),
        charts.Point("full", 0.5, 800),
        charts.Point("saved", 0.4, None),
    ]
    charts.draw(points, tmp_path / "a.svg", title="tea: 2 queries", quality="nDCG@10")
    drawn = (tmp_path / "a.svg").read_text()
    for text in ("tea: 2 queries", "bm25  0.381", "saved  0.400", "nDCG@10"):
        assert f">{text}</text>" in drawn
    assert "10^" not in drawn
    charts.draw(points[2:], tmp_path / "a.png", title="tea", quality="nDCG@10")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def test_a_chart_that_cannot_be_drawn_is_refused_at_once(tmp_path, monkeypatch):
    with pytest.raises(UsageError, match=r"ending in .png or .svg, not a.pdf"):
        charts.check_drawable(tmp_path / "a.pdf")
    with pytest.raises(UsageError, match="there is no folder"):
        charts.check_drawable(tmp_path / "absent" / "a.png")
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    with pytest.raises(UsageError, match=re.escape(extras.command("bench"))):
        charts.check_drawable(tmp_path / "a.png")
