"""Facts about an index are saved beside it, and used while it is unchanged."""

from __future__ import annotations

import shutil

import pytest

from qmd import processes
from qmd.operations.index import Index
from qmd.operations.search import search
from qmd.operations.status import status
from qmd.storage import saved_facts
from qmd.storage.cursor import Cursor
from qmd.text.hashes import damage_digest

SAVED = {
    "store/applied",
    "store/setting",
    "collections/all",
    "collections/contexts",
    "search/statistics",
    "search/near_duplicates",
    "search/large",
}
"""Statements whose results a search needs, and that are saved."""

COPY = "Brew tea. " + " ".join(f"word{number}" for number in range(400))


@pytest.fixture
def ended(library, monkeypatch):
    """A library with an index, in a process that ends after one command."""
    monkeypatch.setattr(processes, "leave_open", True)
    monkeypatch.setattr(saved_facts, "is_settled", lambda _: True)
    library.write("tea.md", COPY)
    library.write("tea copy.md", COPY + " end")
    library.update()
    return library


@pytest.fixture
def ran(monkeypatch):
    """Names of the statements that run."""
    names, run = [], Cursor.run

    def noted(self, name, /, **parameters):
        names.append(name)
        return run(self, name, **parameters)

    monkeypatch.setattr(Cursor, "run", noted)
    return names


def command(place, work):
    """Run an operation as a command does."""
    index = Index(place)
    try:
        return work(index)
    finally:
        index.close()


def found(place):
    return command(place, lambda index: list(search(index, "tea")))


def file_of(library):
    return saved_facts.facts_path(library.engine.place.database)


def test_a_second_search_counts_nothing_again(ended, ran):
    first = found(ended.engine.place)
    assert [each.similar for each in first] == [("notes/tea copy.md",)]
    assert set(ran) >= SAVED
    ran.clear()
    assert found(ended.engine.place) == first
    assert not SAVED.intersection(ran)
    assert file_of(ended).stat().st_mode & 0o777 == 0o600


def test_a_second_status_counts_nothing_again(ended, ran):
    first = command(ended.engine.place, status)
    assert {"maintenance/totals", "collections/overview", "embeddings/pending"}.issubset(ran)
    ran.clear()
    assert command(ended.engine.place, status) == first
    assert first.collections[0].modified == first.modified is not None
    counted = {"maintenance/totals", "collections/overview", "embeddings/pending"}
    assert not counted.intersection(ran)


def test_a_changed_index_is_counted_anew(ended):
    found(ended.engine.place)
    command(ended.engine.place, status)
    for number in range(3):
        ended.write(f"new {number}.md", f"tea, number {number}, and milk")
    (ended.root / "tea copy.md").unlink()
    ended.update()
    now = found(ended.engine.place)
    file_of(ended).unlink()
    assert now == found(ended.engine.place) == list(search(ended.engine, "tea"))
    assert not any(each.similar for each in now)
    assert command(ended.engine.place, status).documents == 4


def test_other_settings_are_used_at_once(ended):
    found(ended.engine.place)
    config = ended.engine.place.config
    config.write_text(config.read_text() + "\nquery_log: false\n")
    log = ended.engine.place.database.with_name("index.duckdb.searches.jsonl")
    before = log.read_bytes()
    assert found(ended.engine.place)
    assert log.read_bytes() == before


def wrong(*values):
    text = b'{"state": %s, "facts": {%s}}' % values
    return f"{damage_digest(text)}\n".encode() + text


@pytest.mark.parametrize(
    "facts",
    [
        b'"ledger": 1, "search/statistics": [], "collections": [[1]], "large": "x"',
        b'"near_duplicates": [[1]], "contexts": [null], "config_digest": {"a": 1}',
        b'"collections": null, "search/statistics": [[1]], "large": [[]], "ledger": [[]]',
    ],
)
def test_facts_of_another_form_are_counted_anew(ended, facts):
    first = found(ended.engine.place)
    state = file_of(ended).read_bytes().partition(b'"state": ')[2].partition(b"]")[0] + b"]"
    file_of(ended).write_bytes(wrong(state, facts))
    assert found(ended.engine.place) == first


@pytest.mark.parametrize("damage", ["cut", "flipped", "empty", "link", "folder"])
def test_a_damaged_file_is_ignored(ended, tmp_path, damage):
    first = found(ended.engine.place)
    file = file_of(ended)
    whole = file.read_bytes()
    file.unlink()
    target = tmp_path / "elsewhere"
    if damage == "folder":
        file.mkdir()
    elif damage == "link":
        target.write_bytes(whole)
        file.symlink_to(target)
    else:
        at = whole.index(b'"search/statistics"') + 25
        flipped = whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :]
        file.write_bytes({"cut": whole[:-9], "flipped": flipped, "empty": b""}[damage])
    assert found(ended.engine.place) == first
    assert damage != "link" or target.read_bytes() == whole


def test_facts_do_not_apply_to_a_copy(ended, ran):
    first = found(ended.engine.place)
    place = ended.engine.place
    for file in (place.database, file_of(ended)):
        copy = file.with_name(file.name.replace("index", "copy"))
        shutil.copy2(file, copy)
    ran.clear()
    assert found(place._replace(database=place.database.with_name("copy.duckdb"))) == first
    assert set(ran) >= SAVED


def test_an_index_that_has_just_changed_is_not_saved(ended, monkeypatch):
    monkeypatch.setattr(saved_facts, "is_settled", lambda _: False)
    assert found(ended.engine.place)
    assert not file_of(ended).exists()


def test_a_large_fact_is_not_saved(ended, monkeypatch, ran):
    monkeypatch.setattr(saved_facts, "LARGEST_FACT", 100)
    first = found(ended.engine.place)
    ran.clear()
    assert found(ended.engine.place) == first
    assert "search/near_duplicates" in ran
    assert "search/statistics" not in ran


def test_a_program_in_python_saves_nothing(ended, monkeypatch):
    monkeypatch.setattr(processes, "leave_open", False)
    assert found(ended.engine.place)
    assert not file_of(ended).exists()
