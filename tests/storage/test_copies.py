"""Copies of an index, for whoever reads it for long."""

from __future__ import annotations

import subprocess
import sys

import _duckdb
import pytest

from qmd import files
from qmd.storage.database import Database
from qmd.storage.scratch import workplace
from qmd.storage.snapshot import copied, write_snapshot

STRANGER = """
import sys, _duckdb
_duckdb.connect(sys.argv[1]).execute("delete from settings")
"""


@pytest.fixture
def unsettled(tmp_path):
    """An index with a change that is in the log beside it alone."""
    database = Database(tmp_path / "index.duckdb")
    database.write(lambda cursor: cursor.run("store/set_setting", name="tea", value="green"))
    other = _duckdb.connect(str(database.path))
    other.execute("pragma disable_checkpoint_on_shutdown")
    other.execute("update settings set value = 'black' where name = 'tea'")
    other.close()
    yield database
    database.close()


def test_no_other_program_writes_until_the_log_is_copied_too(unsettled, tmp_path, monkeypatch):
    codes = []

    def tried():
        program = [sys.executable, "-c", STRANGER, str(unsettled.path)]
        codes.append(subprocess.run(program, capture_output=True, check=False).returncode)

    copied = files.copy_file

    def after_another(source, target):
        tried()
        copied(source, target)

    monkeypatch.setattr(files, "copy_file", after_another)
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    made, _ = write_snapshot(unsettled, folder)
    assert len(codes) == 2
    assert 0 not in codes
    assert sorted(each.name for each in folder.iterdir()) == ["index.duckdb", "index.duckdb.wal"]
    apart = Database(made)
    assert apart.read(lambda cursor: cursor.one("store/setting", name="tea")) == "black"
    apart.close()


def test_a_copy_is_made_after_those_of_killed_processes_are_gone(unsettled, tmp_path):
    killed = [tmp_path / "index.duckdb.copy", tmp_path / "index.duckdb.copy-1234"]
    for folder in killed:
        folder.mkdir()
        (folder / "index.duckdb").write_bytes(b"x" * 1000)
    others = tmp_path / "other.duckdb.copy"
    others.mkdir()
    with (
        workplace(tmp_path / "index.duckdb.copy-used") as used,
        copied(unsettled, tmp_path / "index.duckdb.copy-new") as (made, _),
    ):
        left = {folder for folder in tmp_path.iterdir() if ".copy" in folder.name}
        assert left == {used, others, made.path.parent}
