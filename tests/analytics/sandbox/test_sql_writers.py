"""A query and whoever writes to the index do not hold each other up."""

from __future__ import annotations

import errno
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from contextvars import copy_context
from functools import partial
from queue import SimpleQueue

import pytest

from qmd import files
from qmd.analytics import sandbox_workers as workers
from qmd.analytics.sandbox import Limits
from qmd.analytics.sandbox_workers import Worker
from qmd.operations.index import Index
from qmd.operations.sql import run_sql
from qmd.storage import cancellation
from qmd.storage.database import Database
from tests.analytics.sandbox.querying import rows_of

LONG = 20
"""Seconds after which something that has to happen is taken for stuck."""


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
from qmd.storage.database import Database

database = Database(Path(sys.argv[1]), patience=float(sys.argv[2]))
database.write(lambda cursor: cursor.run("store/set_setting", name="tea", value="oolong"))
"""


@pytest.fixture
def runs(monkeypatch):
    """Counts how often a query was run, and says so when one is."""
    real, found = Worker.answer, SimpleQueue()

    def answer(self, *arguments, **named):
        found.put(True)
        return real(self, *arguments, **named)

    monkeypatch.setattr(Worker, "answer", answer)
    monkeypatch.setattr(workers, "SECONDS_BEFORE_YIELD", 0.0)
    return found


@pytest.fixture
def served(filled):
    """The library as a server has it, which keeps the index attached."""
    machine = filled.engine.models.machine
    filled.engine.close()
    filled.engine = Index(filled.engine.place, machine, warm=True)
    filled.engine.read(lambda _: None)
    yield filled
    filled.engine.close()


@pytest.fixture(params=["filled", "served"])
def either(request):
    return request.getfixturevalue(request.param)


@pytest.mark.parametrize("room", [True, False])
def test_a_query_that_takes_long_gives_way_to_a_writer_and_is_asked_again_of_a_copy(
    either, runs, monkeypatch, room
):
    filled = either
    if not room:
        monkeypatch.setattr(files, "copy_file", partial(_full_disk, filled))
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(rows_of, filled, UNTIL_WRITTEN)
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


def test_a_query_in_a_copy_holds_up_no_writer(either, runs):
    filled = either
    endless, stop = UNTIL_WRITTEN.replace("'tea'", "'coffee'"), cancellation.Stop()
    around = copy_context()
    around.run(cancellation.CURRENT.set, stop)
    database = Database(filled.engine.place.database, patience=LONG)
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(around.run, rows_of, filled, endless)
        runs.get(timeout=LONG)
        database.write(lambda cursor: cursor.run("store/set_setting", name="tea", value="1"))
        runs.get(timeout=LONG)  # in the copy
        database.write(lambda cursor: cursor.run("store/set_setting", name="milk", value="2"))
        assert not asked.done()
        stop.ask()
        with pytest.raises(cancellation.Stopped):
            asked.result(timeout=LONG)
    database.close()


def test_a_query_that_is_quick_is_not_disturbed(filled, runs, monkeypatch):
    monkeypatch.setattr(workers, "SECONDS_BEFORE_YIELD", float(LONG))
    filled.engine.database.is_wanted = lambda: True
    assert rows_of(filled, "select count(*) from range(300_000_000)") == [("300000000",)]
    assert runs.qsize() == 1


def test_a_server_searches_beside_a_query_with_what_it_has_loaded(served, runs, monkeypatch):
    monkeypatch.setattr(workers, "SECONDS_BEFORE_YIELD", float(LONG))
    endless, stop = UNTIL_WRITTEN, cancellation.Stop()
    around = copy_context()
    around.run(cancellation.CURRENT.set, stop)
    loaded = served.engine.database.read(lambda cursor: cursor.memory)
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(around.run, rows_of, served, endless)
        runs.get(timeout=LONG)
        assert served.found("tea") == ["tea.md"]
        assert not asked.done()
        stop.ask()
        with pytest.raises(cancellation.Stopped):
            asked.result(timeout=LONG)
    assert served.engine.database.read(lambda cursor: cursor.memory) is loaded


def test_an_answer_holds_up_nobody_while_it_is_read(either):
    filled = either
    with closing(run_sql(filled.engine, "from documents", (), Limits())) as answer:
        filled.write("water.md", "# Water")
        filled.update()
        assert answer.count == 2
        assert len(list(answer.texts())) == 2
    assert rows_of(filled, "select count(*) from documents") == [("3",)]


def test_queries_and_searches_of_one_process_take_turns(either):
    filled = either

    def ask(number: int) -> object:
        if number % 3 == 0:
            return rows_of(filled, "select count(*) from bm25('tea')")
        if number % 3 == 1:
            return filled.found("tea")
        filled.write(f"{number}.md", f"# Number {number}")
        return filled.update().new

    with ThreadPoolExecutor(6) as pool:
        asked = [pool.submit(ask, number) for number in range(18)]
        given = [each.result(timeout=3 * LONG) for each in asked]
    assert given[0::3] == [[("1",)]] * 6
    assert given[1::3] == [["tea.md"]] * 6
    assert rows_of(filled, "select count(*) from documents") == [("8",)]
