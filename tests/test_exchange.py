"""An index leaves for a folder and comes back equal, or nothing happens at all."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import anyio
import pytest

from qmd import editing
from qmd.engine import Engine
from qmd.environment import Machine, Place
from qmd.errors import (
    ExportDamaged,
    ExportFailed,
    ExportIncomplete,
    ExportTooNew,
    ExportUnreadable,
    FolderTaken,
    IndexNotWritable,
    IndexTaken,
    JobRunning,
    NotAnExport,
    UsageError,
)
from qmd.experiences import Experiences
from qmd.pipeline import destination, manifest
from qmd.pipeline.export import Wish
from qmd.pipeline.hybrid import Recipe
from qmd.store import exchange, files, maintenance
from qmd.store.exchange import Unread
from qmd.store.gate import errand
from qmd.store.statements import shipped
from qmd.text.filters import parse_filter
from qmd.types import Context, Filter
from tests.library import STEMMER, Library

LONG = 60
"""Seconds after which something that has to happen is taken for stuck."""

TEA = """---
title: Tea
status: open
tags: [green, hot]
---
# Tea

A cup of green tea, brewed for two minutes. Retry with backoff.
"""

QUERIES = ("tea", "green tea", '"green tea"', "tea -black", "温泉", "retry", "gre", "nothing here")


def filled(library: Library) -> Library:
    """Everything an index can have: see the names."""
    library.configure(
        "work", "archive", excluded=["archive"], more="global_context: All that there is"
    )
    library.write("tea.md", TEA)
    library.write("black.md", "# Black tea\n\nStronger, and black.")
    library.write("copy/tea.md", TEA)
    library.write("ja/onsen.md", "# 有馬温泉\n\n温泉に行きました。お茶も飲みました。")
    library.write("gone.md", "# Gone\n\nThis tea is cold.")
    library.write("plan.md", "---\nstatus: done\n---\n# Plan\n\nGreen field.", collection="work")
    library.write("old.md", "# Old tea\n\n" + "Old green tea. " * 40, collection="archive")
    anyio.run(library.engine.update)
    library.engine.change(
        lambda _, document: editing.set_context(document, Context("notes", "ja", "In Japanese"))
    )
    (library.root / "gone.md").unlink()
    library.write("black.md", "# Black tea\n\nStronger, and black, and changed.")
    anyio.run(library.engine.update)
    return library


def submitted(library: Library) -> None:
    """Give the index a record that was asked for."""
    records = Experiences(library.engine)
    given = {
        "title": "Kettle trips the fuse",
        "problem_description": "The fuse goes whenever tea is made.",
        "solution": "Use another socket.",
        "keywords": ["kettle", "fuse"],
    }
    assert records.submit(given)["success"]
    assert records.query({"keywords": "kettle"})["data"]["experiences"]
    records.count()


def empty(folder: Path, machine: Machine | None = None) -> Engine:
    """The engine of an index that has nothing, nor settings."""
    folder.mkdir(exist_ok=True)
    place = Place(
        "index", folder / "index.yml", folder / "index.duckdb", None, folder / "trusted.json"
    )
    engine = Engine(place, machine or Machine(hub=folder / "hub"))
    engine.stemmer = STEMMER
    return engine


def said(engine: Engine) -> list[object]:
    """What an index says: all results with their scores, and all that it shows of itself."""
    all_of_them = Filter(tuple(collection.name for collection in engine.collections()))
    return [
        *(engine.search(query, limit=50) for query in QUERIES),
        *(engine.search(query, limit=50, among=all_of_them) for query in QUERIES),
        engine.search("green", among=Filter(conditions=parse_filter("status = open"))),
        [d._replace(document_id=0) for d in engine.documents(None)],
        engine.get("notes/tea.md"),
        engine.collections(),
        engine.contexts(),
        engine.totals()._replace(postings=0),  # without those of documents that are gone
        engine.overview(),
    ]


def meant(engine: Engine) -> list[object]:
    """The same of search by meaning, alone and with words."""
    return [
        *(engine.vector_search(query, limit=50, per_file=3) for query in QUERIES[:3]),
        *(
            anyio.run(partial(engine.query, query, limit=50, recipe=Recipe(fusion=fusion)))
            for query in QUERIES[:4]
            for fusion in ("scores", "rrf")
        ),
    ]


def problems(engine: Engine) -> list[str]:
    return [each.fact for each in engine.read(maintenance.problems) if each.times]


def told(folder: Path) -> dict:
    """The manifest of an export."""
    return json.loads((folder / manifest.NAME).read_text(encoding="utf-8"))


def retold(folder: Path, **changes: object) -> None:
    """Change the manifest of an export."""
    (folder / manifest.NAME).write_text(json.dumps(told(folder) | changes), encoding="utf-8")


def parquet(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.parquet"))


def shown(file: Path) -> list[tuple[object, ...]]:
    """The rows of a file."""
    import _duckdb

    rows = _duckdb.connect().execute("from read_parquet($file)", {"file": str(file)})
    return rows.fetchall()


def contents(folder: Path) -> dict[str, bytes]:
    """All files of a folder."""
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }


@pytest.fixture
def full(library):
    filled(library)
    submitted(library)
    return library


@pytest.fixture
def one(library):
    library.write("tea.md", TEA)
    library.update()
    return library


@pytest.fixture
def target(tmp_path):
    made = []

    def make(name="target", machine=None):
        made.append(empty(tmp_path / name, machine))
        return made[-1]

    yield make
    for engine in made:
        engine.close()


# -- there and back ------------------------------------------------------------


@pytest.mark.parametrize("parted", [False, True])
def test_an_index_that_was_exported_and_imported_says_the_same(full, target, tmp_path, parted):
    assert full.ask("select count(*) from tombstones") != [(0,)]
    full.engine.export(tmp_path / "out", wish=Wish(parted=parted))
    other = target()
    other.import_(tmp_path / "out")
    assert said(other) == said(full.engine)
    assert problems(other) == []
    again = Experiences(other).query({"keywords": "kettle"})["data"]["experiences"]
    assert [(r["title"], r["query_count"]) for r in again] == [("Kettle trips the fuse", 1)]


def test_vectors_come_back_without_a_model(faked, fake, target, tmp_path):
    filled(faked).embed()
    faked.engine.export(tmp_path / "out")
    made = len(fake.made)
    other = target(machine=Machine({"embed": str(tmp_path / "fake.gguf")}, hub=tmp_path / "hub"))
    other.import_(tmp_path / "out")
    assert len(fake.made) == made
    assert meant(other) == meant(faked.engine)
    assert problems(other) == []
    signs = "select chunk_id, signs from embeddings order by chunk_id"
    assert other.read(lambda c: c.connection.execute(signs).fetchall()) == faked.ask(signs)
    assert anyio.run(other.embed).chunks == 0


def test_an_imported_index_lives_on(full, target, tmp_path):
    full.engine.export(tmp_path / "out")
    other = target()
    other.import_(tmp_path / "out")
    full.write("black.md", "# Black tea\n\nNow it is oolong.")
    full.write("new.md", "# New\n\nTea that came later.")
    for engine in (full.engine, other):
        reports = anyio.run(engine.update)
        assert [(r.new, r.updated, r.unchanged) for r in reports if r.collection == "notes"] == [
            (1, 1, 3)
        ]
    assert said(other) == said(full.engine)
    assert problems(other) == []


def test_documents_whose_folder_is_elsewhere_stay(full, target, tmp_path):
    full.engine.export(tmp_path / "out")
    before = said(full.engine)
    shutil.move(full.root, tmp_path / "moved")
    other = target()
    done = other.import_(tmp_path / "out")
    assert done.missing == (("notes", str(full.root)),)
    reports = {report.collection: report for report in anyio.run(other.update)}
    assert "Nothing was removed" in reports["notes"].failure
    assert said(other) == before


def test_an_empty_index_comes_back_empty(library, target, tmp_path):
    library.update()
    library.engine.export(tmp_path / "out")
    other = target()
    other.import_(tmp_path / "out")
    assert [collection.name for collection in other.collections()] == ["notes"]
    assert problems(other) == []


def test_an_export_of_an_earlier_schema_is_brought_up_to_date(full, target, tmp_path):
    # That of version 3 had no records; what it had has not changed since.
    full.engine.export(tmp_path / "out", wish=Wish(Filter(("notes", "work"))))
    tables = [t for t in told(tmp_path / "out")["tables"] if "experience" not in t["name"]]
    retold(tmp_path / "out", schema_version=3, tables=tables)
    other = target()
    other.import_(tmp_path / "out")
    submit = Experiences(other).submit
    assert submit({"title": "x" * 20, "problem_description": "y" * 20, "solution": "z"})["success"]
    assert other.search("tea", limit=50).results
    assert problems(other) == []


def test_a_folder_may_have_any_name(full, target, tmp_path):
    folder = tmp_path / "day=2025-03-14" / "[x]*'s? {a,b}"
    full.engine.export(folder, wish=Wish(parted=True))
    assert full.engine.export(folder, wish=Wish(parted=True)).written == 0
    other = target()
    other.import_(folder)
    assert said(other) == said(full.engine)


# -- parts of an index ---------------------------------------------------------


def test_some_documents_leave_without_a_word_of_the_others(full, target, tmp_path):
    among = Filter(("work", "notes"), conditions=parse_filter("status = done"))
    done = full.engine.export(tmp_path / "out", wish=Wish(among, "status = done"))
    assert done.rows["documents"] == 1
    assert told(tmp_path / "out")["selection"] == {
        "collections": ["notes", "work"],
        "where": "status = done",
    }
    everything = str([shown(file) for file in parquet(tmp_path / "out")])
    assert "green" in everything
    assert not [word for word in ("backoff", "onsen", "japan", "stronger") if word in everything]
    assert not (tmp_path / "out" / "cache").exists()
    other = target()
    other.import_(tmp_path / "out")
    assert [d.name for d in other.documents(None)] == ["work/plan.md"]
    assert [c.name for c in other.collections()] == ["work"]
    assert problems(other) == []


def test_a_search_of_a_part_scores_as_if_there_had_never_been_more(full, target, tmp_path):
    full.engine.export(tmp_path / "out", wish=Wish(Filter(("notes",))))
    part = target("part")
    part.import_(tmp_path / "out")
    (tmp_path / "alone").mkdir()
    alone = Library(tmp_path / "alone")
    shutil.copytree(full.root, alone.root, dirs_exist_ok=True)
    alone.update()
    for query in QUERIES:
        ours, theirs = part.search(query, limit=50), alone.engine.search(query, limit=50)
        assert [(r.file, r.score) for r in ours.results] == [
            (r.file, r.score) for r in theirs.results
        ]
    alone.engine.close()


def test_without_vectors_what_was_cut_is_embedded_again(faked, fake, target, tmp_path):
    filled(faked).embed()
    faked.engine.export(tmp_path / "out", wish=Wish(vectors=False))
    assert not (tmp_path / "out" / "embeddings").exists()
    other = target(machine=Machine({"embed": str(tmp_path / "fake.gguf")}, hub=tmp_path / "hub"))
    other.import_(tmp_path / "out")
    anyio.run(other.embed)
    assert meant(other) == meant(faked.engine)


@pytest.mark.parametrize(
    ("wish", "problem"),
    [
        (Wish(tables=("documents", "dokuments")), "There is no table 'dokuments'. Known: docum"),
        (Wish(Filter(("notes",)), tables=("cache",)), "'cache' cannot be exported for some"),
        (Wish(Filter(("wrok",))), "Collection not found: wrok"),
    ],
)
def test_what_cannot_be_exported_is_refused(one, tmp_path, wish, problem):
    with pytest.raises(Exception, match=problem):
        one.engine.export(tmp_path / "out", wish=wish)
    assert not (tmp_path / "out").exists()


def test_no_index_is_made_of_some_tables(one, target, tmp_path):
    one.engine.export(tmp_path / "out", wish=Wish(tables=("documents", "words")))
    with pytest.raises(ExportIncomplete, match="without content, postings, collections, counters"):
        target().import_(tmp_path / "out")


def test_every_table_and_column_of_an_index_leaves_or_stays_on_purpose(library):
    def look(cursor):
        exchange.choose(cursor, None)
        columns = "select column_name from duckdb_columns() where table_name = ? and not internal"
        own = {}
        for table in exchange.tables(cursor):
            rows = cursor.connection.execute(columns, [table.name]).fetchall()
            left = {column.name for column in exchange.columns(cursor, table)}
            own[table.name] = {name for (name,) in rows} ^ left
            numbered = {"document_id", "chunk_id"} & left
            assert table.key in numbered or not numbered, f"{table.name} has numbers to be shifted"
        return own

    differ = {name: columns for name, columns in library.engine.read(look).items() if columns}
    assert differ == {
        "content": {"outline"},  # made again of the text
        "documents": {"body"},
        "embeddings": {"signs"},
    }


def test_every_file_is_explained(library, tmp_path):
    library.update()
    library.engine.export(tmp_path / "out")
    page = (Path(__file__).parents[1] / "docs" / "export.md").read_text(encoding="utf-8")
    for table in told(tmp_path / "out")["tables"]:
        if not (shipped("sql") / "export" / f"{table['name']}.sql").exists():
            continue
        assert table["meaning"]
        for column in table["columns"]:
            line = f"| `{table['name']}` | `{column['name']}` | {column['type']} | "
            assert f"{line}{column['meaning']} |" in page


# -- files ---------------------------------------------------------------------


def test_the_manifest_tells_every_file(one, tmp_path):
    one.engine.export(tmp_path / "out")
    document = told(tmp_path / "out")
    assert document["format"] == "qmd export"
    files = [file for table in document["tables"] for file in table["files"]]
    assert [tmp_path / "out" / file["path"] for file in sorted(files, key=lambda f: f["path"])] == [
        *parquet(tmp_path / "out")
    ]
    for file in files:
        data = (tmp_path / "out" / file["path"]).read_bytes()
        assert (len(data), hashlib.sha256(data).hexdigest()) == (file["bytes"], file["sha256"])


def test_tables_can_be_read_by_pyarrow(faked, tmp_path):
    dataset = pytest.importorskip("pyarrow.dataset")
    filled(faked).embed()
    faked.engine.export(tmp_path / "out", wish=Wish(parted=True))
    documents = dataset.dataset(tmp_path / "out/documents", partitioning="hive").to_table()
    names = zip(documents["collection"].to_pylist(), documents["path"].to_pylist(), strict=True)
    assert sorted(f"{a}/{b}" for a, b in names) == [d.name for d in faked.engine.documents(None)]
    vectors = dataset.dataset(tmp_path / "out/embeddings").to_table()
    assert str(vectors.schema.field("vector").type) == "list<element: float>"
    assert {len(vector) for vector in vectors["vector"].to_pylist()} == {16}


def test_tables_can_be_read_by_pandas(faked, tmp_path):
    pandas = pytest.importorskip("pandas")
    filled(faked).embed()
    faked.engine.export(tmp_path / "out")
    documents = pandas.read_parquet(tmp_path / "out/documents")
    assert sorted(documents["collection"] + "/" + documents["path"]) == [
        d.name for d in faked.engine.documents(None)
    ]
    assert str(documents["dated"].dtype).startswith("datetime64")
    vectors = pandas.read_parquet(tmp_path / "out/embeddings")
    assert [len(vector) for vector in vectors["vector"]] == [16] * len(vectors)


def test_tables_can_be_read_by_polars(faked, tmp_path):
    polars = pytest.importorskip("polars")
    filled(faked).embed()
    faked.engine.export(tmp_path / "out")
    documents = polars.read_parquet(tmp_path / "out/documents/*.parquet")
    assert "温泉に行きました。お茶も飲みました。" in "".join(documents["body"])
    vectors = polars.read_parquet(tmp_path / "out/embeddings/*.parquet")
    assert vectors.schema["vector"] == polars.List(polars.Float32)
    chunks = polars.read_parquet(tmp_path / "out/chunks/*.parquet")
    assert vectors.join(chunks, on="chunk_id").height == vectors.height > 0


@pytest.mark.skipif(shutil.which("java") is None, reason="Spark needs Java")
def test_tables_can_be_read_by_spark(faked, tmp_path):
    sql = pytest.importorskip("pyspark.sql")
    filled(faked).embed()
    faked.engine.export(tmp_path / "out", wish=Wish(parted=True))
    builder = sql.SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    spark = builder.getOrCreate()
    try:
        documents = spark.read.parquet(f"{tmp_path}/out/documents").collect()
        names = [f"{row.collection}/{row.path}" for row in documents]
        assert sorted(names) == [d.name for d in faked.engine.documents(None)]
        vectors = spark.read.parquet(f"{tmp_path}/out/embeddings")
        assert dict(vectors.dtypes)["vector"] == "array<float>"
        assert {row.size for row in vectors.selectExpr("size(vector) as size").collect()} == {16}
        for table in told(tmp_path / "out")["tables"]:
            if table["rows"]:
                read = spark.read.parquet(f"{tmp_path}/out/{table['name']}")
                assert read.count() == table["rows"]
    finally:
        spark.stop()


@pytest.mark.skipif(shutil.which("duckdb") is None, reason="the command line of DuckDB")
def test_tables_can_be_read_by_the_command_line_of_duckdb(full, tmp_path):
    full.engine.export(tmp_path / "out")
    query = f"select count(*) from '{tmp_path}/out/documents/*.parquet'"
    done = subprocess.run(["duckdb", "-csv", "-c", query], capture_output=True, check=True)
    assert done.stdout.split()[-1] == str(len(full.engine.documents(None))).encode()


def test_tables_can_be_read_by_duckdb(full, tmp_path):
    import _duckdb

    full.engine.export(tmp_path / "out", wish=Wish(parted=True))
    found = _duckdb.connect().execute(
        "select collection, count(*) from read_parquet($files, hive_partitioning = true) "
        "group by all order by all",
        {"files": f"{tmp_path}/out/documents/*/*.parquet"},
    )
    assert found.fetchall() == [("archive", 1), ("experiences", 1), ("notes", 4), ("work", 1)]


# -- again ---------------------------------------------------------------------


def test_what_has_not_changed_is_not_written_again(one, tmp_path):
    first = one.engine.export(tmp_path / "out")
    before = {file: file.stat().st_ino for file in parquet(tmp_path / "out")}
    second = one.engine.export(tmp_path / "out")
    assert (first.written, second.written, second.files) == (first.files, 0, first.files)
    assert {file: file.stat().st_ino for file in parquet(tmp_path / "out")} == before


def test_only_what_has_changed_is_written_again(full, target, tmp_path):
    full.engine.export(tmp_path / "out")
    before = {file: file.stat().st_ino for file in parquet(tmp_path / "out")}
    full.engine.change(
        lambda _, document: editing.set_context(document, Context("work", "", "Plans"))
    )
    done = full.engine.export(tmp_path / "out")
    changed = [f for f in parquet(tmp_path / "out") if before[f] != f.stat().st_ino]
    assert [file.parent.name for file in changed] == ["contexts"]
    assert done.written == 1
    other = target()
    other.import_(tmp_path / "out")
    assert said(other) == said(full.engine)


def test_a_file_that_was_damaged_meanwhile_is_written_again(one, tmp_path):
    one.engine.export(tmp_path / "out")
    victim = parquet(tmp_path / "out" / "documents")[0]
    whole = victim.read_bytes()
    victim.write_bytes(whole[:100] + b"x" + whole[101:])
    assert one.engine.export(tmp_path / "out").written == 1
    assert victim.read_bytes() == whole


def test_an_index_without_documents_does_not_replace_one_that_has_some(library, tmp_path):
    library.write("tea.md", TEA)
    library.update()
    library.engine.export(tmp_path / "out")
    before = contents(tmp_path / "out")
    library.engine.close()
    library.engine.place.database.unlink()
    with pytest.raises(FolderTaken, match="it has 1 documents, and the index has none any more"):
        library.engine.export(tmp_path / "out")
    assert contents(tmp_path / "out") == before
    assert library.engine.export(tmp_path / "out", force=True).rows["documents"] == 0


def test_a_choice_of_nothing_does_not_replace_some_documents(library, tmp_path):
    library.write("tea.md", "---\nstatus: open\n---\n# Tea\n")
    library.update()
    wish = Wish(Filter(conditions=parse_filter("status = open")), "status = open")
    library.engine.export(tmp_path / "out", wish=wish)
    library.write("tea.md", "---\nstatus: done\n---\n# Tea\n")
    library.update()
    with pytest.raises(FolderTaken, match="it has 1 documents, and none of the index is chosen"):
        library.engine.export(tmp_path / "out", wish=wish)


def test_a_part_does_not_replace_the_whole(one, tmp_path):
    one.engine.export(tmp_path / "out")
    with pytest.raises(FolderTaken, match=r"of something else: the index 'index' \(all of it\)"):
        one.engine.export(tmp_path / "out", wish=Wish(tables=("documents",)))
    one.engine.export(tmp_path / "out", wish=Wish(tables=("documents",)), force=True)
    assert [file.parent.name for file in parquet(tmp_path / "out")] == ["documents"]


# -- folders -------------------------------------------------------------------


def test_a_folder_of_something_else_is_not_replaced(one, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("Dear")
    with pytest.raises(FolderTaken, match="not empty, and no export of qmd"):
        one.engine.export(tmp_path / "mine")
    assert (tmp_path / "mine" / "letter.txt").read_text() == "Dear"
    one.engine.export(tmp_path / "mine", force=True)
    assert not (tmp_path / "mine" / "letter.txt").exists()


def test_what_somebody_put_beside_the_files_is_not_lost(one, tmp_path):
    one.engine.export(tmp_path / "out")
    (tmp_path / "out" / "words" / "letter.txt").write_text("Dear")
    (tmp_path / "out" / ".DS_Store").write_text("")
    with pytest.raises(FolderTaken, match=r"not of the export: words/letter.txt\."):
        one.engine.export(tmp_path / "out")
    (tmp_path / "out" / "words" / "letter.txt").unlink()
    assert one.engine.export(tmp_path / "out").written == 0


@pytest.mark.parametrize("place", ["", "notes", "index.duckdb"])
def test_what_is_needed_is_never_replaced(one, tmp_path, place):
    with pytest.raises(FolderTaken):
        one.engine.export(tmp_path / place, force=True)
    assert one.engine.search("tea").results
    assert (one.root / "tea.md").exists()


def test_a_folder_that_cannot_be_made_is_an_error_in_words(one, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ExportFailed, match="could not be exported"):
        one.engine.export(tmp_path / "file" / "out")


def test_two_exports_to_one_folder_take_turns(one, tmp_path):
    (tmp_path / ".out.part").mkdir()
    with (
        destination.locked(tmp_path / ".out.part", tmp_path / "out"),
        pytest.raises(FolderTaken, match="another process is exporting to it"),
    ):
        one.engine.export(tmp_path / "out")
    with (
        errand(one.engine.place.database, "export"),
        pytest.raises(JobRunning, match="Another 'qmd export'"),
    ):
        one.engine.export(tmp_path / "out")
    one.engine.export(tmp_path / "out")


@pytest.mark.parametrize("can", [True, False])
def test_the_new_export_takes_the_place_of_the_old_one(one, target, tmp_path, monkeypatch, can):
    if not can:
        monkeypatch.setattr(files, "exchange", lambda one, other: False)
    one.engine.export(tmp_path / "out")
    one.write("new.md", "# New\n\nLater tea.")
    one.update()
    one.engine.export(tmp_path / "out")
    other = target()
    other.import_(tmp_path / "out")
    assert said(other) == said(one.engine)
    assert not [entry for entry in tmp_path.iterdir() if entry.name.startswith(".out")]


def test_a_disk_without_room_beside_the_index_is_no_hindrance(one, tmp_path, monkeypatch):
    copy = files.copy

    def full_disk(source, target):
        if target.parent == tmp_path / "index.duckdb.copy":
            raise OSError(28, "No space left on device")
        copy(source, target)

    monkeypatch.setattr(files, "copy", full_disk)
    assert one.engine.export(tmp_path / "out").rows["documents"] == 1
    monkeypatch.setattr(files, "copy", lambda *_: full_disk(None, tmp_path / "index.duckdb.copy/x"))
    with pytest.raises(ExportFailed, match="No space left"):
        one.engine.export(tmp_path / "out")
    assert one.engine.search("tea").results


# -- others at work ------------------------------------------------------------


def test_an_export_is_of_one_state_while_others_write(library, target, tmp_path, monkeypatch):
    monkeypatch.setattr("qmd.pipeline.index.BATCH_FILES", 5)
    for number in range(60):
        library.write(f"{number}.md", f"# Tea {number}\n\nCup {number} of tea.")
    writer = Engine(library.engine.place)
    writer.stemmer = STEMMER
    with ThreadPoolExecutor(1) as thread:
        updated = thread.submit(anyio.run, writer.update)
        states = []
        while not updated.done():
            folder = tmp_path / f"out{len(states)}"
            library.engine.export(folder)
            states.append(folder)
        updated.result(LONG)
    writer.close()
    for number, folder in enumerate(states):
        other = target(f"target{number}")
        other.import_(folder)
        assert problems(other) == []


def test_the_index_is_free_again_while_its_files_are_written(one, tmp_path, monkeypatch):
    write = exchange.write
    seen = []

    def written(*arguments, **options):
        if not seen:
            seen.append(True)
            one.engine.database.write(lambda cursor: cursor.run("maintenance/clear_cache"))
        write(*arguments, **options)

    monkeypatch.setattr(exchange, "write", written)
    one.engine.export(tmp_path / "out")
    assert seen


# -- killed --------------------------------------------------------------------

KILLED = """
import os, shutil, signal, sys
from pathlib import Path
from qmd import editing
from qmd.environment import Machine, Place
from qmd.engine import Engine
from qmd.pipeline import destination, export, manifest
from qmd.store import exchange, files
from qmd.store.database import Database

