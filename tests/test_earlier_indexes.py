"""An index of an earlier version, or of another DuckDB, opens, answers, and is made anew."""

from __future__ import annotations

import json
import lzma
import shutil
from pathlib import Path

import duckdb
import pytest

from qmd.storage.database import Database

DATA = Path(__file__).parent / "data"

INDEXES = sorted(DATA.glob("indexes/*.xz"))

WRITTEN_BY_2 = DATA / "indexes" / "schema-17-by-duckdb-2.duckdb.xz"
"""Written on DuckDB 2.0.1; all others on 1.5."""

MIGRATIONS = sorted(path.name[:4] for path in DATA.parents[1].glob("migrations/*.sql"))


each_index = pytest.fixture(params=INDEXES, ids=lambda path: path.name.partition(".")[0])


def laid_out(packed, folder):
    """Put an index into a folder, with the notes that it was made of."""
    (folder / "index.duckdb").write_bytes(lzma.decompress(packed.read_bytes()))
    shutil.copytree(DATA / "notes", folder / "notes")
    (folder / "config").mkdir(exist_ok=True)
    settings = f"collections:\n  notes:\n    path: {folder / 'notes'}\n"
    for place in (folder, folder / "config"):
        (place / "index.yml").write_text(settings)


@each_index
def earlier(request, qmd, tmp_path):
    """An index with the notes that it was made of; the commands of its user."""
    laid_out(request.param, tmp_path)
    return qmd


@pytest.fixture(scope="module")
def updates():
    """Folder of each index that was updated, and what that said."""
    return {}


@each_index
def updated(request, qmd, monkeypatch, tmp_path_factory, updates):
    """An index after an update, and what that said; tests that leave it as it is share it."""
    folder, said = updates.get(request.param) or (tmp_path_factory.mktemp("earlier"), None)
    monkeypatch.setenv("INDEX_PATH", str(folder / "index.duckdb"))
    monkeypatch.setenv("QMD_CONFIG_DIR", str(folder / "config"))
    if said is None:
        laid_out(request.param, folder)
        said = qmd("update")
        updates[request.param] = folder, said
    return qmd, said


def found(qmd, *words):
    code, out, err = qmd("search", "--json", *words)
    assert code == 0, err
    return [each["file"] for each in json.loads(out)]


def test_there_is_one_of_each_schema_but_the_newest():
    by_1 = [path for path in INDEXES if path != WRITTEN_BY_2]
    assert MIGRATIONS[2:-1] == [f"00{path.name[7:9]}" for path in by_1]


def test_it_answers_at_once(earlier):
    assert found(earlier, "brew") == ["notes/tea.md"]
    assert found(earlier, "clay pot")[0] == "notes/pot.md"
    assert found(earlier, "有馬温泉") == ["notes/tea.md"]
    code, out, _ = earlier("get", "notes/pot.md")
    assert (code, out) == (0, (DATA / "notes" / "pot.md").read_text())


def test_an_update_makes_it_one_of_today(updated):
    qmd, (code, out, err) = updated
    assert code == 0, err
    assert "2 unchanged" in out or "2 updated" in out
    assert found(qmd, "C++") == ["notes/pot.md"]
    assert found(qmd, "--filter", "tags = drink", "tea") == ["notes/tea.md"]
    code, out, _ = qmd("sql", "--json", "select target from links order by all")
    assert code == 0
    assert len(json.loads(out)) == 2
    code, out, _ = qmd("doctor", "--deep", "--json")
    problems = [each for each in json.loads(out) if each["status"] == "problem"]
    assert (code, problems) == (0, [])


def test_it_is_exported_and_imported_as_one_of_today(updated, tmp_path, monkeypatch):
    qmd, (code, *_) = updated
    assert code == 0
    assert qmd("export", tmp_path / "out")[0] == 0
    monkeypatch.setenv("INDEX_PATH", str(tmp_path / "copy.duckdb"))
    monkeypatch.setenv("QMD_CONFIG_DIR", str(tmp_path / "other"))
    code, _, err = qmd("import", tmp_path / "out")
    assert code == 0, err
    assert found(qmd, "clay pot")[0] == "notes/pot.md"


def test_texts_that_documents_had_left_are_noted_before_they_are_grouped(tmp_path):
    index = tmp_path / "index.duckdb"
    index.write_bytes(lzma.decompress((DATA / "indexes" / "schema-24.duckdb.xz").read_bytes()))
    with duckdb.connect(index) as before:
        [(gone,)] = before.execute("select hash from documents where path = 'tea.md'").fetchall()
        [(left,)] = before.execute("select hash from documents where path = 'pot.md'").fetchall()
        before.execute("delete from documents where path = 'tea.md'")
        before.execute("insert into copies values (?, ?, 1)", [left, left])
    database = Database(index)
    noted = database.read(
        lambda cursor: cursor.connection.execute("select hash from left_texts").fetchall()
    )
    database.close()
    assert sorted(noted) == sorted([(gone,), (left,)])


def test_a_new_index_is_what_all_migrations_make_of_an_empty_one(tmp_path):
    def described(cursor):
        tables = "select sql from duckdb_tables() where database_name = 'qmd_index' order by sql"
        columns = (
            "select table_name, column_name, data_type, column_default, is_nullable "
            "from duckdb_columns() where database_name = 'qmd_index' order by all"
        )
        ran = "select version, name, digest, qmd_version from schema_migrations order by version"
        counters = "from counters order by name"
        asked = (tables, columns, ran, counters)
        return [cursor.connection.execute(each).fetchall() for each in asked]

    def opened(name, work, schema=None):
        database = Database(tmp_path / name, schema=schema)
        try:
            return database.write(work)
        finally:
            database.close()

    opened("migrated.duckdb", lambda cursor: None, schema=1)
    migrated = opened("migrated.duckdb", described)
    assert [row[0] for row in migrated[2]] == [int(number) for number in MIGRATIONS]
    assert opened("new.duckdb", described) == migrated


def test_an_index_whose_ledger_is_empty_is_made_by_the_migrations(tmp_path):
    index = tmp_path / "index.duckdb"
    begun = Database(index, schema=0)
    begun.write(lambda cursor: cursor.run("store/ledger"))
    begun.close()
    database = Database(index)
    ran = database.read(lambda cursor: cursor.run("store/applied"))
    database.close()
    assert [version for version, *_ in ran] == [int(number) for number in MIGRATIONS]
