"""A query of a person can read the index, and do nothing else."""

from __future__ import annotations

from contextlib import closing
from functools import partial

import pyarrow as pa
import pytest

from qmd.analytics import sandbox
from qmd.analytics.sandbox import Limits, Sandbox
from qmd.analytics.statement_check import CheckedStatement
from qmd.errors import SqlError
from qmd.storage import scratch

ESCAPES = [
    # Statements that are no queries.
    ("create table t as select 1", "CREATE is no query"),
    ("create or replace view documents as select 1", "CREATE is no query"),
    ("insert into qmd_index.settings values ('a', 'b')", "INSERT is no query"),
    ("update qmd_index.documents set title = 'x'", "UPDATE is no query"),
    ("delete from qmd_index.documents", "DELETE is no query"),
    ("drop table qmd_index.documents", "DROP is no query"),
    ("attach '{folder}/new.duckdb' as other", "ATTACH is no query"),
    ("detach qmd_index", "DETACH is no query"),
    ("copy (select 1) to '{folder}/out.csv'", "COPY is no query"),
    ("copy qmd_index.content to '{folder}/out.csv'", "COPY is no query"),
    ("export database '{folder}/out'", "EXPORT is no query"),
    ("import database '{folder}'", "IMPORT is no query"),
    ("install httpfs", "INSTALL is no query"),
    ("load '{folder}/evil.duckdb_extension'", "LOAD is no query"),
    ("set enable_external_access = true", "SET is no query"),
    ("reset lock_configuration", "RESET is no query"),
    ("set variable x = 1", "SET is no query"),
    ("pragma memory_limit = '100GB'", "PRAGMA is no query"),
    ("call enable_logging(storage = 'file', storage_path = '{folder}/log')", "CALL is no query"),
    ("create secret s (type http, bearer_token 'x')", "CREATE is no query"),
    ("prepare p as select 1", "PREPARE is no query"),
    ("begin transaction", "BEGIN is no query"),
    ("use system", "USE is no query"),
    ("vacuum", "VACUUM is no query"),
    ("checkpoint qmd_index", "CHECKPOINT is no query"),
    ("with x as (delete from qmd_index.documents returning *) from x", "CTE needs a SELECT"),
    ("with x as (copy (select 1) to '{folder}/out.csv') from x", "CTE needs a SELECT"),
    ("with x as (insert into t values (1) returning *) from x", "CTE needs a SELECT"),
    ("select 1 into other", "SELECT INTO not supported|syntax error"),
    # Several at once.
    ("select 1; drop table qmd_index.documents", "One query runs at a time"),
    ("set lock_configuration = false; select 1", "One query runs at a time"),
    ("select 1 /* ; */ ; attach '{folder}/new.duckdb'", "One query runs at a time"),
    # Behind EXPLAIN, which runs what it analyzes.
    ("explain analyze copy (select 1) to '{folder}/out.csv'", "COPY is no query"),
    ("explain analyze insert into qmd_index.settings values ('a', 'b')", "INSERT is no query"),
    ("explain (analyze) copy (select 1) to '{folder}/out.csv'", "both without options"),
    ("explain explain analyze copy (select 1) to '{folder}/out.csv'", "EXPLAIN is no query"),
    # Files.
    ("from '{folder}/secret.csv'", "a file is not read"),
    ("from secret.csv", "a file is not read"),
    ("describe '{folder}/secret.csv'", "a file is not read"),
    ("summarize '{folder}/secret.csv'", "a file is not read"),
    ("from read_csv('{folder}/secret.csv')", "read_csv reads files"),
    ("from READ_TEXT('{folder}/secret.csv')", "read_text reads files"),
    ("from \"read_blob\"('{folder}/secret.csv')", "read_blob reads files"),
    ("from system.main.read_json('{folder}/secret.csv')", "read_json reads files"),
    ("from glob('{folder}/*')", "glob reads files"),
    ("from sniff_csv('{folder}/secret.csv')", "sniff_csv reads files"),
    ("from parquet_metadata('{folder}/secret.csv')", "parquet_metadata reads files"),
    ("select (select max(content) from read_text('{folder}/secret.csv'))", "read_text reads"),
    ("from documents where exists (from glob('{folder}/*'))", "glob reads files"),
    ("with x as (from read_text('{folder}/secret.csv')) from x", "read_text reads files"),
    ("from documents, lateral (from read_text('{folder}/secret.csv'))", "read_text reads files"),
    ("select [x for x in (select list(file) from glob('{folder}/*'))]", "glob reads files"),
    ("explain analyze from read_text('{folder}/secret.csv')", "read_text reads files"),
    # The index itself as a file, which the setting that shuts out files would let pass.
    ("from '{folder}/index.duckdb'", "a file is not read"),
    ("from read_blob('{folder}/index.duckdb')", "read_blob reads files"),
    ("from read_duckdb('{folder}/index.duckdb', table_name = 'settings')", "not call read_duckdb"),
    # Functions that hide a statement, write a log, or take a pointer.
    ("from query('from read_text(''{folder}/secret.csv'')')", "may not call query"),
    ("from query_table('{folder}/secret.csv')", "may not call query_table"),
    ("from json_execute_serialized_sql(json_serialize_sql('select 1'))", "may not call json_exec"),
    ("from enable_logging(storage = 'file', storage_path = '{folder}/log')", "may not call enable"),
    ("from enable_profiling(save_location = '{folder}/log.txt')", "may not call enable_profiling"),
    ("from histogram_values('{folder}/secret.csv', x)", "may not call histogram_values"),
    ("from pandas_scan(null)", "may not call pandas_scan"),
    ("from arrow_scan(null, null, null)", "may not call arrow_scan"),
    ("from python_map_function((select 1), null, null)", "may not call python_map_function"),
    ("from force_checkpoint('qmd_index')", "may not call force_checkpoint"),
    ("from duckdb_secrets(redact = false)", "may not call duckdb_secrets"),
    ("from sqlite_scan('{folder}/x.db', 't')", "may not call sqlite_scan"),
    # What there is not.
    ("select getenv('HOME')", "getenv does not exist"),
    ("from 'https://example.com/x.csv'", "does not reach the network"),
    ("from 's3://bucket/x.parquet'", "does not reach the network"),
    ("from read_csv('https://example.com/x.csv')", "does not reach the network"),
    ("from read_parquet(['a.parquet', 'hf://x/y.parquet'])", "does not reach the network"),
    ("from values_of_caller", "values_of_caller does not exist"),
]


