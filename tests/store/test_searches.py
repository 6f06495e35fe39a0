"""What was searched for is noted beside the index."""

from __future__ import annotations

import json
import multiprocessing
import stat

import anyio
import pytest

from qmd.errors import QueryError
from qmd.store import searches
from qmd.store.searches import Log, begin
from qmd.verbs.searching import ALL


@pytest.fixture
def logged(library):
    library.write("tea.md", "# Tea\n\nA cup of tea.")
    library.write("cake.md", "# Cake\n\nA piece of cake with tea.")
    library.write("rust.md", "# Rust\n\nIron.")
    library.update()
    return library


def asked(library, text):
    return [tuple(row.values()) for row in library.engine.sql(text).to_pylist()]


def test_searches_are_noted_with_what_they_found(logged):
    logged.engine.search("tea", limit=7)
    logged.engine.search("coffee", among=ALL._replace(collections=("notes",)))
    anyio.run(logged.engine.query, "lex: cake\nintent: food")
    found = asked(
        logged,
        "select verb, query, collections, at_most, results, found, milliseconds > 0,"
        " abs(epoch(searched_at) - epoch(now())) < 60"
        " from searches order by searched_at",
    )
    assert found == [
        ("search", "tea", None, 7, 2, ["notes/tea.md", "notes/cake.md"], True, True),
        ("search", "coffee", ["notes"], 5, 0, [], True, True),
        ("query", "lex: cake\nintent: food", None, 5, 1, ["notes/cake.md"], True, True),
    ]


def test_what_found_nothing_and_what_was_never_found(logged):
    for words in ("coffee", "iron", "cake", "coffee"):
        logged.engine.search(words)
    logged.write("iron.md", "# Coffee\n\nBeans.")
    assert asked(logged, "select query, verb, times from zero_result_searches") == [
        ("coffee", "search", 2)
    ]
    assert asked(logged, "select file from never_found") == [("notes/tea.md",)]
    logged.update()
    logged.engine.search("coffee")
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
    logged.engine.search("tea")
    assert logged.engine.log.lines() == []
    assert asked(logged, "from searches") == []
    logged.configure()
    logged.engine.search("tea")
    assert len(logged.engine.log.lines()) == 1


def test_what_is_no_search_is_not_noted(logged):
    with pytest.raises(QueryError):
        logged.engine.search('"tea')
    logged.engine.get("notes/tea.md")
    assert logged.engine.log.lines() == []


def test_only_the_user_can_read_it(logged):
    logged.engine.search("tea")
    assert stat.S_IMODE(logged.engine.log._file.stat().st_mode) == 0o600


def test_a_search_that_cannot_be_noted_is_answered(logged):
    logged.engine.log._file.mkdir()
    assert len(logged.engine.search("tea").results) == 2


def test_a_line_that_was_cut_off_is_left_out(logged):
    logged.engine.search("tea")
    with logged.engine.log._file.open("a") as file:
        file.write('{"searched_at": "2025-01-')
    assert asked(logged, "select query from searches") == [("tea",)]


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
    monkeypatch.setattr(searches, "LARGEST", 130_000)  # of about 160,000
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
