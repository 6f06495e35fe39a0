"""Waits and leftovers of the lock between threads, by a clock that only the tests move."""

from __future__ import annotations

import threading
from types import SimpleNamespace

import pytest

from qmd import processes
from qmd.errors import IndexBusy, IndexUnreadable
from qmd.storage import attachment, thread_lock
from tests.storage.database.uses import STRANGER, Held, let_go, says, setting, tea


@pytest.fixture
def clock(monkeypatch):
    made = SimpleNamespace(now=100.0)
    monkeypatch.setattr(thread_lock, "time", SimpleNamespace(monotonic=lambda: made.now))
    return made


@pytest.fixture
def shed(monkeypatch):
    """Count how often DuckDB's pages of the file are released."""
    calls = []
    monkeypatch.setattr(attachment.Attachment, "shed", lambda _: calls.append(None))
    return calls


def marking(cursor):
    cursor.memory.stands_for_file = True


@pytest.mark.parametrize(
    ("patience", "began", "last", "expected"),
    [
        (30.0, 0.0, 0.0, 70.2),  # a fifth of a second is left
        (30.0, 90.0, 0.0, 90.0),
        (30.0, 0.0, 80.0, 80.0),  # one of this process has had the file
        (0.1, 0.0, 0.0, 100.0),
    ],
)
def test_a_wait_for_others_of_the_process_counts_but_a_fifth_of_a_second_is_left(
    clock, database, patience, began, last, expected
):
    index = database(patience=patience)
    index._last_in = last
    assert index._counted(began) == pytest.approx(expected)


def test_a_process_waits_for_30_seconds_unless_told_otherwise(clock, path):
    assert thread_lock.ThreadLock(path)._counted(0.0) == pytest.approx(100 - 30 + 0.2)


def test_a_busy_index_is_remembered_for_as_long_as_asked_and_until_a_use_succeeds(
    clock, database, process
):
    index = database(patience=0.05)
    index.write(setting("sencha"))
    assert index.busy_for(1000) is None
    stranger = process(STRANGER)
    says(stranger, "inside")
    clock.now += 5
    with pytest.raises(IndexBusy) as told:
        index.read(tea)
    clock.now += 10
    assert index.busy_for(10.1) is told.value
    assert index.busy_for(10) is None
    let_go(stranger)
    stranger.wait()
    assert index.read(tea) == "sencha"
    assert index.busy_for(1000) is None


@pytest.mark.parametrize(("attached", "seconds"), [(True, 0.03), (False, None)])
def test_an_idle_reader_looks_for_a_writer_every_30_milliseconds(database, attached, seconds):
    index = database(warm=True)
    index.write(setting("sencha"))
    waits = []

    class Asleep:
        def wait(self, seconds):
            waits.append(seconds)
            index._watcher = None

        def notify_all(self):
            pass

    index._asleep = Asleep()
    index._watcher = threading.current_thread()
    if attached:
        index.read(tea)
    index._watch()
    assert waits == [seconds]


def test_an_idle_cursor_holds_nothing_that_was_read_into_memory(database):
    index = database(warm=True)
    index.write(setting("sencha"))
    index.read(lambda cursor: cursor.memory)
    assert [cursor.memory for cursor in index._idle] == [None]


def test_pages_are_released_once_after_a_read_that_made_them_needless(database, shed):
    index = database(warm=True)
    index.write(setting("sencha"))
    index.read(tea)
    assert shed == []
    index.read(marking)
    assert len(shed) == 1
    index.read(tea)
    assert len(shed) == 1


def test_pages_are_not_released_below_a_read_that_runs(database, beside, shed):
    index = database(warm=True)
    index.write(setting("sencha"))
    held = Held()
    result = held.begun(beside, index)
    index.read(marking)
    assert shed == []
    held.go.set()
    assert result.result() == "sencha"
    assert len(shed) == 1


def test_an_engine_that_could_not_attach_the_file_is_discarded(database, path):
    path.write_bytes(b"no index of qmd" * 2000)
    index = database()
    with pytest.raises(IndexUnreadable):
        index.read(tea)
    assert not index._attachment.is_there


def test_a_process_that_ends_leaves_the_engine_and_its_cursors_as_they_are(database, monkeypatch):
    left = []
    monkeypatch.setattr(attachment, "_LEFT", left)
    monkeypatch.setattr(processes, "leave_open", True)
    index = database(warm=True)
    index.write(setting("sencha"))
    index.read(tea)
    index.write(setting("oolong"))  # a process that goes on takes no leave
    assert left == []
    index.read(tea)
    (cursor,) = index._idle
    index.close()
    assert cursor in left
    assert index._idle == []
    assert cursor.connection.execute("select 1").fetchall() == [(1,)]
    cursor.connection.close()


def test_a_process_that_goes_on_closes_its_cursors(database):
    index = database(warm=True)
    index.write(setting("sencha"))
    index.read(tea)
    (cursor,) = index._idle
    index.close()
    assert index._idle == []
    with pytest.raises(Exception, match="closed"):
        cursor.connection.execute("select 1")


