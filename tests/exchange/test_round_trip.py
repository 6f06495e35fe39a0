"""An index leaves for a folder and comes back equal."""

from __future__ import annotations

import hashlib
import shutil

import anyio
import pyarrow.parquet
import pytest

from qmd.exchange.exporter import Wish
from qmd.operations.embed import run_embed
from qmd.operations.exchange import run_export, run_import
from qmd.operations.experiences import Experiences
from qmd.operations.search import search
from qmd.operations.update import run_update
from qmd.settings.environment import Machine
from qmd.types import Filter
from tests.exchange.indexes import filled, meant, problems, retold, said, told


@pytest.mark.parametrize("parted", [False, True])
def test_an_index_that_was_exported_and_imported_says_the_same(full, target, tmp_path, parted):
    assert full.ask("select count(*) from tombstones") != [(0,)]
    run_export(full.engine, tmp_path / "out", wish=Wish(parted=parted))
    other = target()
    run_import(other, tmp_path / "out")
    assert said(other) == said(full.engine)
    assert problems(other) == []
    again = Experiences(other).query({"keywords": "kettle"})["data"]["experiences"]
    assert [(r["title"], r["query_count"]) for r in again] == [("Kettle trips the fuse", 1)]


def test_vectors_come_back_without_a_model(faked, fake, target, tmp_path):
    filled(faked).embed()
    run_export(faked.engine, tmp_path / "out")
    made = len(fake.made)
    other = target(machine=Machine({"embed": str(tmp_path / "fake.gguf")}, hub=tmp_path / "hub"))
    run_import(other, tmp_path / "out")
    assert len(fake.made) == made
    assert meant(other) == meant(faked.engine)
    assert problems(other) == []
    signs = "select chunk_id, signs from embeddings order by chunk_id"
    assert other.read(lambda c: c.connection.execute(signs).fetchall()) == faked.ask(signs)
    assert anyio.run(run_embed, other).chunks == 0


def test_an_imported_index_lives_on(full, target, tmp_path):
    run_export(full.engine, tmp_path / "out")
    other = target()
    run_import(other, tmp_path / "out")
    full.write("black.md", "# Black tea\n\nNow it is oolong.")
    full.write("new.md", "# New\n\nTea that came later.")
    for engine in (full.engine, other):
        reports = anyio.run(run_update, engine)
        assert [(r.new, r.updated, r.unchanged) for r in reports if r.collection == "notes"] == [
            (1, 1, 3)
        ]
    assert said(other) == said(full.engine)
    assert problems(other) == []


def test_documents_whose_folder_is_elsewhere_stay(full, target, tmp_path):
    run_export(full.engine, tmp_path / "out")
    shutil.move(full.root, tmp_path / "moved")
    before = said(full.engine)  # its files are gone from both: results are stale
    other = target()
    done = run_import(other, tmp_path / "out")
    assert done.missing == (("notes", str(full.root)),)
    reports = {report.collection: report for report in anyio.run(run_update, other)}
    assert "Nothing was removed" in reports["notes"].failure
    assert said(other) == before


def test_an_empty_index_comes_back_empty(library, target, tmp_path):
    library.update()
    run_export(library.engine, tmp_path / "out")
    other = target()
    run_import(other, tmp_path / "out")
    assert [collection.name for collection in other.collections()] == ["notes"]
    assert problems(other) == []


def test_an_export_of_an_earlier_schema_is_brought_up_to_date(full, target, tmp_path):
    # That of version 3 had no records, no readers and no places.
    run_export(full.engine, tmp_path / "out", wish=Wish(Filter(("notes", "work"))))
    tables = [
        table
        for table in told(tmp_path / "out")["tables"]
        if "experience" not in table["name"] and table["name"] != "places"
    ]
    [documents] = [table for table in tables if table["name"] == "documents"]
    later = ["reader", "container", "places", "ctime_ns", "matter", "tags", "aliases", "links"]
    later += ["remark", "lang", "link_percent", "data_bytes"]
    documents["columns"] = [each for each in documents["columns"] if each["name"] not in later]
    for file in documents["files"]:
        path = tmp_path / "out" / file["path"]
        table = pyarrow.parquet.read_table(path).drop_columns(later)
        pyarrow.parquet.write_table(table, path)
        data = path.read_bytes()
        file |= {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    retold(tmp_path / "out", schema_version=3, tables=tables)
    other = target()
    run_import(other, tmp_path / "out")
    submit = Experiences(other).submit
    assert submit({"title": "x" * 20, "problem_description": "y" * 20, "solution": "z"})["success"]
    assert search(other, "tea", limit=50)
    assert problems(other) == []


def test_a_folder_may_have_any_name(full, target, tmp_path):
    folder = tmp_path / "day=2025-03-14" / "[x]*'s? {a,b}"
    run_export(full.engine, folder, wish=Wish(parted=True))
    assert run_export(full.engine, folder, wish=Wish(parted=True)).written == 0
    other = target()
    run_import(other, folder)
    assert said(other) == said(full.engine)
