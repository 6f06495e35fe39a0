"""Searches of a server are answered while a writer has the index."""

from __future__ import annotations

import json
import os

import pytest

from qmd.errors import IndexBusy
from qmd.operations import freshness
from qmd.operations.index import Index
from qmd.operations.search import search
from qmd.storage.file_lock import FileLock
from tests.ranking.test_holder import hold

LONG_AGO = 1_600_000_000


@pytest.fixture
def notes(library):
    for name in ("tea", "pot", "cup"):
        library.write(f"{name}.md", f"# {name}\n\nA {name} of green leaves, and hot water.\n")
        os.utime(library.root / f"{name}.md", (LONG_AGO, LONG_AGO))
    library.update()
    return library


@pytest.fixture
def server(notes):
    """A server that has answered once, and gives up after a moment."""
    place, machine = notes.engine.place, notes.engine.models.machine
    made = Index(place, machine, warm=True, stays=True, patience=0.2)
    assert hold(made) is not None
    search(made, "water")
    yield made
    made.close()


@pytest.fixture
def writer(notes):
    """The locks of a writer that has the index."""
    gate = FileLock(notes.engine.place.database)
    gate.shut()
    yield gate
    gate.open()


def results(engine, asked, **options):
    return [each._replace(body=None) for each in search(engine, asked, **options)]


def test_a_new_question_has_the_answer_of_the_state_before(notes, server, writer):
    found = [results(server, asked) for asked in ("green tea", '"hot water"', "leaves -cup")]
    assert [len(each) for each in found] == [3, 3, 2]
    assert server.database._attached is None
    writer.open()
    asked = ("green tea", '"hot water"', "leaves -cup")
    assert found == [results(notes.engine, each) for each in asked]


def test_a_file_that_has_changed_since_waits_for_its_record(notes, server, writer):
    notes.write("tea.md", "Black tea.")
    assert [each.title for each in results(server, "cup")] == ["cup"]
    with pytest.raises(IndexBusy):
        search(server, "tea")
    writer.open()
    assert [each.stale for each in search(server, "tea")] == [True]


def test_a_result_that_was_shown_before_is_looked_at_again(notes, server, writer):
    assert [each.stale for each in results(server, "pot water", limit=1)] == [False]
    assert [each.stale for each in results(server, "pot leaves", limit=1)] == [False]
    os.utime(notes.root / "pot.md")
    with pytest.raises(IndexBusy):
        search(server, "pot green", limit=1)
    writer.open()
    assert [each.stale for each in results(server, "pot green", limit=1)] == [False]


def test_a_word_that_no_document_has_waits_for_the_words(server, writer):
    with pytest.raises(IndexBusy):
        search(server, "leavez")
    writer.open()
    assert search(server, "leavez").respelled == {"leavez": ("leaves",)}


def test_a_search_that_had_to_wait_is_logged_once(notes, server):
    log = notes.engine.place.database.with_name("index.duckdb.searches.jsonl")
    before = len(log.read_text().splitlines()) if log.exists() else 0
    gate = FileLock(notes.engine.place.database)
    gate.shut()
    search(server, "green leaves")
    with pytest.raises(IndexBusy):
        search(server, "leavez")
    gate.open()
    search(server, "leavez")
    lines = [json.loads(each) for each in log.read_text().splitlines()[before:]]
    assert [each["query"] for each in lines] == ["green leaves", "leavez"]


def test_settings_that_another_process_writes_are_not_written_again(notes, server, writer):
    search(server, "cup")
    notes.engine.forget_settings()
    settings = notes.engine.place.config
    settings.write_text(settings.read_text() + "\n# changed\n")
    written = []
    server.database.write = written.append
    with pytest.raises(IndexBusy):
        search(server, "cup")
    assert written == []


def test_a_file_is_not_looked_at_once_its_folder_may_not_be_read(notes, server, monkeypatch):
    search(server, "cup")
    monkeypatch.setattr(freshness, "_readable", lambda index, names: set())
    monkeypatch.setattr(freshness, "_has", None)
    assert [each.stale for each in search(server, "cup", limit=3)] == [False]
