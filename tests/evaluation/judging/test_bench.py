"""`qmd bench`, as a user meets it."""

from __future__ import annotations

import json
import os
import sys
from math import log2

import pytest

from qmd.errors import IndexUnreadable, extras
from qmd.evaluation import runner


def fixture(tmp_path, *queries, **more):
    """A JSON fixture."""
    file = tmp_path / "judged.json"
    file.write_text(json.dumps({"queries": queries, **more}))
    return file


def rows(out):
    """The rows of the JSON, by name."""
    return {row["name"]: row for row in json.loads(out)["rows"]}


def ranked(row, query):
    """What a query found."""
    return next(each["found"] for each in row["perQuery"] if each["id"] == query)


TEA = {"query": "green tea", "expected_files": ["tea.md"], "type": "easy"}


# -- documents of the fixture ----------------------------------------------------


def test_documents_of_a_fixture_are_indexed_aside_without_a_model_and_gone_afterwards(
    qmd, corpus, temporary, tmp_path, monkeypatch
):
    monkeypatch.setattr("qmd.models.selection.embedder", None)
    code, out, err = qmd("bench", corpus, "--backend", "bm25", "--json")
    assert (code, err) == (0, "")
    [row] = rows(out).values()
    assert ranked(row, "words") == ["Car/1"]
    assert row["measures"] == {
        "nDCG@10": 1 / 2, "R@10": 1 / 2, "R@100": 1 / 2, "RR": 1 / 2, "AP": 1 / 2, "P@5": 1 / 10,
    }  # fmt: skip
    assert (row["queries"], row["empty"], row["failed"]) == (2, 1, 0)
    assert list(temporary.iterdir()) == []
    assert not (tmp_path / "index.duckdb").exists()


def test_vectors_are_made_by_the_users_model_and_find_what_words_do_not(
    qmd, corpus, tiny_embedder, monkeypatch, tmp_path
):
    (tmp_path / "config").mkdir()
    model = tmp_path / "config" / "tiny.gguf"
    model.write_bytes(tiny_embedder.read_bytes())
    (tmp_path / "config" / "index.yml").write_text("models: {embed: ./tiny.gguf}\n")
    code, out, err = qmd("bench", corpus, "--json")
    assert code == 0
    assert err == "full is left out. There is no model that expands questions or judges results.\n"
    told = json.loads(out)
    assert told["model"] == "tiny.gguf"
    assert [each["backend"] for each in told["leftOut"]] == ["full"]
    assert set(told["stages"]) == {"words", "embed", "vectors"}
    found = rows(out)
    assert list(found) == ["bm25", "vector", "hybrid"]
    assert ranked(found["bm25"], "meaning") == []
    assert ranked(found["vector"], "meaning")[0] == "car/1"
    assert ranked(found["hybrid"], "words")[0] == "Car/1"
    assert found["hybrid"]["measures"]["nDCG@10"] == 1
    assert all(each["milliseconds"] > 0 for each in found["vector"]["perQuery"])


def test_a_model_that_cannot_run_leaves_words(qmd, corpus, monkeypatch):
    monkeypatch.setenv("QMD_EMBED_MODEL", "./absent.gguf")
    code, out, err = qmd("bench", corpus)
    assert code == 0
    assert "vector is left out. The model absent.gguf is not here" in err
    assert [line.split()[0] for line in out.splitlines()[3:4]] == ["bm25"]
    code, out, err = qmd("bench", corpus, "--backend", "vector")
    assert (code, out) == (1, "")
    assert "The model absent.gguf is not here" in err


def test_a_judge_makes_the_full_way_possible(
    qmd, corpus, tiny_embedder, tiny_ranker, monkeypatch, tmp_path
):
    monkeypatch.setenv("QMD_EMBED_MODEL", str(tiny_embedder))
    monkeypatch.setenv("QMD_RERANK_MODEL", str(tiny_ranker))
    calls = []
    asked = runner.query
    monkeypatch.setattr(
        runner,
        "query",
        lambda engine, text, **how: calls.append((text, how)) or asked(engine, text, **how),
    )
    code, out, err = qmd("bench", corpus, "--backend", "full", "--json")
    assert (code, err) == (0, "")
    assert len(ranked(rows(out)["full"], "words")) == 4
    assert all(how["rerank"] and how["expand"] for _, how in calls)
    assert calls[-1][0] == "expand: physician vacation"