def _files(folder):
    """All files and when they changed, but the lock in which readers leave their names."""
    files = [file for file in folder.rglob("*") if file.is_file() and file.suffix != ".readers"]
    return {str(file): file.stat().st_mtime_ns for file in files}


@pytest.mark.parametrize(("query", "words"), ESCAPES)
def test_a_query_cannot_do_anything_but_read_the_index(query, words, answered, shared, monkeypatch):
    folder = shared.folder
    (folder / "secret.csv").write_text("x,y\n1,secret\n")
    monkeypatch.chdir(folder)
    values = pa.table({"x": [1]})  # DuckDB could find it by its name in the caller's module
    monkeypatch.setattr(sandbox, "values_of_caller", values, raising=False)
    before = _files(folder)
    with pytest.raises(SqlError) as refused:
        answered(query.replace("{folder}", str(folder)))
    assert any(each in str(refused.value) for each in words.split("|"))  # by version of DuckDB
    assert "secret\n" not in str(refused.value)
    assert _files(folder) == before
    assert answered("select count(*) from documents") == [("2",)]


@pytest.mark.parametrize(
    "query",
    [
        "copy (select 1) to '{folder}/out.csv'",
        "with x as (copy (select 1) to '{folder}/out.csv') from x",
        "explain analyze copy (select 1) to '{folder}/out.csv'",
        "attach '{folder}/new.duckdb' as other",
        "export database '{folder}/out'",
        "from enable_logging(storage = 'file', storage_path = '{folder}/log')",
        "from query('from ''{folder}/open.csv''')",
        "import database '{folder}'",
        "from read_blob('{folder}/index.duckdb')",
        "from read_blob('{folder}/*')",
        "from glob('{folder}/../**')",
        "from '{folder}/index.duckdb'",
        "from read_blob('{folder}/link')",
        "from read_blob('file:{folder}/index.duckdb')",
        "from read_blob('file://localhost{folder}/index.duckdb')",
        "from read_blob('{folder}/' || 'index.duckdb')",
        "from read_blob(['{folder}/open.csv', '{folder}/index.duckdb'])",
    ],
)
def test_a_query_that_may_read_files_still_writes_none_and_leaves_the_index_alone(
    query, answered, shared
):
    folder = shared.folder
    (folder / "open.csv").write_text("x,y\n1,2\n")
    (folder / "link").unlink(missing_ok=True)
    (folder / "link").hardlink_to(folder / "index.duckdb")
    before = _files(folder)
    with pytest.raises(SqlError):
        answered(query.replace("{folder}", str(folder)), files=True)
    assert _files(folder) == before
    rows = answered(f"select x + y from '{folder}/open.csv'", files=True)
    assert rows == [("3",)]


