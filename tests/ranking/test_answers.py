"""Answers of models: what is kept comes back as it was, and the oldest go first."""

from __future__ import annotations

from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qmd.ranking import answer_cache
from qmd.storage.database import Database


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    made = Database(tmp_path_factory.mktemp("index") / "index.duckdb", warm=True)
    yield made
    made.close()


@pytest.fixture
def keep(database):
    """Keeps answers; the cache is empty at first."""
    database.write(lambda cursor: cursor.run("maintenance/clear_cache"))
    return lambda **values: database.write(
        partial(answer_cache.keep_answers, kind="rerank", answers=values)
    )


def kept(database, *keys):
    return database.read(partial(answer_cache.kept, keys=keys))


def test_only_what_was_kept_and_is_asked_for_comes_back(database, keep):
    keep(a=0.5, b=0.25)
    keep(c=1.0)
    assert kept(database, "c", "a", "absent") == {"a": 0.5, "c": 1.0}
    assert kept(database) == {}


def test_an_answer_that_is_there_stays(database, keep):
    keep(a=0.5)
    keep(a=0.75, b=0.25)
    assert kept(database, "a", "b") == {"a": 0.5, "b": 0.25}
    count = "select count(*) from cache"
    assert database.read(lambda cursor: cursor.connection.execute(count).fetchall()) == [(2,)]


def test_nothing_to_keep_is_no_mistake(database, keep):
    keep()
    assert kept(database, "a") == {}


def test_the_oldest_answers_go_first(database, keep, monkeypatch):
    monkeypatch.setattr(answer_cache, "MOST", 3)
    for key in "dcba":
        keep(**{key: 0.5})
    assert set(kept(database, *"abcd")) == set("abc")
    keep(e=0.5, f=0.5)
    assert set(kept(database, *"abcdef")) == set("aef")
    keep(**{str(number): 0.5 for number in range(10)})
    assert len(kept(database, *"abcdef", *map(str, range(10)))) == 3


@settings(max_examples=30)
@given(
    st.dictionaries(
        st.text("0123456789abcdef", min_size=1, max_size=32),
        st.one_of(
            st.floats(allow_nan=False, allow_infinity=False),
            st.text(st.characters(exclude_categories=["Cs"])),
        ),
        max_size=20,
    )
)
def test_scores_and_texts_come_back_to_the_last_digit_and_character(database, values):
    database.write(lambda cursor: cursor.run("maintenance/clear_cache"))
    database.write(partial(answer_cache.keep_answers, kind="expansion", answers=values))
    assert kept(database, *values) == values
