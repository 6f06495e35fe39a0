"""Documents that are appended to, edited, moved and undone: by several, and killed in between."""

from __future__ import annotations

import json
import subprocess
import sys
import threading

import anyio
import pytest

from qmd.errors import DocumentNotFound, UsageError, WriteConflict
from qmd.ingest import folder_files
from qmd.ingest.journal import KEPT, DocumentEdit, WriteJournal, active
from qmd.operations import writing
from qmd.operations.documents import get
from qmd.operations.editing import append, edit, move
from qmd.operations.put import put, remove
from qmd.operations.undoing import journal, undo
from qmd.surfaces.tools.dispatch import Toolbox
from qmd.surfaces.tools.reply import Code
from qmd.surfaces.tools.server_tools import ServerTools
from tests.surfaces.tools.calling import call, text

TEA = (
    "---\ntags: [hot]\n---\n# Tea\n\nIntro.\n\n## Pots\n\nGlass.\n\n### Size\n\nSmall.\n\n"
    "## Leaves\n\nGreen.\n"
)


@pytest.fixture
def notes(library):
    """A writable collection `notes` with a document, and links to it."""
    library.write("tea.md", TEA)
    library.write("deep/links.md", "# Links\n\n[tea](../tea.md#pots), [[tea|drink]] and [[Tea]].\n")
    config = library.folder / "index.yml"
    known = config.read_text(encoding="utf-8")
    config.write_text(known.replace("    path:", "    writable: true\n    path:"), encoding="utf-8")
    library.update()
    return library


def done(function, library, *given, **named):
    return anyio.run(lambda: function(library.engine, *given, **named))


def read(library, name):
    return (library.root / name).read_text(encoding="utf-8")


def docid(library, name="notes/tea.md"):
    return get(library.engine, name).docid


def test_a_text_is_appended_to_a_document_and_found_at_once(notes):
    change = done(append, notes, "notes/tea.md", "Oolong too.")
    assert read(notes, "tea.md") == TEA + "\nOolong too.\n"
    assert notes.found("oolong") == ["tea.md"]
    assert (change.file, change.docid) == ("notes/tea.md", docid(notes))


@pytest.mark.parametrize(
    ("name", "heading"), [("notes/tea.md#Pots", None), ("notes/tea.md", "pots")]
)
def test_a_text_is_appended_to_a_section(notes, name, heading):
    done(append, notes, name, "Or clay.", heading=heading)
    assert read(notes, "tea.md") == TEA.replace("Small.\n", "Small.\n\nOr clay.\n")


def test_a_list_goes_on_and_line_ends_stay(notes):
    notes.write("list.md", "# List\r\n\r\n- one\r\n")
    notes.update()
    done(append, notes, "notes/list.md", "- two\n- three\n")
    assert (notes.root / "list.md").read_bytes() == b"# List\r\n\r\n- one\r\n- two\r\n- three\r\n"


def test_the_note_of_today_is_made_and_goes_on(notes):
    first = done(append, notes, "notes/log/@today", "- one")
    done(append, notes, "notes/log/@today", "- two")
    assert get(notes.engine, first.file).body == "- one\n- two\n"
    assert len(first.file) == len("notes/log/2026-01-01.md")


def test_a_section_is_replaced_with_its_heading_or_below_it(notes):
    done(edit, notes, "notes/tea.md#Pots", "Clay.")
    assert "## Pots\n\nClay.\n\n## Leaves" in read(notes, "tea.md")
    done(edit, notes, "notes/tea.md#Pots", "## Kettles\n\nIron.\n")
    assert "Intro.\n\n## Kettles\n\nIron.\n\n## Leaves" in read(notes, "tea.md")
    done(edit, notes, "notes/tea.md#Leaves", "Black.")
    assert read(notes, "tea.md").endswith("## Leaves\n\nBlack.\n")


def test_a_passage_is_replaced_only_if_it_occurs_once(notes):
    done(edit, notes, "notes/tea.md", "Glass, or clay.", old="Glass.")
    assert "Glass, or clay." in read(notes, "tea.md")
    for old, problem in (("Nothing", "does not occur"), ("\n\n", "occurs 7 times")):
        with pytest.raises(UsageError, match=problem):
            done(edit, notes, "notes/tea.md", "x", old=old)
    with pytest.raises(UsageError, match="It has: Tea, Pots, Size, Leaves"):
        done(edit, notes, "notes/tea.md#Nothing", "x")
    with pytest.raises(UsageError, match="Say what is replaced"):
        done(edit, notes, "notes/tea.md", "x")
    with pytest.raises(DocumentNotFound):
        done(edit, notes, "notes/nothing.md", "x", old="y")


