"""Single values and constructs that DuckDB neither counts nor stops in time."""

from __future__ import annotations

import os
import signal
from contextlib import closing

import pytest

from qmd.analytics import sandbox_workers as workers
from qmd.analytics.duckdb_messages import without_advice
from qmd.analytics.sandbox import Limits
from qmd.errors import SqlError, SqlOutOfMemory, SqlTimeout
from qmd.operations.sql import run_sql, sql
from tests.analytics.sandbox.querying import rows_of

BIG = 2_000_000_000
SETTINGS = ("SET ", "PRAGMA", "preserve_insertion_order", "memory_limit", "INSTALL")

TOO_LARGE = [
    f"select printf('%{BIG}d', 1)",
    f"select format('{{:>{BIG}}}', 1)",
    f"select length(lpad('x', {BIG}, 'y'))",
    f"select length(rpad('x', {BIG}, 'y'))",
    f"select length(repeat('x', {BIG}))",
    f"select bitstring('1', {BIG})",
    "select length(hex(repeat('x', 900_000_000)))",
    "select length(replace(repeat('x', 1_000_000), 'x', repeat('y', 4_000)))",
    "select length(regexp_replace(repeat('x', 500_000), 'x', repeat('y', 8_000), 'g'))",
    "select range(1_000_000_000)",
    "select list_resize([1], 1_000_000_000, 1)",
    "select list_transform(range(100_000_000), lambda x: repeat('x', 100))",
    "select length(string_agg(repeat('x', 1000), '')) from range(10_000_000)",
    "select array_agg(range) from range(1_000_000_000)",
    "with recursive t(n, s) as (select 0, 'x' union all "
    "select n + 1, s || s from t where n < 40) select max(length(s)) from t",
    "select json_group_array(repeat('x', 1000)) from range(5_000_000)",
]


@pytest.mark.parametrize("query", TOO_LARGE)
def test_a_value_that_takes_too_much_ends_its_query_and_nothing_else(query, answered):
    with pytest.raises((SqlOutOfMemory, SqlTimeout)) as raised:
        answered(query, memory="64MB", timeout=20)
    said = str(raised.value)
    assert "memory=SIZE" in said or "timeout=SECONDS" in said
    assert not any(each in said for each in SETTINGS)
    assert answered("select count(*) from documents") == [("2",)]


@pytest.mark.parametrize(
    "query",
    [
        "select levenshtein(repeat('a', 300_000), repeat('b', 300_000))",
        "select " + ", ".join(["1"] * 50_000),
        "select sum(a.range * b.range) from range(10_000_000) a, range(10_000_000) b",
        "with recursive t(n) as (select 0 union all select n + 1 from t) select max(n) from t",
    ],
)
def test_a_query_that_does_not_look_up_from_its_work_is_ended_in_time(query, answered):
    with pytest.raises(SqlTimeout, match=r"(?s)stopped after 0.5 seconds.*timeout=SECONDS"):
        answered(query, timeout=0.5)
    assert answered("select 1") == [("1",)]


def test_the_time_counts_while_an_answer_is_made_into_text(shared):
    limits = Limits()
    query = "select list_transform(range(500_000), lambda x: x * 1000) as long"
    with closing(run_sql(shared.engine, query, (), limits)) as answer:
        answer._worker.left = 0.0
        with pytest.raises(SqlTimeout):
            list(answer.texts())


def test_a_row_too_wide_to_be_written_is_refused(answered):
    with pytest.raises(SqlError, match=r"(?s)row .* has 9,000,000 characters.*memory=SIZE"):
        answered("select repeat('x', 9_000_000)", memory="64MB")


@pytest.mark.parametrize(
    "query",
    [
        "select " + " + ".join(["1"] * 5_000),
        "select " + "(" * 50_000 + "1" + ")" * 50_000,
        "select (select range from range(2))",
        "select * from range(3) order by 'x'",
        "select " + "[" * 900 + "1" + "]" * 900,
        "select nanoarrow_version()",
        "pivot (select 1 as k) on k in (" + ", ".join(map(str, range(100_001))) + ")",
    ],
)
def test_no_message_tells_to_change_a_setting(query, answered):
    with pytest.raises(SqlError) as raised:
        answered(query)
    said = str(raised.value).partition("\nLINE ")[0]
    assert said.strip()
    assert not any(each in said for each in SETTINGS)


def test_a_message_keeps_all_but_its_advice():
    problem = (
        "Invalid Input Error: More than one row returned by a subquery used as an expression - "
        'scalar subqueries can only return a single row.\n\nUse "SET scalar_subquery=false" '
        "to revert to previous behavior."
    )
    assert without_advice(problem) == problem.partition("\n\n")[0]
    mistake = "Parser Error: syntax error\n\nLINE 1: select 'SET x' frm t"
    assert without_advice(mistake) == mistake


def test_a_process_that_dies_is_told_and_another_takes_its_place(shared, monkeypatch):
    real = workers.Worker.answer

    def answer(self, *arguments, **named):
        os.kill(self._process.pid, died.pop())
        return real(self, *arguments, **named)

    monkeypatch.setattr(workers.Worker, "answer", answer)
    for number, kind, words in [
        (signal.SIGSEGV, SqlError, "DuckDB failed at this query"),
        (signal.SIGKILL, SqlOutOfMemory, "more than 1GB of memory"),
    ]:
        died = [number]
        with pytest.raises(kind, match=words):
            rows_of(shared, "select 1")
    monkeypatch.undo()
    assert rows_of(shared, "select 1") == [("1",)]


def test_a_process_stays_for_the_next_query_and_ends_with_the_index(filled):
    rows_of(filled, "select 1")
    first = filled.engine.workers._idle._process.pid
    rows_of(filled, "select 2")
    assert filled.engine.workers._idle._process.pid == first
    assert sql(filled.engine, "select 3 as x").arrow().to_pylist() == [{"x": 3}]
    assert filled.engine.workers._idle._process.pid == first
    filled.engine.close()
    with pytest.raises(ProcessLookupError):
        os.kill(first, 0)


def test_a_process_that_has_grown_is_not_kept(filled, monkeypatch):
    rows_of(filled, "select 1")
    first = filled.engine.workers._idle._process.pid
    monkeypatch.setattr(workers, "MAX_GROWTH_BYTES", 0)
    rows_of(filled, "select 2")
    assert filled.engine.workers._idle is None
    with pytest.raises(ProcessLookupError):
        os.kill(first, 0)


def test_a_killed_query_leaves_nothing_on_the_disk(answered, shared):
    query = "select * from range(100_000) a, range(100_000) b order by hash(a, b)"
    with pytest.raises((SqlTimeout, SqlOutOfMemory)):
        answered(query, memory="64MB", timeout=3)
    assert [file.name for file in shared.folder.iterdir() if "spill" in file.name] == []


def test_a_parameter_that_is_no_value_is_refused(answered):
    with pytest.raises(SqlError, match="A parameter is no value for a query"):
        answered("select $x", {"x": lambda: 1})
    assert answered("select $x + 1", {"x": 1}) == [("2",)]
