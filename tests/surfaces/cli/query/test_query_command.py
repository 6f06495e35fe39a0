"""`qmd query`, as a user meets it. The models are tiny ones that really run."""

from __future__ import annotations

import csv
import io
import json
import re
import xml.etree.ElementTree as ET

import pytest

from qmd.errors import NotEmbedded
from qmd.ranking.query import NOTHING_TO_FIND


def records(said):
    """What a command gave as JSON, without a word on stderr."""
    code, out, err = said
    assert (code, err) == (0, "")
    return json.loads(out)


def files(said):
    return [record["file"].removeprefix("notes/") for record in records(said)]


def test_documents_are_found_by_their_words_and_by_what_they_mean(embedded):
    """No document has the word automobile, or physician."""
    assert files(embedded("query", "automobile", "--json"))[0] == "car.md"
    assert files(embedded("query", "the", "physician", "--json"))[0] == "doctor, black.md"
    assert files(embedded("query", "tea", "--json"))[:2] == ["tea.md", "snow.md"]
    fast = ("tea", "--mode", "fast")
    assert embedded("deep-search", *fast) == embedded("query", *fast)


def test_all_formats_hold_the_same_results(embedded):
    found = records(embedded("query", "physician", "-n", 2, "--json"))
    assert list(found[0]) == [
        "docid", "score", "file", "line", "title", "context", "snippet", "uri",
    ]  # fmt: skip
    names = [record["file"] for record in found]
    assert names[0] == "notes/doctor, black.md"
    scores = [record["score"] for record in found]
    said = {
        form: embedded("query", "physician", "-n", 2, f"--{form}")[1]
        for form in ("csv", "files", "xml", "md", "format=cli")
    }
    rows = list(csv.reader(io.StringIO(said["csv"])))
    assert [row[2] for row in rows] == ["file", *names]
    assert [round(float(row[1]), 2) for row in rows[1:]] == scores
    rows = list(csv.reader(io.StringIO(said["files"])))
    assert [(row[2], float(row[1])) for row in rows] == list(zip(names, scores, strict=True))
    elements = list(ET.fromstring(said["xml"]))
    assert [element.attrib["name"] for element in elements] == names
    assert re.findall(r"\*\*file:\*\* `(.+)`", said["md"]) == names
    assert re.findall(r"^(notes/.+):\d+ #[0-9a-f]{6}$", said["format=cli"], re.M) == names
    percent = [f"{score:.0%}" for score in scores]
    assert re.findall(r"^Score: (.+)$", said["format=cli"], re.M) == percent
    assert not any("\033" in text for text in said.values())


@pytest.mark.parametrize(
    ("options", "count"),
    [([], 5), (["--json"], 7), (["-n", 3, "--json"], 3), (["-n", 1], 1), (["--all"], 7)],
)
def test_as_many_results_come_as_are_wanted(embedded, options, count):
    code, out, _ = embedded("query", "tea", *options)
    assert code == 0
    assert (
        len(json.loads(out) if "--json" in options else re.findall("^Score:", out, re.M)) == count
    )


def test_lower_scores_are_left_out_from_the_threshold_on(embedded):
    scores = {r["file"]: r["score"] for r in records(embedded("query", "tea", "--json"))}
    best = max(scores, key=lambda file: scores[file])
    least = round(scores[best] - 0.02, 2)
    kept = records(embedded("query", "tea", "--json", "--min-score", least))
    assert [record["file"] for record in kept] == [best]
    assert embedded("query", "tea", "--min-score", 0.99) == (
        0, "No results found above minimum score threshold.\n", "",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--filter", "status = open"], ["tea.md"]),
        (["--since", "2034-12-31", "-c", "notes"], ["tea.md"]),
        (["--before", "2001-01-02"], ["car.md"]),
        (["--before", "1999-01-01"], []),
    ],
)
def test_filters_hold_for_what_is_found_by_meaning(embedded, options, expected):
    assert files(embedded("query", "automobile", "--json", *options)) == expected


def test_what_is_excluded_does_not_come_back_by_its_meaning(embedded):
    assert "car.md" not in files(embedded("query", "--json", "--", "automobile -engine"))
    assert "snow.md" not in files(embedded("query", "--json", "--", "tea", "-mountain"))


# -- how much is done ----------------------------------------------------------


def parts(record):
    return [(part["kind"], part["query"]) for part in record["explain"]["lists"]]


def test_fast_searches_words_hybrid_meaning_too_and_full_lets_models_help(helped):
    def first(*options):
        return records(helped("query", "river today", "--json", "--explain", *options))[0]

    fast, hybrid, full = (first("--mode", mode) for mode in ("fast", "hybrid", "full"))
    assert parts(fast) == [("lex", "river today")]
    assert parts(hybrid) == [("lex", "river today"), ("vec", "river today")]
    assert parts(full)[:2] == parts(hybrid)
    assert len(parts(full)) > 2
    assert ["rerank" in record["explain"] for record in (fast, hybrid, full)] == [0, 0, 1]
    assert parts(first("--mode", "full", "--no-expand")) == parts(hybrid)
    assert "rerank" in first("--mode", "full", "--no-expand")["explain"]
    assert "rerank" not in first("--mode", "full", "--no-rerank")["explain"]
    assert first("--mode", "full", "--no-rerank", "--no-expand") == hybrid
    assert first("--no-gpu") == hybrid


