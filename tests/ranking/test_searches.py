"""What was searched for is noted beside the index."""

from __future__ import annotations

import json
import multiprocessing
import os
import stat
from pathlib import Path

import anyio
import pytest

from qmd.errors import QueryError
from qmd.operations.documents import get
from qmd.operations.search import search
from qmd.operations.semantic_search import query
from qmd.operations.sql import sql
from qmd.ranking import search_log
from qmd.ranking.search_log import Log, begin


@pytest.fixture
def logged(library):
    library.write("tea.md", "# Tea\n\nA cup of tea.")
    library.write("cake.md", "# Cake\n\nA piece of cake with tea.")
    library.write("rust.md", "# Rust\n\nIron.")
    library.update()
    return library


def asked(library, text):
    return [tuple(row.values()) for row in sql(library.engine, text).arrow().to_pylist()]


def test_searches_are_noted_with_what_they_found(logged):
    search(logged.engine, "tea", limit=7)
    search(logged.engine, "coffee", collection="notes")
    anyio.run(query, logged.engine, "lex: cake\nintent: food")
    found = asked(
        logged,
        "select verb, query, collections, at_most, results, found, milliseconds > 0,"
        " abs(epoch(searched_at) - epoch(now())) < 60"
        " from searches order by searched_at",
    )
    assert found == [
        ("search", "tea", None, 7, 2, ["notes/tea.md", "notes/cake.md"], True, True),
        ("search", "coffee", ["notes"], 10, 0, [], True, True),
        ("query", "lex: cake\nintent: food", None, 10, 1, ["notes/cake.md"], True, True),
    ]


def test_what_found_nothing_and_what_was_never_found(logged):
    for words in ("coffee", "iron", "cake", "coffee"):
        search(logged.engine, words)
    logged.write("iron.md", "# Coffee\n\nBeans.")
    assert asked(logged, "select query, verb, times from zero_result_searches") == [
        ("coffee", "search", 2)
    ]
    assert asked(logged, "select file from never_found") == [("notes/tea.md",)]
    logged.update()
    search(logged.engine, "coffee")
    assert asked(logged, "from zero_result_searches") == []


def test_slow_searches_are_those_that_took_longer_than_others(logged):
    for number in range(40):
        made = begin("search", f"words {number}", None, 5)
        logged.engine.log.add(made._replace(began=made.began - (9 if number == 7 else 1)), [])
    found = asked(
        logged,
        "select query, round(milliseconds / 1000) as took, round(usual / 1000) as usual"
        " from slow_searches order by took desc limit 1",
    )
    assert found == [("words 7", 9, 1)]


def test_one_setting_switches_it_off_and_on(logged):
    logged.configure(more="query_log: false")
    search(logged.engine, "tea")
    assert logged.engine.log.lines() == []
    assert asked(logged, "from searches") == []
    logged.configure()
    search(logged.engine, "tea")
    assert len(logged.engine.log.lines()) == 1


def test_it_stays_off_where_another_index_is_put_in_the_place_of_one(logged):
    logged.configure(more="query_log: false")
    search(logged.engine, "tea")
    logged.engine.close()
    logged.engine.place.database.unlink()
    search(logged.engine, "tea")
    assert logged.engine.log.lines() == []
    assert [each.name for each in logged.engine.collections()] == ["notes"]


def test_what_is_no_search_is_not_noted(logged):
    with pytest.raises(QueryError):
        search(logged.engine, '"tea')
    assert logged.engine.log.lines() == []
    get(logged.engine, "notes/tea.md")
    [line] = logged.engine.log.lines()  # of a document that was read
    assert json.loads(line).keys() == {"opened_at", "file"}
    assert asked(logged, "select * from searches") == []


def test_only_the_user_can_read_it(logged):
    search(logged.engine, "tea")
    assert stat.S_IMODE(logged.engine.log._file.stat().st_mode) == 0o600


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo])
def test_a_search_that_cannot_be_noted_is_answered(logged, make):
    make(logged.engine.log._file)
    assert len(search(logged.engine, "tea")) == 2
    assert asked(logged, "from searches") == []


def test_nothing_is_written_into_or_read_from_what_a_link_leads_to(logged, tmp_path):
    other = tmp_path / "profile"
    other.write_text("whatever\n")
    logged.engine.log._file.symlink_to(other)
    search(logged.engine, "tea")
    assert other.read_text() == "whatever\n"
    assert logged.engine.log.lines() == []


def test_a_line_that_was_cut_off_is_left_out_and_spoils_no_other(logged):
    search(logged.engine, "tea")
    with logged.engine.log._file.open("a") as file:
        file.write('{"searched_at": "2025-01-')
    assert asked(logged, "select query from searches") == [("tea",)]
    search(logged.engine, "pool")
    assert asked(logged, "select query from searches order by searched_at") == [("tea",), ("pool",)]


def test_lines_that_are_no_searches_are_left_out(logged):
    search(logged.engine, "tea")
    [line] = logged.engine.log.lines()
    odd = json.loads(line) | {"at_most": "many"}
    with logged.engine.log._file.open("a") as file:
        file.writelines(f"{json.dumps(each)}\n" for each in ({}, [], 1, None, "x", odd))
        file.write("\n")
    assert asked(logged, "select query from searches") == [("tea",)]


@pytest.mark.parametrize("odd", ["\ud800", "\0", "\x1e", "\u2028", "\U0010ffff", '"\\'])
def test_odd_letters_of_a_query_spoil_nothing(logged, odd):
    logged.engine.log.add(begin("search", f"tea {odd}", None, 5), [])
    search(logged.engine, "tea")
    assert asked(logged, "select count(*) from searches where query = 'tea'") == [(1,)]


def test_long_queries_and_many_results_are_cut(tmp_path):
    log = Log(tmp_path / "index.duckdb")
    log.add(begin("search", "x" * 5000, None, 500), [f"notes/{n}.md" for n in range(500)])
    [line] = map(json.loads, log.lines())
    assert (len(line["query"]), line["results"], len(line["found"])) == (2000, 500, 100)


def _adds(path, number):
    log = Log(path)
    for nth in range(200):
        log.add(begin("search", f"{number} {nth}", None, 5), [])


def test_a_log_that_has_grown_is_put_away_and_no_line_is_torn(tmp_path, monkeypatch):
    monkeypatch.setattr(search_log, "LARGEST", 130_000)  # of about 160,000
    path = tmp_path / "index.duckdb"
    context = multiprocessing.get_context("fork")
    processes = [context.Process(target=_adds, args=(path, number)) for number in range(5)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
    lines = [json.loads(line)["query"] for line in Log(path).lines()]
    assert sorted(lines) == sorted(f"{number} {nth}" for number in range(5) for nth in range(200))
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        "index.duckdb.searches.1.jsonl",
        "index.duckdb.searches.jsonl",
    ]