def test_a_moved_document_takes_its_links_along(notes):
    notes.write("tea.md", TEA + "\nSee [links](deep/links.md) and [[links]].\n")
    notes.update()
    change = done(move, notes, "notes/tea.md", "drinks/hot/green tea")
    assert change.file == "notes/drinks/hot/green tea.md"
    assert change.also == ("notes/deep/links.md",)
    assert not (notes.root / "tea.md").exists()
    assert read(notes, "deep/links.md") == (
        "# Links\n\n[tea](../drinks/hot/green%20tea.md#pots), [[green tea|drink]] and "
        "[[green tea]].\n"
    )
    moved = read(notes, "drinks/hot/green tea.md")
    assert "[links](../../deep/links.md) and [[links]]" in moved
    before = done(undo, notes)
    assert set(before.also) <= {"notes/tea.md", "notes/deep/links.md"}
    assert "[tea](../tea.md#pots), [[tea|drink]]" in read(notes, "deep/links.md")
    assert "[links](deep/links.md)" in read(notes, "tea.md")
    assert not (notes.root / "drinks/hot/green tea.md").exists()


def test_a_document_gets_another_title(notes):
    done(move, notes, "notes/tea.md", title="Green tea")
    assert "# Green tea\n\nIntro." in read(notes, "tea.md")
    done(put, notes, "notes/named", "---\ntitle: Old\n---\n\nText.\n")
    done(move, notes, "notes/named.md", title="New: one")
    assert read(notes, "named.md").startswith('---\ntitle: "New: one"\n---\n')


def test_a_document_never_moves_over_another(notes):
    done(put, notes, "notes/other", "Other.")
    with pytest.raises(WriteConflict, match=r"notes/other.md is there already"):
        done(move, notes, "notes/tea.md", "other")
    assert (read(notes, "tea.md"), read(notes, "other.md")) == (TEA, "Other.")


@pytest.mark.parametrize("collection", ["notes", "inbox"])
def test_what_has_changed_since_it_was_read_is_not_written_over(notes, collection):
    name = f"{collection}/idea.md"
    first = done(put, notes, name, "One.\n", expected="new")
    with pytest.raises(WriteConflict, match="is there already"):
        done(put, notes, name, "Two.\n", expected="new")
    done(append, notes, name, "More.", expected=first.docid)
    for work in (
        lambda: done(put, notes, name, "Two.\n", expected=first.docid),
        lambda: done(append, notes, name, "Two.\n", expected=first.docid),
        lambda: done(edit, notes, name, "Two.", old="One.", expected=first.docid),
        lambda: done(move, notes, name, "other", expected=first.docid),
        lambda: remove(notes.engine, name, expected=first.docid),
    ):
        with pytest.raises(WriteConflict, match=f"it is {docid(notes, name)} now, not"):
            work()
    assert get(notes.engine, name).body == "One.\n\nMore.\n"
    remove(notes.engine, name, expected=docid(notes, name))
    with pytest.raises(WriteConflict, match="has been removed since"):
        done(put, notes, name, "x", expected=first.docid)
    with pytest.raises(UsageError, match="is no docid"):
        done(put, notes, name, "x", expected="latest")


def test_an_edit_on_disk_that_is_not_indexed_is_seen(notes):
    known = docid(notes)
    (notes.root / "tea.md").write_text("# Tea\n\nBy an editor.\n")
    with pytest.raises(WriteConflict):
        done(put, notes, "notes/tea.md", "# Tea\n\nBy an agent.\n", expected=known)
    assert notes.found("editor") == ["tea.md"]  # the index knows of it by now


def test_what_an_editor_writes_in_the_last_moment_stays(notes, monkeypatch):
    kept = folder_files.os.fsync

    def fsync(descriptor):
        monkeypatch.setattr(folder_files.os, "fsync", kept)
        (notes.root / "tea.md").write_text("By an editor.\n")
        kept(descriptor)

    def apply(index, change):
        monkeypatch.setattr(folder_files.os, "fsync", fsync)
        return applied(index, change)

    applied = writing.apply
    monkeypatch.setattr(writing, "apply", apply)
    with pytest.raises(WriteConflict, match="has just been changed by another program"):
        done(put, notes, "notes/tea.md", "By an agent.\n")
    assert read(notes, "tea.md") == "By an editor.\n"
    assert WriteJournal(notes.engine.place.database).pending() == []
    assert [each.name for each in notes.root.iterdir() if each.name.startswith(".qmd")] == []