def test_full_without_models_that_help_is_hybrid_and_says_so(embedded):
    code, out, err = embedded("query", "tea", "--mode", "full", "--explain", "--json")
    assert code == 0
    assert err.startswith("No model here expands or reranks")
    assert json.loads(out) == records(embedded("query", "tea", "--explain", "--json"))


def test_no_more_than_the_candidates_are_judged(helped):
    found = records(
        helped("query", "tea", "--mode", "full", "--no-expand", "-C", 2, "--explain", "--json")
    )
    assert len(found) == 7
    judged = [record["explain"]["rerank"] is not None for record in found]
    assert judged == [True] * 2 + [False] * 5


def test_the_intent_is_a_part_of_what_is_judged_and_shown(helped):
    (options, plain) = ("--mode", "full", "--no-expand", "--explain", "--json"), "lex: tea"
    by_option = helped("query", plain, "--intent", "mountain", *options)
    by_line = helped("query", f"{plain}\nintent: mountain", *options)
    assert records(by_option) == records(by_line)
    without = records(helped("query", plain, *options))
    assert {r["file"]: parts(r) for r in without} == {r["file"]: parts(r) for r in records(by_line)}
    assert {r["file"]: r["explain"]["rerank"] for r in without} != {
        r["file"]: r["explain"]["rerank"] for r in records(by_line)
    }


def test_ranks_are_fused_if_it_is_wished(embedded):
    found = records(embedded("query", "tea", "--fusion", "rrf", "--explain", "--json"))
    for record in found:
        explain = record["explain"]
        assert explain["fusion"] == "rrf"
        total = sum(2 / (60 + part["rank"]) for part in explain["lists"]) + explain["bonus"]
        assert explain["fused"] == pytest.approx(total)
        assert record["score"] == round(total, 2)


def test_new_documents_are_preferred_if_it_is_wished(embedded):
    def explained(*options):
        found = records(embedded("query", "the", "thing", "--json", "--explain", *options))
        return {record["file"]: record["explain"] for record in found}

    assert {explain["recency"] for explain in explained().values()} == {0}
    recency = {file: explain["recency"] for file, explain in explained("--recent", 30).items()}
    assert recency["notes/tea.md"] == 0.05  # it is of the future
    assert recency["notes/car.md"] == pytest.approx(0, abs=1e-9)
    assert explained("--recent", 30)["notes/tea.md"]["fused"] == pytest.approx(
        explained()["notes/tea.md"]["fused"] + 0.05
    )


def test_what_the_best_rank_and_a_new_date_give_are_told_apart(embedded):
    options = ("tea", "--fusion", "rrf", "--recent", 30, "--explain", "-n", 1)
    [record] = records(embedded("query", *options, "--json"))
    explain = record["explain"]
    assert (explain["bonus"], explain["recency"]) == (0.05, 0.05)
    listed = sum(part["contribution"] for part in explain["lists"])
    assert explain["fused"] == pytest.approx(listed + 0.05 + 0.05)
    _, out, _ = embedded("query", *options)
    assert "\n  0.050000  top-rank bonus\n  0.050000  recency\n= " in out


@pytest.mark.parametrize("fusion", ["scores", "rrf"])
def test_an_explanation_for_people_can_be_added_up(helped, fusion):
    code, out, _ = helped(
        "query", "tea", "--mode", "full", "-C", 2, "-n", 4, "--explain", "--fusion", fusion
    )
    assert code == 0
    texts = re.split(r"^notes/", out, flags=re.M)[1:]
    assert len(texts) == 4
    for text in texts:
        added = [float(number) for number in re.findall(r"^  (\d\.\d+)  ", text, re.M)]
        [fused] = re.findall(r"^= (\d\.\d+)  fused by", text, re.M)
        assert sum(added) == pytest.approx(float(fused), abs=1e-6 * len(added))
        [(score, weight, rank, other, judged)] = re.findall(
            r"^= (\d\.\d+)  (\S+) / (\d+) \+ (\S+) · (\d\.\d+) \((?:rerank|not judged)\)$",
            text,
            re.M,
        )
        blended = float(weight) / int(rank) + float(other) * float(judged)
        assert blended == pytest.approx(float(score), abs=1e-5)
        assert f"Score: {float(score):.0%}" in text
    assert "(not judged)" not in texts[0] + texts[1]
    assert "(not judged)" in texts[2]
    assert "explain" not in helped("query", "tea", "--json")[1]


# -- what is typed -------------------------------------------------------------


def typed(monkeypatch, data):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data), encoding="utf-8"))


