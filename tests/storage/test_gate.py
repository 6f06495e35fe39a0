"""One writer, or any number of readers: each FileLock here stands for a process."""

from __future__ import annotations

import fcntl
import os
import select
import subprocess
import sys
import threading
import time
from contextlib import suppress

import pytest

from qmd.errors import IndexBusy, LockUnusable
from qmd.storage.file_lock import FileLock, _Lock, dictionary, errand, is_at_work
from tests import strays

LONG = 20
"""Seconds after which something that has to happen is taken for stuck."""

HOLDER = """
import sys, time
from pathlib import Path
from qmd.storage.file_lock import FileLock
gate = FileLock(Path(sys.argv[1]))
for verb in sys.argv[2:]:
    getattr(gate, verb)()
print("in", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def gate(tmp_path):
    """Makes gates to one index."""
    made = []

    def make(patience=LONG):
        made.append(FileLock(tmp_path / "index.duckdb", patience=patience))
        return made[-1]

    yield make
    for each in made:
        each.open()
        each.leave()


@pytest.fixture
def in_thread():
    """Runs functions beside the test, and waits for them in its end."""
    threads = []

    def start(*steps):
        done = threading.Event()

        def run():
            for step in steps:
                step()
            done.set()

        threads.append(threading.Thread(target=run, daemon=True))
        threads[-1].start()
        return done

    yield start
    for thread in threads:
        thread.join(LONG)
        assert not thread.is_alive()


@pytest.fixture
def held(tmp_path):
    """Starts a process that does something with its gate and stays there."""
    processes = []

    def start(*verbs):
        process = subprocess.Popen(
            [sys.executable, "-c", HOLDER, str(tmp_path / "index.duckdb"), *verbs],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        processes.append(process)
        assert select.select([process.stdout], [], [], LONG)[0]
        assert process.stdout.readline() == b"in\n"
        return process

    yield start
    for process in processes:
        process.kill()
        process.communicate()


def wait_until(fact):
    """Look until it is so."""
    assert any(fact() or time.sleep(0.005) for _ in range(LONG * 200))


def test_readers_are_in_the_room_together(gate):
    readers = [gate(), gate(), gate()]
    for reader in readers:
        reader.enter_to_read()
    assert not any(reader.is_shut() for reader in readers)


def test_a_reader_waits_for_a_writer_to_open(gate, in_thread):
    writer, reader = gate(), gate()
    writer.shut()
    writer.enter_to_write()
    entered = in_thread(reader.enter_to_read)
    with pytest.raises(IndexBusy):
        gate(patience=0.02).enter_to_read()
    assert not entered.is_set()
    writer.open()
    assert entered.wait(LONG)


def test_a_writer_waits_for_the_last_reader_to_leave(gate, in_thread):
    first, second, writer = gate(), gate(), gate()
    first.enter_to_read()
    second.enter_to_read()
    entered = in_thread(writer.shut, writer.enter_to_write)
    wait_until(first.is_shut)
    first.leave()
    assert not entered.is_set()
    second.leave()
    assert entered.wait(LONG)


def test_a_writer_that_waits_goes_in_before_a_reader_that_comes_later(gate, in_thread):
    inside, later, writer = gate(), gate(), gate()
    inside.enter_to_read()
    wrote = in_thread(writer.shut, writer.enter_to_write)
    wait_until(inside.is_shut)
    order = []
    read = in_thread(later.enter_to_read, lambda: order.append("reader"))
    inside.leave()
    assert wrote.wait(LONG)
    order.append("writer")
    writer.open()
    assert read.wait(LONG)
    assert order == ["writer", "reader"]


def test_a_writer_gets_in_while_readers_keep_coming_before_the_last_has_left(gate, in_thread):
    over = threading.Event()

    def come_and_go():
        here, coming = gate(patience=0.01), gate(patience=0.01)
        while not over.is_set():
            try:
                coming.enter_to_read()
                here, coming = coming, here
            except IndexBusy:
                here.leave()
            coming.leave()

    in_thread(come_and_go)
    writer = gate()
    try:
        for _ in range(5):
            assert in_thread(writer.shut, writer.enter_to_write, writer.open).wait(LONG)
    finally:
        over.set()


def test_two_writers_take_turns(gate, in_thread):
    first, second = gate(), gate()
    first.shut()
    first.enter_to_write()
    entered = in_thread(second.shut, second.enter_to_write)
    assert not entered.is_set()
    first.open()
    assert entered.wait(LONG)


def test_the_door_is_shut_from_when_a_writer_wants_in_until_it_is_done(gate):
    reader, writer = gate(), gate()
    assert not reader.is_shut()
    writer.shut()
    assert reader.is_shut()
    writer.enter_to_write()
    assert reader.is_shut()
    writer.open()
    assert not reader.is_shut()


def test_who_waits_too_long_is_told_who_holds_the_door(gate, held):
    writer = held("shut", "enter_to_write")
    for verb in ("enter_to_read", "shut"):
        with pytest.raises(
            IndexBusy, match=f"held for 0 seconds by python -c, process {writer.pid}\\."
        ) as caught:
            getattr(gate(patience=0.02), verb)()
        assert caught.value.holder == f"python -c, process {writer.pid}"
    assert gate().holder() == f"python -c, process {writer.pid}"


def test_a_writer_who_gives_up_on_a_reader_lets_the_others_in_again(gate, held):
    reader = held("enter_to_read")
    writer = gate(patience=0.02)
    writer.shut()
    with pytest.raises(IndexBusy, match="has been held for") as caught:
        writer.enter_to_write()
    assert caught.value.holder == f"python -c, process {reader.pid}"  # and not the writer itself
    writer.open()
    gate(patience=0.2).enter_to_read()


@pytest.mark.parametrize("verbs", [("shut",), ("shut", "enter_to_write"), ("enter_to_read",)])
def test_the_locks_of_a_killed_process_are_gone_with_it(gate, held, in_thread, verbs):
    process = held(*verbs)
    writer = gate()
    entered = in_thread(writer.shut, writer.enter_to_write)
    assert not entered.is_set()
    process.kill()
    assert entered.wait(LONG)


def test_deleted_lock_files_are_made_anew(gate, tmp_path):
    writer, reader = gate(), gate()
    writer.shut()
    writer.open()
    for file in tmp_path.iterdir():
        file.unlink()
    reader.enter_to_read()
    writer.shut()
    assert {file.name for file in tmp_path.iterdir()} == {
        "index.duckdb.lock",
        "index.duckdb.readers",
    }


def test_a_lock_on_a_file_that_is_deleted_meanwhile_does_not_count(gate, tmp_path, monkeypatch):
    locked = fcntl.flock
    deleted = []

    def lock_deleted(descriptor, operation):
        if not deleted:
            deleted.append(tmp_path / "index.duckdb.lock")
            deleted[0].unlink()
        locked(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", lock_deleted)
    gate().shut()
    assert deleted[0].exists()
    assert gate().is_shut()


def test_where_no_lock_can_be_made_nobody_waits(gate, monkeypatch):
    def refuse(*_, **__):
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(os, "open", refuse)
    reader = gate()
    reader.enter_to_read()
    assert not reader.is_shut()
    reader.leave()


@pytest.mark.parametrize("put", strays.STRAYS)
@pytest.mark.parametrize(
    ("name", "locks"),
    [
        ("lock", lambda index: FileLock(index).shut()),
        ("readers", lambda index: FileLock(index).enter_to_read()),
        ("words", lambda index: dictionary(index, shared=True).__enter__()),
        ("embed", lambda index: errand(index, "embed").__enter__()),
    ],
)
def test_what_is_no_file_is_no_lock(tmp_path, put, name, locks):
    index = tmp_path / "index.duckdb"
    place = tmp_path / f"index.duckdb.{name}"
    put(place)
    with pytest.raises(LockUnusable) as refused:
        locks(index)
    assert refused.value.path == place
    assert strays.is_untouched(tmp_path)


@pytest.mark.parametrize("put", [strays.link, os.mkfifo])
def test_nobody_signs_what_is_no_file(gate, tmp_path, put):
    put(tmp_path / "index.duckdb.lock")
    assert gate().holder() is None


def test_a_writer_that_cannot_leave_its_name_holds_the_door_all_the_same(gate, monkeypatch):
    def refuse(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "pwrite", refuse)
    gate().shut()
    assert gate().is_shut()


def test_a_look_at_a_long_job_refuses_nobody_who_begins_it(tmp_path):
    index = tmp_path / "index.duckdb"
    assert not is_at_work(index, "embed")
    with errand(index, "embed"):
        assert is_at_work(index, "embed")
    assert not is_at_work(index, "embed")
    with (tmp_path / "index.duckdb.embed").open() as looked:
        fcntl.flock(looked, fcntl.LOCK_SH)
        threading.Timer(0.005, fcntl.flock, (looked, fcntl.LOCK_UN)).start()
        with errand(index, "embed"):
            assert is_at_work(index, "embed")


def test_a_look_at_the_door_does_not_lose_the_key_of_the_same_process(gate, in_thread, monkeypatch):
    """The watcher of an idle reader looks at the door while a thread beside it shuts it."""
    mine, other = gate(), gate(patience=0.2)
    closed, shut = threading.Event(), threading.Event()
    close = os.close
    test = threading.current_thread()

    def close_slowly(descriptor):
        close(descriptor)
        if threading.current_thread() is not test:
            closed.set()
            shut.wait(LONG)

    monkeypatch.setattr(os, "close", close_slowly)
    looked = in_thread(mine.is_shut)
    assert closed.wait(LONG)
    mine.shut()
    shut.set()
    assert looked.wait(LONG)
    mine.open()
    other.enter_to_read()


def test_two_threads_that_look_at_the_door_leave_nothing_before_it(gate, in_thread, monkeypatch):
    both = threading.Barrier(2)
    take = _Lock.take

    def together(self, *, shared):
        taken = take(self, shared=shared)
        with suppress(threading.BrokenBarrierError):
            both.wait(0.2)
        return taken

    looking, writing = gate(), gate(patience=0)
    with monkeypatch.context() as patched:
        patched.setattr(_Lock, "take", together)
        looks = [in_thread(looking.is_shut) for _ in range(2)]
        for each in looks:
            assert each.wait(LONG)
    writing.shut()
