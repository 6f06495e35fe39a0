"""`qmd watch`, as a user meets it."""

from __future__ import annotations

import json
import queue
import shutil
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager

import pytest

from qmd.storage.file_lock import errand

LONG = 30
"""Seconds after which something that has to happen is taken for stuck."""


@contextmanager
def watching(*options):
    """A process that watches: gives what it says next, and what it said when it was stopped."""
    process = subprocess.Popen(
        [sys.executable, "-m", "qmd", "watch", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # An interrupt may be ignored where this was started, and so by what it starts.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    said = queue.Queue()
    readers = [
        threading.Thread(target=lambda each=each: [said.put(line) for line in each], daemon=True)
        for each in (process.stdout, process.stderr)
    ]
    for reader in readers:
        reader.start()
    try:
        yield lambda: said.get(timeout=LONG)
        process.send_signal(signal.SIGINT)
        assert process.wait(LONG) == 130
        assert said.get(timeout=LONG) == "Interrupted.\n"
        assert said.empty()
    finally:
        process.kill()
        process.wait()
        for reader in readers:
            reader.join()
        process.stdout.close()
        process.stderr.close()


@pytest.fixture
def notes(qmd, tmp_path):
    """A collection of one note."""
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "tea.md").write_text("# Tea\n\nGreen.\n")
    assert qmd("collection", "add", folder)[0] == 0
    return folder


def test_what_changes_is_found_a_moment_later(qmd, notes):
    with watching() as said:
        assert said() == "Watching notes. Stop with Ctrl-C.\n"
        (notes / "soup.md").write_text("# Soup\n\nPumpkin.\n")
        assert (
            said()
            == "notes: Indexed: 1 new, 0 updated, 1 unchanged, 0 renamed, 0 removed, 0 skipped\n"
        )
        assert json.loads(qmd("search", "pumpkin", "--json")[1])[0]["file"] == "notes/soup.md"
        (notes / "soup.md").unlink()
        assert (
            said()
            == "notes: Indexed: 0 new, 0 updated, 1 unchanged, 0 renamed, 1 removed, 0 skipped\n"
        )
        assert json.loads(qmd("search", "pumpkin", "--json")[1]) == []


def test_with_embed_it_is_found_by_meaning_too(qmd, notes, monkeypatch, tiny_embedder):
    monkeypatch.setenv("QMD_EMBED_MODEL", str(tiny_embedder))
    with watching("--embed") as said:
        assert said() == "Watching notes. Stop with Ctrl-C.\n"
        assert said().startswith("Embedded 1 chunk with ")
        (notes / "car.md").write_text("# Garage\n\nAn automobile is fast.\n")
        assert said().startswith("notes: Indexed: 1 new")
        assert said().startswith("Embedded 1 chunk with ")
        assert json.loads(qmd("vsearch", "vehicle", "--json")[1])[0]["file"] == "notes/car.md"


def test_a_folder_that_is_not_there_does_not_keep_others_from_being_watched(qmd, notes, tmp_path):
    gone = tmp_path / "gone"
    gone.mkdir()
    qmd("collection", "add", gone)
    gone.rmdir()
    with watching() as said:
        assert said() == "Watching gone, notes. Stop with Ctrl-C.\n"
        assert said().startswith("gone: Failed")
        (notes / "soup.md").write_text("# Soup\n")
        while not (line := said()).startswith("notes: "):
            assert "gone" in line or not line.strip()
        assert line.startswith("notes: Indexed: 1 new")
    qmd("collection", "remove", "notes")
    code, _, err = qmd("watch")
    assert code == 1
    assert err.endswith("There is nothing to watch: none of the folders is there.\n")


def test_all_collections_of_a_folder_are_watched(qmd, notes):
    assert qmd("collection", "add", notes, "--name", "texts", "--mask", "**/*.md")[0] == 0
    with watching() as said:
        assert said() == "Watching notes, texts. Stop with Ctrl-C.\n"
        (notes / "soup.md").write_text("# Soup\n")
        assert sorted((said(), said())) == [
            "notes: Indexed: 1 new, 0 updated, 1 unchanged, 0 renamed, 0 removed, 0 skipped\n",
            "texts: Indexed: 1 new, 0 updated, 1 unchanged, 0 renamed, 0 removed, 0 skipped\n",
        ]


def test_an_index_below_a_collection_does_not_wake_itself(
    qmd, tmp_path, monkeypatch, tiny_embedder
):
    monkeypatch.setenv("QMD_EMBED_MODEL", str(tiny_embedder))
    (tmp_path / "tea.md").write_text("# Tea\n\nGreen.\n")
    assert qmd("collection", "add", tmp_path, "--name", "all")[0] == 0
    with watching("--embed") as said:
        said()
        assert said().startswith("Embedded 1 chunk with ")
        time.sleep(1.5)  # what changed while it began is looked for
        before = (tmp_path / "index.duckdb").stat().st_mtime_ns
        time.sleep(1)
        assert (tmp_path / "index.duckdb").stat().st_mtime_ns == before


def test_vectors_that_cannot_be_made_yet_come_later_and_words_at_once(
    qmd, notes, tmp_path, monkeypatch, tiny_embedder
):
    monkeypatch.setenv("QMD_EMBED_MODEL", str(tiny_embedder))
    with errand(tmp_path / "index.duckdb", "embed"), watching("--embed") as said:
        assert said() == "Watching notes. Stop with Ctrl-C.\n"
        assert said().startswith("Another embed of ")
        (notes / "soup.md").write_text("# Soup\n\nPumpkin.\n")
        while not (line := said()).startswith("notes: Indexed: 1 new"):
            assert "Embedded" not in line
        assert json.loads(qmd("search", "pumpkin", "--json")[1])[0]["file"] == "notes/soup.md"
    with watching("--embed") as said:
        said()
        assert said().startswith("Embedded 2 chunks with ")


def test_vectors_that_could_not_be_made_are_made_with_the_next_change(
    qmd, notes, tmp_path, monkeypatch, tiny_embedder
):
    model = tmp_path / "model.gguf"
    monkeypatch.setenv("QMD_EMBED_MODEL", str(model))
    with watching("--embed") as said:
        assert said() == "Watching notes. Stop with Ctrl-C.\n"
        assert "model.gguf" in said()
        model.write_bytes(tiny_embedder.read_bytes())
        (notes / "soup.md").write_text("# Soup\n\nPumpkin.\n")
        while not (line := said()).startswith("Embedded "):
            assert "soup.md" not in line
        assert line.startswith("Embedded 2 chunks with ")


def one_new(name, unchanged=0):
    return (
        f"{name}: Indexed: 1 new, 0 updated, {unchanged} unchanged, 0 renamed, 0 removed, "
        "0 skipped\n"
    )


def is_watched(said, notes):
    """Wait until the notes are: the first change may be found by the update at the beginning."""
    for unchanged in (1, 2):
        (notes / f"{unchanged}.md").write_text(f"# Soup {unchanged}\n")
        assert said() == one_new("notes", unchanged)


def test_a_collection_that_gets_another_name_is_watched_on(qmd, notes):
    with watching() as said:
        assert said() == "Watching notes. Stop with Ctrl-C.\n"
        for unchanged, name in enumerate(("notes", "drinks", "drinks"), 1):
            (notes / f"{unchanged}.md").write_text("# Soup\n")
            assert said() == one_new(name, unchanged)
            if name == "notes":
                assert qmd("collection", "rename", "notes", "drinks")[0] == 0


def test_a_collection_that_comes_later_is_watched_and_one_that_goes_is_not(qmd, notes, tmp_path):
    later = tmp_path / "later"
    later.mkdir()
    with watching() as said:
        assert said() == "Watching notes. Stop with Ctrl-C.\n"
        (notes / "soup.md").write_text("# Soup\n")
        assert said() == one_new("notes", 1)
        assert qmd("collection", "add", later)[0] == 0
        for unchanged in range(3):
            (later / f"{unchanged}.md").write_text("# Soup\n")
            assert said() == one_new("later", unchanged)
        assert qmd("collection", "remove", "notes")[0] == 0
        (notes / "broth.md").write_text("# Broth\n")
        (later / "broth.md").write_text("# Broth\n")
        assert said() == one_new("later", 3)


def test_only_collections_that_are_named_are_watched(qmd, notes, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    assert qmd("collection", "add", other)[0] == 0
    with watching("-c", "notes") as said:
        assert said() == "Watching notes. Stop with Ctrl-C.\n"
        (other / "soup.md").write_text("# Soup\n")
        (notes / "soup.md").write_text("# Soup\n")
        assert said() == one_new("notes", 1)


def test_a_folder_outside_of_a_project_is_not_watched_before_it_is_approved(
    qmd, tmp_path, monkeypatch
):
    monkeypatch.delenv("QMD_CONFIG_DIR")
    monkeypatch.delenv("INDEX_PATH")
    project, outside = tmp_path / "project", tmp_path / "outside"
    for folder in (project / ".qmd", project / "docs", outside):
        folder.mkdir(parents=True)
    (project / ".qmd/index.yml").write_text(
        "collections:\n  docs:\n    path: docs\n  theirs:\n    path: ../outside\n"
    )
    (outside / "secret.md").write_text("# Secret\n")
    monkeypatch.chdir(project)
    with watching() as said:
        assert said() == "Watching docs, theirs. Stop with Ctrl-C.\n"
        assert said().startswith("theirs: Failed: ")
        (outside / "more.md").write_text("# More\n")
        (project / "docs/tea.md").write_text("# Tea\n")
        while not (line := said()).startswith("docs: "):
            assert not line.startswith("theirs: ")
        assert line == one_new("docs")
        assert json.loads(qmd("search", "secret or more", "--json")[1]) == []
        assert qmd("trust", "--yes")[0] == 0
        assert said().startswith("theirs: Indexed: 2 new")
        (outside / "last.md").write_text("# Last\n")
        assert said() == one_new("theirs", 2)


def test_a_mistake_in_the_settings_is_told_once_and_does_not_end_it(qmd, notes, tmp_path):
    later = tmp_path / "later"
    later.mkdir()
    settings = tmp_path / "config" / "index.yml"
    whole = shutil.copy(settings, tmp_path)
    with watching() as said:
        assert said() == "Watching notes. Stop with Ctrl-C.\n"
        is_watched(said, notes)
        settings.write_text("collections: [\n")
        assert f"{settings}:" in said()
        (notes / "rice.md").write_text("# Rice\n")
        time.sleep(2)  # it is read again and again
        shutil.move(whole, settings)
        assert said() == one_new("notes", 3)
        assert qmd("collection", "add", later)[0] == 0
        (later / "broth.md").write_text("# Broth\n")
        assert said() == one_new("later")


@pytest.mark.parametrize("same_number", [True, False])
def test_a_folder_that_another_takes_the_place_of_is_watched_anew(
    qmd, notes, tmp_path, same_number
):
    with watching() as said:
        assert said() == "Watching notes. Stop with Ctrl-C.\n"
        is_watched(said, notes)
        if same_number:  # where the file system gives the number of what has gone to the next
            shutil.rmtree(notes)
            notes.mkdir()
        else:
            notes.rename(tmp_path / "old")
            (tmp_path / "new").mkdir()
            (tmp_path / "new").rename(notes)
        assert said().startswith("notes: Indexed: 0 new, 0 updated, 0 unchanged, 0 renamed, 0 ")
        assert "has no files any more; 3 documents kept; " in said()
        assert "3 removed" in qmd("update", "--yes")[1]
        for unchanged in range(3):
            (notes / f"{unchanged}.md").write_text(f"# {unchanged}\n")
            assert said() == one_new("notes", unchanged)


def test_a_folder_that_was_away_for_a_while_is_watched_anew(qmd, notes, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    assert qmd("collection", "add", other)[0] == 0
    with watching() as said:
        assert said() == "Watching notes, other. Stop with Ctrl-C.\n"
        is_watched(said, notes)
        notes.rename(tmp_path / "away")
        assert said() == f"The folder of collection 'notes' is missing: {notes}\n"
        assert said() == "\n"
        assert said().startswith("Nothing was removed. ")
        (other / "rice.md").write_text("# Rice\n")
        assert said() == one_new("other")
        (tmp_path / "away" / "corn.md").write_text("# Corn\n")
        (tmp_path / "away").rename(notes)
        assert said() == one_new("notes", 3)
        (notes / "bean.md").write_text("# Bean\n")
        assert said() == one_new("notes", 4)
