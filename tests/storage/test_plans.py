"""Statements that are planned once find what they find when they are planned each time."""

from __future__ import annotations

import json
import random
import re
from functools import partial
from pathlib import Path

import _duckdb
import pytest

from qmd.operations.search import search
from qmd.storage.cursor import Cursor, Memory
from qmd.storage.prepared import MAX_PREPARED, PreparedStatements
from tests.library import Library

WORDS = "tea coffee water cup kettle leaf filter spout the of an handle error".split()
ROOT = Path(__file__).parents[2]
OFTEN = sorted(
    {
        name
        for file in (ROOT / "qmd").rglob("*.py")
        for name in re.findall(r'again,?\(?\s*"(\w+/\w+)"', file.read_text(encoding="utf-8"))
    }
)
"""The statements that are planned once."""


@pytest.fixture(scope="module")
def cursor(tmp_path_factory):
    """What a read is given, of a library of thirty notes."""
    chance = random.Random(7)
    library = Library(tmp_path_factory.mktemp("plans"))
    for number in range(30):
        text = " ".join(chance.choices(WORDS, k=40))
        library.write(f"note{number}.md", f"# {chance.choice(WORDS)} {number}\n\n{text}")
    library.update()
    library.write("note3.md", "# Gone\n\nNothing of this was there before.")
    library.update()
    connection = _duckdb.connect(":memory:")
    connection.execute(f"attach '{library.engine.database.path}' as i (read_only)")
    connection.execute("use i")
    return Cursor(connection, Memory())


