"""What to do about an error is said in the words of the surface that it is seen on."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

import qmd
from qmd.errors import DocumentNotFound, FolderTaken, IndexTaken, SqlOutOfMemory, SqlTimeout
from qmd.errors.base import QmdError, advised
from qmd.workers.channel import packed_error, unpacked_error


def test_each_surface_has_its_own_advice_and_python_that_of_the_text():
    error = QmdError("It failed.", advice=advised("Use {}.", command="--x N", python="x=N"))
    assert str(error) == error.told("python") == "It failed.\n\nUse x=N."
    assert error.told("command") == "It failed.\n\nUse --x N."
    assert error.told("tool") == "It failed."


def test_an_error_keeps_its_advice_on_its_way_between_processes():
    for error in (SqlTimeout(2), QmdError("It failed.", advice={"command": "Use --x."})):
        passed_on = unpacked_error(pickle.loads(pickle.dumps(packed_error(error))))
        assert passed_on.told("command") == error.told("command")
        assert str(passed_on) == str(error)


@pytest.mark.parametrize(
    ("error", "command", "python"),
    [
        (SqlTimeout(2), "--timeout SECONDS", "timeout=SECONDS"),
        (SqlOutOfMemory("1GB"), "--memory SIZE", "memory=SIZE"),
        (
            FolderTaken(Path("x"), "it is full.", mend=advised("{}", command="--a", python="a=1")),
            "--a",
            "a=1",
        ),
        (
            IndexTaken(Path("x"), "is full.", mend=advised("{}", command="--a", python="a=1")),
            "--a",
            "a=1",
        ),
    ],
)
def test_an_option_is_named_as_the_surface_has_it(error, command, python):
    assert command in error.told("command")
    assert python not in error.told("command")
    assert python in str(error)
    assert "--" not in str(error)
    assert "--" not in error.told("tool")


def test_a_document_that_is_not_found_is_told_without_commands_to_programs_and_models():
    error = DocumentNotFound("notes/te.md", similar=["notes/tea.md"])
    assert str(error) == error.told("tool")
    assert str(error).endswith("Did you mean one of these?\n  - notes/tea.md")
    assert error.told("command").endswith("or look for it with 'qmd search te'.")


def test_python_is_told_of_its_parameters(tmp_path):
    (tmp_path / "notes").mkdir()
    with qmd.connect(path=tmp_path / "index.duckdb") as kb:
        kb.add_collection(tmp_path / "notes")
        with pytest.raises(qmd.AlreadyExists) as raised:
            kb.add_collection(tmp_path / "notes", mask="*.txt")
        assert str(raised.value).endswith(
            "Choose another with name=NAME, or index it with update('notes')."
        )
        with pytest.raises(qmd.SqlError) as raised:
            kb.sql("from read_csv('a.csv')")
        assert str(raised.value).endswith("Allow it to read files with files=True.")


def test_a_query_that_would_be_long_is_not_suggested():
    assert "qmd search WORDS" in DocumentNotFound("notes/" + 4000 * "a").told("command")
    assert "qmd search WORDS" in DocumentNotFound("a " * 2000).told("command")


def test_a_long_value_is_cut_in_advice_as_in_the_message():
    error = QmdError(4000 * "a", advice={"command": f"See {4000 * 'b'}."})
    assert len(error.told("command")) < 1000