folder, module, name, nth, verb, argument = sys.argv[1:]
home = Path(folder)
place = Place("index", home / "index.yml", home / "index.duckdb", None, home / "trusted.json")
owner = {"files": files, "exchange": exchange, "shutil": shutil, "editing": editing,
         "export": export, "manifest": manifest, "Database": Database}[module]
real, calls = getattr(owner, name), 0

def deadly(*arguments, **options):
    global calls
    calls += 1
    if calls == int(nth):
        os.kill(os.getpid(), signal.SIGKILL)
    return real(*arguments, **options)

engine = Engine(place, Machine(hub=home / "hub"))
engine.settings()
setattr(owner, name, deadly)
if verb == "export":
    engine.export(Path(argument))
else:
    engine.import_(Path(argument), replace=True)
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
        cwd=Path(__file__).parents[1],
    )
    assert done.returncode == -signal.SIGKILL, done.stderr


@pytest.mark.parametrize(
    ("module", "name", "nth"),
    [
        ("files", "copy", 1),
        ("exchange", "choose", 1),
        ("exchange", "write", 3),
        ("manifest", "write", 1),
        ("files", "exchange", 1),
    ],
)
def test_an_export_that_is_killed_leaves_the_one_before(one, target, tmp_path, module, name, nth):
    one.engine.export(tmp_path / "out")
    before = contents(tmp_path / "out")
    one.write("new.md", "# New\n\nLater tea.")
    one.update()
    killed(tmp_path, module, name, nth, "export", tmp_path / "out")
    assert contents(tmp_path / "out") == before
    one.engine.export(tmp_path / "out")
    other = target()
    other.import_(tmp_path / "out")
    assert said(other) == said(one.engine)
    litter = [e.name for e in tmp_path.iterdir() if e.name.startswith((".out", "index.duckdb.c"))]
    assert litter == []


