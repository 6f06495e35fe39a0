"""Files of the lock between processes: what is refused, and what is let go of."""

from __future__ import annotations

import os
import stat

import pytest

from qmd import safe_open
from qmd.errors import IndexBusy, IndexNotWritable, IndexUnreadable, JobRunning
from qmd.storage.file_lock import FileLock, check_kind, dictionary, errand, is_at_work


@pytest.fixture
def index(tmp_path):
    return tmp_path / "index.duckdb"


@pytest.mark.parametrize(
    "head", [b"", b"12345678DUCK", b"\0" * 8 + b"DUCK" + b"\0" * 4000, b"DUCKDUCKDUCK"]
)
def test_a_database_and_an_empty_file_are_let_in(index, head):
    index.write_bytes(head)
    check_kind(index)
    FileLock(index).enter_to_read()


@pytest.mark.parametrize(
    "head", [b"x", b"DUCK", b"12345678DUC", b"1234567DUCK", b"123456789DUCK", b"A text of mine."]
)
def test_another_file_is_refused_before_there_is_a_lock_beside_it(index, head):
    index.write_bytes(head)
    for enter in (
        FileLock(index).enter_to_read,
        FileLock(index).shut,
        lambda: errand(index, "x").__enter__(),
    ):
        with pytest.raises(IndexUnreadable, match="is not a valid DuckDB database file") as refused:
            enter()
        assert refused.value.path == index
    assert [*index.parent.iterdir()] == [index]


def test_a_file_with_a_lock_beside_it_is_not_looked_into(index):
    index.write_bytes(b"A text of mine.")
    index.with_name("index.duckdb.lock").touch()
    check_kind(index)


@pytest.mark.parametrize("make", [lambda index: None, lambda index: index.mkdir()])
def test_where_there_is_no_file_nothing_is_refused_yet(index, make):
    make(index)
    check_kind(index)


def free():
    """The numbers that the next files get that are opened."""
    descriptors = [os.open(os.devnull, os.O_RDONLY) for _ in range(20)]
    for descriptor in descriptors:
        os.close(descriptor)
    return descriptors


def test_a_name_that_no_file_can_have_is_left_to_attaching(tmp_path):
    check_kind(tmp_path / ("x" * 300))


def test_no_file_stays_open(index):
    before = free()
    writer, other = FileLock(index), FileLock(index, patience=0)
    writer.shut()
    for enter in (other.enter_to_read, other.shut):
        with pytest.raises(IndexBusy):
            enter()
    assert other.is_shut()
    assert writer.holder() == other.holder()
    assert f"process {os.getpid()} (this process)" in writer.holder()
    writer.enter_to_write()
    writer.open()
    other.enter_to_read()
    other.leave()
    with errand(index, "embed"), pytest.raises(JobRunning), errand(index, "embed"):
        pass
    assert not is_at_work(index, "embed")
    with dictionary(index, shared=True), dictionary(index, shared=False) as may_forget:
        assert not may_forget
    assert free() == before


def test_a_reader_stays_in_the_room_when_a_writer_of_its_gate_opens_the_door(index):
    gate, other = FileLock(index), FileLock(index, patience=0)
    for _ in range(2):
        gate.enter_to_read()
        gate.shut()
        gate.open()
        other.shut()
        with pytest.raises(IndexBusy):
            other.enter_to_write()
        other.open()
        gate.leave()
        gate.shut()
        gate.enter_to_write()
        gate.open()


def test_a_writer_leaves_the_room_with_its_turn(index):
    writer, reader = FileLock(index), FileLock(index, patience=0)
    writer.shut()
    writer.enter_to_write()
    writer.open()
    reader.enter_to_read()
    assert not writer.is_shut()


def test_updates_share_the_words_and_a_cleanup_has_them_alone(index):
    with dictionary(index, shared=True) as one, dictionary(index, shared=True) as other:
        assert one
        assert other
        with dictionary(index, shared=False) as alone:
            assert not alone
    with dictionary(index, shared=False) as alone:
        assert alone
        with dictionary(index, shared=False) as another:
            assert not another
    with dictionary(index, shared=False) as alone:
        assert alone


def test_a_long_job_says_who_is_at_it_and_ends_with_an_error_too(index):
    def fail():
        with errand(index, "embed"):
            with pytest.raises(JobRunning) as refused, errand(index, "embed"):
                pass
            assert f"process {os.getpid()} (this process)" in refused.value.holder
            with errand(index, "cleanup"):  # is another job
                assert is_at_work(index, "cleanup")
            assert not is_at_work(index, "cleanup")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    with errand(index, "embed"):
        pass


def test_the_folder_of_an_index_is_made_for_its_user_alone(tmp_path):
    index = tmp_path / "new" / "folder" / "index.duckdb"
    with errand(index, "embed"):
        assert stat.S_IMODE(index.parent.stat().st_mode) == 0o700
    with errand(index, "embed"):  # it may be there
        pass


def test_a_long_job_for_an_index_in_no_folder_is_refused(tmp_path):
    file = tmp_path / "file"
    file.touch()
    index = file / "index.duckdb"
    with pytest.raises(IndexNotWritable), errand(index, "embed"):
        pass
    assert not is_at_work(index, "embed")


def test_a_name_that_was_longer_is_written_over(index):
    lock = index.with_name("index.duckdb.lock")
    lock.write_text("x" * 1000)
    gate = FileLock(index)
    assert gate.holder() is None
    gate.shut()
    assert lock.read_text().split()[0] == str(os.getpid())
    assert "x" not in lock.read_text().split()
    lock.write_bytes(b" \n")
    assert gate.holder() is None
    lock.write_bytes(b"\xff")
    assert gate.holder() is None


def test_lock_files_can_be_used_by_all_whom_the_umask_lets(index):
    before = os.umask(0o007)
    try:
        FileLock(index).shut()
    finally:
        os.umask(before)
    assert stat.S_IMODE(index.with_name("index.duckdb.lock").stat().st_mode) == 0o660


def test_a_lock_file_that_may_only_be_read_is_a_lock(index, monkeypatch):
    """That of another user, say."""
    opened = safe_open.opened

    def refuse(path, flags, *more):
        if flags & os.O_RDWR:
            raise PermissionError
        return opened(path, flags, *more)

    writer, other = FileLock(index), FileLock(index, patience=0)
    writer.shut()
    monkeypatch.setattr(safe_open, "opened", refuse)
    assert other.is_shut()
    with pytest.raises(IndexBusy):
        other.shut()
    writer.open()
    other.shut()
    assert writer.is_shut()
