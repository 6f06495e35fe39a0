"""What is no whole export is refused, and nothing has happened."""

from __future__ import annotations

import errno
import hashlib
from pathlib import Path

import anyio
import pytest

from qmd import __version__
from qmd.errors import (
    ExportDamaged,
    ExportTooNew,
    ExportUnreadable,
    IndexNotWritable,
    IndexTaken,
    NotAnExport,
)
from qmd.exchange import manifest
from qmd.exchange.parquet import Unread
from qmd.operations.exchange import run_export, run_import
from qmd.operations.index import Index
from qmd.operations.search import search
from qmd.operations.update import run_update
from qmd.settings import edit
from qmd.storage import migrations
from tests.exchange.indexes import TEA, contents, empty, parquet, retold, told
from tests.library import Library


def unchanged(index: Library, folder: Path, error: type[Exception], match: str) -> None:
    """Importing fails, and nothing has happened."""
    index.engine.close()
    before = contents(index.folder)
    with pytest.raises(error, match=match):
        run_import(index.engine, folder, replace=True)
    index.engine.close()
    after = contents(index.folder)
    for each in (before, after):
        each.pop("index.duckdb.import", None)  # a lock
    before["index.duckdb.lock"] = after["index.duckdb.lock"]
    assert after == before
    assert index.found("cake") == ["cake.md"]


def test_an_index_with_documents_is_not_replaced_unasked(old, tmp_path):
    with pytest.raises(IndexTaken, match="has 2 documents") as raised:
        run_import(old.engine, tmp_path / "out")
    assert "replace=True" in str(raised.value)
    assert old.found("cake") == ["cake.md"]


def test_an_index_that_changes_meanwhile_is_not_replaced(two, tmp_path, monkeypatch):
    understood = edit.edit

    def busy(*arguments):
        two.write("late.md", "# Late\n\nCame in between.")
        writer = Index(two.engine.place)
        anyio.run(run_update, writer)
        writer.close()
        understood(*arguments)

    monkeypatch.setattr(edit, "edit", busy)
    with pytest.raises(IndexTaken, match="has been changed meanwhile"):
        run_import(two.engine, tmp_path / "out", replace=True)
    monkeypatch.undo()
    assert two.found("late") == ["late.md"]
    assert list(search(two.engine, "pie"))


@pytest.mark.parametrize("table", ["documents", "postings", "counters"])
def test_a_file_that_was_cut_off_is_refused(old, tmp_path, table):
    victim = parquet(tmp_path / "out" / table)[0]
    victim.write_bytes(victim.read_bytes()[:-10])
    unchanged(old, tmp_path / "out", ExportDamaged, rf"{table}/\S+: it has \d+ bytes, not \d+")


def test_a_file_that_was_edited_is_refused(old, tmp_path):
    victim = parquet(tmp_path / "out" / "words")[0]
    data = victim.read_bytes()
    victim.write_bytes(data[:50] + bytes([data[50] ^ 1]) + data[51:])
    unchanged(old, tmp_path / "out", ExportDamaged, "words/0000000000.parquet: it has been changed")


@pytest.mark.parametrize(
    ("module", "name", "failure"),
    [
        ("qmd.exchange.importer", "sha256", OSError(errno.EIO, "Input/output error")),
        ("qmd.exchange.parquet", "columns_of_file", "IO Error: Could not read from {}: 5"),
        ("qmd.exchange.parquet", "load_table", "IO Error: Could not read from {}: 5"),
    ],
)
def test_a_file_that_the_system_does_not_read_is_not_called_damaged(
    old, tmp_path, monkeypatch, module, name, failure
):
    def fail(*_, **__):
        raise failure if isinstance(failure, OSError) else Unread(failure.format(tmp_path / "out"))

    monkeypatch.setattr(f"{module}.{name}", fail)
    with pytest.raises(ExportUnreadable, match="Check the permissions and the disk"):
        run_import(old.engine, tmp_path / "out", replace=True)


def test_a_disk_without_room_for_the_new_index_is_told_of_as_one(old, tmp_path, monkeypatch):
    def fail(*_, **__):
        raise Unread("IO Error: Could not write file x: No space left on device")

    monkeypatch.setattr("qmd.exchange.parquet.load_table", fail)
    with pytest.raises(IndexNotWritable, match="free space"):
        run_import(old.engine, tmp_path / "out", replace=True)