def test_an_export_that_is_killed_while_it_removes_the_old_one_is_whole(one, target, tmp_path):
    one.engine.export(tmp_path / "out")
    one.write("new.md", "# New\n\nLater tea.")
    one.update()
    # Before, the copy of the index is removed.
    killed(tmp_path, "shutil", "rmtree", 2, "export", tmp_path / "out")
    other = target()
    other.import_(tmp_path / "out")
    assert said(other) == said(one.engine)
    one.engine.export(tmp_path / "out")
    assert not [entry for entry in tmp_path.iterdir() if entry.name.startswith(".out")]


def test_an_export_that_is_killed_between_two_renames_is_found_again(one, target, tmp_path):
    one.engine.export(tmp_path / "out")
    (tmp_path / "out").rename(tmp_path / ".out.old")
    assert one.engine.export(tmp_path / "out").written == 0
    assert not (tmp_path / ".out.old").exists()


@pytest.fixture
def two(library, tmp_path):
    """An export of one index, and another index that it is to replace."""
    library.write("tea.md", TEA)
    library.update()
    library.engine.export(tmp_path / "out")
    (tmp_path / "other").mkdir()
    other = Library(tmp_path / "other")
    other.configure("recipes")
    other.write("cake.md", "# Cake\n\nFlour and eggs.")
    other.write("pie.md", "# Pie\n\nApples.", collection="recipes")
    anyio.run(other.engine.update)
    yield other
    other.engine.close()