def test_an_interrupt_leaves_nothing_behind(qmd, corpus, temporary, monkeypatch):
    seen = []

    def interrupted(engine, text, **how):
        seen.extend(temporary.iterdir())
        raise KeyboardInterrupt

    monkeypatch.setattr(runner, "search", interrupted)
    assert qmd("bench", corpus, "--backend", "bm25")[0] == 130
    assert len(seen) == 1
    assert list(temporary.iterdir()) == []


def test_judged_documents_that_are_not_there_are_told(qmd, corpus):
    with (corpus / "qrels.tsv").open("a") as file:
        file.write("words\tgone\t1\n")
    code, _, err = qmd("bench", corpus, "--backend", "bm25")
    assert code == 0
    assert err == "1 judged document cannot be found, since the index has none such: gone\n"


# -- documents of the user -------------------------------------------------------


def test_without_documents_the_users_own_are_found_by_docid_path_and_uri(qmd, notes, tmp_path):
    [record] = json.loads(qmd("search", "loud", "--json")[1])
    folder = tmp_path / "judged"
    folder.mkdir()
    (folder / "queries.tsv").write_text("1\ttea\n2\ttea\n3\ttea\n")
    (folder / "own.qrels").write_text(
        f"1 0 {record['docid']} 1\n2 0 notes/tea.md 1\n3 0 qmd://notes/tea.md 1\n"
    )
    code, out, err = qmd("bench", folder, "--backend", "bm25", "--json")
    assert (code, err) == (0, "")
    row = rows(out)["bm25"]
    assert ranked(row, "1") == ["notes/tea.md", record["docid"]]
    assert row["measures"]["nDCG@10"] == pytest.approx((1 / log2(3) + 1 + 1) / 3)


def test_a_json_fixture_gives_the_peers_figures_and_hits_by_type(qmd, notes, tmp_path):
    cold = {"query": "tea", "expected_files": ["car.md", "gone.md"], "type": "hard"}
    file = fixture(tmp_path, TEA, cold | {"expected_in_top_k": 1}, collection="notes")
    code, out, err = qmd("bench", file, "--json")
    assert code == 0
    assert "1 judged document cannot be found, since the index has none such: gone.md" in err
    assert "vector is left out. Vector index not found. Run 'qmd embed' first" in err
    row = rows(out)["bm25"]
    assert row["peer"] == {
        "precision_at_k": 1 / 2,
        "recall": (1 + 1 / 2) / 2,
        "recall_at_1": 1 / 2,
        "recall_at_3": (1 + 1 / 2) / 2,
        "recall_at_5": (1 + 1 / 2) / 2,
        "mrr": (1 + 1 / 2) / 2,
        "f1": 1 / 2,
    }
    assert row["hits"]["hard"] == {"queries": 1, "hit@1": 0, "hit@3": 1, "hit@5": 1}
    assert row["perQuery"][1]["peer"]["unmatched_expected_files"] == ["gone.md"]
    assert list(row["measures"]) == ["nDCG@10", "R@10", "RR", "AP", "P@5"]


def test_what_a_judge_asks_is_not_noted_as_a_search_of_the_user(qmd, notes, tmp_path):
    qmd("bench", fixture(tmp_path, TEA), "--backend", "bm25")
    assert not list(tmp_path.glob("*.searches.jsonl"))
    qmd("search", "tea")
    assert list(tmp_path.glob("*.searches.jsonl"))


def test_people_get_tables(qmd, notes, tmp_path):
    _, out, _ = qmd("bench", fixture(tmp_path, TEA), "--backend", "bm25")
    lines = [line.split() for line in out.splitlines()]
    assert lines[0] == ["judged:", "1", "query,", "10", "results", "each"]
    assert lines[2][:3] == ["nDCG@10", "R@10", "RR"]
    assert lines[3][:9] == "bm25 1.000 1.000 1.000 1.000 0.200 1 0 0".split()
    assert "keyword list" in out
    assert ["bm25", *["1.000"] * 7] in lines
    assert ["bm25", "easy", "1", "1", "1", "1"] in lines
    assert "\033" not in out


