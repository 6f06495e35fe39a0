"""An export or an import that is killed leaves what was there before, or all of the new."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import _duckdb
import pytest

from qmd.operations.documents import below
from qmd.operations.exchange import run_export, run_import
from qmd.operations.index import Index
from qmd.operations.search import search
from qmd.settings.environment import Machine
from tests.exchange.indexes import LONG, contents, problems, said

KILLED = """
import os, shutil, signal, sys
from pathlib import Path
from qmd.settings import edit
from qmd.settings.environment import Machine, Place
from qmd.operations.exchange import run_export, run_import
from qmd.operations.index import Index
from qmd.exchange import destination, exporter, manifest
from qmd.exchange import parquet
from qmd import files
from qmd.storage.database import Database

folder, module, name, nth, verb, argument = sys.argv[1:]
home = Path(folder)
place = Place("index", home / "index.yml", home / "index.duckdb", None, home / "trusted.json")
owner = {"files": files, "exchange": parquet, "shutil": shutil, "editing": edit,
         "export": exporter, "manifest": manifest, "Database": Database}[module]
real, calls = getattr(owner, name), 0

def deadly(*arguments, **options):
    global calls
    calls += 1
    if calls == int(nth):
        os.kill(os.getpid(), signal.SIGKILL)
    return real(*arguments, **options)

engine = Index(place, Machine(hub=home / "hub"))
engine.settings()
setattr(owner, name, deadly)
if verb == "export":
    run_export(engine, Path(argument))
else:
    run_import(engine, Path(argument), replace=True)
print("lived")
"""


def killed(folder: Path, module: str, name: str, nth: int, verb: str, argument: Path) -> None:
    """Export or import in a process that is killed when it calls a function for the nth time."""
    arguments = [folder, module, name, nth, verb, argument]
    done = subprocess.run(
        [sys.executable, "-c", KILLED, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=LONG,
        check=False,
        cwd=Path(__file__).parents[2],
    )
    assert done.returncode == -signal.SIGKILL, done.stderr


@pytest.mark.parametrize(
    ("module", "name", "nth"),
    [
        ("files", "copy_file", 1),
        ("exchange", "choose", 1),
        ("exchange", "write_table", 3),
        ("manifest", "write_manifest", 1),
        ("files", "swap_folders", 1),
    ],
)
def test_an_export_that_is_killed_leaves_the_one_before(one, target, tmp_path, module, name, nth):
    run_export(one.engine, tmp_path / "out")
    before = contents(tmp_path / "out")
    one.write("new.md", "# New\n\nLater tea.")
    one.update()
    killed(tmp_path, module, name, nth, "export", tmp_path / "out")
    assert contents(tmp_path / "out") == before
    run_export(one.engine, tmp_path / "out")
    other = target()
    run_import(other, tmp_path / "out")
    assert said(other) == said(one.engine)
    litter = [e.name for e in tmp_path.iterdir() if e.name.startswith((".out", "index.duckdb.c"))]
    assert litter == []


def test_an_export_that_is_killed_while_it_removes_the_old_one_is_whole(one, target, tmp_path):
    run_export(one.engine, tmp_path / "out")
    one.write("new.md", "# New\n\nLater tea.")
    one.update()
    # Before, the copy of the index is removed.
    killed(tmp_path, "shutil", "rmtree", 2, "export", tmp_path / "out")
    other = target()
    run_import(other, tmp_path / "out")
    assert said(other) == said(one.engine)
    run_export(one.engine, tmp_path / "out")
    assert not [entry for entry in tmp_path.iterdir() if entry.name.startswith(".out")]


def test_an_export_that_is_killed_between_two_renames_is_found_again(one, target, tmp_path):
    run_export(one.engine, tmp_path / "out")
    (tmp_path / "out").rename(tmp_path / ".out.old")
    assert run_export(one.engine, tmp_path / "out").written == 0
    assert not (tmp_path / ".out.old").exists()


@pytest.mark.parametrize(
    ("module", "name", "nth", "is_new"),
    [
        ("exchange", "load_table", 1, False),
        ("editing", "edit", 1, False),
        ("Database", "replace", 1, False),
        ("files", "fsync_path", 1, False),
        ("files", "fsync_path", 2, True),
        ("editing", "edit", 2, True),
        ("Database", "write", 4, True),
    ],
)
def test_an_import_that_is_killed_leaves_the_old_index_or_the_new(
    two, library, tmp_path, module, name, nth, is_new
):
    killed(two.folder, module, name, nth, "import", tmp_path / "out")
    engine = Index(two.engine.place, Machine(hub=tmp_path / "hub"))
    names = [document.name for document in below(engine, None)]
    assert names == (["notes/tea.md"] if is_new else ["notes/cake.md", "recipes/pie.md"])
    assert problems(engine) == []
    run_import(engine, tmp_path / "out", replace=True)
    assert [document.name for document in below(engine, None)] == ["notes/tea.md"]
    assert search(engine, "tea") == search(library.engine, "tea")
    assert [collection.name for collection in engine.settings().collections] == ["notes"]
    assert not (two.folder / "index.duckdb.new").exists()
    engine.close()


def test_a_log_that_another_program_left_is_not_lost_to_an_export(two, tmp_path):
    two.engine.close()
    index = str(two.engine.place.database)
    with _duckdb.connect(index) as other:
        other.execute("pragma disable_checkpoint_on_shutdown")
        other.execute("insert into cache values ('k', 'rerank', '1', now()::timestamp)")
    assert Path(f"{index}.wal").exists()
    assert run_export(two.engine, tmp_path / "fresh").rows["cache"] == 1
    run_import(two.engine, tmp_path / "out", replace=True)
    assert two.problems() == []
