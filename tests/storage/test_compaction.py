"""An index is written anew without the room that nothing takes."""

from __future__ import annotations

import stat
import threading
from contextlib import closing

import pytest

from qmd.errors import IndexFailure
from qmd.operations.index import Index
from qmd.operations.search import search
from qmd.storage import attachment, compaction, maintenance
from qmd.storage.cursor import connected
from qmd.storage.file_lock import dictionary
from tests.library import Library
from tests.storage.test_maintenance import largest_group


@pytest.fixture
def worn(library):
    """A library whose texts have changed often, and nothing of that is needed any more."""
    for number in range(12):
        for name in ("tea", "cake"):
            library.write(f"{name}.md", f"# {name}\n\n" + f"{name} {number} " * 20_000)
        library.update()
    maintenance.clean(library.engine.database)
    return library


def size(library):
    return library.engine.place.database.stat().st_size


def beside(library):
    """What stands beside the index, but for locks, the log and what a server writes later."""
    return {
        file.name
        for file in library.engine.place.database.parent.glob("index.duckdb*")
        if file.suffix
        not in {".lock", ".readers", ".words", ".merge", ".jsonl", ".postings", ".vectors"}
    }


def block_size(library):
    with closing(connected()) as engine:
        engine.execute(f"attach '{library.engine.place.database}' as looked_at (read_only)")
        rows = engine.execute("select block_size from pragma_database_size()").fetchall()
    return max(size for (size,) in rows)


def test_a_file_with_large_blocks_is_used_as_it_is_until_it_is_written_anew(
    library, monkeypatch, tmp_path
):
    monkeypatch.setitem(attachment.ENGINE, "default_block_size", "262144")
    library.write("tea.md", "green tea " * 20_000)
    library.update()
    library.engine.database.close()
    assert block_size(library) == 262_144
    monkeypatch.undo()
    now = Index(library.engine.place)
    for number in range(12):
        library.write("tea.md", f"green tea {number} " * 20_000)
        library.update()
    maintenance.clean(now.database)
    found = list(search(now, "tea 11"))
    assert [each.file for each in found] == ["notes/tea.md"]
    now.database.close()
    assert block_size(library) == 262_144
    assert compaction.compact(now.database)
    assert list(search(now, "tea 11")) == found
    now.close()
    assert block_size(library) == attachment.BLOCK_SIZE == 65_536


def test_the_file_becomes_small_and_answers_as_before(worn):
    before, found = size(worn), list(search(worn.engine, "tea 11"))
    tables = worn.ask("from documents"), worn.ask("from postings"), worn.ask("from words")
    worn.engine.place.database.chmod(0o600)
    stays = Index(worn.engine.place, warm=True)
    assert list(search(stays, "tea 11")) == found
    assert compaction.compact(worn.engine.database)
    assert size(worn) < before / 2
    assert stat.S_IMODE(worn.engine.place.database.stat().st_mode) == 0o600
    assert (worn.ask("from documents"), worn.ask("from postings"), worn.ask("from words")) == tables
    assert list(search(worn.engine, "tea 11")) == list(search(stays, "tea 11")) == found
    assert worn.problems() == []
    assert beside(worn) == {"index.duckdb"}
    worn.write("tea.md", "milk")
    worn.update()
    assert [each.file for each in list(search(stays, "milk"))] == ["notes/tea.md"]
    stays.close()


def test_sorted_postings_stay_in_large_row_groups(worn):
    worn.write("words.md", " ".join(f"word{number}" for number in range(6_000)))
    worn.update()
    maintenance.clean(worn.engine.database)
    before = size(worn)
    assert compaction.compact(worn.engine.database)
    assert size(worn) < before / 2
    assert largest_group(worn, "postings") > 6_000
    assert largest_group(worn, "words") == 4_096


def test_a_file_without_room_to_give_back_is_left_alone(library):
    library.write("tea.md", "tea")
    library.update()
    assert compaction.compact(library.engine.database)
    inode = library.engine.place.database.stat().st_ino
    assert compaction.compact(library.engine.database)
    assert library.engine.place.database.stat().st_ino == inode


@pytest.mark.parametrize("times", [1, 2, 99])
def test_what_is_written_meanwhile_is_never_lost(worn, monkeypatch, times):
    write_anew, written = compaction._write_anew, []

    def busy(*args):
        write_anew(*args)
        if len(written) < times:
            written.append(len(written))
            worn.write(f"new {len(written)}.md", f"new {len(written)}")
            worn.update()

    monkeypatch.setattr(compaction, "_write_anew", busy)
    before = size(worn)
    assert compaction.compact(worn.engine.database) == (times < compaction.MAX_ATTEMPTS)
    assert (size(worn) < before / 2) == (times < compaction.MAX_ATTEMPTS)
    expected = {"tea.md", "cake.md", *(f"new {number + 1}.md" for number in written)}
    assert {path for (path,) in worn.ask("select path from documents")} == expected
    assert worn.problems() == []
    assert beside(worn) == {"index.duckdb"}


def test_an_index_behind_a_link_stays_behind_it(worn, tmp_path):
    link = worn.engine.place.database
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    real = link.rename(elsewhere / "real.duckdb")
    link.symlink_to(real)
    before = real.stat().st_size
    assert compaction.compact(worn.engine.database)
    assert link.is_symlink()
    assert real.stat().st_size < before / 2
    assert list(elsewhere.iterdir()) == [real]
    assert len(search(worn.engine, "tea")) == 1


def test_the_name_of_a_folder_means_nothing(tmp_path):
    folder = tmp_path / "a $new, it's $old"
    folder.mkdir()
    library = Library(folder)
    for number in range(9):
        library.write("tea.md", f"tea {number} " * 50_000)
        library.update()
    maintenance.clean(library.engine.database)
    before = size(library)
    assert compaction.compact(library.engine.database)
    assert size(library) < before / 2
    assert len(search(library.engine, "tea")) == 1


def test_an_index_that_cannot_be_written_anew_stays_as_it_was(worn, monkeypatch):
    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(compaction, "_write_anew", full)
    content = worn.engine.place.database.read_bytes()
    with pytest.raises(IndexFailure, match="No space left on device"):
        compaction.compact(worn.engine.database)
    assert worn.engine.place.database.read_bytes() == content
    assert beside(worn) == {"index.duckdb"}


def test_words_that_an_update_has_looked_up_are_not_forgotten_before_it_is_done(library):
    for text in ("milk", "tea"):
        library.write("tea.md", text)
        library.update()
    words = "select word from words where word = 'milk'"
    with dictionary(library.engine.place.database, shared=True):
        assert maintenance.clean(library.engine.database).words == 0
        assert library.ask(words) == [("milk",)]
    assert maintenance.clean(library.engine.database).words == 1
    assert library.ask(words) == []


def test_an_update_waits_until_words_are_forgotten(library):
    library.write("tea.md", "tea")
    with dictionary(library.engine.place.database, shared=False) as alone:
        assert alone
        update = threading.Thread(target=library.update)
        update.start()
        update.join(0.3)
        assert update.is_alive()
    update.join()
    assert len(search(library.engine, "tea")) == 1
