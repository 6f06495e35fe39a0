"""Folders that lose their files all at once: their documents are kept until that is confirmed."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys

import pytest

from qmd.ingest.folder_changes import Change
from qmd.ingest.lost import MANY, lost
from qmd.ingest.walk import walk
from qmd.surfaces.tools.dispatch import Toolbox
from qmd.surfaces.tools.server_tools import ServerTools
from qmd.types import Kept
from tests.surfaces.tools.calling import call, text


@pytest.fixture
def shelf(library):
    """A collection of three notes."""
    for name in ("a.md", "deep/b.md", "deep/c.md"):
        library.write(name, f"# {name}\n\ntea\n")
    library.update()
    return library


def emptied(root):
    for each in root.iterdir():
        shutil.rmtree(each) if each.is_dir() else each.unlink()


def paths(library):
    return [path for (path,) in library.ask("select path from documents order by path")]


def test_an_empty_folder_removes_nothing(shelf):
    emptied(shelf.root)
    for _ in range(2):
        report = shelf.update()
        assert (report.removed, report.kept) == (0, [Kept(str(shelf.root), 3, 0)])
    assert paths(shelf) == ["a.md", "deep/b.md", "deep/c.md"]
    assert len(shelf.found("tea")) == 3
    assert shelf.problems() == []


def test_what_was_kept_is_removed_once_that_is_confirmed(shelf):
    emptied(shelf.root)
    shelf.update()
    report = shelf.update(removes=True)
    assert (report.removed, report.kept, paths(shelf)) == (3, [], [])
    assert shelf.ask("select * from lost_folders") == []
    assert shelf.update().kept == []


def test_a_folder_that_is_back_is_as_it_was(shelf):
    hidden = shelf.folder / "elsewhere"
    shelf.root.rename(hidden)
    shelf.root.mkdir()
    assert shelf.update().kept
    shelf.root.rmdir()
    hidden.rename(shelf.root)
    report = shelf.update()
    assert (report.unchanged, report.new, report.removed, report.kept) == (3, 0, 0, [])
    assert shelf.ask("select * from lost_folders") == []


def test_some_of_the_files_may_go(shelf):
    shutil.rmtree(shelf.root / "deep")
    report = shelf.update()
    assert (report.removed, report.kept) == (2, [])


def test_files_that_were_moved_are_not_lost(shelf):
    (shelf.root / "deep").rename(shelf.root / "deeper")
    (shelf.root / "a.md").rename(shelf.root / "z.md")
    report = shelf.update()
    assert (report.renamed, report.removed, report.kept) == (3, 0, [])


def test_one_new_file_in_an_empty_folder_confirms_nothing(shelf):
    emptied(shelf.root)
    shelf.write("new.md", "tea")
    report = shelf.update()
    assert (report.new, report.removed) == (1, 0)
    assert report.kept == [Kept(str(shelf.root), 3, 1)]
    for number in range(4):
        shelf.write(f"{number}.md", "tea")
        report = shelf.update()
        assert (report.new, report.removed) == (1, 0)
    assert report.kept == [Kept(str(shelf.root), 3, 5)]
    shelf.write("a.md", "tea")
    assert shelf.update().kept == [Kept(str(shelf.root), 2, 6)]
    assert shelf.update(removes=True).removed == 2
    (shelf.root / "a.md").unlink()
    assert shelf.update().removed == 1


def test_a_few_documents_may_go_where_other_files_are_left(shelf):
    shelf.write("main.c", "int main;")
    for each in ("a.md", "deep/b.md", "deep/c.md"):
        (shelf.root / each).unlink()
    assert shelf.update().removed == 3


def many(library, folder, count):
    for number in range(count):
        library.write(f"{folder}{number}.md", f"# {number}\n")


@pytest.mark.parametrize(
    ("gone", "stay", "is_kept"), [(20, 2, True), (20, 3, False), (19, 1, False)]
)
def test_nearly_all_of_many_documents_are_kept(library, gone, stay, is_kept):
    many(library, "gone", gone)
    many(library, "stay", stay)
    library.update()
    for each in library.root.glob("gone*"):
        each.unlink()
    report = library.update()
    assert report.removed == (0 if is_kept else gone)
    assert report.kept == ([Kept(str(library.root), gone, stay)] if is_kept else [])


def test_other_files_are_no_reason_to_remove_many_documents(library):
    many(library, "", MANY)
    library.write("main.c", "int main;")
    library.update()
    for each in library.root.glob("*.md"):
        each.unlink()
    assert library.update().kept == [Kept(str(library.root), MANY, 0)]


@pytest.mark.parametrize(("count", "is_kept"), [(MANY, True), (MANY - 1, False)])
def test_an_empty_folder_inside_of_a_collection_keeps_many_documents(library, count, is_kept):
    many(library, "disk/deep/", count)
    many(library, "", 50)
    library.update()
    shutil.rmtree(library.root / "disk/deep")
    report = library.update()
    assert report.kept == ([Kept(f"{library.root}/disk", count, 0)] if is_kept else [])
    assert report.removed == (0 if is_kept else count)


def test_a_folder_that_was_deleted_inside_of_a_collection_is_gone(library):
    many(library, "disk/", MANY)
    many(library, "", 50)
    library.update()
    shutil.rmtree(library.root / "disk")
    assert library.update().removed == MANY


def test_what_the_settings_leave_out_now_is_removed(shelf):
    shelf.write("kept.txt", "tea")
    text = (shelf.folder / "index.yml").read_text()
    (shelf.folder / "index.yml").write_text(text + "    pattern: '**/*.txt'\n")
    report = shelf.update()
    assert (report.new, report.removed, report.kept) == (1, 3, [])


def test_documents_in_folders_that_cannot_be_listed_are_not_lost(shelf):
    gone = [Change(None, 1, path, None, None) for path in ("a.md", "deep/b.md")]
    emptied(shelf.root)
    found = walk(shelf.engine.collection("notes"))
    assert lost(shelf.engine.collection("notes"), found, gone)[1] == {"a.md", "deep/b.md"}
    found.unread.append("deep/")
    assert lost(shelf.engine.collection("notes"), found, gone) == ([], set())


# -- on each surface -----------------------------------------------------------------------

TOLD = (
    "folder {} has no files any more; 2 documents kept; run 'qmd update notes --yes' to remove them"
)


@pytest.fixture
def folder(qmd, tmp_path):
    """A folder that had two notes when it was indexed, and has none."""
    root = tmp_path / "notes"
    root.mkdir()
    for name in ("a.md", "b.md"):
        (root / name).write_text("tea\n", encoding="utf-8")
    assert qmd("collection", "add", root)[0] == 0
    emptied(root)
    return root


def test_the_command_line_says_it_each_time_until_it_is_confirmed(qmd, folder):
    for _ in range(3):
        code, out, _ = qmd("update")
        assert code == 0
        assert f"0 removed, 0 skipped\n  {TOLD.format(folder)}\n" in out
    [report] = json.loads(qmd("update", "--json")[1])
    assert report["kept"] == [{"folder": str(folder), "documents": 2, "files": 0}]
    [collection] = json.loads(qmd("status", "--json")[1])["collections"]
    assert (collection["kept"], collection["documents"]) == (report["kept"], 2)
    assert f"  notes: {TOLD.format(folder)}\n" in qmd("status")[1]
    assert "no files any more; 2 documents kept" in " ".join(qmd("doctor")[1].split())
    assert "2 removed" in qmd("update", "notes", "--yes")[1]
    assert "kept" not in qmd("update")[1]
    assert "kept" not in qmd("status")[1]


def test_watching_says_it_and_removes_nothing(qmd, folder):
    command = [sys.executable, "-m", "qmd", "watch"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline().startswith("notes: Indexed: 0 new")
            assert process.stdout.readline() == f"  {TOLD.format(folder)}\n"
        finally:
            process.kill()
    assert len(json.loads(qmd("search", "tea", "--json")[1])) == 2


def test_agents_are_told_and_cannot_confirm_it(shelf):
    emptied(shelf.root)
    toolbox = Toolbox(shelf.engine, ServerTools(allow_write=True))
    reply = call(toolbox, "update")
    kept = [{"folder": str(shelf.root), "documents": 3, "files": 0}]
    assert reply.structured["collections"][0]["kept"] == kept
    assert "3 documents kept" in text(reply)
    status = call(toolbox, "status")
    assert status.structured["collections"][0]["kept"] == kept
    assert "3 documents kept; run 'qmd update notes --yes'" in text(status)
    [update] = [each for each in toolbox.tools if each.name == "update"]
    assert "yes" not in update.input["properties"]
