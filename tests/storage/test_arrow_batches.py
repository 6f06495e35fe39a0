"""Rows of DuckDB as batches of Arrow."""

from __future__ import annotations

import subprocess
import sys

import duckdb
import pytest

from qmd.storage import arrow


class Watched:
    """A connection that notes how its queries are run."""

    def __init__(self):
        self.connection = duckdb.connect()
        self.ways = []

    def execute(self, *given, **named):
        self.ways.append("execute")
        return self.connection.execute(*given, **named)

    def sql(self, *given, **named):
        self.ways.append("sql")
        return self.connection.sql(*given, **named)


def test_batches_have_all_rows_in_order_and_the_size_that_is_asked_for():
    connection = duckdb.connect()
    text = "select i, [i, i + 1]::float[] as pair from range($most) as of_numbers(i)"
    batches = list(arrow.fetched(connection, text, {"most": 5000}, batch_rows=2048))
    assert [len(each) for each in batches] == [2048, 2048, 904]
    rows = [row for each in batches for row in each.to_pylist()]
    assert rows == [{"i": i, "pair": [i, i + 1]} for i in range(5000)]


@pytest.mark.skipif(arrow.IS_2, reason="DuckDB 2 has relations with parameters")
def test_no_relation_with_parameters_is_made_on_duckdb_1():
    """It would hold an object for each value, outside the limit of memory."""
    watched = Watched()
    arrow.fetched(watched, "select $one as one", {"one": 1}).read_all()
    assert watched.ways == ["execute"]


def test_bytes_of_columns_follow_each_other():
    text = (
        "select i, repeat('é', i % 3) as word, [i, i + 1]::uinteger[] as pair from range(3000) t(i)"
    )
    numbers, words, pairs = [], b"", []
    for number, word, pair in arrow.values(duckdb.connect(), text):
        numbers += number.cast("q")
        words += bytes(word)
        pairs += pair.cast("I")
    assert numbers == list(range(3000))
    assert words.decode() == "".join("é" * (i % 3) for i in range(3000))
    assert pairs == [each for i in range(3000) for each in (i, i + 1)]


def test_an_error_in_late_rows_is_one_of_duckdb():
    number = "if(i = 190000, error('late'), i)"
    text = f"select {number} as i, repeat('x', 500) as x from range(200000) t(i)"
    with pytest.raises(duckdb.Error, match="late"):
        for _ in arrow.values(duckdb.connect(), text):
            pass


STREAMS = """
import sys
from qmd.storage.arrow import READS_SOURCES, Relation, numbers
from qmd.storage.cursor import Cursor, connected

cursor = Cursor(connected())

def found():
    with cursor.staged(given=Relation(number=numbers("int64", range(5000)))):
        text = "select count(*) from given where number > 10 and number in (3, 11, 12)"
        return cursor.connection.execute(text).fetchall()

assert found() == [(2,)]
assert ("duckdb" in sys.modules) != READS_SOURCES, "loaded for a stream"
import pyarrow
table_ = pyarrow.table({"number": [1, 2, 3]})
cursor.connection.register("tabular", table_)
assert cursor.connection.execute("from tabular where number > 1").fetchall() == [(2,), (3,)]
assert found() == [(2,)]
import duckdb
second = cursor.connection.sql("from tabular where number = 2")
assert second.fetchall() == [(2,)]
assert duckdb.sql("from table_ where number in (1, 3)").fetchall() == [(1,), (3,)]
assert found() == [(2,)]
"""


@pytest.mark.skipif(not arrow.IS_2, reason="DuckDB 1 reads streams by itself")
def test_streams_are_read_without_the_package_of_duckdb_and_other_objects_with_it():
    done = subprocess.run([sys.executable, "-c", STREAMS], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
