"""Texts of old versions go by themselves once they are a fifth of the file."""

from __future__ import annotations

import pytest

from qmd.errors import IndexFailure
from qmd.operations.collections import remove_collection
from qmd.storage import compaction, maintenance, old_texts
from qmd.storage.file_lock import errand

TEXT = 600_000
"""Characters of one version."""


@pytest.fixture
def small(monkeypatch):
    """A threshold that a test reaches."""
    monkeypatch.setattr(old_texts, "FEW_BYTES", TEXT)


def written(library, version):
    library.write("log.md", f"# Log {version}\n\n" + f"version{version} " * (TEXT // 10))
    return library.update()


def size(library):
    return library.engine.place.database.stat().st_size


def kept(library):
    return library.engine.read(maintenance.orphans)[0]


def test_a_file_that_changes_again_and_again_does_not_make_the_index_grow(library, small):
    library.write("tea.md", "green tea")
    sizes = []
    for version in range(14):
        written(library, version)
        sizes.append(size(library))
    assert kept(library) < 7
    assert max(sizes[7:]) <= 1.25 * max(sizes[:7])  # a few blocks are free at one time or another
    assert library.found("version13") == ["log.md"]
    assert library.found("version12") == []
    assert library.found("green") == ["tea.md"]
    assert not any(each.times for each in library.engine.read(maintenance.problems))


def test_a_few_old_texts_stay_and_may_come_back(library):
    for version in range(4):
        written(library, version)
    assert kept(library) == 3
    written(library, 1)
    assert kept(library) == 3  # the second one is that of the document again


def test_old_texts_stay_while_another_process_cleans_up(library, small):
    with errand(library.engine.place.database, "cleanup"):
        for version in range(9):
            assert written(library, version).failure is None
        assert kept(library) == 8
    written(library, 9)
    assert kept(library) == 0


def test_an_update_succeeds_where_the_file_cannot_be_written_anew(library, small, monkeypatch):
    tried = []

    def full(_database):
        tried.append(1)
        raise IndexFailure("There is no room.")

    monkeypatch.setattr(compaction, "compact", full)
    for version in range(9):
        report = written(library, version)
        assert report.failure is None
    assert library.found("version8") == ["log.md"]
    assert tried


def test_vectors_of_texts_that_stay_are_kept(meaning, monkeypatch):
    monkeypatch.setattr(old_texts, "FEW_BYTES", 1)
    monkeypatch.setattr(old_texts, "OLD_SHARE", 0.001)
    meaning.write("tea.md", "green tea")
    for version in range(3):
        meaning.write("log.md", f"version{version} " * 2000)
        meaning.write("other.md", f"# Log {version}\n\n" + "word " * 2000)
        meaning.update()
        meaning.embed()
    assert kept(meaning) == 0
    assert meaning.engine.totals().chunks > 0
    assert meaning.embed().chunks == 0


def test_old_texts_of_a_large_index_are_looked_for_once_many_were_left(library, monkeypatch):
    monkeypatch.setattr(old_texts, "FEW_BYTES", 3 * TEXT)
    monkeypatch.setattr(old_texts, "OLD_SHARE", 0)
    monkeypatch.setattr(old_texts, "LARGE_FILE", 0)
    looked = []
    orphans = maintenance.orphans
    monkeypatch.setattr(maintenance, "orphans", lambda *given: looked.append(1) or orphans(*given))
    found = []
    for version in range(6):
        written(library, version)
        found.append((len(looked), kept_now(library)))
    # To begin the count, once the file is that large; when it exceeds the limit; and to begin anew.
    assert found == [(0, 0), (1, 1), (1, 2), (1, 3), (2, 0), (3, 1)]


def test_a_count_of_old_texts_is_forgotten_with_a_collection(library, monkeypatch):
    monkeypatch.setattr(old_texts, "LARGE_FILE", 0)
    monkeypatch.setattr(old_texts, "FEW_BYTES", 0)
    monkeypatch.setattr(old_texts, "OLD_SHARE", 0.9)
    written(library, 0)
    assert counted(library) == 0
    (library.root / "log.md").unlink()
    library.update(removes=True)
    assert counted(library) >= 9 * TEXT // 10
    remove_collection(library.engine, "notes")
    assert counted(library) is None


def counted(library):
    return library.engine.read(lambda cursor: cursor.one("maintenance/old_bytes"))


def kept_now(library):
    left = "select count(*) from content where hash not in (select hash from documents)"
    return library.ask(left)[0][0]


def test_a_count_that_cannot_be_written_is_no_failure(library, monkeypatch):
    monkeypatch.setattr(old_texts, "LARGE_FILE", 0)
    monkeypatch.setattr(old_texts, "FEW_BYTES", 0)
    written(library, 0)
    library.engine.database.write(lambda cursor: cursor.run("maintenance/forget_old_bytes"))

    def full(*_, **__):
        raise IndexFailure("full")

    monkeypatch.setattr(library.engine.database, "write", full)
    assert not old_texts.free_old_texts(library.engine.database)


def test_a_count_is_noted_in_the_transaction_that_finds_it(library, monkeypatch):
    monkeypatch.setattr(old_texts, "LARGE_FILE", 0)
    monkeypatch.setattr(old_texts, "FEW_BYTES", 0)
    monkeypatch.setattr(old_texts, "OLD_SHARE", 0.9)
    reads = []
    orphans = maintenance.orphans

    def noted(cursor):
        reads.append(cursor.memory)
        return orphans(cursor)

    monkeypatch.setattr(maintenance, "orphans", noted)
    written(library, 0)
    assert reads == [None]  # that of a write
    assert counted(library) == 0
