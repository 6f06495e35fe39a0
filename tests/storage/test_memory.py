"""What is remembered of reads, and how much."""

from __future__ import annotations

import _duckdb
import pytest

from qmd.storage.cursor import Cursor, Memory


@pytest.fixture
def cursor():
    return Cursor(_duckdb.connect(":memory:"), Memory())


@pytest.fixture
def told(cursor):
    """A function that asks for texts of some sizes and says which were not known."""

    def tell(*sizes):
        unknown = []

        def work(keys):
            unknown.extend(keys)
            return {key: "x" * key for key in keys}

        found = cursor.each("texts", sizes, work, most=1000, size=len)
        assert found == {size: "x" * size for size in sizes}
        return unknown

    return tell


def test_what_was_found_is_not_looked_for_again(told):
    assert told(1, 2, 3) == [1, 2, 3]
    assert told(2, 4, 1) == [4]


def test_what_takes_a_hundredth_of_all_is_not_remembered(told):
    told(1, 10, 11)
    assert told(1, 10, 11) == [11]


def test_more_at_once_than_may_be_remembered_is_not(cursor):
    for _ in range(2):
        cursor.each("numbers", range(50), lambda keys: dict.fromkeys(keys), most=100)
        cursor.each("numbers", range(1000, 1101), lambda keys: dict.fromkeys(keys), most=100)
        assert list(cursor.memory.of("numbers")) == list(range(50))


def test_it_begins_anew_where_there_would_be_too_much(cursor):
    for number in range(250):
        cursor.each("numbers", [number], lambda keys: dict.fromkeys(keys), most=100)
        assert len(cursor.memory.of("numbers")) <= 100
    assert list(cursor.memory.of("numbers")) == list(range(200, 250))