def test_each_write_is_undone_and_undo_as_well(notes):
    before = {name: read(notes, name) for name in ("tea.md", "deep/links.md")}
    done(put, notes, "notes/new", "New.")
    done(append, notes, "notes/tea.md", "More.")
    remove(notes.engine, "notes/deep/links.md")
    assert not (notes.root / "deep/links.md").exists()
    assert [each.action for each in journal(notes.engine)] == ["remove", "append", "put"]
    for _ in range(3):
        done(undo, notes)
    assert {name: read(notes, name) for name in before} == before
    assert not (notes.root / "new.md").exists()
    assert notes.found("more") == []
    with pytest.raises(UsageError, match="There is nothing to undo"):
        done(undo, notes)
    done(undo, notes, 6)  # the one of `put`
    assert read(notes, "new.md") == "New."
    assert notes.problems() == []


def test_nothing_is_undone_over_what_was_written_since(notes):
    done(append, notes, "notes/tea.md", "More.")
    (notes.root / "tea.md").write_text("By an editor.\n")
    with pytest.raises(WriteConflict):
        done(undo, notes)
    assert read(notes, "tea.md") == "By an editor.\n"
    with pytest.raises(UsageError, match="No write has number 99"):
        done(undo, notes, 99)


def test_bytes_that_are_no_text_come_back(notes):
    (notes.root / "old.md").write_bytes(b"# Old\n\nCaf\xe9\n")
    notes.update()
    done(put, notes, "notes/old.md", "# New\n")
    done(undo, notes)
    assert (notes.root / "old.md").read_bytes() == b"# Old\n\nCaf\xe9\n"
    with pytest.raises(UsageError, match="is not UTF-8"):
        done(append, notes, "notes/old.md", "x")


@pytest.mark.parametrize(
    "name",
    ["notes/../out", "../out", "/etc/out", "notes/.git/out", "notes/a/../../out", "notes\\x"],
)
def test_nothing_is_written_outside(notes, name):
    for work in (
        lambda: done(append, notes, name, "x"),
        lambda: done(move, notes, "notes/tea.md", name.removeprefix("notes/")),
    ):
        with pytest.raises((UsageError, DocumentNotFound)):
            work()
    assert read(notes, "tea.md") == TEA
    assert not (notes.root.parent / "out.md").exists()


def test_links_are_not_followed(notes, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "tea.md").write_text("Outside.\n")
    (notes.root / "away").symlink_to(outside)
    (notes.root / "file.md").symlink_to(outside / "tea.md")
    for name in ("notes/away/tea", "notes/away/new", "notes/file"):
        with pytest.raises(UsageError, match="cannot be"):
            done(append, notes, name, "x")
    with pytest.raises(UsageError):
        done(move, notes, "notes/tea.md", "away/tea2")
    assert sorted(each.name for each in outside.iterdir()) == ["tea.md"]
    assert (outside / "tea.md").read_text() == "Outside.\n"
    assert read(notes, "tea.md") == TEA


def test_a_collection_that_is_not_writable_is_not_written(library):
    library.write("tea.md", TEA)
    library.update()
    for work in (
        lambda: done(append, library, "notes/tea.md", "x"),
        lambda: done(edit, library, "notes/tea.md#Pots", "x"),
        lambda: done(move, library, "notes/tea.md", "other"),
    ):
        with pytest.raises(UsageError, match="writable: true"):
            work()
    assert read(library, "tea.md") == TEA


def test_two_agents_at_one_note_lose_nothing(notes):
    def work(agent):
        for number in range(4):
            done(append, notes, "notes/tea.md", f"- {agent}{number}")

    threads = [threading.Thread(target=work, args=(agent,)) for agent in "ab"]
    for each in threads:
        each.start()
    for each in threads:
        each.join(60)
    lines = read(notes, "tea.md").splitlines()
    assert sorted(line for line in lines if line.startswith("- ")) == sorted(
        f"- {agent}{number}" for agent in "ab" for number in range(4)
    )
    assert len(journal(notes.engine)) == 8


KILLED = """
import os, signal, sys
import anyio
from pathlib import Path
from qmd.operations.index import Index
from qmd.operations.editing import move
from qmd.settings.environment import Machine, Place
from qmd.ingest import folder_files, journal

def killed(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)

step, folder = int(sys.argv[1]), Path(sys.argv[2])
calls = [0]

def counted(function):
    def call(*given, **named):
        calls[0] += 1
        if calls[0] == step:
            killed()
        return function(*given, **named)
    return call

folder_files.write = counted(folder_files.write)
folder_files.remove = counted(folder_files.remove)
journal.WriteJournal.settle = counted(journal.WriteJournal.settle)
journal.WriteJournal._note = counted(journal.WriteJournal._note)
place = Place("index", folder / "index.yml", folder / "index.duckdb", None, folder / "trusted")
place = eval(sys.argv[3])
index = Index(place, Machine())
anyio.run(lambda: move(index, "notes/tea.md", "drinks/tea2"))
"""


