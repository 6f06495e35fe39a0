"""A query of a person can read the index, and do nothing else."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from contextvars import copy_context
from functools import partial
from pathlib import Path
from queue import SimpleQueue

import pyarrow as pa
import pytest

from qmd.errors import (
    CollectionNotFound,
    NotEmbedded,
    QmdError,
    QueryError,
    SqlError,
    SqlTimeout,
    UsageError,
)
from qmd.store import files, sandbox, stopping, workplaces
from qmd.store.database import Database
from qmd.store.sandbox import Limits, Sandbox
from qmd.store.statements import shipped
from qmd.store.trees import Request
from qmd.store.views import needed
from tests.library import Library

LONG = 20
"""Seconds after which something that has to happen is taken for stuck."""

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
    ("select 1 into other", "SELECT INTO not supported"),
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


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """A library of two notes, for tests that change nothing."""
    made = Library(tmp_path_factory.mktemp("shared"))
    _fill(made)
    yield made
    made.engine.close()


@pytest.fixture
def filled(library):
    """The same, for one test."""
    _fill(library)
    return library


@pytest.fixture
def answered(shared):
    """Gives the rows of a query as text."""
    return partial(_rows, shared)


def _fill(library: Library) -> None:
    library.write("tea.md", "---\ntags: [green, hot]\n---\n# Tea\n\nBrew green tea.\n")
    library.write("coffee.md", "# Coffee\n\nNo leaves at all.\n")
    library.update()


def _rows(library: Library, query: str, parameters=(), **limits):
    with closing(library.engine.sql_answer(query, parameters, Limits(**limits))) as answer:
        return list(answer.texts())


def _files(folder):
    return {str(file): file.stat().st_mtime_ns for file in folder.rglob("*") if file.is_file()}


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
    assert words in str(refused.value)
    assert "secret\n" not in str(refused.value)
    assert _files(folder) == before
    assert answered("select count(*) from documents") == [("2",)]


@pytest.mark.parametrize(
    "query",
    [
        "copy (select 1) to '{folder}/out.csv'",
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
    ("query", "rows"),
    [
        ("select title from documents order by title;", [("Coffee",), ("Tea",)]),
        ("from documents select title where title = 'Tea' -- to the end", [("Tea",)]),
        ("values (1, null)", [("1", None)]),
        ("with a as (select 1 as x) select x from a", [("1",)]),
        ('with "a.b" as (select 1 as x) select x from "a.b"', [("1",)]),
        ("(select 1) union all (select 2) order by 1 desc", [("2",), ("1",)]),
        ("select 1 as a, 2 as a", [("1", "2")]),
        ("select column_name from (describe documents) limit 1", [("docid",)]),
        ("select ';' -- ;", [(";",)]),
        ("from range(2)", [("0",), ("1",)]),
        ("select unnest([1, 2])", [("1",), ("2",)]),
        (
            "select term from postings where file = 'notes/tea.md' and title_frequency > 0",
            [("tea",)],
        ),
        ("select value from frontmatter order by position", [("green",), ("hot",)]),
        ("select count(*) from qmd_index.documents", [("2",)]),
        ("select count(*) > 5 from information_schema.tables", [("true",)]),
    ],
)
def test_a_query_gives_its_rows(query, rows, answered):
    assert answered(query) == rows


@pytest.mark.parametrize("query", ["describe documents", "summarize documents", "show tables"])
def test_what_there_is_can_be_described(query, answered):
    assert len(answered(query)) > 5


@pytest.mark.parametrize("query", ["explain from documents", "EXPLAIN ANALYZE from documents"])
def test_a_plan_can_be_seen(query, answered):
    [(_, plan)] = answered(query)
    assert "content" in plan
    assert "sandbox" not in plan


@pytest.mark.parametrize(
    "blank", ["\u3000", "\ufeff", " \u2003\n", "explain \u3000", "\u3000 -- a\n"]
)
def test_spaces_of_other_scripts_are_no_query(blank, answered):
    with pytest.raises(SqlError, match="There is no query"):
        answered(blank)


def test_spaces_of_other_scripts_around_a_query_are_spaces(answered):
    assert answered("select\u30001;\u3000") == [("1",)]


def test_a_mistake_is_told_with_its_place_in_the_query(answered):
    with pytest.raises(SqlError) as wrong:
        answered("select title,\n  foo\nfrom documents")
    assert "LINE 2:   foo" in str(wrong.value)
    with pytest.raises(SqlError, match="LINE 1: selec 1"):
        answered("selec 1")
    with pytest.raises(SqlError, match="There is no query"):
        answered(" ; -- nothing\n")
    with pytest.raises(SqlError, match=r"nested too deeply|depth limit"):
        answered("select " + "+".join(["1"] * 2000))
    with pytest.raises(SqlError, match="Name the values that become columns"):
        answered("pivot frontmatter on key")


def test_parameters_are_given_by_name_or_in_order(answered):
    assert answered("select title from documents where file = $f", {"f": "notes/tea.md"}) == [
        ("Tea",)
    ]
    assert answered("select ? + ?", [1, 2]) == [("3",)]
    with pytest.raises(SqlError, match="f"):
        answered("select $f")
    with pytest.raises(SqlError, match="g"):
        answered("select $f", {"f": 1, "g": 2})


@pytest.mark.parametrize(
    ("query", "made"),
    [
        ("select 1", []),
        ("from range(3), qmd_index.content, qmd_index.main.documents", []),
        ("from Documents join (summarize memory.tags) on true", ["documents", "tags"]),
        ("with t as (from tags) from t, T as u", ["tags"]),
        ("with tags as (from tags) select (select count(*) from tags)", ["tags"]),
        ("from broken_links", ["documents", "links", "broken_links"]),
        ("from bm25('tea') where exists (from orphans)", ["bm25", "orphans"]),
        ("explain from tags", ["tags"]),
        ("show tables", None),
        ("describe tags", None),
        ("select count(*) from (show tables)", None),
        ("select view_name from duckdb_views()", None),
        ("select count(*) from information_schema.tables", None),
        ("select count(*) from sqlite_master", None),
    ],
)
def test_views_are_made_that_a_query_may_look_at(query, made, answered, monkeypatch):
    found = []
    real = sandbox._wanted
    monkeypatch.setattr(sandbox, "_wanted", lambda request: found.append(real(request)) or found[0])
    answered(query)
    names = [view.name for view in found[0]]
    if made is None:
        assert len(names) == len(list((shipped("sql") / "views").glob("*.sql")))
    else:
        assert set(names) >= set(made)
        assert set(names) == needed(made)


def test_an_unknown_view_is_told_with_those_that_are_like_it(answered):
    with pytest.raises(SqlError, match='Did you mean "documents"'):
        answered("from documentz")


@pytest.mark.parametrize(
    ("query", "parameters"),
    [
        ("from read_csv('https://example.com/x.csv')", ()),
        ("from read_csv('http' || 's://example.com/x.csv')", ()),
        ("from 's3://bucket/x.parquet'", ()),
        ("from read_parquet($1)", ["s3://bucket/x.parquet"]),
        ("from read_parquet($files)", {"files": ["s3://bucket/x.parquet"]}),
    ],
)
def test_that_files_may_be_read_is_no_advice_for_the_network(answered, query, parameters):
    for files_ in (False, True):
        if files_ or "||" not in query:
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
    with closing(Sandbox(shared.engine.place.database, Limits())) as box:
        work = partial(
            box.answer, Request(query, "answer", (), frozenset(), frozenset()), (), (), ()
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


# -- searches --------------------------------------------------------------------------


def test_a_search_stands_wherever_a_table_can(answered):
    assert answered("select rank, file, title, line from bm25('green tea')") == [
        ("1", "notes/tea.md", "Tea", "2")
    ]
    everywhere = """
        with found as (from bm25($words, n := 5))
        select (select count(*) from BM25('leaves')), documents.title
        from found
        join documents using (file)
        where file not in (select file from bm25('coffee', 3, 'notes'))
    """
    assert answered(everywhere, {"words": "tea leaves"}) == [("1", "Tea")]
    assert answered("select file from bm25(?)", ["coffee"]) == [("notes/coffee.md",)]
    assert len(answered("describe from bm25('tea')")) == 9
    assert answered("select count(*) from bm25('absent')") == [("0",)]


def test_a_search_gives_no_more_than_it_is_asked_for(answered):
    assert answered("select count(*) from bm25('tea coffee')") == [("2",)]
    assert answered("select count(*) from bm25('tea coffee', n := 1)") == [("1",)]
    assert answered("select count(*) from bm25('tea coffee', n := $n)", {"n": 1}) == [("1",)]


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("from bm25('tea' || 'cup')", "query of bm25 is not a constant"),
        ("from documents, lateral (from bm25(title))", "query of bm25 is not a constant"),
        ("from bm25(1)", "what to look for is a text"),
        ("from bm25()", "what to look for is a text"),
        ("from bm25('tea', n := 0)", "n of bm25 is a number"),
        ("from bm25('tea', n := 'all')", "n of bm25 is a number"),
        ("from bm25('tea', most := 3)", "bm25 takes bm25('words', n := 100"),
        ("from bm25('tea', collection := 3)", "the name of one"),
        ("from bm25($words)", "There is no value for $words"),
        ("select bm25('tea')", "bm25 gives rows"),
    ],
)
def test_a_call_of_a_search_that_cannot_be_made_is_explained(query, words, answered):
    with pytest.raises(SqlError) as wrong:
        answered(query)
    assert words in str(wrong.value)


@pytest.mark.parametrize(
    ("query", "error"),
    [
        ("from bm25('tea', collection := 'absent')", CollectionNotFound),
        ("""from bm25('odd"')""", QueryError),
        ("from vsearch('tea')", NotEmbedded),
    ],
)
def test_a_search_that_fails_says_why_as_it_does_elsewhere(query, error, answered):
    with pytest.raises(error):
        answered(query)


def test_meaning_is_searched_alone_and_together_with_words(faked):
    faked.write("tea.md", "# Tea\n\nBrew green tea.\n")
    faked.write("coffee.md", "# Coffee\n\nNo leaves at all.\n")
    faked.update()
    faked.embed()
    query = """
        select near.file, near.rank, both_ways.rank, list_inner_product(vector, vector)::int, model
        from vsearch('a drink') as near
        join hybrid('tea', collection := 'notes') as both_ways using (file)
        join embeddings using (file)
        order by near.rank
    """
    found = faked.engine.sql(query).to_pylist()
    wanted = [hit.file for hit in faked.nearest("a drink")]
    assert [row["file"] for row in found] == wanted
    assert {row["rank_1"] for row in found} == {1, 2}
    assert {row["model"] for row in found} == {"fake.gguf"}


# -- limits ----------------------------------------------------------------------------


def test_a_query_ends_when_its_time_is_up(answered):
    with pytest.raises(SqlTimeout, match=r"(?s)stopped after 0.2 seconds.*--timeout"):
        answered("select count(*) from range(1_000_000_000_000)", timeout=0.2)
    with pytest.raises(SqlTimeout):
        answered("explain analyze select count(*) from range(1_000_000_000_000)", timeout=0.2)
    assert answered("select 1") == [("1",)]


def test_a_query_that_does_not_stop_in_time_is_told_to_whoever_can_end_the_process(
    answered, monkeypatch
):
    monkeypatch.setattr(sandbox, "GRACE", 0.0)
    told = threading.Event()
    with pytest.raises(SqlTimeout):
        answered(
            "select levenshtein(repeat('a', 15_000), repeat('b', 15_000))",
            timeout=0.01,
            overdue=told.set,
        )
    assert told.is_set()


UNTIL_WRITTEN = """
with recursive counted as (
    select 0 as n
    union all
    select n + 1 from counted
    where not exists (from qmd_index.settings where name = 'tea')
)
select value from qmd_index.settings where name = 'tea' and (select max(n) from counted) = 0
"""
"""A query that ends if something was written before it began."""

WRITER = """
import sys
from pathlib import Path
from qmd.store.database import Database

