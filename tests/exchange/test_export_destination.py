"""The folder that an export goes to: what is written again, what is replaced, and what never is."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from qmd import files
from qmd.errors import ExportFailed, FolderTaken
from qmd.exchange.exporter import Wish
from qmd.operations.exchange import run_export, run_import
from qmd.operations.search import search
from qmd.settings import edit
from qmd.text.filters import parse_filter
from qmd.types import Context, Filter
from tests.exchange.indexes import TEA, contents, parquet, said


def test_what_has_not_changed_is_not_written_again(one, tmp_path):
    first = run_export(one.engine, tmp_path / "out")
    before = {file: file.stat().st_ino for file in parquet(tmp_path / "out")}
    second = run_export(one.engine, tmp_path / "out")
    assert (first.written, second.written, second.files) == (first.files, 0, first.files)
    assert {file: file.stat().st_ino for file in parquet(tmp_path / "out")} == before


def test_only_what_has_changed_is_written_again(full, target, tmp_path):
    run_export(full.engine, tmp_path / "out")
    before = {file: file.stat().st_ino for file in parquet(tmp_path / "out")}
    full.engine.change(lambda _, document: edit.set_context(document, Context("work", "", "Plans")))
    done = run_export(full.engine, tmp_path / "out")
    changed = [f for f in parquet(tmp_path / "out") if before[f] != f.stat().st_ino]
    assert [file.parent.name for file in changed] == ["contexts"]
    assert done.written == 1
    other = target()
    run_import(other, tmp_path / "out")
    assert said(other) == said(full.engine)


def test_a_file_that_was_damaged_meanwhile_is_written_again(one, tmp_path):
    run_export(one.engine, tmp_path / "out")
    victim = parquet(tmp_path / "out" / "documents")[0]
    whole = victim.read_bytes()
    victim.write_bytes(whole[:100] + b"x" + whole[101:])
    assert run_export(one.engine, tmp_path / "out").written == 1
    assert victim.read_bytes() == whole


def test_an_index_without_documents_does_not_replace_one_that_has_some(library, tmp_path):
    library.write("tea.md", TEA)
    library.update()
    run_export(library.engine, tmp_path / "out")
    before = contents(tmp_path / "out")
    library.engine.close()
    library.engine.place.database.unlink()
    with pytest.raises(FolderTaken, match="it has 1 document, and the index has none any more"):
        run_export(library.engine, tmp_path / "out")
    assert contents(tmp_path / "out") == before
    assert run_export(library.engine, tmp_path / "out", force=True).rows["documents"] == 0


def test_a_choice_of_nothing_does_not_replace_some_documents(library, tmp_path):
    library.write("tea.md", "---\nstatus: open\n---\n# Tea\n")
    library.update()
    wish = Wish(Filter(conditions=parse_filter("status = open")), "status = open")
    run_export(library.engine, tmp_path / "out", wish=wish)
    library.write("tea.md", "---\nstatus: done\n---\n# Tea\n")
    library.update()
    with pytest.raises(FolderTaken, match="it has 1 document, and none of the index is chosen"):
        run_export(library.engine, tmp_path / "out", wish=wish)


def test_a_part_does_not_replace_the_whole(one, tmp_path):
    run_export(one.engine, tmp_path / "out")
    with pytest.raises(FolderTaken, match=r"of something else: the index 'index' \(all of it\)"):
        run_export(one.engine, tmp_path / "out", wish=Wish(tables=("documents",)))
    run_export(one.engine, tmp_path / "out", wish=Wish(tables=("documents",)), force=True)
    assert [file.parent.name for file in parquet(tmp_path / "out")] == ["documents"]


def test_a_folder_of_something_else_is_not_replaced(one, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("Dear")
    with pytest.raises(FolderTaken, match="not empty, and no export of qmd"):
        run_export(one.engine, tmp_path / "mine")
    assert (tmp_path / "mine" / "letter.txt").read_text() == "Dear"
    run_export(one.engine, tmp_path / "mine", force=True)
    assert not (tmp_path / "mine" / "letter.txt").exists()


def test_what_somebody_put_beside_the_files_is_not_lost(one, tmp_path):
    run_export(one.engine, tmp_path / "out")
    (tmp_path / "out" / "words" / "letter.txt").write_text("Dear")
    (tmp_path / "out" / ".DS_Store").write_text("")
    with pytest.raises(FolderTaken, match=r"not of the export: words/letter.txt\."):
        run_export(one.engine, tmp_path / "out")
    (tmp_path / "out" / "words" / "letter.txt").unlink()
    assert run_export(one.engine, tmp_path / "out").written == 0


@pytest.mark.parametrize("place", ["", "notes", "index.duckdb"])
def test_what_is_needed_is_never_replaced(one, tmp_path, place):
    with pytest.raises(FolderTaken):
        run_export(one.engine, tmp_path / place, force=True)
    assert list(search(one.engine, "tea"))
    assert (one.root / "tea.md").exists()


def test_a_folder_that_cannot_be_made_is_an_error_in_words(one, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ExportFailed, match="could not be exported"):
        run_export(one.engine, tmp_path / "file" / "out")


@pytest.mark.parametrize("can", [True, False])
def test_the_new_export_takes_the_place_of_the_old_one(one, target, tmp_path, monkeypatch, can):
    if not can:
        monkeypatch.setattr(files, "swap_folders", lambda one, other: False)
    run_export(one.engine, tmp_path / "out")
    one.write("new.md", "# New\n\nLater tea.")
    one.update()
    run_export(one.engine, tmp_path / "out")
    other = target()
    run_import(other, tmp_path / "out")
    assert said(other) == said(one.engine)
    assert not [entry for entry in tmp_path.iterdir() if entry.name.startswith(".out")]


def test_a_disk_without_room_beside_the_index_is_no_hindrance(one, tmp_path, monkeypatch):
    copy = files.copy_file

    def full_disk(source, target):
        if target.parent == tmp_path / "index.duckdb.copy":
            raise OSError(28, "No space left on device")
        copy(source, target)

    monkeypatch.setattr(files, "copy_file", full_disk)
    assert run_export(one.engine, tmp_path / "out").rows["documents"] == 1
    monkeypatch.setattr(
        files, "copy_file", lambda *_: full_disk(None, tmp_path / "index.duckdb.copy/x")
    )
    with pytest.raises(ExportFailed, match="No space left"):
        run_export(one.engine, tmp_path / "out")
    assert list(search(one.engine, "tea"))


def test_files_are_linked_or_copied(tmp_path, monkeypatch):
    (tmp_path / "a").write_bytes(b"tea" * 1000)
    files.link_file(tmp_path / "a", tmp_path / "b")
    assert (tmp_path / "b").stat().st_ino == (tmp_path / "a").stat().st_ino

    def impossible(*_):
        raise OSError(38, "not here")

    monkeypatch.setattr(Path, "hardlink_to", impossible)
    monkeypatch.setattr(os, "copy_file_range", impossible)
    files.link_file(tmp_path / "a", tmp_path / "c")
    assert (tmp_path / "c").read_bytes() == (tmp_path / "a").read_bytes()
    assert (tmp_path / "c").stat().st_ino != (tmp_path / "a").stat().st_ino