@pytest.mark.parametrize("step", range(1, 6))
def test_a_move_that_is_killed_at_any_step_is_done_or_not(notes, step, tmp_path):
    before = {"tea.md": TEA, "deep/links.md": read(notes, "deep/links.md")}
    notes.engine.close()
    place = notes.engine.place
    told = repr(place).replace("PosixPath", "Path")
    program = [sys.executable, "-c", KILLED, str(step), str(notes.folder), told]
    ended = subprocess.run(program, check=False, capture_output=True, timeout=60, text=True)
    assert ended.returncode == -9, ended.stderr
    notes.update()
    done(put, notes, "inbox/next", "The next write settles what was left.")
    journaled = [each.action for each in journal(notes.engine)]
    if step == 1 or journaled == ["put"]:
        assert {name: read(notes, name) for name in before} == before
    else:
        assert journaled == ["put", "move"]
        assert read(notes, "drinks/tea2.md") == TEA
        assert not (notes.root / "tea.md").exists()
        assert "[tea](../drinks/tea2.md#pots)" in read(notes, "deep/links.md")
        done(undo, notes, 1)
        assert {name: read(notes, name) for name in before} == before


def test_the_journal_has_bounds_and_trusts_no_file(tmp_path):
    kept = WriteJournal(tmp_path / "index.duckdb")
    edits = [DocumentEdit("notes", "a.md", None, "x")]
    with kept.locked():
        for _ in range(3):
            kept.carry_out("put", edits, lambda _: None)
    folder = tmp_path / "index.duckdb.journal"
    assert folder.stat().st_mode & 0o777 == 0o700
    (folder / "000002.json").write_text(json.dumps({"edits": [{"path": 1}]}))
    (folder / "000001.json").unlink()
    (folder / "000001.json").symlink_to("/etc/passwd")
    assert [each.number for each in kept.entries()] == [3]
    assert KEPT < 1000
    undone = kept.entries()[0]._replace(number=4, undoes=3)
    again = undone._replace(number=5, undoes=4)
    assert [each.number for each in active([*kept.entries(), undone])] == []
    assert [each.number for each in active([*kept.entries(), undone, again])] == [3]


def test_agents_write_only_where_it_is_allowed(notes):
    assert not any(each.name == "append" for each in Toolbox(notes.engine).tools)
    toolbox = Toolbox(notes.engine, ServerTools(allow_write=True))
    reply = call(toolbox, "append", path="notes/tea.md", section="Pots", text="Clay.")
    assert text(reply) == f"Appended to notes/tea.md ({docid(notes)}). Undo: 1."
    reply = call(toolbox, "edit", file="#" + docid(notes)[1:], old="Clay.", text="Iron.")
    assert reply.structured["number"] == 2
    reply = call(toolbox, "edit", file="notes/tea.md", old="x", text="y", expected="#000000")
    assert (reply.error, "has been changed since" in text(reply)) == (Code.CONFLICT, True)
    assert text(call(toolbox, "undo")).startswith("Undid the write to notes/tea.md")
    assert "Clay." in read(notes, "tea.md")


def test_a_note_with_the_title_of_another_is_named_before_it_is_made(notes):
    toolbox = Toolbox(notes.engine, ServerTools(allow_write=True))
    reply = call(toolbox, "put", document="notes/second", text="# tea\n\nAgain.")
    assert reply.error is Code.CONFLICT
    assert "  - notes/tea.md" in text(reply)
    assert not (notes.root / "second.md").exists()
    assert call(toolbox, "put", document="notes/second", text="# tea", expected="new").error is None
    assert call(toolbox, "put", document="notes/tea.md", text="# Tea").error is None


def test_people_write_on_the_command_line(qmd, tmp_path, monkeypatch):
    root = tmp_path / "notes"
    root.mkdir()
    (root / "tea.md").write_text(TEA)
    assert qmd("collection", "add", root)[0] == 0
    config = tmp_path / "config" / "index.yml"
    config.write_text(config.read_text().replace("    path:", "    writable: true\n    path:"))
    more = tmp_path / "more.md"
    more.write_text("Clay.\n")
    code, out, _ = qmd("append", "notes/tea.md#Pots", "--file", more)
    assert (code, out.startswith("Appended to notes/tea.md (#")) == (0, True)
    assert qmd("edit", "notes/tea.md", "--old", "Glass.", "--file", more)[0] == 0
    assert qmd("move", "notes/tea.md", "drinks/tea")[0] == 0
    assert (root / "drinks/tea.md").read_text().count("Clay.") == 2
    listed = json.loads(qmd("journal", "--json")[1])
    assert [each["action"] for each in listed] == ["move", "edit", "append"]
    assert qmd("journal")[1].splitlines()[0].split()[0] == "3"
    for _ in range(3):
        assert qmd("undo")[0] == 0
    assert (root / "tea.md").read_text() == TEA
    assert list((root / "drinks").iterdir()) == []
    assert qmd("undo")[0] == 1
