"""Results whose files have changed or gone, and searches that update first."""

from __future__ import annotations

import os
import time
from email.message import EmailMessage
from functools import partial
from types import SimpleNamespace

import anyio
import pytest

from qmd.errors import CollectionNotFound
from qmd.operations import freshness
from qmd.operations.search import search
from qmd.operations.semantic_search import query
from qmd.ranking import bm25
from qmd.storage import document_lookup
from qmd.storage.cursor import Cursor
from tests.ingest.test_readings import configure
from tests.ranking.test_holder import engine_of, hold

LONG_AGO = 1_600_000_000


def noted(monkeypatch):
    """List the statements that run from now on and are planned once."""
    run = []
    again = Cursor.again

    def note(cursor, name, **given):
        run.append(name)
        return again(cursor, name, **given)

    monkeypatch.setattr(Cursor, "again", note)
    return run


@pytest.fixture
def notes(library):
    """Two notes of long ago, indexed."""
    for name in ("tea.md", "pot.md"):
        library.write(name, f"# {name}\n\ngreen leaves\n")
        os.utime(library.root / name, (LONG_AGO, LONG_AGO))
    library.update()
    return library


def marks(engine, **options):
    found = search(engine, "green", **options)
    return {each.file.removeprefix("notes/"): each.stale for each in found}


def stale(library, **options):
    """Marks by the tables, and the same by a process that has postings in memory."""
    found = marks(library.engine, **options)
    mapped = engine_of(library)
    assert hold(mapped) is not None
    search(mapped, "nothing has this")
    assert marks(mapped, **options) == found
    assert marks(mapped, **options) == found  # from what is in memory by now
    mapped.close()
    return found


def test_nothing_is_stale_after_an_update(notes):
    assert stale(notes) == {"tea.md": False, "pot.md": False}


def test_no_record_of_a_file_is_needed_that_has_the_text_of_its_document(notes, monkeypatch):
    run = noted(monkeypatch)
    mapped = engine_of(notes)
    assert hold(mapped) is not None
    for asked in ("pot", "tea", "pot green", "tea leaves"):
        assert not search(mapped, asked)[0].stale
    assert "documents/recorded" not in run
    os.utime(notes.root / "tea.md")
    assert marks(mapped) == {"tea.md": False, "pot.md": False}
    assert "documents/recorded" in run
    mapped.close()


def texts_of_second_search(library):
    """Texts that a process with postings in memory gives once it knows the sizes of files."""
    mapped = engine_of(library)
    assert hold(mapped) is not None
    for _ in range(2):
        mapped.database.read(lambda cursor: bm25.held(cursor).shelf.files(cursor, []))
    found = search(mapped, "green", full=True)
    mapped.close()
    return {each.file.removeprefix("notes/"): each.body for each in found}


def test_texts_of_results_are_read_from_their_files(notes, monkeypatch):
    run = noted(monkeypatch)
    monkeypatch.setattr(document_lookup, "bodies", lambda _, hashes: dict.fromkeys(hashes, "?"))
    found = texts_of_second_search(notes)
    assert found == {name: f"# {name}\n\ngreen leaves\n" for name in ("tea.md", "pot.md")}
    assert "documents/bodies" not in run


def test_a_file_whose_text_was_read_is_not_looked_at_again(notes, monkeypatch):
    monkeypatch.setattr(freshness, "_has", None)
    texts_of_second_search(notes)
    os.utime(notes.root / "tea.md")  # the same text, of another time
    texts_of_second_search(notes)


@pytest.mark.parametrize("fresh", [False, True])
def test_what_was_read_is_compared_by_size_and_time_later(notes, fresh):
    place = notes.root / "tea.md"
    if fresh:  # another text of the same tick would not show
        os.utime(place, (time.time() + 60,) * 2)
    mapped = engine_of(notes)
    assert hold(mapped) is not None
    assert marks(mapped) == {"tea.md": False, "pot.md": False}
    info = place.stat()
    place.write_text(place.read_text().replace("green", "white"))
    os.utime(place, ns=(info.st_atime_ns, info.st_mtime_ns))
    assert marks(mapped, limit=5) == {"tea.md": fresh, "pot.md": False}
    os.utime(place)
    assert marks(mapped, limit=6) == {"tea.md": True, "pot.md": False}
    mapped.close()


@pytest.mark.parametrize("put", ["other", "shorter", "nothing", "folder", "pipe", "link"])
def test_texts_are_those_of_the_index_whatever_has_become_of_the_file(notes, put):
    place = notes.root / "tea.md"
    text = place.read_text()
    place.unlink()
    if put == "other":
        place.write_text(text.replace("green", "white"))
        os.utime(place, (LONG_AGO, LONG_AGO))  # as if it were the same
    elif put == "shorter":
        place.write_text(text[:-3])
    elif put == "folder":
        place.mkdir()
    elif put == "pipe":
        os.mkfifo(place)
    elif put == "link":
        (notes.root.parent / "elsewhere").write_text(text)
        place.symlink_to(notes.root.parent / "elsewhere")
    assert texts_of_second_search(notes)["tea.md"] == text


def test_texts_that_a_reader_has_made_are_those_of_the_index(library):
    library.write("tea.html", "<title>Tea</title><p>green leaves</p>")
    library.write("pot.md", "# Pot\r\n\r\ngreen\r\n")
    configure(library, mask="all")
    library.update()
    mapped = texts_of_second_search(library)
    found = search(library.engine, "green", full=True)
    assert mapped == {each.file.removeprefix("notes/"): each.body for each in found}
    assert len(mapped) == 2


