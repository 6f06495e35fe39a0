"""The command line beside experience records: what works on folders leaves them alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from qmd.operations.experiences import Experiences
from qmd.operations.index import Index
from qmd.settings.environment import Machine, Place


@pytest.fixture
def recorded(qmd, tmp_path):
    """An index with one record, and the file name of its document."""
    config = tmp_path / "config"
    place = Place(
        "index", config / "index.yml", tmp_path / "index.duckdb", None, tmp_path / "trust"
    )
    engine = Index(place, Machine(hub=tmp_path / "hub"))
    given = {"title": "Redis", "problem_description": "It times out.", "solution": "Wait longer."}
    outcome = Experiences(engine).submit(given)
    engine.close()
    return f"experiences/{outcome['data']['id']}.md"


@pytest.fixture
def notes(qmd, recorded, tmp_path):
    """A folder that is indexed beside it."""
    root = tmp_path / "notes"
    root.mkdir()
    (root / "tea.md").write_text("# Tea\n\nIt never times out.\n")
    assert qmd("collection", "add", root)[0] == 0
    return root


def test_records_are_listed_searched_and_shown_like_files(qmd, recorded, notes):
    for command in (["collection", "list"], ["ls"], ["status"]):
        code, out, _ = qmd(*command)
        assert code == 0
        assert "(in the index)" in out
    assert recorded in qmd("ls", "experiences")[1]
    found = json.loads(qmd("search", "times out", "--json")[1])
    assert {each["file"] for each in found} == {recorded, "notes/tea.md"}
    assert "Wait longer." in qmd("get", recorded)[1]
    assert "(in the index)" in qmd("collection", "show", "experiences")[1]
    paths = [each["path"] for each in json.loads(qmd("collection", "list", "--json")[1])]
    assert paths == ["", str(notes)]


def test_a_search_that_shows_paths_on_disk_shows_the_name_of_a_record(qmd, recorded, notes):
    out = qmd("search", "times out", "--files", "--full-path")[1]
    assert recorded in out
    assert str(notes / "tea.md") in out


def test_an_update_passes_them_over(qmd, recorded, notes):
    (notes / "more.md").write_text("# More")
    code, out, _ = qmd("update")
    assert code == 0
    assert "Updating 1 collection..." in out
    assert "experiences" not in out
    code, _, err = qmd("update", "-c", "experiences")
    assert code == 1
    assert "'experiences' has no folder to be updated from" in err
    assert json.loads(qmd("search", "redis", "--json")[1])[0]["file"] == recorded


def test_with_records_alone_there_is_nothing_to_update_or_watch(qmd, recorded):
    assert "No collections yet" in qmd("update")[1]
    assert json.loads(qmd("update", "--json")[1]) == []
    assert "There is nothing to watch" in qmd("watch")[2]


@pytest.mark.parametrize(
    "command",
    [
        ["collection", "remove", "experiences"],
        ["collection", "rename", "experiences", "others"],
        ["collection", "exclude", "experiences"],
        ["collection", "update-cmd", "experiences", "true"],
        ["context", "add", "qmd://experiences", "trusted"],
        ["context", "rm", "qmd://experiences"],
    ],
)
def test_their_collection_cannot_be_changed(qmd, recorded, command):
    code, _, err = qmd(*command)
    assert code == 1
    assert "'experiences' is the collection of the records that agents submit" in err
    assert qmd("search", "redis")[0] == 0


def test_no_folder_can_have_their_name(qmd, notes, tmp_path):
    other = tmp_path / "experiences"
    other.mkdir()
    for command in (
        ["collection", "add", other],
        ["collection", "add", other, "--name", "experiences"],
        ["collection", "rename", "notes", "experiences"],
    ):
        code, _, err = qmd(*command)
        assert code == 1
        assert "experiences" in err
    assert [each["name"] for each in json.loads(qmd("collection", "list", "--json")[1])] == [
        "experiences",
        "notes",
    ]


def test_doctor_and_cleanup_have_no_complaint(qmd, recorded, notes):
    out = qmd("doctor")[1]
    assert "ok    collection experiences: 1 record, in the index alone" in out
    assert "FAIL" not in out
    assert qmd("cleanup")[0] == 0
    assert json.loads(qmd("search", "redis", "--json")[1])[0]["file"] == recorded
    assert "experiences" not in qmd("context", "check")[1]


def test_who_is_told_to_build_the_index_anew_is_told_what_is_lost(qmd, recorded, tmp_path):
    Path(tmp_path / "index.duckdb").write_bytes(b"nothing" * 1000)
    code, _, err = qmd("search", "redis")
    assert code == 3
    assert "build it again. Experience records and kept answers of models are in this file" in err
