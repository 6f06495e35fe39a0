"""A project that somebody else has made may have links and pipes where qmd keeps its files."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests import strays

LONG = 60
"""Seconds after which something that has to happen is taken for stuck."""

INDEX_YML = "collections:\n  notes:\n    path: .\n"


@pytest.fixture
def kept(notes, qmd, monkeypatch):
    """Where a project keeps its index, which is not made yet."""
    for name in ("QMD_CONFIG_DIR", "INDEX_PATH"):
        monkeypatch.delenv(name)
    folder = notes / ".qmd"
    folder.mkdir()
    (folder / "index.yml").write_text(INDEX_YML)
    monkeypatch.chdir(notes)
    return folder


def said(*arguments):
    """What a command that has to fail says on stderr. One that waits fails the test."""
    done = subprocess.run(
        [sys.executable, "-m", "qmd", *arguments], capture_output=True, text=True, timeout=LONG
    )
    assert done.returncode in (1, 3)
    assert "Traceback" not in done.stderr
    return done.stderr


@pytest.mark.parametrize("put", [strays.link, os.mkfifo])
@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("index.duckdb", ["search", "tea"]),
        ("index.duckdb", ["update"]),
        ("index.duckdb.lock", ["update"]),
        ("index.duckdb.readers", ["update"]),
        ("index.duckdb.words", ["update"]),
        ("index.yml.lock", ["collection", "add", "work"]),
    ],
)
def test_what_is_in_the_place_of_a_file_is_neither_written_nor_waited_for(
    kept, put, name, arguments
):
    put(kept / name)
    assert name in said(*arguments)
    assert strays.is_untouched(kept)
    assert (kept / "index.yml").read_text() == INDEX_YML


@pytest.mark.parametrize("arguments", [["search", "tea"], ["update"]])
def test_the_log_of_an_index_is_not_waited_for_if_it_is_a_pipe(kept, qmd, arguments):
    assert qmd("update")[0] == 0
    os.mkfifo(kept / "index.duckdb.wal")
    (kept.parent / "new.md").write_text("# New\n")
    assert "index.duckdb.wal has to be a file" in said(*arguments)


@pytest.mark.parametrize("end", ["yml", "duckdb", "duckdb.lock", "yml.lock"])
def test_a_link_out_of_a_project_is_refused_by_every_command(kept, qmd, tmp_path, end):
    index = kept / f"index.{end}"
    theirs = tmp_path / strays.THEIRS
    if index.exists():
        index.rename(theirs)
    else:
        theirs.write_text("theirs")
    before = theirs.read_bytes()
    index.symlink_to(theirs)
    for arguments in (["update"], ["status"], ["search", "tea"], ["collection", "add", "work"]):
        code, _, err = qmd(*arguments)
        assert (code, err.partition(",")[0]) == (
            1, f"{index} is a link that leads out of this project",
        )  # fmt: skip
    assert theirs.read_bytes() == before
    assert set(kept.iterdir()) <= {index, kept / "index.yml"}


def test_a_command_that_came_while_others_ran_is_not_approved_with_them(kept, qmd):
    pulls = f"cp {kept}/pulled.yml {kept}/index.yml && {sys.executable} -m qmd ls"
    first = f"collections:\n  a:\n    path: .\n    update: {pulls}\n"
    (kept / "index.yml").write_text(f"{first}  b:\n    path: work\n")
    (kept / "pulled.yml").write_text(f"{first}  c:\n    path: work\n    update: touch pulled\n")
    assert qmd("trust", "--yes")[0] == 0
    code, out, err = qmd("update")
    assert (code, "c (**/*.md)" in out) == (0, True)
    assert "The update command of 'c' is not approved and was left out: touch pulled" in err
    assert not (kept.parent / "work/pulled").exists()


def test_a_command_that_is_set_in_a_project_that_is_not_approved_is_told_not_to_run(kept, qmd):
    more = "    update: touch theirs\n"
    (kept / "index.yml").write_text(INDEX_YML + more)
    code, out, err = qmd("collection", "update-cmd", "notes", "touch mine")
    assert (code, out) == (0, "Set for 'notes': touch mine\n")
    assert err == "It does not run before this project is approved. Look at it with 'qmd trust'.\n"
    qmd("update")
    assert not (kept.parent / "mine").exists()
    assert qmd("trust", "--yes")[0] == 0
    assert qmd("collection", "update-cmd", "notes", "touch ours") == (
        0, "'qmd update' runs in 'notes' first: touch ours\n", "",
    )  # fmt: skip
    qmd("update")
    assert (kept.parent / "ours").exists()