@pytest.mark.parametrize(
    "data",
    [
        b"lex: tea\nvec: automobile\n",
        b"\xef\xbb\xbflex: tea\r\n\r\nvec: automobile\r\n",
        b"  LEX:tea  \n  Vec:  automobile",
    ],
)
def test_a_query_document_may_come_on_stdin(embedded, monkeypatch, data):
    expected = records(embedded("query", "lex: tea\nvec: automobile", "--json", "--explain"))
    assert {record["file"] for record in expected[:2]} == {"notes/tea.md", "notes/car.md"}
    typed(monkeypatch, data)
    assert records(embedded("query", "-", "--json", "--explain")) == expected


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", NOTHING_TO_FIND),
        (b"\n \r\n", NOTHING_TO_FIND),
        (b"lex: tea\r\nvec: tea -green\r\n", "Line 2 (vec): Negation"),
        (b"lex: caf\xe9", "What came on stdin is not valid UTF-8 text."),
    ],
)
def test_what_is_wrong_with_a_document_on_stdin_is_told(indexed, monkeypatch, data, message):
    typed(monkeypatch, data)
    code, out, err = indexed("query", "-")
    assert (code, out) == (1, "")
    assert err.startswith(message)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["tea", "--mode", "slow"], "'slow' is not one of 'fast', 'hybrid', 'full'"),
        (["tea", "--fusion", "best"], "'best' is not one of 'scores', 'rrf'"),
        (["tea", "-C", "0"], "--candidate-limit takes 1 or more, not 0."),
        (["tea", "-n", "0"], "--limit takes 1 or more, not 0."),
        (["tea", "--recent", "0"], "--recent takes days above 0, not 0."),
        (["tea", "--recent", "-1"], "--recent takes days above 0, not -1."),
        (["tea", "--recent", "inf"], "--recent takes days above 0, not inf."),
        (["tea", "--recent", "nan"], "--recent takes days above 0, not nan."),
        (["tea", "--timeout", "nan"], "--timeout takes 0 or more, not nan."),
        (["tea", "--timeout", "-1"], "--timeout takes 0 or more, not -1."),
        (["tea", "--min-score", "2"], "--min-score takes 0 to 1, not 2."),
        (["tea", "--min-score", "nan"], "--min-score takes 0 to 1, not nan."),
        (["tea", "--format", "yaml"], "Unknown format: yaml. Valid: cli, json, csv,"),
        (["tea", "-c", "absent"], "Collection not found: absent. Known: notes."),
        (["tea", "--since", "soon"], "--since takes a date"),
        (["--", "-tea"], "only says what to leave out"),
        (["vec: tea", "--mode", "fast"], "only asks by meaning"),
        (['lex: "tea'], "Line 1 (lex): Lex query has an unmatched double quote"),
        (["lex: -tea"], "Line 1 (lex): The query only says what to leave out"),
        (["lex: tea\nwith milk"], "Line 2 is missing a lex:/vec:/hyde:/intent: prefix."),
        ([], "Missing argument"),
    ],
)
def test_a_mistake_is_code_1_and_says_what_to_do(indexed, arguments, message):
    code, out, err = indexed("query", *arguments)
    assert (code, out) == (1, "")
    assert message in err
    assert "Traceback" not in err
    assert "mistake in qmd" not in err


# -- what is missing -----------------------------------------------------------


def no_vectors(monkeypatch):
    return "Vector index not found. Run 'qmd embed' first to create embeddings."


def no_model(monkeypatch):
    monkeypatch.setenv("QMD_EMBED_MODEL", "/absent.gguf")
    return "The model absent.gguf is not here: /absent.gguf does not exist."


def unknown_model(monkeypatch):
    monkeypatch.setenv("QMD_EMBED_MODEL", "nonsense")
    return "Unknown model: nonsense. Known: "


def no_runtime(monkeypatch):
    def missing():
        raise ModuleNotFoundError("llama_cpp")

    monkeypatch.setattr("qmd.models.gguf.library", missing)
    monkeypatch.setattr("qmd.models.selection.can_run", lambda model: False)
    return "The model tiny-embedder.gguf "


@pytest.mark.parametrize(
    ("shelf", "missing"),
    [
        ("indexed", no_vectors),
        ("embedded", no_model),
        ("embedded", unknown_model),
        ("embedded", no_runtime),
    ],
)
def test_without_meaning_words_are_searched_and_one_notice_says_why(
    request, monkeypatch, shelf, missing
):
    qmd = request.getfixturevalue(shelf)
    reason = missing(monkeypatch)
    code, out, err = qmd("query", "tea", "--files")
    assert code == 0
    assert [row[2] for row in csv.reader(io.StringIO(out))] == ["notes/tea.md", "notes/snow.md"]
    assert err.startswith(f"Searched by words alone. {reason}")
    assert err.count("\n") == 1
    code, out, err = qmd("query", "vec: tea\nhyde: Tea is hot.")
    assert (code, out) == (1, "")
    assert err.startswith(reason)
    assert qmd("query", "tea", "--mode", "fast", "--files")[2] == ""


def test_the_message_without_vectors_says_what_to_run(indexed):
    assert indexed("query", "vec: tea") == (1, "", f"{NotEmbedded()}\n")


def test_nothing_found_is_no_failure(indexed):
    code, out, err = indexed("query", "absent")
    assert (code, out) == (0, "No results found.\n")
    assert err.startswith("Searched by words alone. ")
    assert err.count("\n") == 1
