"""Libraries of search beside qmd: they index the same, are asked the same, and may be missing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from bench import anchors, corpora, engines, libraries

ROOT = Path(__file__).parents[1]


@pytest.fixture
def notes(tmp_path) -> Path:
    folder = tmp_path / "notes"
    (folder / "below").mkdir(parents=True)
    (folder / "tea.md").write_text("Some words first.\n\n# Green tea\n\nGrown on hills.\n")
    (folder / "below" / "plain.md").write_text("A garden without a heading.\n")
    (folder / "other.txt").write_text("# Tea that is no Markdown\n")
    return folder


def test_a_title_is_the_first_heading_or_the_name(notes):
    assert [title for title, _ in engines.documents(notes)] == ["plain", "Green tea"]


@pytest.mark.parametrize(
    ("question", "titles"),
    [
        ("hill", ["Green tea"]),
        ("absent gardens nowhere", ["plain"]),
        ("absent", []),
        ("tea garden", {"Green tea", "plain"}),
    ],
)
def test_sqlite_finds_documents_with_any_word_by_stems(notes, tmp_path, question, titles):
    engines.fill_sqlite(engines.documents(notes), tmp_path)
    found = engines.open_sqlite(tmp_path)(question)
    assert type(titles)(title for title, _ in found) == titles
    assert all(body == dict(engines.documents(notes))[title] for title, body in found)


@pytest.fixture
def few_questions(monkeypatch):
    monkeypatch.setattr(anchors, "FIRST", 2)
    monkeypatch.setattr(anchors, "LATER", 3)


def test_without_the_libraries_sqlite_and_ours_are_measured(tmp_path, few_questions):
    corpora.generate(tmp_path / "made", 40)
    table = anchors.measured(tmp_path / "made", libraries.Libraries(None, "no room"))
    assert (table.corpus, table.files, table.first, table.later) == ("made", 40, 2, 3)
    assert table.missing == ("tantivy: no room", "lancedb: no room")
    sqlite, ours = table.rows
    assert (sqlite.name.startswith("SQLite 3"), ours.name) == (True, anchors.OURS)
    for row in table.rows:
        assert row.wall > 0
        assert row.cpu > 0
        assert row.size > 0.01
        assert row.memory > 5
        assert 0 < row.first_p50 <= row.first_p95
        assert 0 < row.later_p50 <= row.later_p95
        assert row.answering > 5


def test_an_engine_that_fails_is_missing_with_what_it_said(tmp_path, few_questions, monkeypatch):
    ours = anchors.Anchor("ours", *range(1, 11))
    monkeypatch.setattr(anchors, "of_ours", lambda folder, questions: ours)
    corpora.generate(tmp_path / "made", 40)
    empty = tmp_path / "bin" / "python"
    empty.parent.mkdir()
    empty.write_text("#!/bin/sh\necho no such library >&2\nexit 3\n")
    empty.chmod(0o755)
    table = anchors.measured(tmp_path / "made", libraries.Libraries(empty))
    assert [each.partition(":")[0] for each in table.missing] == ["tantivy", "lancedb"]
    assert all("no such library" in each for each in table.missing)
    assert [row.name.partition(" ")[0] for row in table.rows] == ["SQLite", "ours"]


def test_what_measures_is_small_as_a_child_has_its_memory_at_first():
    program = "import sys, bench.__main__; print({'numpy', 'duckdb', 'onnx'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT)
    assert (done.stdout, done.stderr) == ("set()\n", "")


def test_what_answers_is_timed_by_the_clock_and_by_its_processor_time():
    spent = iter([3.0, 3.5])
    answers = engines.answer(str.split, ["a b", "c"], lambda: next(spent))
    assert (answers["cpu"], answers["found"], len(answers["times"])) == (500, 3, 2)


def test_quantiles_are_those_of_the_first_and_of_the_later_ones(few_questions):
    answers = {"times": [9.0, 7.0, 1.0, 3.0, 2.0], "cpu": 20.0}
    row = anchors.anchor("x", anchors.Cost(cpu=2, wall=1, memory=3), 4.0, answers, 5.0)
    assert row == anchors.Anchor("x", 1, 2, 3, 4, 9, 9, 2, 3, 4, 5)


def test_libraries_are_not_installed_unasked(tmp_path, monkeypatch):
    monkeypatch.setattr(libraries, "CACHE", tmp_path / "absent")
    found = libraries.find(install=False)
    assert found == libraries.Libraries(None, "they were not to be installed")
    assert not (tmp_path / "absent").exists()


def test_libraries_that_cannot_be_installed_leave_a_note(tmp_path, monkeypatch):
    asked = []

    def failing(command, **how):
        asked.append(command)
        return subprocess.CompletedProcess(command, 1, "", "much before\nERROR: no network\n")

    monkeypatch.setattr(libraries, "CACHE", tmp_path / "made")
    monkeypatch.setattr(libraries.subprocess, "run", failing)
    found = libraries.find()
    assert found == libraries.Libraries(None, "they could not be installed: ERROR: no network")
    assert len(asked) == 1


@pytest.mark.parametrize(
    ("versions", "is_right"), [("0.27.0 0.40.0", True), ("0.26.0 0.40.0", False)]
)
def test_an_environment_of_other_versions_is_made_anew(tmp_path, monkeypatch, versions, is_right):
    python = tmp_path / "bin" / "python"
    python.parent.mkdir()
    python.write_text(f"#!/bin/sh\necho {versions}\n")
    python.chmod(0o755)
    monkeypatch.setattr(libraries, "CACHE", tmp_path)
    assert libraries.find(install=False).python == (python if is_right else None)
