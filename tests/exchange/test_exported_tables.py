"""The files of an export are told in its manifest, explained, and can be read by others."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from pathlib import Path

import pytest

from qmd.exchange import parquet as exchange
from qmd.exchange.exporter import Wish
from qmd.operations.documents import below
from qmd.operations.exchange import run_export
from qmd.storage.statements import data_folder
from tests.exchange.indexes import filled, parquet, told


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
        "collections": {"converted"},  # as index.yml says
        "content": {"outline"},  # made again of the text
        "documents": {"body", "revision"},
        "embeddings": {"signs"},
        "postings": {"length"},  # of documents
    }


def test_every_file_is_explained(library, tmp_path):
    library.update()
    run_export(library.engine, tmp_path / "out")
    page = (Path(__file__).parents[2] / "docs" / "export.md").read_text(encoding="utf-8")
    for table in told(tmp_path / "out")["tables"]:
        if not (data_folder("sql") / "export" / f"{table['name']}.sql").exists():
            continue
        assert table["meaning"]
        for column in table["columns"]:
            line = f"| `{table['name']}` | `{column['name']}` | {column['type']} | "
            assert f"{line}{column['meaning']} |" in page


def test_the_manifest_tells_every_file(one, tmp_path):
    run_export(one.engine, tmp_path / "out")
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
    run_export(faked.engine, tmp_path / "out", wish=Wish(parted=True))
    documents = dataset.dataset(tmp_path / "out/documents", partitioning="hive").to_table()
    names = zip(documents["collection"].to_pylist(), documents["path"].to_pylist(), strict=True)
    assert sorted(f"{a}/{b}" for a, b in names) == [d.name for d in below(faked.engine, None)]
    vectors = dataset.dataset(tmp_path / "out/embeddings").to_table()
    assert str(vectors.schema.field("vector").type) == "list<element: float>"
    assert {len(vector) for vector in vectors["vector"].to_pylist()} == {16}


def test_tables_can_be_read_by_pandas(faked, tmp_path):
    pandas = pytest.importorskip("pandas")
    filled(faked).embed()
    run_export(faked.engine, tmp_path / "out")
    documents = pandas.read_parquet(tmp_path / "out/documents")
    assert sorted(documents["collection"] + "/" + documents["path"]) == [
        d.name for d in below(faked.engine, None)
    ]
    assert str(documents["dated"].dtype).startswith("datetime64")
    vectors = pandas.read_parquet(tmp_path / "out/embeddings")
    assert [len(vector) for vector in vectors["vector"]] == [16] * len(vectors)


def test_tables_can_be_read_by_polars(faked, tmp_path):
    polars = pytest.importorskip("polars")
    filled(faked).embed()
    run_export(faked.engine, tmp_path / "out")
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
    run_export(faked.engine, tmp_path / "out", wish=Wish(parted=True))
    builder = sql.SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    spark = builder.getOrCreate()
    try:
        documents = spark.read.parquet(f"{tmp_path}/out/documents").collect()
        names = [f"{row.collection}/{row.path}" for row in documents]
        assert sorted(names) == [d.name for d in below(faked.engine, None)]
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
    run_export(full.engine, tmp_path / "out")
    query = f"select count(*) from '{tmp_path}/out/documents/*.parquet'"
    done = subprocess.run(["duckdb", "-csv", "-c", query], capture_output=True, check=True)
    assert done.stdout.split()[-1] == str(len(below(full.engine, None))).encode()


def test_tables_can_be_read_by_duckdb(full, tmp_path):
    import _duckdb

    run_export(full.engine, tmp_path / "out", wish=Wish(parted=True))
    found = _duckdb.connect().execute(
        "select collection, count(*) from read_parquet($files, hive_partitioning = true) "
        "group by all order by all",
        {"files": f"{tmp_path}/out/documents/*/*.parquet"},
    )
    assert found.fetchall() == [("archive", 1), ("experiences", 1), ("notes", 4), ("work", 1)]
