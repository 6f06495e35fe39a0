"""The command line, as a user meets it."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import stat
import subprocess
import sys
import xml.etree.ElementTree as ET

import pytest


@pytest.fixture
def notes(tmp_path):
    """A folder of notes that is not indexed yet."""
    root = tmp_path / "notes"
    (root / "work").mkdir(parents=True)
    (root / "tea.md").write_text(
        "---\nstatus: open\ndate: 2025-03-14\ntags: [drink, green]\n---\n# Tea\n\nBrew green tea.\n"
    )
    (root / "work" / "plan.md").write_text("# Plan\n\nBuy tea, then parse_json the list.\n\nEnd.\n")
    (root / "coffee, black.md").write_text("# Coffee\n\nNo leaves at all.\n")
    return root


@pytest.fixture
def indexed(qmd, notes):
    """The same, indexed as the collection `notes`."""
    code, out, err = qmd("collection", "add", notes)
    assert (code, err) == (0, "")
    assert "Indexed: 3 new, 0 updated, 0 unchanged, 0 renamed, 0 removed, 0 skipped" in out
    return qmd


def test_no_arguments_print_the_help(qmd):
    code, out, _ = qmd()
    assert code == 0
    assert "search" in out
    assert "collection" in out


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


def test_phrases_exclusions_and_names(indexed):
    def found(*query):
        return [r["file"] for r in json.loads(indexed("search", "--json", "--", *query)[1])]

    assert found('"green tea"') == ["notes/tea.md"]
    assert found('"tea green"') == []
    assert found("tea", "-plan") == ["notes/tea.md"]
    assert found("parse_json") == ["notes/work/plan.md"]
    assert found("parseJson") == ["notes/work/plan.md"]
    assert found("lea") == ["notes/coffee, black.md"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["search", "tea", "-c", "absent"], "Collection not found: absent. Known: notes."),
        (["search", "tea", "--format", "yaml"], "Unknown format: yaml. Valid: cli, json, csv,"),
        (["search", "tea", "--json", "--csv"], "Choose one format"),
        (["search", 'odd"'], "unmatched double quote"),
        (["search", "--", "-tea"], "only says what to leave out"),
        (["search", "tea", "--since", "soon"], "--since takes a date"),
        (["search", "tea", "--filter", "status"], "filter cannot be read"),
        (["search", "tea", "--nonsense"], "No such option: --nonsense"),
        (["serch", "tea"], "Did you mean"),
        (["collection", "add"], "Missing argument"),
        (["collection", "show", "absent"], "Collection not found: absent."),
        (["get", "notes/te.md"], "Did you mean one of these?\n  - notes/tea.md"),
        (["get", "notes/tea.md:99"], "has 8 lines; line 99 is past its end"),
        (["--index", "../x", "status"], "cannot be the name of an index"),
    ],
)
def test_a_mistake_is_code_1_and_says_what_to_do(indexed, arguments, message):
    code, out, err = indexed(*arguments)
    assert code == 1
    assert out == ""
    assert message in err
    assert "Traceback" not in err


def test_get_knows_a_document_by_all_its_names(indexed, notes):
    [record] = json.loads(indexed("search", "leaves", "--json")[1])
    names = [
        "notes/coffee, black.md",
        "qmd://notes/coffee, black.md",
        "qmd://notes/coffee%2C%20black.md",
        "//notes/coffee, black.md",
        "coffee, black.md",
        str(notes / "coffee, black.md"),
        record["docid"],
        record["docid"][1:],
        record["uri"],
    ]
    assert {indexed("get", name)[1] for name in names} == {"# Coffee\n\nNo leaves at all.\n"}


def test_get_gives_lines_by_suffix_and_by_option(indexed):
    expected = "3: Buy tea, then parse_json the list.\n"
    assert indexed("get", "notes/work/plan.md:3:1", "--line-numbers")[1] == expected
    assert (
        indexed("get", "notes/work/plan.md", "--from", 3, "-l", 1, "--line-numbers")[1] == expected
    )


def test_multi_get_takes_globs_lists_and_says_what_it_skips(indexed):
    _, out, _ = indexed("multi-get", "notes/*.md, plan.md, absent.md", "--json")
    records = {record["file"]: record for record in json.loads(out)}
    assert set(records) == {
        "notes/tea.md", "notes/coffee, black.md", "notes/work/plan.md", "absent.md",
    }  # fmt: skip
    assert records["absent.md"]["skipped"] is True
    _, out, _ = indexed("multi-get", "notes/tea.md", "--max-bytes", 10, "--json")
    assert "bytes, more than 10" in json.loads(out)[0]["reason"]


def test_contexts_go_from_general_to_specific(indexed, notes):
    indexed("context", "add", "/", "All notes")
    indexed("context", "add", "qmd://notes", "Drinks")
    indexed("context", "add", str(notes / "work"), "Plans")
    records = json.loads(indexed("search", "tea", "--json")[1])
    assert [record["context"] for record in records] == [
        "All notes\n\nDrinks",
        "All notes\n\nDrinks\n\nPlans",
    ]
    assert indexed("context", "check")[1] == "Every collection and top folder has a context.\n"
    assert indexed("context", "rm", "qmd://notes/work")[0] == 0
    assert "qmd://notes/work" in indexed("context", "check")[1]
    assert indexed("context", "rm", "qmd://notes/work")[0] == 1


def test_a_collection_is_renamed_excluded_and_removed(indexed):
    assert indexed("collection", "rename", "notes", "drinks")[0] == 0
    assert json.loads(indexed("search", "leaves", "--json")[1])[0]["file"].startswith("drinks/")
    indexed("collection", "exclude", "drinks")
    _, out, err = indexed("search", "leaves")
    assert out == "No results found.\n"
    assert "qmd collection include" in err
    assert json.loads(indexed("search", "leaves", "-c", "drinks", "--json")[1])
    indexed("collection", "include", "drinks")
    assert json.loads(indexed("search", "leaves", "--json")[1])
    assert indexed("collection", "remove", "drinks")[0] == 0
    assert json.loads(indexed("status", "--json")[1])["totalDocuments"] == 0


def test_a_second_collection_of_the_same_name_is_refused(indexed, tmp_path):
    other = tmp_path / "other" / "notes"
    other.mkdir(parents=True)
    code, _, err = indexed("collection", "add", other)
    assert code == 1
    assert err.startswith("Collection 'notes' already exists.")


def test_update_reports_each_kind_of_change(indexed, notes):
    (notes / "new.md").write_text("# New\n\nWater.")
    (notes / "tea.md").write_text("# Tea\n\nBlack tea now.")
    (notes / "work" / "plan.md").rename(notes / "work" / "plans.md")
    (notes / "coffee, black.md").unlink()
    (notes / "blank.md").write_text("  \n")
    code, out, _ = indexed("update")
    assert code == 0
    assert "Updating 1 collection..." in out
    assert "[1/1] notes (**/*.md)" in out
    assert "Indexed: 1 new, 1 updated, 0 unchanged, 1 renamed, 1 removed, 1 skipped" in out
    assert "  skipped notes/blank.md: empty" in out
    assert out.endswith(
        "All collections updated. "
        "Run 'qmd embed' to update embeddings (3 documents need vectors).\n"
    )


def test_a_failing_update_command_stops_its_collection_alone(indexed, notes, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    (other / "x.md").write_text("# X\n\nWords.")
    indexed("collection", "add", other)
    indexed("collection", "update-cmd", "notes", "exit 7")
    (other / "y.md").write_text("# Y\n\nMore words.")
    code, out, err = indexed("update")
    assert code == 2
    assert "exit code 7" in out
    assert "Indexed: 1 new" in out
    assert "Not updated: notes" in err
    indexed("collection", "update-cmd", "notes", "echo '# Made' > made.md")
    assert indexed("update")[0] == 0
    assert "# Made" in indexed("get", "notes/made.md")[1]


def test_settings_edited_by_hand_count_at_the_next_command(indexed, tmp_path):
    config = tmp_path / "config" / "index.yml"
    config.write_text(config.read_text().replace("  notes:", "  # my notes\n  papers:"))
    assert "papers" in indexed("ls")[1]
    assert indexed("update")[0] == 0
    assert json.loads(indexed("search", "leaves", "--json")[1])[0]["file"].startswith("papers/")
    indexed("collection", "exclude", "papers")
    assert "# my notes" in config.read_text()


def test_what_a_killed_import_left_is_told_by_doctor_and_removed_by_cleanup(indexed, tmp_path):
    left = tmp_path / "index.duckdb.new"
    left.mkdir()
    (left / "index.duckdb").write_bytes(b"x" * 3_000_000)
    code, out, _ = indexed("doctor")
    assert code == 0
    assert f"warn  leftovers: a process that was killed left {left} (3.0 MB)" in out
    assert "Run 'qmd cleanup'" in out
    line = f"what a process that was killed left: {left} (3.0 MB)"
    assert f"Would remove {line}" in indexed("cleanup", "--dry-run")[1]
    assert left.exists()
    assert f"Removed {line}" in indexed("cleanup")[1]
    assert not left.exists()
    left.mkdir()
    found = json.loads(indexed("cleanup", "--json")[1])
    assert found["leftovers"] == [{"path": str(left), "bytes": 0}]
    assert "leftovers" not in indexed("doctor")[1]


def test_doctor_finds_nothing_wrong_and_cleanup_removes_what_is_left_over(indexed, notes):
    assert indexed("doctor")[0] == 0
    (notes / "tea.md").unlink()
    indexed("update")
    waste = json.loads(indexed("cleanup", "--dry-run", "--json")[1])
    assert (waste["texts"], waste["documents"]) == (1, 1)
    assert indexed("cleanup")[0] == 0
    waste = json.loads(indexed("cleanup", "--dry-run", "--json")[1])
    assert (waste["texts"], waste["documents"], waste["words"]) == (0, 0, 0)
    findings = json.loads(indexed("doctor", "--json")[1])
    assert {finding["check"] for finding in findings if finding["status"] != "ok"} <= {"vectors"}


def test_doctor_tells_of_texts_of_earlier_days_and_cleanup_makes_the_file_small(
    indexed, notes, tmp_path, monkeypatch
):
    monkeypatch.setattr("qmd.doctor.MANY_TEXTS", 1)
    for number in range(9):
        (notes / "tea.md").write_text(f"tea {number} " * 50_000)
        indexed("update")
    out = indexed("doctor")[1]
    assert "texts are kept that no document has any more" in out
    before = (tmp_path / "index.duckdb").stat().st_size
    assert indexed("cleanup")[0] == 0
    assert (tmp_path / "index.duckdb").stat().st_size < before / 2
    assert "no document has any more" not in indexed("doctor")[1]
    assert indexed("search", "tea")[0] == 0


def test_a_project_has_its_own_index_and_asks_for_approval(qmd, notes, monkeypatch):
    monkeypatch.delenv("QMD_CONFIG_DIR")
    monkeypatch.delenv("INDEX_PATH")
    monkeypatch.chdir(notes)
    assert qmd("init")[0] == 0
    assert qmd("collection", "add", ".")[0] == 0
    config = notes / ".qmd" / "index.yml"
    config.write_text(config.read_text() + "    update: touch made.md\n")
    _, _, err = qmd("update")
    assert "not approved" in err
    assert not (notes / "made.md").exists()
    assert qmd("trust")[0] == 1
    assert qmd("trust", "--yes")[0] == 0
    assert qmd("update")[0] == 0
    assert (notes / "made.md").exists()
    assert qmd("trust", "revoke")[0] == 0
    assert "not approved" in qmd("update")[2]


def test_index_may_stand_before_or_after_the_command(indexed, notes, tmp_path):
    assert indexed("collection", "add", notes / "work", "--index", "work")[0] == 0
    assert (tmp_path / "config" / "work.yml").exists()
    for arguments in (["--index", "work", "ls"], ["ls", "--index=work"], ["ls", "--index", "work"]):
        assert indexed(*arguments)[1].startswith("work/")
    assert indexed("ls")[1].startswith("notes/")


@pytest.mark.parametrize(("line", "names"), [("qmd sea", "search"), ("qmd search -c no", "notes")])
def test_a_shell_completes_commands_and_collections(indexed, line, names):
    environ = {
        "_QMD_COMPLETE": "complete_bash",
        "COMP_WORDS": line,
        "COMP_CWORD": str(line.count(" ")),
    }
    command = [sys.executable, "-m", "qmd"]
    done = subprocess.run(command, env=os.environ | environ, capture_output=True, text=True)
    assert done.stdout.split() == [names]


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
        assert "\ufffd[2J" in told
        assert not re.search(r"\033(?!\[[0-9;]*m|\]8;;|\\)|[\a\x9b]", told)


def test_a_folder_that_is_made_for_an_index_is_the_users_alone(qmd, notes, tmp_path, monkeypatch):
    folder = tmp_path / "new" / "qmd"
    monkeypatch.setenv("INDEX_PATH", str(folder / "index.duckdb"))
    assert qmd("collection", "add", notes)[0] == 0
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_who_has_indexed_nothing_yet_is_told_how_to(qmd, notes):
    code, out, err = qmd("search", "tea")
    assert (code, out) == (0, "No results found.\n")
    assert err == "Nothing is indexed yet. Add a folder with 'qmd collection add PATH'.\n"
    out = qmd("collection", "add", notes)[1]
    assert out.endswith("Run 'qmd embed' to update embeddings (3 documents need vectors).\n")
    assert qmd("search", "nowhere")[2] == ""


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


def _loading_is_interrupted(*_):
    raise ImportError("initialization failed") from KeyboardInterrupt()


def _duckdb_is_interrupted(*_):
    raise RuntimeError("Required module 'decimal' failed to import: KeyboardInterrupt: <EMPTY>")


@pytest.mark.parametrize("fails", [_loading_is_interrupted, _duckdb_is_interrupted])
def test_what_failed_only_because_of_ctrl_c_is_no_mistake_of_ours(qmd, monkeypatch, fails):
    monkeypatch.setattr("qmd.surface.cli.application", fails)
    assert qmd("status") == (130, "", "Interrupted.\n")
