"""Exports and imports while others use the index."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import anyio
import pytest

from qmd.errors import FolderTaken, JobRunning
from qmd.exchange import destination, parquet
from qmd.operations.exchange import run_export, run_import
from qmd.operations.index import Index
from qmd.operations.update import run_update
from qmd.storage.file_lock import errand
from tests.exchange.indexes import LONG, problems


def test_two_exports_to_one_folder_take_turns(one, tmp_path):
    (tmp_path / ".out.part").mkdir()
    with (
        destination.folder_lock(tmp_path / ".out.part", tmp_path / "out"),
        pytest.raises(FolderTaken, match=r"python.*, process \d+ .*is exporting to it"),
    ):
        run_export(one.engine, tmp_path / "out")
    with (
        errand(one.engine.place.database, "export"),
        pytest.raises(JobRunning, match=r"Another export of .* is running: python.*, process \d+"),
    ):
        run_export(one.engine, tmp_path / "out")
    run_export(one.engine, tmp_path / "out")


def test_an_export_is_of_one_state_while_others_write(library, target, tmp_path, monkeypatch):
    monkeypatch.setattr("qmd.ingest.batches.BATCH_FILES", 5)
    for number in range(60):
        library.write(f"{number}.md", f"# Tea {number}\n\nCup {number} of tea.")
    writer = Index(library.engine.place)
    with ThreadPoolExecutor(1) as thread:
        updated = thread.submit(anyio.run, run_update, writer)
        states = []
        while not updated.done():
            folder = tmp_path / f"out{len(states)}"
            run_export(library.engine, folder)
            states.append(folder)
        updated.result(LONG)
    writer.close()
    for number, folder in enumerate(states):
        other = target(f"target{number}")
        run_import(other, folder)
        assert problems(other) == []


def test_the_index_is_free_again_while_its_files_are_written(one, tmp_path, monkeypatch):
    write = parquet.write_table
    seen = []

    def written(*arguments, **options):
        if not seen:
            seen.append(True)
            one.engine.database.write(lambda cursor: cursor.run("maintenance/clear_cache"))
        write(*arguments, **options)

    monkeypatch.setattr(parquet, "write_table", written)
    run_export(one.engine, tmp_path / "out")
    assert seen


READER = """
import sys
from pathlib import Path
from qmd.settings.environment import Machine, Place
from qmd.operations.index import Index
from qmd.operations.search import search

home = Path(sys.argv[1])
place = Place("index", home / "index.yml", home / "index.duckdb", None, home / "trusted.json")
engine = Index(place, Machine(hub=home / "hub"), warm=True)
for line in sys.stdin:
    print([hit.file for hit in search(engine, line.strip())], flush=True)
"""


def test_a_process_that_has_the_old_index_attached_finds_the_new_one(two, tmp_path):
    reader = subprocess.Popen(
        [sys.executable, "-c", READER, str(two.folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    )
    with reader, ThreadPoolExecutor(1) as thread:

        def found(query: str) -> str:
            reader.stdin.write(f"{query}\n")
            reader.stdin.flush()
            return thread.submit(reader.stdout.readline).result(LONG).strip()

        try:
            assert found("cake") == "['notes/cake.md']"
            run_import(two.engine, tmp_path / "out", replace=True)
            assert found("cake") == "[]"
            assert found("tea") == "['notes/tea.md']"
        finally:
            reader.kill()


def test_only_one_process_at_a_time_imports(two, tmp_path):
    with (
        errand(two.engine.place.database, "import"),
        pytest.raises(JobRunning, match=r"Another import of .* is running: python.*, process \d+"),
    ):
        run_import(two.engine, tmp_path / "out", replace=True)
