"""Collections, updates and upkeep, as a user meets them."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from qmd.storage import arrow


def test_contexts_go_from_general_to_specific(indexed, notes):
    indexed("context", "add", "/", "All notes")
    indexed("context", "add", "qmd://notes", "Drinks")
    indexed("context", "add", str(notes / "work"), "Plans")
    records = json.loads(indexed("search", "tea", "--json")[1])
    assert [record["context"] for record in records] == [
        "All notes\n\nDrinks",
        "All notes\n\nDrinks\n\nPlans",
    ]
    assert "\n**context:** `All notes  Drinks`\n" in indexed("search", "tea", "--md")[1]
    indexed("context", "add", "qmd://notes/work", "Plans\nfor today")
    assert "\nqmd://notes/work  Plans\\nfor today\n" in indexed("context", "list")[1]
    assert indexed("context", "check")[1] == "Every collection and top folder has a context.\n"
    assert indexed("context", "rm", "qmd://notes/work")[0] == 0
    assert "qmd://notes/work" in indexed("context", "check")[1]
    assert indexed("context", "rm", "qmd://notes/work")[0] == 1


def test_contexts_are_listed_folder_by_folder(indexed, notes):
    (notes / "a").mkdir()
    (notes / "a" / "x.md").write_text("# X\n")
    lacking = ["qmd://notes/", "qmd://notes/a", "qmd://notes/work"]
    (notes.parent / "zebra").mkdir()
    indexed("collection", "add", notes.parent / "zebra")
    indexed("update")
    found = json.loads(indexed("context", "check", "--json")[1])
    assert found == [*lacking, "qmd://zebra/"]
    for place in ("qmd://notes/work/plan.md", "qmd://notes/b", "qmd://notes/work", "/"):
        indexed("context", "add", place, "Said")
    listed = [each["path"] for each in json.loads(indexed("context", "list", "--json")[1])]
    assert listed == ["/", "qmd://notes/b", "qmd://notes/work", "qmd://notes/work/plan.md"]


def test_a_context_of_a_folder_without_documents_is_kept_and_told(indexed, notes):
    for place in ("/", "qmd://notes", "qmd://notes/work", "qmd://notes/tea.md", notes / "work"):
        assert indexed("context", "add", place, "Said")[2] == ""
    (notes / "wrok").mkdir()
    for place, done in (
        ("qmd://notes/wrok", "Added context to"),
        (notes / "wrok", "Replaced context of"),
    ):
        code, out, err = indexed("context", "add", place, "Plans")
        assert (code, out) == (0, f"{done} qmd://notes/wrok.\n")
        assert err == (
            "No document is in qmd://notes/wrok yet. 'qmd ls notes' shows those that there are.\n"
        )
    (notes / "wrok" / "kettle.md").write_text("# Kettle\n")
    indexed("update")
    [record] = json.loads(indexed("search", "kettle", "--json")[1])
    assert record["context"].endswith("Plans")


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
    assert "[1/1] notes (documents)" in out
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
    assert "\n\n  The collection was not indexed." in out
    assert "Indexed: 1 new" in out
    assert "Not updated: notes" in err
    indexed("collection", "update-cmd", "notes", "echo '# Made' > made.md")
    assert indexed("update")[0] == 0
    assert "# Made" in indexed("get", "notes/made.md")[1]


def test_a_collection_that_an_update_command_moves_is_indexed_where_it_is_now(
    indexed, notes, tmp_path
):
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.md").write_text(f"# {name}\n\nWords.")
    indexed("collection", "add", tmp_path / "first", "--name", "other")
    config = tmp_path / "config" / "index.yml"
    indexed("collection", "update-cmd", "notes", f"sed -i s#/first#/second# {config}")
    assert indexed("update")[0] == 0
    assert json.loads(indexed("ls", "other", "--json")[1])[0]["file"] == "other/second.md"


def test_what_an_update_command_prints_stands_below_the_name_of_its_collection(indexed, tmp_path):
    (tmp_path / "other").mkdir()
    indexed("collection", "add", tmp_path / "other")
    indexed("collection", "update-cmd", "other", "echo said")
    command = [sys.executable, "-m", "qmd", "update"]
    whole = {"text": True, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "timeout": 60}
    lines = subprocess.run(command, **whole).stdout.splitlines()
    assert lines[:6] == [
        "Updating 2 collections...",
        "[1/2] notes (documents)",
        "Indexed: 0 new, 0 updated, 3 unchanged, 0 renamed, 0 removed, 0 skipped",
        "[2/2] other (documents)",
        "said",
        "Indexed: 0 new, 0 updated, 0 unchanged, 0 renamed, 0 removed, 0 skipped",
    ]
    code, out, err = indexed("update", "--json")
    assert (code, err) == (0, "said\n")
    assert [report["collection"] for report in json.loads(out)] == ["notes", "other"]


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


def test_doctor_and_cleanup_tell_of_one_as_one(qmd, tmp_path):
    root = tmp_path / "one"
    root.mkdir()
    (root / "tea.md").write_text("# Tea\n\nGreen.\n")
    assert qmd("collection", "add", root)[0] == 0
    out = qmd("doctor")[1]
    assert "index: 1 document, " in out
    assert "collection one: 1 file\n" in out
    (root / "tea.md").unlink()
    (root / "car.md").write_text("# Tea\n\nBlack.\n")
    assert qmd("update")[0] == 0
    out = qmd("cleanup")[1]
    assert "Removed 1 text that no document has" in out
    assert "1 unused word," in out
    assert "1 document that is gone." in out


def test_doctor_tells_of_texts_of_earlier_days_and_cleanup_makes_the_file_small(
    indexed, notes, tmp_path, monkeypatch
):
    monkeypatch.setattr("qmd.operations.doctor.MANY_TEXTS", 1)
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


def test_an_update_loads_no_more_than_it_needs(indexed, notes):
    text = "# More\n\nOf [tea][t].\n\n~~~\ncode\n~~~\n\n[t]: tea.md\n"
    notes.joinpath("more.md").write_text(text)

    def loaded():
        command = [sys.executable, "-X", "importtime", "-m", "qmd", "update"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        assert "1 new" in done.stdout + done.stderr
        return {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}

    heavy = {"numpy", "pyarrow", "duckdb", "polars", "httpx", "qmd.ranking.snippets"}
    if arrow.IS_2 and not arrow.READS_SOURCES:
        heavy.remove("duckdb")  # which reads streams of Arrow
    assert loaded() & (heavy | {"asyncio", "anyio"}) == set()
    notes.joinpath("most.md").write_text("# Most\n\n" + "teapots and coffee cups\n" * 100_000)
    modules = loaded()
    assert "anyio" in modules
    assert modules & heavy == set()


def test_a_name_that_begins_with_a_tilde_need_not_be_a_home(qmd, tmp_path, monkeypatch):
    (tmp_path / "~drafts").mkdir()
    (tmp_path / "~drafts" / "tea.md").write_text("# Tea")
    monkeypatch.chdir(tmp_path)
    assert qmd("collection", "add", "./~drafts")[0] == 0
    assert qmd("context", "add", "~drafts", "Not done yet")[0] == 0
    assert qmd("get", "~drafts/tea.md")[1].endswith("# Tea\n")
    code, _, err = qmd("get", "~nobody/tea.md")
    assert (code, "qmd failed" in err) == (1, False)


@pytest.mark.parametrize("followed", [".", ".."])
def test_what_pull_could_not_do_is_not_laid_to_an_update_command(indexed, notes, followed):
    subprocess.run(["git", "init", "-q", str(notes / followed)], check=True)
    code, out, err = indexed("update", "--pull")
    assert (code, err.splitlines()[-1]) == (2, "Not updated: notes")
    assert "Failed: The pull from git in 'notes' failed (exit code 1): git pull --ff-only" in out
    assert "See what git says in its folder, or update without pulling." in out


def test_doctor_tells_of_what_may_not_be_read_or_changed(indexed, notes, tmp_path, monkeypatch):
    closed = {str(notes), str(tmp_path / "index.duckdb")}  # the test may run as who may do all
    monkeypatch.setattr("os.access", lambda path, _: str(path) not in closed)
    told = {each["check"]: each for each in json.loads(indexed("doctor", "--json")[1])}
    assert told["collection notes"]["status"] == "problem"
    assert told["permissions"]["status"] == "warning"


def test_doctor_tells_of_what_is_ignored_in_vain(indexed, tmp_path):
    config = tmp_path / "config" / "index.yml"
    ignored = "    ignore: [/work/, work, 'w*/', missing]\n"
    config.write_text(config.read_text() + ignored)
    code, out, _ = indexed("doctor")
    assert code == 0
    assert [line for line in out.splitlines() if "leaves nothing out" in line] == [
        "warn  collection notes: '/work/' under 'ignore' leaves nothing out: "
        "paths begin at the folder of the collection",
        "warn  collection notes: 'work' under 'ignore' leaves nothing out: it is a folder",
    ]
    assert "Write 'work/' for all that is below it." in out


@pytest.mark.parametrize("more", [(), ("--json",)])
def test_doctor_ends_with_3_where_the_index_cannot_be_read(indexed, tmp_path, more):
    (tmp_path / "index.duckdb").write_bytes(b"no database" * 1000)
    code, out, _ = indexed("doctor", *more)
    assert code == 3
    assert "index" in out
    assert "stops" not in out
