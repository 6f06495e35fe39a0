"""A collection whose first indexing fails is there or not, says which, and can be added again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import NamedTuple

import pytest

import qmd as api
from qmd.errors import IndexBusy, IndexNotWritable, RootUnreadable
from qmd.surfaces.cli import collections as command


class Said(NamedTuple):
    """What came of a command."""

    code: int
    out: str
    err: str


@pytest.fixture
def qmd(qmd):
    """Runs a command."""
    return lambda *arguments: Said(*qmd(*arguments))


GO_ON = "Collection 'notes' is registered. To go on, add it again, or index it with "

KILLED = """
import os, sys
import anyio
from qmd.ingest import pipeline
from qmd.storage.database import Database

if sys.argv.pop(1) == "indexing":
    async def update(*_, **__):
        os.kill(os.getpid(), int(signal_number))
        await anyio.sleep_forever()
    pipeline.update = update
    from qmd.surfaces.cli import update as updating
    updating._at_once = lambda *_: False
else:
    from qmd.operations.index import Index
    change = Index.change
    def changed(*given):
        change(*given)
        os.kill(os.getpid(), int(signal_number))
    Index.change = changed
signal_number = sys.argv.pop(1)
from qmd.__main__ import main
main()
"""


def documents(qmd):
    """How many documents the index has."""
    return json.loads(qmd("status", "--json")[1])["totalDocuments"]


def names(qmd):
    """The collections."""
    return [each["name"] for each in json.loads(qmd("collection", "list", "--json")[1])]


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (IndexNotWritable("index", "No space left on device"), 3),
        (IndexBusy("index", holder="qmd update, process 7", waited=30), 3),
        (KeyboardInterrupt(), 130),
        (RuntimeError("a hostile file"), 1),
    ],
)
def test_a_first_indexing_that_fails_leaves_the_collection_and_adding_it_goes_on(
    qmd, notes, monkeypatch, error, code
):
    def fail(*_, **__):
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(command, "report_updates", fail)
        said = qmd("collection", "add", notes)
    assert (said.code, said.err.startswith(GO_ON)) == (code, True)
    assert (names(qmd), documents(qmd)) == (["notes"], 0)
    said = qmd("collection", "add", notes)
    assert (said.code, said.err) == (0, "")
    assert documents(qmd) == 3
    said = qmd("collection", "add", notes)
    assert (said.code, said.err.split("\n")[0]) == (1, "Collection 'notes' already exists.")


def test_a_folder_that_cannot_be_listed_is_not_added(qmd, notes, monkeypatch):
    def refuse(path):
        raise PermissionError(13, "Permission denied", str(path))

    with monkeypatch.context() as patch:
        patch.setattr("qmd.operations.curation.os.scandir", refuse)
        said = qmd("collection", "add", notes)
    assert (said.code, said.out) == (1, "")
    assert said.err.startswith(f"{notes} cannot be read: Permission denied.\n\nNothing was added.")
    assert names(qmd) == []
    assert qmd("collection", "add", notes).code == 0


def test_a_path_that_no_system_has_is_refused(qmd):
    said = qmd("collection", "add", "/" + "x" * 4000)
    assert said.code == 1
    assert "cannot be read: File name too long." in said.err
    assert len(said.err) < 600


def test_a_failure_of_the_collection_alone_says_that_it_is_registered(qmd, notes, monkeypatch):
    async def refuse(_, collection, *__, **___):
        raise RootUnreadable(collection.name, collection.root, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr("qmd.surfaces.cli.update._at_once", lambda *_: False)
        patch.setattr("qmd.ingest.pipeline.update", refuse)
        said = qmd("collection", "add", notes)
    assert said.code == 2
    assert "Failed: The folder of collection 'notes' cannot be read" in said.out
    assert GO_ON in said.err
    assert qmd("collection", "add", notes).code == 0
    assert documents(qmd) == 3


def test_settings_that_cannot_be_written_leave_no_collection(qmd, notes, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("qmd.safe_open.atomic_replace", full)
        said = qmd("collection", "add", notes)
    assert said.code == 1
    assert said.err.startswith("Collection 'notes' was not added.\n")
    assert "No space left on device" in said.err
    assert names(qmd) == []
    assert qmd("collection", "add", notes).code == 0


def test_an_index_that_cannot_be_written_leaves_no_collection_and_says_so(qmd, notes, monkeypatch):
    def refuse(_):
        raise IndexNotWritable(notes / "index.duckdb", "File too large")

    with monkeypatch.context() as patch:
        patch.setattr("qmd.operations.index.Index.collections", refuse)
        said = qmd("collection", "add", notes)
    assert said.code == 3
    assert said.err.startswith("Collection 'notes' was not added.\n")
    assert names(qmd) == []
    assert qmd("collection", "add", notes).code == 0


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
@pytest.mark.parametrize("when", ["settings", "indexing"])
def test_a_process_that_is_killed_while_it_adds_is_gone_on_with(qmd, notes, when, number):
    done = subprocess.run(
        [sys.executable, "-c", KILLED, when, str(int(number)), "collection", "add", str(notes)],
        env=os.environ,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == (130 if number == signal.SIGINT else -number), done.stderr
    assert "Traceback" not in done.stderr
    if number == signal.SIGINT:
        assert GO_ON in done.stderr
    assert names(qmd) == ["notes"]
    assert qmd("collection", "add", notes).code == 0
    assert documents(qmd) == 3


def test_another_folder_or_mask_or_name_is_not_gone_on_with(qmd, notes, monkeypatch):
    def fail(*_, **__):
        raise IndexNotWritable("index", "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(command, "report_updates", fail)
        qmd("collection", "add", notes)
    assert qmd("collection", "add", notes, "--mask", "*.txt").code == 1
    assert qmd("collection", "add", notes, "--name", "other").code == 1
    assert qmd("collection", "add", notes, "--name", "notes").code == 0


def test_in_python_a_note_says_what_is_left_and_the_same_call_goes_on(tmp_path, monkeypatch):
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "tea.md").write_text("# Tea\n\nGreen.\n")
    with api.connect(tmp_path / "own.duckdb") as kb:

        async def fail(*_, **__):
            raise IndexNotWritable(tmp_path, "No space left on device")

        with monkeypatch.context() as patch:
            patch.setattr("qmd.operations.update.run_update", fail)
            with pytest.raises(IndexNotWritable) as caught:
                kb.add_collection(folder)
        assert caught.value.__notes__[0].startswith(GO_ON)
        assert kb.add_collection(folder).new == 1
        with pytest.raises(api.AlreadyExists):
            kb.add_collection(folder)
