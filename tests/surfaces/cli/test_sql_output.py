"""What `qmd sql -o` writes to, and what it does not replace."""

from __future__ import annotations

import io
import os
import stat
import subprocess
import sys

import pyarrow as pa
import pytest
from pyarrow import parquet

LONG = 60
"""Seconds after which something that has to happen is taken for stuck."""


@pytest.fixture
def indexed(qmd, tmp_path):
    """The command, with a note indexed, and settings."""
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "tea.md").write_text("# Tea, green\n\nBrew tea.\n")
    assert qmd("collection", "add", tmp_path / "notes")[0] == 0
    return qmd


BESIDE = [
    *(f"index.duckdb{more}" for more in ("", ".lock", ".wal", ".readers", ".words", ".embed")),
    "index.duckdb.merge",
    *(f"index.duckdb{more}" for more in (".hnsw", ".hnsw.lock", ".searches.jsonl", ".new.csv")),
    "index.duckdb.compared",
    "index.duckdb.facts",
    *(f"config/{name}" for name in ("index.yml", "index.yml.lock", "trusted.json")),
    "config/trusted.json.lock",
]


@pytest.mark.parametrize("exists", [True, False])
@pytest.mark.parametrize("name", BESIDE)
def test_what_qmd_keeps_for_itself_is_not_replaced(indexed, tmp_path, monkeypatch, name, exists):
    kept = tmp_path / name
    if not exists:
        kept.unlink(missing_ok=True)
    elif not kept.exists():
        kept.write_text("kept")
    before = kept.read_bytes() if exists else None
    (tmp_path / "link.csv").symlink_to(kept)
    (tmp_path / "folder").symlink_to(kept.parent)
    monkeypatch.chdir(kept.parent)
    for path in (kept, kept.name, tmp_path / "link.csv", tmp_path / "folder" / kept.name):
        code, _, err = indexed("sql", "select 1 as x", "--csv", "--force", "-o", path)
        assert (code, "what qmd itself needs" in err) == (1, True)
    assert (kept.read_bytes() if kept.exists() else None) == before


def test_what_qmd_keeps_is_known_where_a_link_to_the_index_leads(indexed, tmp_path, monkeypatch):
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "other.duckdb").symlink_to(tmp_path / "index.duckdb")
    monkeypatch.setenv("INDEX_PATH", str(tmp_path / "links" / "other.duckdb"))
    for name in ("index.duckdb.wal", "links/other.duckdb.lock"):
        code, _, err = indexed("sql", "select 1 as x", "--csv", "-o", tmp_path / name)
        assert (code, "what qmd itself needs" in err) == (1, True)


def test_a_file_that_is_only_called_like_one_of_qmds_is_written(indexed, tmp_path):
    (tmp_path / "apart").mkdir()
    for name in ("apart/index.duckdb.csv", "index.csv", "index.duckdb-1.csv", "config/index.csv"):
        assert indexed("sql", "select 1 as x", "-o", tmp_path / name) == (0, "", "")
        assert (tmp_path / name).read_text() == "x\n1\n"


def test_a_link_that_leads_to_itself_is_refused_in_words(indexed, tmp_path):
    (tmp_path / "loop.csv").symlink_to("loop.csv")
    code, _, err = indexed("sql", "select 1 as x", "-o", tmp_path / "loop.csv")
    assert (code, "Traceback" in err, "cannot be written" in err) == (1, False, True)


def test_a_link_stays_and_a_file_keeps_its_mode(indexed, tmp_path):
    real = tmp_path / "apart" / "answer.csv"
    real.parent.mkdir()
    real.write_text("old")
    real.chmod(0o600)
    link = tmp_path / "link.csv"
    link.symlink_to("between.csv")
    (tmp_path / "between.csv").symlink_to(real)
    assert indexed("sql", "select 1 as x", "-o", link) == (0, "", "")
    assert (link.is_symlink(), real.read_text()) == (True, "x\n1\n")
    assert stat.S_IMODE(real.stat().st_mode) == 0o600
    assert [each.name for each in real.parent.iterdir()] == ["answer.csv"]
    real.unlink()
    assert indexed("sql", "select 2 as x", "-o", link) == (0, "", "")
    assert real.read_text() == "x\n2\n"
    real.unlink()
    real.parent.rmdir()
    code, _, err = indexed("sql", "select 1", "-o", link)
    assert (code, f"there is no folder {real.parent}." in err) == (1, True)


@pytest.mark.parametrize("form", ["csv", "arrow", "parquet"])
def test_a_pipe_is_written_to_and_stays_a_pipe(indexed, tmp_path, form):
    pipe = tmp_path / f"answer.{form}"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)  # a pipe holds more than is written
    try:
        assert indexed("sql", "select 1 as x", "-o", pipe) == (0, "", "")
        assert pipe.is_fifo()
        content = os.read(reader, 1 << 16)
    finally:
        os.close(reader)
    match form:
        case "csv":
            assert content == b"x\n1\n"
        case "arrow":
            assert pa.ipc.open_stream(content).read_all().to_pylist() == [{"x": 1}]
        case _:
            assert parquet.read_table(io.BytesIO(content)).to_pylist() == [{"x": 1}]


def test_what_is_open_already_goes_on_where_it_is(indexed, tmp_path):
    # Through links of the test's own: nothing may ever take the place of those of the system.
    (tmp_path / "out").symlink_to("/dev/fd/1")
    (tmp_path / "further").symlink_to("out")
    command = f"{sys.executable} -m qmd sql 'select 1 as x' --csv -o"
    for name in ("out", "further"):
        script = f"echo before; {command} {tmp_path / name}; echo after"
        done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, timeout=LONG)
        assert (done.stdout, done.stderr) == ("before\nx\n1\nafter\n", "")
        file = tmp_path / "all.txt"
        with file.open("w") as stdout:
            subprocess.run(["sh", "-c", script], stdout=stdout, timeout=LONG, check=True)
        assert file.read_text() == "before\nx\n1\nafter\n"


def test_a_file_need_not_be_readable_to_be_written(indexed, tmp_path, monkeypatch):
    file = tmp_path / "answer.csv"
    file.write_text("old")
    allowed = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.R_OK and allowed(path, mode))
    assert indexed("sql", "select 1 as x", "-o", file) == (0, "", "")
    assert file.read_text() == "x\n1\n"


def test_a_document_is_not_replaced_by_mistake(indexed, tmp_path):
    notes = tmp_path / "notes"
    link = tmp_path / "link.md"
    link.symlink_to(notes / "tea.md")
    before = (notes / "tea.md").read_text()
    for file in (notes / "tea.md", link):
        code, out, err = indexed("sql", "select 1 as x", "-o", file)
        assert (code, out) == (1, "")
        assert f"{file} is the document notes/tea.md." in err
        assert (notes / "tea.md").read_text() == before
    assert indexed("sql", "select 1 as x", "-o", notes / "new.csv") == (0, "", "")
    assert indexed("sql", "select 2 as x", "-o", notes / "new.csv") == (0, "", "")
    assert indexed("sql", "select 1 as x", "-o", link, "--force") == (0, "", "")
    assert (notes / "tea.md").read_text().startswith("| x")