@pytest.mark.parametrize(
    ("module", "name", "nth", "is_new"),
    [
        ("exchange", "load", 1, False),
        ("editing", "edit", 1, False),
        ("Database", "replace", 1, False),
        ("files", "flush", 1, False),
        ("files", "flush", 2, True),
        ("editing", "edit", 2, True),
        ("Database", "write", 5, True),
    ],
)
def test_an_import_that_is_killed_leaves_the_old_index_or_the_new(
    two, library, tmp_path, module, name, nth, is_new
):
    killed(two.folder, module, name, nth, "import", tmp_path / "out")
    engine = Engine(two.engine.place, Machine(hub=tmp_path / "hub"))
    names = [document.name for document in engine.documents(None)]
    assert names == (["notes/tea.md"] if is_new else ["notes/cake.md", "recipes/pie.md"])
    assert problems(engine) == []
    engine.import_(tmp_path / "out", replace=True)
    assert [document.name for document in engine.documents(None)] == ["notes/tea.md"]
    assert engine.search("tea") == library.engine.search("tea")
    assert [collection.name for collection in engine.settings().collections] == ["notes"]
    assert not (two.folder / "index.duckdb.new").exists()
    engine.close()


# -- import is refused ---------------------------------------------------------


def unchanged(index: Library, folder: Path, error: type[Exception], match: str) -> None:
    """Importing fails, and nothing has happened."""
    index.engine.close()
    before = contents(index.folder)
    with pytest.raises(error, match=match):
        index.engine.import_(folder, replace=True)
    index.engine.close()
    after = contents(index.folder)
    after.pop("index.duckdb.import", None)  # a lock
    before["index.duckdb.lock"] = after["index.duckdb.lock"]
    assert after == before
    assert index.found("cake") == ["cake.md"]