def test_a_file_that_is_missing_is_refused(old, tmp_path):
    parquet(tmp_path / "out" / "contexts")[0].unlink()
    unchanged(old, tmp_path / "out", ExportDamaged, r"contexts/0000000000.parquet: it is missing\.")


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
        ("words", "select * from old limit 1", r"it has 1 row, not \d+"),
        ("documents", "select * replace ('tea' as hash) from old", "every document has its conten"),
        ("postings", "select * replace (length::bigint as length) from old", "its columns are not"),
        (
            "postings",
            "select * replace (body_frequency + 1::uinteger as body_frequency) from old",
            "not so .* times?:",
        ),
        ("collections", "select * replace ('lost' as name) from old", "its collection"),
    ],
)
def test_tables_that_do_not_fit_together_are_refused(old, tmp_path, name, sql, problem):
    if name == "documents":  # the texts go with it
        sql = "select * replace ('tea' as body) from old union all from old"
        problem = "it has 2 rows, not 1"
    resigned(tmp_path / "out", name, sql)
    unchanged(old, tmp_path / "out", ExportDamaged, problem)


@pytest.mark.parametrize("number", ["nan", "inf", "-inf"])
def test_vectors_that_nothing_is_near_to_are_refused(faked, tmp_path, number):
    faked.write("tea.md", TEA)
    faked.update()
    faked.embed()
    run_export(faked.engine, tmp_path / "out")
    sql = f"select * replace (['{number}'::float] || vector[2:] as vector) from old"
    resigned(tmp_path / "out", "embeddings", sql)
    with pytest.raises(ExportDamaged, match="every number of a vector is finite"):
        run_import(empty(tmp_path / "copy"), tmp_path / "out")


def test_a_later_format_or_schema_is_refused(old, tmp_path):
    retold(tmp_path / "out", schema_version=999, qmd_version="9.9.9")
    knows = rf"this qmd {__version__} knows"
    last = migrations.migrations()[-1].version
    problem = rf"has schema 999; {knows} schemas up to {last}\.\n\n.* wrote it \(9\.9\.9\) or a"
    unchanged(old, tmp_path / "out", ExportTooNew, problem)
    retold(tmp_path / "out", qmd_version=__version__)
    problem = r"has schema 999; .*\n\nNothing was imported. Install the newer qmd that wrote it\."
    unchanged(old, tmp_path / "out", ExportTooNew, problem)
    retold(tmp_path / "out", format_version=2)
    problem = rf"has format 2; {knows} formats up to 1\."
    unchanged(old, tmp_path / "out", ExportTooNew, problem)
    retold(tmp_path / "out", format_version=2, qmd_version="9\x1b[31m" * 2000)
    problem = r"wrote it \(9\\x1b\[31m.{,400} characters …\].{,400}31m\) or a later one"
    unchanged(old, tmp_path / "out", ExportTooNew, problem)


@pytest.mark.parametrize(
    ("text", "error", "problem"),
    [
        (None, NotAnExport, "no manifest.json"),
        ("{}", NotAnExport, "no manifest.json"),
        ('{"format": "qmd exp', ExportDamaged, "manifest.json: this is not JSON"),
        ('{"format": "qmd export", "format_version": 1}', ExportDamaged, "it does not say"),
    ],
)
def test_a_folder_that_is_no_export_is_refused(old, tmp_path, text, error, problem):
    (tmp_path / "out" / manifest.NAME).unlink()
    if text is not None:
        (tmp_path / "out" / manifest.NAME).write_text(text)
    unchanged(old, tmp_path / "out", error, problem)


@pytest.mark.parametrize(
    ("key", "value", "problem"),
    [
        ("path", "../index.duckdb", "lies outside of the folder"),
        ("path", "/etc/passwd", "lies outside of the folder"),
        ("rows", "many", "'many' where a int has to be"),
    ],
)
def test_a_manifest_that_names_other_files_is_refused(old, tmp_path, key, value, problem):
    document = told(tmp_path / "out")
    document["tables"][0]["files"][0][key] = value
    retold(tmp_path / "out", **document)
    unchanged(old, tmp_path / "out", ExportDamaged, problem)


@pytest.mark.parametrize("name", ["settings", "words; drop table words; --", "tea"])
def test_a_manifest_that_names_other_tables_is_refused(old, tmp_path, name):
    document = told(tmp_path / "out")
    table = next(table for table in document["tables"] if table["name"] == "contexts")
    table["name"] = name
    retold(tmp_path / "out", tables=document["tables"])
    unchanged(old, tmp_path / "out", ExportDamaged, f"there is no table '{name}'")
