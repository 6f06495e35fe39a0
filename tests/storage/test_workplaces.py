"""Folders beside the index: there while a process works in them, and found when it was killed."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from subprocess import PIPE

import pytest

from qmd.storage import scratch
from qmd.storage.scratch import clear, left_behind, workplace

LONG = 20
"""Seconds after which something that has to happen is taken for stuck."""

WORKER = """
import sys
from pathlib import Path
from qmd.storage.scratch import workplace
with workplace(Path(sys.argv[1])) as folder:
    (folder / "index.duckdb").write_bytes(b"x" * 1000)
    (folder / "index.duckdb.wal").write_bytes(b"x" * 24)
    print("inside", flush=True)
    sys.stdin.readline()
"""


@pytest.fixture
def index(tmp_path):
    """Where an index may be, with a name that is not to be taken for a pattern."""
    return tmp_path / "a[b]*.duckdb"


@pytest.fixture
def worker(index):
    """A process at work in a folder beside the index."""
    folder = index.with_name(f"{index.name}.new")
    command = [sys.executable, "-c", WORKER, folder]
    with subprocess.Popen(command, stdin=PIPE, stdout=PIPE, text=True) as process:
        assert process.stdout.readline() == "inside\n"
        yield process
        process.kill()


def test_a_folder_goes_with_its_work(index):
    with workplace(index.with_name("x")) as folder:
        (folder / "below").mkdir()
        (folder / "below" / "file").touch()
    assert not folder.exists()


def test_a_folder_that_somebody_works_in_is_left_alone(index, worker):
    assert left_behind(index) == {}
    assert clear(index) == {}
    worker.communicate("\n", timeout=LONG)
    assert list(index.parent.iterdir()) == []


def test_the_folder_of_a_killed_process_is_found_and_removed(index, worker):
    worker.kill()
    worker.wait(LONG)
    index.touch()
    folder = index.with_name(f"{index.name}.new")
    assert left_behind(index) == {folder: 1024}
    assert folder.exists()
    assert clear(index) == {folder: 1024}
    assert list(index.parent.iterdir()) == [index]


@pytest.mark.parametrize("kind", ["new", "copy", "copy-12ab", "hnsw.new"])
def test_all_kinds_are_found_and_nothing_else_is(index, kind):
    index.with_name(f"{index.name}.{kind}").mkdir()
    for name in ("a.duckdb.new", f"{index.name}.older", f"{index.name}.newer"):
        index.with_name(name).mkdir()
    index.with_name(f"{index.name}.copy-file").touch()
    assert [folder.name for folder in clear(index)] == [f"{index.name}.{kind}"]
    assert len(list(index.parent.iterdir())) == 4


def test_what_was_spilled_is_left_behind_when_nobody_has_touched_it_for_a_day(index):
    for name, age in (("spill", 60), ("spill-12", 60), ("spill-34", -60)):
        folder = index.with_name(f"{index.name}.{name}")
        folder.mkdir()
        (folder / "duckdb_temp_storage-0.tmp").write_bytes(b"rows")
        os.utime(folder, (time.time() - scratch.ABANDONED_SECONDS - age,) * 2)
    assert left_behind(index) == dict.fromkeys(
        (index.with_name(f"{index.name}.{name}") for name in ("spill", "spill-12")), 4
    )
    scratch.sweep(index)
    assert [folder.name for folder in index.parent.iterdir()] == [f"{index.name}.spill-34"]


def test_what_was_left_is_not_in_the_way_of_the_next(index):
    folder = index.with_name("x")
    (folder / "below").mkdir(parents=True)
    with workplace(folder):
        assert list(folder.iterdir()) == []


def test_a_folder_that_is_cleared_just_then_is_made_again(index, monkeypatch):
    real, folder, cleared = scratch._locked, index.with_name(f"{index.name}.new"), []

    def locked(path, *, wait):
        if wait and not cleared:
            cleared.append(True)
            thread = threading.Thread(target=clear, args=(index,))
            thread.start()
            thread.join(LONG)
        return real(path, wait=wait)

    monkeypatch.setattr(scratch, "_locked", locked)
    with workplace(folder):
        assert folder.exists()
        assert left_behind(index) == {}
    assert not folder.exists()