MEMORY = "select current_setting('memory_limit')"


def limit(cursor):
    return cursor.connection.execute(MEMORY).fetchall()[0][0]


def test_duckdb_keeps_little_memory_for_small_reads_once_others_hold_the_file(database):
    index = database(warm=True)
    index.write(setting("sencha"))
    before = index.read(limit)
    index.read(marking)
    assert index.read(limit, small=True) == "61.0 MiB"
    assert index.read(limit) == before
    assert index.read(limit, small=True) == before
    index.write(setting("oolong"))
    index.read(marking, small=True)
    assert index.read(limit, small=True) == "61.0 MiB"
    assert index.write(limit) == before


def test_a_small_read_that_needs_more_memory_runs_again_with_all_of_it(database, monkeypatch):
    monkeypatch.setattr("qmd.storage.attachment.LEAST_MEMORY", "200KB")
    index = database(warm=True)
    index.write(setting("sencha"))
    index.read(marking)
    limits = []

    def sorting(cursor):
        limits.append(limit(cursor))
        text = "select sum(each) from (select range as each from range(100000) order by hash(each))"
        return cursor.connection.execute(text).fetchall()[0][0]

    assert index.read(sorting, small=True) == sum(range(100000))
    assert limits[0] == "195.3 KiB"
    assert len(limits) == 2
    assert limits[1] != limits[0]


def test_sparing_uses_of_two_threads_leave_all_of_the_memory(database, beside):
    index = database(warm=True)
    index.write(setting("sencha"))
    before = index.read(limit)
    first, second = Held(), Held()
    results = [first.begun(lambda read, work: beside(index.sparingly, lambda: read(work)), index)]
    results.append(
        second.begun(lambda read, work: beside(index.sparingly, lambda: read(work)), index)
    )
    for held, result in zip((first, second), results, strict=True):
        held.go.set()
        assert result.result() == "sencha"
    assert index.read(limit) == before
    assert index.sparingly(lambda: index.read(limit)) == "244.1 MiB"
    assert index.sparingly(lambda: index.write(limit)) == "244.1 MiB"
    assert index.write(limit) == before


def test_others_have_all_of_the_memory_beside_a_sparing_use(database, beside):
    index = database(warm=True)
    index.write(setting("sencha"))
    before = index.read(limit)
    held = Held()

    def with_others():
        found = [index.read(limit), beside(index.read, limit).result(), index.read(limit)]
        result = held.begun(beside, index)
        found.append(index.read(limit))
        held.go.set()
        result.result()
        return [*found, beside(index.write, limit).result(), index.read(limit)]

    little = "244.1 MiB"
    assert index.sparingly(with_others) == [little, before, little, before, before, little]


@pytest.mark.parametrize(("whole", "told"), [("60MB", "57.2 MiB"), ("0.2 GiB", "204.7 MiB")])
def test_a_sparing_use_has_no_more_memory_than_others(database, whole, told):
    index = database(memory_limit=whole)
    index.write(setting("sencha"))
    assert index.read(limit) == told
    assert index.sparingly(lambda: index.read(limit)) == told


def threads(cursor):
    return cursor.connection.execute("select current_setting('threads')").fetchall()[0][0]


@pytest.mark.parametrize(
    ("saves", "ends", "serves"),
    [(True, True, False), (True, False, False), (False, True, False), (True, True, True)],
)
def test_statements_are_shared_out_in_a_process_of_one_command(
    database, monkeypatch, saves, ends, serves
):
    monkeypatch.setattr(processes, "cores", lambda: 8)
    index = database(warm=True, saves=saves)
    index.write(setting("sencha"))
    assert index.read(threads) == 1
    monkeypatch.setattr(processes, "leave_open", ends)
    index.serves = serves
    index.share_out(True)
    shared = attachment.SHARING_THREADS if saves and ends and not serves else 1
    assert [index.read(threads), index.write(threads), index.read(threads)] == [shared] * 3
    assert index.write(threads, writing=attachment.MERGE) == attachment.SHARING_THREADS
    with pytest.raises(LookupError):
        index.write(lambda _: {}[0])
    assert index.read(threads) == shared  # of a new engine
    index.share_out(False)
    assert [index.read(threads), index.write(threads)] == [1, 1]


def test_a_merge_alone_is_shared_out(database, monkeypatch):
    monkeypatch.setattr(processes, "cores", lambda: 8)
    index = database(warm=True)
    assert index.write(threads) == 1
    assert index.write(threads, writing=attachment.MERGE) == attachment.SHARING_THREADS
    assert index.read(threads) == 1
    assert index.write(threads, writing=attachment.MERGE) == attachment.SHARING_THREADS
    assert index.write(threads) == 1
    monkeypatch.setattr(processes, "cores", lambda: 1)
    assert index.write(threads, writing=attachment.MERGE) == 1