def test_an_index_with_documents_is_not_replaced_unasked(two, tmp_path):
    with pytest.raises(IndexTaken, match="has 2 documents") as raised:
        two.engine.import_(tmp_path / "out")
    assert "--replace" in str(raised.value)
    assert two.found("cake") == ["cake.md"]


def test_an_index_that_changes_meanwhile_is_not_replaced(two, tmp_path, monkeypatch):
    understood = editing.edit

    def busy(*arguments):
        two.write("late.md", "# Late\n\nCame in between.")
        writer = Engine(two.engine.place)
        writer.stemmer = STEMMER
        anyio.run(writer.update)
        writer.close()
        understood(*arguments)

    monkeypatch.setattr(editing, "edit", busy)
    with pytest.raises(IndexTaken, match="has been changed meanwhile"):
        two.engine.import_(tmp_path / "out", replace=True)
    monkeypatch.undo()
    assert two.found("late") == ["late.md"]
    assert two.engine.search("pie").results


@pytest.mark.parametrize("table", ["documents", "postings", "counters"])
def test_a_file_that_was_cut_off_is_refused(two, tmp_path, table):
    victim = parquet(tmp_path / "out" / table)[0]
    victim.write_bytes(victim.read_bytes()[:-10])
    unchanged(two, tmp_path / "out", ExportDamaged, rf"{table}/\S+: it has \d+ bytes, not \d+")