def test_lines_of_a_query_document_go_to_the_backend_that_they_are_for(
    qmd, notes, tmp_path, tiny_embedder, monkeypatch
):
    monkeypatch.setenv("QMD_EMBED_MODEL", str(tiny_embedder))
    assert qmd("embed")[0] == 0
    both = {"query": "lex: garden\nvec: automobile", "expected_files": ["tea.md"]}
    _, out, _ = qmd("bench", fixture(tmp_path, both), "--json")
    found = {name: ranked(row, "1") for name, row in rows(out).items()}
    assert found["bm25"] == ["tea.md"]
    assert found["vector"][0] == "qmd://notes/car.md"
    assert set(found["hybrid"]) == {"tea.md", "qmd://notes/car.md"}


def test_excluded_collections_are_searched_only_when_they_are_named(qmd, notes, tmp_path):
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "tea.md").write_text("# Tea\n\nGreen tea, green tea.\n")
    assert qmd("collection", "add", tmp_path / "old")[0] == 0
    assert qmd("collection", "exclude", "old")[0] == 0
    wanted = {"query": "tea", "expected_files": ["qmd://old/tea.md"]}
    _, out, _ = qmd("bench", fixture(tmp_path, wanted), "--backend", "bm25", "--json")
    assert "qmd://notes/car.md" in ranked(rows(out)["bm25"], "1")
    _, out, _ = qmd("bench", fixture(tmp_path, wanted), "-c", "old", "--backend=bm25", "--json")
    assert ranked(rows(out)["bm25"], "1") == ["qmd://old/tea.md"]


def test_queries_that_cannot_be_asked_are_named_and_count_as_partly_done(qmd, notes, tmp_path):
    odd = {"id": "odd", "query": 'odd"', "expected_files": ["tea.md"]}
    code, out, err = qmd("bench", fixture(tmp_path, TEA, odd), "--backend", "bm25", "--json")
    assert code == 2
    assert "bm25, 1 query failed: odd\n  Lex query has an unmatched double quote" in err
    row = rows(out)["bm25"]
    assert (row["queries"], row["empty"], row["failed"]) == (2, 0, 1)
    assert row["measures"]["RR"] == 1 / 2


# -- runs, samples, charts -------------------------------------------------------


def test_a_run_that_was_written_scores_the_same_without_searching(
    qmd, notes, tmp_path, monkeypatch
):
    file = fixture(tmp_path, TEA | {"id": "a query"}, {**TEA, "query": "loud"})
    run = tmp_path / "mine.txt"
    code, out, _ = qmd("bench", file, "--backend", "bm25", "--run", run, "--json")
    assert code == 0
    [searched] = rows(out).values()
    monkeypatch.setattr(runner, "search", None)
    written = tmp_path / "mine.bm25.txt"
    code, out, err = qmd("bench", file, "--no-search", "--score", written, "--json")
    assert (code, err) == (0, "")
    row = rows(out)["mine.bm25"]
    assert row["milliseconds"] is None
    for figures in ("measures", "peer", "hits", "empty"):
        assert row[figures] == searched[figures]


def test_a_pipe_gets_all_runs_and_a_chart_is_drawn_where_a_link_leads(qmd, notes, tmp_path):
    pipe, real, link = tmp_path / "all.run", tmp_path / "real.svg", tmp_path / "link.svg"
    os.mkfifo(pipe)
    link.symlink_to(real)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)  # a pipe holds more than is written
    options = ["--backend", "bm25", "--run", pipe, "--chart", link]
    try:
        assert qmd("bench", fixture(tmp_path, TEA), *options)[0] == 0
        assert os.read(reader, 1 << 16).split()[-1] == b"bm25"
    finally:
        os.close(reader)
    assert (pipe.is_fifo(), link.is_symlink()) == (True, True)
    assert "judged: 1 query" in real.read_text()


@pytest.mark.parametrize("name", ["a.svg", "a.png"])
def test_a_chart_replaces_pictures_of_qmd_and_nothing_else(qmd, notes, tmp_path, name):
    chart = tmp_path / name
    chart.write_text("A picture of mine.")
    asked = ["bench", fixture(tmp_path, TEA), "--backend", "bm25", "--chart", chart]
    code, out, err = qmd(*asked)
    assert (code, out) == (1, "")
    assert f"{name} is there already, and no picture of qmd." in err
    assert "--force" in err
    assert chart.read_text() == "A picture of mine."
    assert qmd(*asked, "--force")[0] == 0
    assert qmd(*asked)[0] == 0
    chart.write_text("")
    assert qmd(*asked)[0] == 0