database = Database(Path(sys.argv[1]), patience=float(sys.argv[2]))
database.write(lambda cursor: cursor.run("store/set_setting", name="tea", value="oolong"))
"""


@pytest.fixture
def runs(monkeypatch):
    """Counts how often a query was run, and says so when one is."""
    real, found = Sandbox._run, SimpleQueue()

    def run(self, *arguments):
        found.put(True)
        real(self, *arguments)

    monkeypatch.setattr(Sandbox, "_run", run)
    monkeypatch.setattr(sandbox, "UNDISTURBED", 0.0)
    return found


@pytest.mark.parametrize("room", [True, False])
def test_a_query_that_takes_long_gives_way_to_a_writer_and_is_asked_again_of_a_copy(
    filled, runs, monkeypatch, room
):
    if not room:
        monkeypatch.setattr(files, "copy", partial(_full_disk, filled))
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(_rows, filled, UNTIL_WRITTEN)
        runs.get(timeout=LONG)
        path = filled.engine.place.database
        subprocess.run(
            [sys.executable, "-c", WRITER, path, str(LONG)], check=True, timeout=2 * LONG
        )
        assert asked.result(timeout=LONG) == [("oolong",)]
    assert runs.qsize() == 1
    assert [file.name for file in filled.folder.iterdir() if "copy" in file.name] == []


def _full_disk(library, source, target):
    assert target.parent.name.startswith("index.duckdb.copy-")
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_query_in_a_copy_holds_up_no_writer(filled, runs):
    endless, stop = UNTIL_WRITTEN.replace("'tea'", "'coffee'"), stopping.Stop()
    around = copy_context()
    around.run(stopping.CURRENT.set, stop)
    database = Database(filled.engine.place.database, patience=LONG)
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(around.run, _rows, filled, endless)
        runs.get(timeout=LONG)
        database.write(lambda cursor: cursor.run("store/set_setting", name="tea", value="1"))
        runs.get(timeout=LONG)  # in the copy
        database.write(lambda cursor: cursor.run("store/set_setting", name="milk", value="2"))
        assert not asked.done()
        stop.ask()
        with pytest.raises(stopping.Stopped):
            asked.result(timeout=LONG)
    database.close()


def test_a_query_that_is_quick_is_not_disturbed(filled, runs, monkeypatch):
    monkeypatch.setattr(sandbox, "UNDISTURBED", float(LONG))
    filled.engine.database.is_wanted = lambda: True
    assert _rows(filled, "select count(*) from range(300_000_000)") == [("300000000",)]
    assert runs.qsize() == 1


def test_a_query_gets_no_more_memory_than_it_may_have(answered):
    with pytest.raises(SqlError, match=r"(?s)more than 50MB of memory.*--memory"):
        answered("select list(range) from range(100_000_000)", memory="50MB")
    if Path("/proc/self/statm").exists():
        with pytest.raises(SqlError, match="more than 50MB of memory"):
            answered(
                "select length(repeat('x', 3_000_000_000))", memory="50MB", overdue=lambda: None
            )


def test_what_does_not_fit_into_memory_goes_to_disk_and_does_not_stay_there(answered, shared):
    query = "select repeat('x', 100) || range as t from range(1_000_000) order by t limit 999_999"
    [(count,)] = answered(f"select count(*) from ({query})", memory="100MB")
    assert count == "999999"
    assert [file.name for file in shared.folder.iterdir() if "spill" in file.name] == []


def test_what_a_killed_query_spilled_is_removed_a_day_later(answered, shared):
    folders = [shared.folder / f"index.duckdb.spill-{number}" for number in (1, 2)]
    for folder, age in zip(folders, (workplaces.ABANDONED + 60, 0), strict=True):
        folder.mkdir()
        (folder / "duckdb_temp_storage-0.tmp").write_bytes(b"rows")
        os.utime(folder, (time.time() - age,) * 2)
    answered("select 1")
    assert [folder.exists() for folder in folders] == [False, True]
    shutil.rmtree(folders[1])


@pytest.mark.parametrize("limits", [{"memory": "much"}, {"memory": "-5"}, {"timeout": 0.0}])
def test_limits_that_make_no_sense_are_refused(limits, answered):
    with pytest.raises(UsageError):
        answered("select 1", **limits)


# -- the index -------------------------------------------------------------------------


def test_an_answer_holds_up_nobody_while_it_is_read(filled):
    with closing(filled.engine.sql_answer("from documents", (), Limits())) as answer:
        filled.write("water.md", "# Water")
        filled.update()
        assert answer.count == 2
        assert len(list(answer.texts())) == 2
    assert _rows(filled, "select count(*) from documents") == [("3",)]


def test_the_first_query_of_all_finds_an_empty_index(library):
    assert library.engine.sql("select count(*) as n from documents").to_pylist() == [{"n": 0}]


def test_a_query_sees_settings_that_were_edited_by_hand(filled):
    filled.configure("papers")
    rows = _rows(filled, "select collection from collections order by collection")
    assert [name for (name,) in rows if name != "experiences"] == ["notes", "papers"]


def test_queries_and_searches_of_one_process_take_turns(filled):
    def ask(number: int) -> object:
        if number % 3 == 0:
            return _rows(filled, "select count(*) from bm25('tea')")
        if number % 3 == 1:
            return filled.found("tea")
        filled.write(f"{number}.md", f"# Number {number}")
        return filled.update().new

    with ThreadPoolExecutor(6) as pool:
        asked = [pool.submit(ask, number) for number in range(18)]
        given = [each.result(timeout=3 * LONG) for each in asked]
    assert given[0::3] == [[("1",)]] * 6
    assert given[1::3] == [["tea.md"]] * 6
    assert _rows(filled, "select count(*) from documents") == [("8",)]


def test_an_answer_can_be_an_arrow_table_of_any_types(library):
    table = library.engine.sql(
        "select 1 as a, 'x' as b, [1.5] as c, {'d': null} as d, now() as e, uuid() as f, "
        "'{}'::json as g, '\\x01'::blob as h, date 'infinity' as i"
    )
    assert table.num_rows == 1
    assert table["a"].to_pylist() == [1]
    assert table["c"].to_pylist() == [[1.5]]


def test_errors_of_sql_are_errors_of_qmd():
    assert issubclass(SqlTimeout, SqlError)
    assert issubclass(SqlError, QmdError)