def test_a_file_that_was_edited_is_refused(two, tmp_path):
    victim = parquet(tmp_path / "out" / "words")[0]
    data = victim.read_bytes()
    victim.write_bytes(data[:50] + bytes([data[50] ^ 1]) + data[51:])
    unchanged(two, tmp_path / "out", ExportDamaged, "words/0000000000.parquet: it has been changed")


@pytest.mark.parametrize(
    ("module", "name", "failure"),
    [
        ("qmd.pipeline.importing", "sha256", OSError(errno.EIO, "Input/output error")),
        ("qmd.store.exchange", "columns_of_file", "IO Error: Could not read from {}: 5"),
        ("qmd.store.exchange", "load", "IO Error: Could not read from {}: 5"),
    ],
)
def test_a_file_that_the_system_does_not_read_is_not_called_damaged(
    two, tmp_path, monkeypatch, module, name, failure
):
    def fail(*_, **__):
        raise failure if isinstance(failure, OSError) else Unread(failure.format(tmp_path / "out"))

    monkeypatch.setattr(f"{module}.{name}", fail)
    with pytest.raises(ExportUnreadable, match="Check the permissions and the disk"):
        two.engine.import_(tmp_path / "out", replace=True)


def test_a_disk_without_room_for_the_new_index_is_told_of_as_one(two, tmp_path, monkeypatch):
    def fail(*_, **__):
        raise Unread("IO Error: Could not write file x: No space left on device")

    monkeypatch.setattr("qmd.store.exchange.load", fail)
    with pytest.raises(IndexNotWritable, match="free space"):
        two.engine.import_(tmp_path / "out", replace=True)


