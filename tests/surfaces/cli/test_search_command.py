"""What `search` shows, in each format, and what it finds."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET

import pytest

from qmd.ranking.postings_loader import Holder


def test_a_result_for_people_has_place_title_score_and_numbered_lines(indexed):
    code, out, err = indexed("search", "green", "tea", "-n", 1)
    assert (code, err) == (0, "")
    head, title, score, blank, *snippet = out.splitlines()
    assert head.startswith("notes/tea.md:")
    assert " #" in head
    assert title == "Title: Tea"
    assert score.startswith("Score: ")
    assert score.endswith("%")
    assert blank == ""
    assert "8: Brew green tea." in snippet
    assert "\033" not in out


def test_json_has_its_keys_in_order_and_scores_of_two_places(indexed):
    _, out, _ = indexed("search", "tea", "--json")
    records = json.loads(out)
    assert [record["file"] for record in records] == ["notes/tea.md", "notes/work/plan.md"]
    assert list(records[0]) == [
        "docid", "score", "file", "line", "title", "context", "snippet", "uri",
    ]  # fmt: skip
    assert records[0]["score"] == round(records[0]["score"], 2)
    assert records[0]["docid"].startswith("#")
    assert len(records[0]["docid"]) == 7


def test_full_gives_the_body_instead_of_a_snippet(indexed):
    _, out, _ = indexed("search", "leaves", "--json", "--full")
    [record] = json.loads(out)
    assert record["body"] == "# Coffee\n\nNo leaves at all.\n"
    assert "snippet" not in record


def test_csv_files_xml_and_markdown_hold_the_same_documents(indexed):
    _, out, _ = indexed("search", "leaves", "--csv")
    header, row = list(csv.reader(io.StringIO(out)))
    assert header == ["docid", "score", "file", "title", "context", "line", "snippet"]
    assert row[2] == "notes/coffee, black.md"
    _, out, _ = indexed("search", "leaves", "--files")
    [[docid, _, file, context]] = list(csv.reader(io.StringIO(out)))
    assert (docid, file, context) == (row[0], "notes/coffee, black.md", "")
    _, out, _ = indexed("search", "leaves", "--xml")
    [element] = ET.fromstring(out)
    assert element.attrib["name"] == "notes/coffee, black.md"
    _, out, _ = indexed("search", "leaves", "--md")
    assert "**file:** `notes/coffee, black.md`" in out


@pytest.mark.parametrize(
    ("option", "expected"),
    [
        ("--json", "[]\n"),
        ("--csv", "docid,score,file,title,context,line,snippet\n"),
        ("--xml", "<results></results>\n"),
        ("--md", ""),
        ("--files", ""),
        ("--format=cli", "No results found.\n"),
    ],
)
def test_nothing_found_is_said_in_every_format(indexed, option, expected):
    code, out, _ = indexed("search", "absent", option)
    assert (code, out) == (0, expected)


def test_a_threshold_that_nothing_reaches_is_told_apart_from_nothing_found(indexed):
    _, out, _ = indexed("search", "tea", "--min-score", "0.99")
    assert out == "No results found above minimum score threshold.\n"


@pytest.mark.parametrize(
    ("options", "files"),
    [
        (["--filter", 'status = "open"'], ["notes/tea.md"]),
        (["--filter", "tags = green and status != closed"], ["notes/tea.md"]),
        (["--filter", "tags ~ GRE"], ["notes/tea.md"]),
        (["--filter", "date < 2025-01-01"], []),
        (["--since", "2025-03-14", "--before", "2025-03-15"], ["notes/tea.md"]),
        (["--before", "2025-03-14"], []),
        (["-c", "notes", "-n", "1"], ["notes/tea.md"]),
    ],
)
def test_filters_apply_before_the_cut(indexed, options, files):
    _, out, _ = indexed("search", "tea", "--json", *options)
    assert [record["file"] for record in json.loads(out)] == files


@pytest.mark.parametrize(
    ("condition", "names"),
    [
        ("rating > 10.5", ""),
        ("rating < 10.5", "abc"),
        ("rating > 9", "bc"),
        ("rating = 4", "a"),
        ("rating = 10.0", "c"),
        ("rating != 4", "bc"),
        ("rating >= 9.5", "bc"),
        ("rating <= 9.5", "ab"),
        ("neg > -7.5", "a"),
        ("version = 3.10", "a"),
        ("many > 10", "b"),
        ("many = x", "b"),
        ("id = 7", "b"),
        ('id = "7"', ""),
        ('id = "007"', "b"),
        ("seen >= 2025", "b"),
        ("seen < 2025-03-01", ""),
        ("empty = open", ""),
        ("empty = 5", ""),
        ("empty <= open", ""),
        ('empty = "open"', ""),
        ("empty != open", "abc"),
        ("empty != 5", "abc"),
        ("items = b", "a"),
        ("items = c", ""),
        ("items != c", "abc"),
        ("big = 9007199254740993", "c"),
        ("big = 9007199254740992", ""),
    ],
)
def test_a_filter_compares_numbers_as_numbers_and_all_else_as_text(qmd, tmp_path, condition, names):
    frontmatter = {
        "a": "rating: 4.0\nneg: -5\nversion: 3.10\nempty:\nitems: [b, null]",
        "b": 'rating: 9.5\nneg: -10\nid: "007"\nseen: 2025-03-14\nmany: [3, 12, x]',
        "c": "rating: 10\nbig: 9007199254740993",
    }
    (tmp_path / "n").mkdir()
    for name, text in frontmatter.items():
        (tmp_path / "n" / f"{name}.md").write_text(f"---\n{text}\n---\nTea.\n")
    qmd("collection", "add", tmp_path / "n")
    _, out, _ = qmd("search", "tea", "--files", "--filter", condition)
    assert sorted(re.findall(r"n/(\w)\.md", out)) == list(names)


def test_phrases_exclusions_and_names(indexed):
    def found(*query):
        return [r["file"] for r in json.loads(indexed("search", "--json", "--", *query)[1])]

    assert found('"green tea"') == ["notes/tea.md"]
    assert found('"tea green"') == []
    assert found("tea", "-plan") == ["notes/tea.md"]
    assert found("parse_json") == ["notes/work/plan.md"]
    assert found("parseJson") == ["notes/work/plan.md"]
    assert found("lea") == ["notes/coffee, black.md"]


def test_a_search_does_not_load_pandas_where_it_is_installed(indexed, tmp_path):
    (tmp_path / "pandas.py").write_text("import sys\nprint('loaded', file=sys.stderr)")
    command = [sys.executable, "-m", "qmd", "search", "staff"]
    environ = os.environ | {"PYTHONPATH": str(tmp_path)}
    done = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_document_gives_no_orders_to_a_terminal(qmd, notes, tmp_path, monkeypatch):
    (notes / "odd.md").write_text(
        "# Odd \033]0;mine\a\n\nwombat \033[2J \033[31mred\033[0m \x9b2J\n"
    )
    assert qmd("collection", "add", notes)[0] == 0
    assert "\033[2J" in qmd("get", "odd.md")[1]
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    for told in (qmd("search", "wombat")[1], qmd("get", "odd.md")[1]):
        assert "\\x1b[2J" in told
        assert not re.search(r"\033(?!\[[0-9;]*m|\]8;;|\\)|[\a\x9b]", told)


def test_links_lead_where_a_project_says_once_that_is_approved(qmd, notes, monkeypatch):
    for name in ("QMD_CONFIG_DIR", "INDEX_PATH", "NO_COLOR", "QMD_EDITOR_URI"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.chdir(notes)
    assert qmd("init")[0] == 0
    assert qmd("collection", "add", ".", "--name", "notes")[0] == 0
    config = notes / ".qmd" / "index.yml"
    config.write_text("editor_uri: odd://{path}\n" + config.read_text())
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    assert "]8;;file://" in qmd("search", "tea")[1]
    assert qmd("trust", "--yes")[0] == 0
    assert "]8;;odd://" in qmd("search", "tea")[1]


def test_a_search_reads_its_query_from_stdin(indexed, monkeypatch):
    wanted = indexed("search", '"green tea"')
    assert "notes/tea.md" in wanted[1]
    monkeypatch.setattr(sys, "stdin", io.StringIO('"green tea"\n'))
    assert indexed("search", "-") == wanted
    for command in ("search", "vsearch"):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\xff"), "utf-8"))
        assert "not valid UTF-8" in indexed(command, "-")[2]


def test_a_day_may_be_a_month_or_so_long_ago(indexed, notes):
    def found(*options):
        return [r["file"] for r in json.loads(indexed("search", "green", "--json", *options)[1])]

    for day in ("2025", "2025-03", "2025-03-14"):
        assert found("--since", day) == ["notes/tea.md"]
    for day in ("2025-04", "7d", "today"):
        assert found("--since", day) == []
        assert found("--before", day) == ["notes/tea.md"]


def test_a_result_has_the_same_line_in_all_formats(indexed, notes):
    filler = ["x" * 50] * 6
    lines = ["# Oolong", "", "gaiwan", *filler, "teapot", *filler, *filler, "gaiwan teapot"]
    (notes / "pot.md").write_text("\n".join(lines) + "\n")
    indexed("update")
    [found] = json.loads(indexed("search", "gaiwan teapot", "--json")[1])
    [row] = csv.DictReader(io.StringIO(indexed("search", "gaiwan teapot", "--csv")[1]))
    assert (found["line"], row["line"]) == (len(lines), str(len(lines)))
    assert indexed("search", "gaiwan teapot")[1].startswith(f"notes/pot.md:{len(lines)} ")


def test_a_score_is_high_enough_if_it_is_shown_so(indexed):
    for form, read in (
        ("--json", lambda out: [each["score"] for each in json.loads(out)]),
        ("--csv", lambda out: [float(each["score"]) for each in csv.DictReader(io.StringIO(out))]),
    ):
        shown = read(indexed("search", "tea", form)[1])
        assert len(shown) > 1
        for score in shown:  # each is rounded, some of them up
            kept = read(indexed("search", "tea", form, "--min-score", score)[1])
            assert kept == [each for each in shown if each >= score]


def test_a_command_that_asks_in_several_ways_reads_no_postings_into_memory(indexed, monkeypatch):
    begun = []
    monkeypatch.setattr(Holder, "prepare", begun.append)
    asked = "lex: tea\nlex: green\nlex: plan"
    code, out, _ = indexed("query", "--mode", "fast", "--json", asked)
    assert code == 0
    assert "notes/tea.md" in out
    assert not begun