def drawn(cursor, name, chance):
    """Parameters for a statement, as a search gives them."""
    terms, hashes = (
        [row[0] for row in cursor.connection.execute(f"select {column}").fetchall()]
        for column in ("term_id from words", "hash from content")
    )
    some = chance.sample(terms, chance.randint(1, min(8, len(terms))))
    ids = chance.sample(range(1, 40), chance.randint(1, 12))
    numbers = [chance.random() for _ in range(12)]
    asked = {
        "search/bm25": {
            "terms": [*some, -1],
            "term_weights": [1.0] * (len(some) + 1),
            "counted": chance.choice([None, [-1] * len(ids)]),
            "holders": ids,
            "frequencies": numbers[: len(ids)],
            "average": 40.0 + chance.random(),
            "allowed": chance.choice([None, str(ids)]),
            "least": None,
            "since": None,
            "limit": chance.choice([1, 5, 1 << 62]),
        },
        "search/variants": {"words": chance.sample(WORDS, 3)},
        "search/any_of": {
            "terms": [{"clause": n % 2, "term_id": term} for n, term in enumerate(some)],
            "since": None,
        },
        "search/frequencies": {"terms": some, "since": None},
        "search/phrases": {
            "elements": [
                {"phrase": 0, "size": 2, "place": n, "bits": bits, "term_id": term}
                for n, (bits, term) in enumerate(zip([1, (1 << 63) - 2], some, strict=False))
            ],
            "since": None,
        },
        "search/documents": {"ids": ids},
        "search/files": {"ids": ids},
        "search/paths": {"ids": ids},
        "search/recency": {
            "documents": ids,
            "half_life": 30.0,
            "now": "2026-03-14 09:26:53",
        },
        "documents/bodies": {"hashes": chance.sample(hashes, 2)},
        "search/passages": {"chunks": ids},
        "search/links_of": {"ids": ids},
        "documents/recorded": {"ids": ids},
    }
    if name in asked:
        return asked[name]
    return {
        "documents": ids,
        "lists": [n % 2 for n in range(len(ids))],
        "ranks": [n // 2 + 1 for n in range(len(ids))],
        "weights": [0.5] * len(ids),
        "half_life": chance.choice([None, 30.0]),
        "now": "2026-03-14 09:26:53",
        "limit": chance.choice([3, 10]),
    }


def told(rows):
    return sorted(map(repr, rows))


@pytest.mark.parametrize("name", OFTEN)
def test_a_plan_finds_what_the_statement_finds(cursor, name):
    chance = random.Random(name)
    found = 0
    for _ in range(60):
        asked = drawn(cursor, name, chance)
        rows = cursor.again(name, **asked)
        found += len(rows)
        assert told(rows) == told(cursor.run(name, **asked))
    assert found or name == "search/passages"


def is_planned_anew(connection, run):
    """Whether DuckDB makes a plan while it runs one: what is bound within it then counts twice."""
    connection.execute("set enable_profiling = 'no_output'")
    connection.execute(
        """set custom_profiling_settings = '{"PLANNER": "true", "PLANNER_BINDING": "true"}'"""
    )
    try:
        run()
        profile = json.loads(connection.get_profiling_information("json"))
    finally:
        connection.execute("pragma disable_profiling")
    return profile["planner_binding"] > profile["planner"]


keeps_plans = pytest.mark.skipif(
    _duckdb.__version__ >= "2", reason="DuckDB 2.0.1 plans a prepared statement each time it runs"
)


@keeps_plans
@pytest.mark.parametrize("name", OFTEN)
def test_a_plan_is_kept(cursor, name):
    """DuckDB plans anew, without a word, where a parameter stands in two places or has no type."""
    chance = random.Random(name)
    for _ in range(10):
        asked = drawn(cursor, name, chance)
        for _ in range(2):
            cursor.again(name, **asked)
        assert not is_planned_anew(cursor.connection, partial(cursor.again, name, **asked))


@keeps_plans
def test_a_plan_that_is_not_kept_is_seen():
    connection = _duckdb.connect(":memory:")
    connection.execute("prepare twice as select $a::bigint + $a::bigint")
    assert is_planned_anew(
        connection, lambda: connection.execute("execute twice(a := 1::bigint)").fetchall()
    )


@pytest.fixture
def plans(monkeypatch):
    """Plans of a connection of its own, which note the statements that they run."""
    plans = PreparedStatements(_duckdb.connect(":memory:"))
    plans.made = []
    do = plans._do

    def noted(name, **parts):
        plans.made.append(name)
        return do(name, **parts)

    monkeypatch.setattr(plans, "_do", noted)
    return plans


def fused(limit):
    """Parameters of search/fuse_ranks, which reads no table."""
    numbers = dict.fromkeys(("documents", "lists", "ranks", "weights", "recency"), "[1, 2, 3]")
    return {**numbers, "k": 60, "limit": limit}


def test_what_runs_once_is_not_planned(plans):
    assert plans.run("search/fuse_ranks", fused(2)) is None
    assert plans.made == []
    assert len(plans.run("search/fuse_ranks", fused(2))) == 2
    assert len(plans.run("search/fuse_ranks", fused(2))) == 2
    assert plans.made == ["store/plan", "store/run_plan", "store/run_plan"]


def test_another_limit_is_another_plan(plans):
    for limit in (1, 1, 3, 3):
        found = plans.run("search/fuse_ranks", fused(limit))
        assert found is None or len(found) == limit
    assert plans.made.count("store/plan") == 2


def test_no_more_plans_are_kept_than_are_of_use(plans):
    for limit in range(1, 3 * MAX_PREPARED):
        for _ in range(2):
            plans.run("search/fuse_ranks", fused(limit))
    assert plans.made.count("store/plan") == 3 * MAX_PREPARED - 1
    assert plans.made.count("store/forget_plan") == 2 * MAX_PREPARED


@keeps_plans
def test_plans_are_made_anew_for_an_index_that_was_detached(library):
    library.write("tea.md", "# Tea\n\nA cup of tea.")

    def work(cursor):
        for _ in range(3):
            assert len(cursor.again("search/documents", ids=[1])) == 1
        return is_planned_anew(
            cursor.connection, partial(cursor.again, "search/documents", ids=[1])
        )

    for _ in range(2):
        library.update()
        assert not library.engine.database.read(work)


def test_a_reader_that_has_planned_lets_writers_in_and_finds_what_they_wrote(library):
    library.write("tea.md", "# Tea\n\nA cup of tea.")
    library.update()
    library.engine.database._warm = True
    for number in range(3):
        for _ in range(3):
            found = search(library.engine, "tea", limit=10)
            assert len(found) == number + 1
        library.write(f"more{number}.md", f"# More\n\nTea {number}.")
        library.update()


def test_a_writer_sees_what_it_has_written_itself(library):
    library.write("tea.md", "# Tea\n\nA cup of tea.")
    library.update()

    def work(cursor):
        for _ in range(3):
            cursor.again("search/documents", ids=[1])
        cursor.run("documents/remove", ids="[1]")
        return cursor.again("search/documents", ids=[1])

    assert library.engine.database.write(work) == []