@pytest.mark.parametrize(
    "text", [b"A list of mine.\n", b"1 Q0 a 1 1 x\nand a line of six words\n", b"\xff\0\n"]
)
def test_a_run_replaces_runs_and_nothing_else(qmd, notes, tmp_path, text):
    mine = tmp_path / "a.bm25.run"
    mine.write_bytes(text)
    asked = ["bench", fixture(tmp_path, TEA), "--backend", "bm25", "--run", tmp_path / "a.run"]
    code, out, err = qmd(*asked)
    assert (code, out) == (1, "")
    assert "a.bm25.run is there already, and no TREC run." in err
    assert "--force" in err
    assert mine.read_bytes() == text
    assert qmd(*asked, "--force")[0] == 0
    assert qmd(*asked)[0] == 0
    for other in ("", "q\tQ0\tx.md\t1\t-1.5e-3\tothers\n"):
        mine.write_text(other)
        assert qmd(*asked)[0] == 0


def test_runs_are_further_rows_and_a_sample_is_the_same_for_all(qmd, notes, tmp_path):
    file = fixture(tmp_path, *({**TEA, "id": f"{number}"} for number in range(9)))
    run = tmp_path / "other.run"
    run.write_text("".join(f"{number} Q0 tea.md 1 1 x\n" for number in range(9)))
    options = ["--backend", "bm25", "--queries", 3, "--score", run]
    code, out, _ = qmd("bench", file, *options, "--json", "--chart", tmp_path / "a.svg")
    assert code == 0
    found = rows(out)
    assert list(found) == ["bm25", "other"]
    asked = [[each["id"] for each in row["perQuery"]] for row in found.values()]
    assert asked[0] == asked[1]
    assert len(asked[0]) == found["other"]["queries"] == 3
    assert found["other"]["measures"]["nDCG@10"] == 1
    assert "judged: 3 queries" in (tmp_path / "a.svg").read_text()


# -- mistakes --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--backend", "magic"], "'magic' is not one of 'bm25', 'vector', 'hybrid', 'full'"),
        (["--no-search"], "--no-search goes with --score"),
        (["--score", "absent.run"], "absent.run cannot be read: No such file"),
        (["--run", "absent/a.run"], "absent/a.run cannot be written: there is no folder absent"),
        (["--chart", "a.pdf"], "A chart is a file ending in .png or .svg, not a.pdf."),
        (["--depth", "0"], "Invalid value for '--depth'"),
    ],
)
def test_a_mistake_is_told_before_anything_is_done(qmd, tmp_path, options, message):
    code, out, err = qmd("bench", fixture(tmp_path, TEA), *options)
    assert (code, out) == (1, "")
    assert message in err
    assert not (tmp_path / "index.duckdb").exists()


def test_what_is_asked_for_and_is_not_there_is_an_error(qmd, notes, tmp_path):
    for option, value, message in [
        ("--backend", "hybrid", "Vector index not found. Run 'qmd embed' first"),
        ("--backend", "full", "There is no model that expands questions or judges results."),
        ("-c", "absent", "Collection not found: absent. Known: notes."),
    ]:
        code, out, err = qmd("bench", fixture(tmp_path, TEA), option, value)
        assert (code, out) == (1, "")
        assert message in err
        assert "left out" not in err


def test_an_index_that_fails_ends_it(qmd, notes, tmp_path, monkeypatch):
    def failing(engine, text, **how):
        raise IndexUnreadable(tmp_path, "it is gone")

    monkeypatch.setattr(runner, "search", failing)
    code, out, err = qmd("bench", fixture(tmp_path, TEA), "--backend", "bm25")
    assert (code, out) == (3, "")
    assert "it is gone" in err


def test_an_index_without_documents_is_told_as_such(qmd, tmp_path):
    code, _, err = qmd("bench", fixture(tmp_path, TEA))
    assert code == 1
    assert "There are no documents to find." in err


def test_collections_of_the_user_do_not_go_with_documents_of_a_fixture(qmd, corpus):
    code, _, err = qmd("bench", corpus, "-c", "notes")
    assert code == 1
    assert "has documents of its own" in err


def test_what_is_not_installed_is_told_with_the_command_that_installs_it(
    qmd, tmp_path, monkeypatch
):
    monkeypatch.setitem(sys.modules, "ir_measures", None)
    code, _, err = qmd("bench", fixture(tmp_path, TEA))
    assert code == 1
    assert "ir-measures is not installed" in err
    assert err.endswith(f"Install it with: {extras.command('bench')}\n")