def test_a_file_that_is_missing_is_refused(two, tmp_path):
    parquet(tmp_path / "out" / "contexts")[0].unlink()
    unchanged(two, tmp_path / "out", ExportDamaged, r"contexts/0000000000.parquet: it is missing\.")


def resigned(folder: Path, name: str, sql: str) -> None:
    """Replace a file by what a query makes of it, and let the manifest agree."""
    import _duckdb

    document = told(folder)
    table = next(table for table in document["tables"] if table["name"] == name)
    [file] = table["files"]
    path = folder / file["path"]
    engine = _duckdb.connect()
    engine.execute("create table old as select * from read_parquet($path)", {"path": str(path)})
    engine.execute(f"copy ({sql}) to '{path}' (format parquet)")
    file["sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
    file["bytes"] = path.stat().st_size
    retold(folder, tables=document["tables"])


@pytest.mark.parametrize(
    ("name", "sql", "problem"),
    [
        ("words", "select * exclude (head) from old", "its columns are not those"),
        ("words", "select * replace (head::int as head) from old limit 0", "its columns are not"),
        ("words", "select * from old limit 1", r"it has 1 rows, not \d+"),
        ("documents", "select * replace ('tea' as hash) from old", "every document has its conten"),
        ("postings", "select * replace (length::bigint as length) from old", "its columns are not"),
        (
            "postings",
            "select * replace (body_frequency + 1::uinteger as body_frequency) from old",
            "not so .* times",
        ),
        ("collections", "select * replace ('lost' as name) from old", "its collection"),
    ],
)
def test_tables_that_do_not_fit_together_are_refused(two, tmp_path, name, sql, problem):
    if name == "documents":  # the texts go with it
        sql = "select * replace ('tea' as body) from old union all from old"
        problem = "it has 2 rows, not 1"
    resigned(tmp_path / "out", name, sql)
    unchanged(two, tmp_path / "out", ExportDamaged, problem)


def test_a_later_format_or_schema_is_refused(two, tmp_path):
    retold(tmp_path / "out", schema_version=999, qmd_version="9.9.9")
    unchanged(two, tmp_path / "out", ExportTooNew, r"written by qmd 9\.9\.9")
    retold(tmp_path / "out", format_version=2)
    unchanged(two, tmp_path / "out", ExportTooNew, r"Upgrade qmd to 9\.9\.9 or later")


@pytest.mark.parametrize(
    ("text", "error", "problem"),
    [
        (None, NotAnExport, "no manifest.json"),
        ("{}", NotAnExport, "no manifest.json"),
        ('{"format": "qmd exp', ExportDamaged, "manifest.json: this is not JSON"),
        ('{"format": "qmd export", "format_version": 1}', ExportDamaged, "it does not say"),
    ],
)
def test_a_folder_that_is_no_export_is_refused(two, tmp_path, text, error, problem):
    (tmp_path / "out" / manifest.NAME).unlink()
    if text is not None:
        (tmp_path / "out" / manifest.NAME).write_text(text)
    unchanged(two, tmp_path / "out", error, problem)


@pytest.mark.parametrize(
    ("key", "value", "problem"),
    [
        ("path", "../index.duckdb", "lies outside of the folder"),
        ("path", "/etc/passwd", "lies outside of the folder"),
        ("rows", "many", "'many' where a int has to be"),
    ],
)
def test_a_manifest_that_names_other_files_is_refused(two, tmp_path, key, value, problem):
    document = told(tmp_path / "out")
    document["tables"][0]["files"][0][key] = value
    retold(tmp_path / "out", **document)
    unchanged(two, tmp_path / "out", ExportDamaged, problem)


@pytest.mark.parametrize("name", ["settings", "words; drop table words; --", "tea"])
def test_a_manifest_that_names_other_tables_is_refused(two, tmp_path, name):
    document = told(tmp_path / "out")
    table = next(table for table in document["tables"] if table["name"] == "contexts")
    table["name"] = name
    retold(tmp_path / "out", tables=document["tables"])
    unchanged(two, tmp_path / "out", ExportDamaged, f"there is no table '{name}'")


# -- import --------------------------------------------------------------------


def test_an_index_is_replaced_on_request(two, library, tmp_path):
    done = two.engine.import_(tmp_path / "out", replace=True)
    assert done.rows["documents"] == 1
    assert two.engine.search("tea") == library.engine.search("tea")
    assert two.found("cake") == []
    assert [collection.name for collection in two.engine.collections()] == ["notes"]
    assert two.problems() == []


def test_no_number_is_given_away_twice(two, tmp_path):
    before = two.ask("select max(document_id) from documents")[0][0]
    two.engine.import_(tmp_path / "out", replace=True)
    [(least, following)] = two.ask(
        "select min(document_id), (select value from counters where name = 'next_document_id') "
        "from documents"
    )
    assert before < least < following
    two.write("tea.md", TEA + "More.", collection="notes")
    assert two.problems() == []


def test_a_copy_of_the_old_vectors_goes(two, tmp_path):
    (two.folder / "index.duckdb.hnsw").write_bytes(b"graph")
    two.engine.import_(tmp_path / "out", replace=True)
    assert not (two.folder / "index.duckdb.hnsw").exists()


def test_comments_and_collections_of_index_yml_stay(library, target, tmp_path):
    library.write("tea.md", TEA)
    library.update()
    library.engine.export(tmp_path / "out")
    engine = target()
    (tmp_path / "elsewhere").mkdir()
    engine.place.config.write_text(
        f"# Mine\ncollections:\n  notes:\n    path: {tmp_path}/elsewhere  # moved\n"
        f"  other:\n    path: {tmp_path}/other\n"
    )
    engine.import_(tmp_path / "out")
    text = engine.place.config.read_text()
    assert "# Mine" in text
    assert "elsewhere  # moved" in text
    assert [c.name for c in engine.collections()] == ["notes", "other"]
    assert [d.name for d in engine.documents(None)] == ["notes/tea.md"]


def test_a_folder_that_is_only_here_is_kept_when_an_index_is_replaced(library, target, tmp_path):
    library.write("tea.md", TEA)
    library.update()
    library.engine.export(tmp_path / "out")
    shutil.copytree(library.root, tmp_path / "here")
    shutil.rmtree(library.root)
    engine = target()
    engine.place.config.write_text(f"collections:\n  notes:\n    path: {tmp_path}/here\n")
    anyio.run(engine.update)
    assert engine.import_(tmp_path / "out", replace=True).missing == ()
    assert [report.unchanged for report in anyio.run(engine.update)] == [1]


RUNS = "models:\n  embed: hf:org/repo/file.gguf\nchunk:\n  tokens: 77\n"


def test_what_an_export_would_run_or_load_waits_for_trust(library, target, tmp_path):
    library.configure(more=RUNS)
    library.write("tea.md", TEA)
    library.update()
    library.engine.change(
        lambda _, document: editing.entry(document, "notes").update({"update": "rm -rf /"})
    )
    library.engine.export(tmp_path / "out")
    careful, trusting = target("careful"), target("trusting")
    done = careful.import_(tmp_path / "out")
    assert done.left_out == ("run for 'notes': rm -rf /", "use for embed: hf:org/repo/file.gguf")
    settings = careful.settings()
    assert (settings.collections[0].update_command, dict(settings.models)) == (None, {})
    assert settings.chunk_tokens == 77
    assert trusting.import_(tmp_path / "out", trusting=True).left_out == ()
    assert trusting.settings() == library.engine.settings()
    assert careful.import_(tmp_path / "out", replace=True).left_out == done.left_out
    assert careful.settings() == settings


READER = """
import sys
from pathlib import Path
from qmd.environment import Machine, Place
from qmd.engine import Engine

home = Path(sys.argv[1])
place = Place("index", home / "index.yml", home / "index.duckdb", None, home / "trusted.json")
engine = Engine(place, Machine(hub=home / "hub"), warm=True)
for line in sys.stdin:
    print([hit.file for hit in engine.search(line.strip(), limit=10).results], flush=True)
"""


def test_a_process_that_has_the_old_index_attached_finds_the_new_one(two, tmp_path):
    reader = subprocess.Popen(
        [sys.executable, "-c", READER, str(two.folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[1],
    )
    with reader, ThreadPoolExecutor(1) as thread:

        def found(query: str) -> str:
            reader.stdin.write(f"{query}\n")
            reader.stdin.flush()
            return thread.submit(reader.stdout.readline).result(LONG).strip()

        try:
            assert found("cake") == "['notes/cake.md']"
            two.engine.import_(tmp_path / "out", replace=True)
            assert found("cake") == "[]"
            assert found("tea") == "['notes/tea.md']"
        finally:
            reader.kill()


def test_a_log_of_a_killed_writer_is_not_lost_to_an_export(two, tmp_path):
    code = (
        "import os, signal, sys; from pathlib import Path; from qmd.store import database\n"
        "index = database.Database(Path(sys.argv[1]))\n"
        "index._attachment.detach = lambda: os.kill(os.getpid(), signal.SIGKILL)\n"
        "index.write(lambda cursor: cursor.run("
        '\'cache/keep\', answers=\'[{"key": "k", "kind": "rerank", "value": 1}]\'))\n'
    )
    two.engine.close()
    index = str(two.engine.place.database)
    done = subprocess.run(
        [sys.executable, "-c", code, index],
        cwd=Path(__file__).parents[1],
        timeout=LONG,
        check=False,
    )
    assert done.returncode == -signal.SIGKILL
    assert Path(f"{index}.wal").exists()
    assert two.engine.export(tmp_path / "fresh").rows["cache"] == 1
    two.engine.import_(tmp_path / "out", replace=True)
    assert two.problems() == []


def test_only_one_process_at_a_time_imports(two, tmp_path):
    with (
        errand(two.engine.place.database, "import"),
        pytest.raises(JobRunning, match="Another 'qmd import'"),
    ):
        two.engine.import_(tmp_path / "out", replace=True)


def test_a_filter_that_cannot_be_read_is_a_usage_error():
    with pytest.raises(UsageError):
        parse_filter("status is open")


def test_files_are_linked_or_copied(tmp_path, monkeypatch):
    (tmp_path / "a").write_bytes(b"tea" * 1000)
    files.link(tmp_path / "a", tmp_path / "b")
    assert (tmp_path / "b").stat().st_ino == (tmp_path / "a").stat().st_ino

    def impossible(*_):
        raise OSError(38, "not here")

    monkeypatch.setattr(Path, "hardlink_to", impossible)
    monkeypatch.setattr(os, "copy_file_range", impossible)
    files.link(tmp_path / "a", tmp_path / "c")
    assert (tmp_path / "c").read_bytes() == (tmp_path / "a").read_bytes()
    assert (tmp_path / "c").stat().st_ino != (tmp_path / "a").stat().st_ino