def test_files_of_folders_that_may_not_be_read_are_left_alone(notes, monkeypatch):
    monkeypatch.setattr(freshness, "_readable", lambda index, names: set())
    monkeypatch.setattr(freshness.kinds, "is_plain", None)  # is asked of each that may be read
    assert texts_of_second_search(notes)["tea.md"] == "# tea.md\n\ngreen leaves\n"


def test_a_file_whose_text_is_elsewhere_is_not_read(notes, monkeypatch):
    stat = os.fstat

    def without_blocks(descriptor):
        info = stat(descriptor)
        known = {name: getattr(info, name) for name in dir(info) if name.startswith("st_")}
        return SimpleNamespace(**known | {"st_blocks": 0})

    read = []
    monkeypatch.setattr(freshness.os, "fstat", without_blocks)
    monkeypatch.setattr(freshness.hashes, "content_hash", read.append)
    assert texts_of_second_search(notes)["tea.md"] == "# tea.md\n\ngreen leaves\n"
    assert read == [b"", b""]


def test_a_file_that_an_update_is_to_read_again_is_not_stale(notes):
    notes.engine.database.write(
        lambda cursor: cursor.connection.execute(
            "update documents set mtime_ns = -1, checksum = ''"  # as a migration does
        )
    )
    assert stale(notes) == {"tea.md": False, "pot.md": False}


def test_an_attachment_is_as_stale_as_its_mail(library):
    mail = EmailMessage()
    mail["Subject"], mail["From"] = "Tea", "a@example.org"
    mail.set_content("See below.")
    mail.add_attachment("green leaves", subtype="plain", filename="list.txt")
    library.write("mail.eml", mail.as_string())
    configure(library, mask="all")
    library.update()
    assert stale(library) == {"mail.eml/list.txt": False}
    library.write("mail.eml", mail.as_string() + "\n")
    assert stale(library) == {"mail.eml/list.txt": True}


def test_a_file_that_has_changed_is_stale(notes):
    notes.write("tea.md", "# tea.md\n\nblack leaves, fermented\n")
    assert stale(notes) == {"tea.md": True, "pot.md": False}


def test_a_change_that_keeps_the_size_is_seen(notes):
    notes.write("tea.md", "# tea.md\n\nwhite leaves\n")
    assert stale(notes) == {"tea.md": True, "pot.md": False}


def test_a_file_that_was_only_touched_is_not_stale(notes):
    os.utime(notes.root / "tea.md")
    assert stale(notes) == {"tea.md": False, "pot.md": False}


def test_a_large_file_that_was_touched_is_stale_without_being_read(notes, monkeypatch):
    monkeypatch.setattr(freshness, "MAX_COMPARED_BYTES", 10)
    monkeypatch.setattr(freshness, "MAX_READ_BYTES", 10)
    monkeypatch.setattr(freshness.hashes, "SHORT", 10)
    os.utime(notes.root / "tea.md")
    assert stale(notes) == {"tea.md": True, "pot.md": False}


@pytest.mark.parametrize("put", ["nothing", "folder", "pipe", "link"])
def test_a_file_that_has_gone_is_stale(notes, put):
    place = notes.root / "tea.md"
    place.unlink()
    if put == "folder":
        place.mkdir()
    elif put == "pipe":
        os.mkfifo(place)  # which must not be waited for
    elif put == "link":
        place.symlink_to("/nowhere")
    assert stale(notes) == {"tea.md": True, "pot.md": False}


def test_a_search_by_both_marks_as_well_and_no_passage_is_lost(notes):
    (notes.root / "tea.md").unlink()
    found = anyio.run(partial(query, notes.engine, "green", mode="fast"))
    assert {each.file: each.stale for each in found} == {
        "notes/tea.md": True,
        "notes/pot.md": False,
    }


def test_a_path_that_leaves_its_folder_is_not_looked_at(notes):
    outside = notes.folder / "secret.md"
    outside.write_text("secret")
    recorded = freshness.Recorded(1, "notes", str(notes.root), "../secret.md", 1, 1, "")
    assert not freshness.is_stale(recorded)


def test_a_fresh_search_finds_what_was_written_since(notes):
    notes.write("new.md", "# New\n\ngreen ink\n")
    assert "new.md" not in stale(notes)
    assert stale(notes, fresh=True) == {"tea.md": False, "pot.md": False, "new.md": False}


def test_a_fresh_search_brings_in_very_many_files_too(notes):
    for number in range(300):
        notes.write(f"{number}.md", f"# {number}\n\ngreen {number}\n")
    assert len(stale(notes, fresh=True, limit=None)) == 302


def test_a_fresh_search_of_both_kinds_in_the_event_loop(notes):
    notes.write("new.md", "# New\n\ngreen ink\n")
    found = anyio.run(partial(query, notes.engine, "green ink", mode="fast", fresh=True))
    assert "notes/new.md" in {each.file for each in found}


def test_a_fresh_search_runs_no_update_command(notes):
    notes.configure(more="")
    settings = notes.folder / "index.yml"
    settings.write_text(settings.read_text() + f"    update: touch {notes.folder}/ran\n")
    notes.write("new.md", "# New\n\ngreen ink\n")
    assert "new.md" in stale(notes, fresh=True)
    assert not (notes.folder / "ran").exists()


def test_a_fresh_search_updates_only_the_collections_it_looks_into(notes):
    notes.configure("others")
    notes.update()
    notes.write("new.md", "# New\n\ngreen ink\n")
    notes.write("more.md", "# More\n\ngreen ink\n", collection="others")
    found = search(notes.engine, "green", collection="others", fresh=True)
    assert [each.file for each in found] == ["others/more.md"]
    assert "new.md" not in stale(notes)
    with pytest.raises(CollectionNotFound):
        search(notes.engine, "green", collection="nowhere", fresh=True)