@pytest.mark.parametrize(
    ("query", "parameters"),
    [
        ("from read_csv('https://example.com/x.csv')", ()),
        ("from 's3://bucket/x.parquet'", ()),
        ("from read_parquet($1)", ["s3://bucket/x.parquet"]),
        ("from read_parquet($files)", {"files": ["s3://bucket/x.parquet"]}),
    ],
)
def test_that_files_may_be_read_is_no_advice_for_the_network(answered, query, parameters):
    for files_ in (False, True):
        with pytest.raises(SqlError, match="does not reach the network") as caught:
            answered(query, parameters, files=files_)
        assert "httpfs" not in str(caught.value)


@pytest.mark.parametrize("files", [False, True])
@pytest.mark.parametrize("name", ["", "x" * 300, f"x.{'long' * 2000}"])
def test_a_table_whose_name_is_none_of_a_file_is_refused_in_words(answered, files, name):
    with pytest.raises(SqlError):
        answered(f"from '{name}'", files=files)


def test_files_are_shut_out_even_if_a_query_that_reads_them_got_so_far(shared):
    (shared.folder / "secret.csv").write_text("x,y\n1,secret\n")
    query = f"from read_csv('{shared.folder}/secret.csv')"
    index = shared.engine.place.database
    with closing(Sandbox(index, Limits(), scratch.spill_folder(index))) as box:
        work = partial(
            box.answer, CheckedStatement(query, "answer", (), frozenset(), frozenset()), (), (), ()
        )
        with pytest.raises(SqlError, match="file system operations are disabled"):
            shared.engine.database.apart(lambda attach: work(attach, lambda _: None))


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("lock_configuration", "true"),
        ("enable_external_access", "false"),
        ("python_enable_replacements", "false"),
        ("autoload_known_extensions", "false"),
        ("autoinstall_known_extensions", "false"),
        ("allow_community_extensions", "false"),
        ("allow_persistent_secrets", "false"),
    ],
)
def test_the_engine_of_a_query_is_locked_down(setting, value, answered):
    assert answered("select current_setting($name)", {"name": setting}) == [(value,)]


@pytest.mark.parametrize("given", ["{folder}/index.duckdb", ["{folder}/open.csv", "{folder}/i*"]])
def test_a_parameter_does_not_name_the_index_as_a_file(answered, shared, given):
    folder = str(shared.folder)
    (shared.folder / "open.csv").write_text("x,y\n1,2\n")
    named = (
        [each.replace("{folder}", folder) for each in given]
        if isinstance(given, list)
        else (given.replace("{folder}", folder))
    )
    with pytest.raises(SqlError, match="takes in the index itself"):
        answered("select size from read_blob($file)", {"file": named}, files=True)
    kept = {"file": f"{folder}/open.csv"}
    assert answered("select size from read_blob($file)", kept, files=True) == [("8",)]


@pytest.mark.parametrize(
    "query",
    [
        'select (with "{file}" as (select 1 a) select a from "{file}") x, y.* from "{file}" y',
        'with "{file}" as (select * from "{file}") select * from "{file}"',
        'select * from "{file}", (with "{file}" as (select 1 a) from "{file}")',
        'with recursive "{file}" as (from "{file}" union all select x from "{file}") from "{file}"',
        'with recursive "{file}" as materialized (with a as (from "{file}") from a '
        'union all select x + 1 from "{file}") from "{file}"',
        'with recursive "{file}"(x, y) using key (x) as '
        '(from "{file}" union select x, y from "{file}") from "{file}"',
        'with recursive "{file}" as (with a as (from "{file}") select 1 x '
        'union all select x + 1 from a) from "{file}"',
        'with recursive a as (select 1 x union all (with recursive "{file}" as '
        '(select x from "{file}", a union all select x + 1 from "{file}") from "{file}")) from a',
        'from (with recursive "{file}" as (select 1 x union all from "{file}" '
        'union all select x from "{file}") from "{file}")',
    ],
)
@pytest.mark.parametrize("name", ["index.duckdb", "secret.csv"])
def test_a_name_that_with_gives_elsewhere_opens_no_file(answered, shared, query, name):
    (shared.folder / "secret.csv").write_text("x,y\n1,secret\n")
    query = query.replace("{file}", str(shared.folder / name))
    with pytest.raises(SqlError, match="a file is not read"):
        answered(query)
    if name == "index.duckdb":
        with pytest.raises(SqlError, match="takes in the index itself"):
            answered(query, files=True)


def test_a_name_that_with_gives_is_another_one_in_letters_that_only_python_makes_small(
    answered, shared
):
    file = str(shared.folder / "index.duckdb")
    sign = file.replace("duckdb", "duc\N{KELVIN SIGN}db")
    query = f'with "{sign}" as (select 1 as a) select * from "{file}"'
    for files in (False, True):
        with pytest.raises(SqlError, match=r"a file is not read|takes in the index itself"):
            answered(query, files=files)
    assert answered('with "TEA" as (select 1 as a) select * from "tea"')


@pytest.mark.parametrize(
    "query",
    [
        'with recursive "a.csv" as ({repeated}) select max(x) from "a.csv"',
        'with recursive "a.csv" as materialized ({repeated}) select max(x) from "a.csv"',
        'select (with recursive "a.csv" as ({repeated}) select max(x) from "a.csv")',
        'with recursive "a.csv"(x) using key (x) as ({repeated}) select max(x) from "a.csv"',
        'with recursive "a.csv" as (with one as (select 1 as x) from one '
        'union (select x + 1 from (from "a.csv") where x < 3)) select max(x) from "a.csv"',
        'with recursive "a.csv" as (select 1 as x union (with b as (from "a.csv") '
        'select x + 1 from b where x < 3)) select max(x) from "a.csv"',
        'with recursive "a.csv" as (select 1 as x union (with recursive b as (from "a.csv" '
        'union select x + 1 from b where x < 3) from b)) select max(x) from "a.csv"',
    ],
)
def test_a_recursive_name_that_looks_like_that_of_a_file_counts_where_it_repeats(answered, query):
    repeated = 'select 1 as x union select x + 1 from "a.csv" where x < 3'
    assert answered(query.replace("{repeated}", repeated)) == [("3",)]


def test_a_name_that_with_gives_may_look_like_that_of_a_file(answered):
    query = 'with "a.csv" as (select 1 as x), "b.csv" as (select x + 1 as x from "a.csv") '
    assert answered(query + 'select a.x + b.x from "a.csv" a, "b.csv" b') == [("3",)]
