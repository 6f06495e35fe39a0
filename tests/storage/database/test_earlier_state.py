"""A server answers from memory while a writer has the file, and waits for the next writer."""

from __future__ import annotations

import shutil
import time

import pytest

from qmd import lock_signature, processes
from qmd.errors import IndexBusy, LockUnusable, OfAnotherProcess
from qmd.storage import file_lock
from qmd.storage.earlier_state import OutOfReach
from qmd.storage.file_lock import FileLock
from tests.storage.database.uses import LONG, WRITER, let_go, says, setting, tea, wait_for_writer


def held(cursor):
    """The value of a setting, which is read once for each state."""
    return cursor.each("once", ["tea"], lambda names: {name: tea(cursor) for name in names})["tea"]


@pytest.fixture
def server(database):
    """A server that has read a setting, and gives up after a moment."""
    made = database(warm=True, patience=0.1)
    made.write(setting("sencha"))
    assert made.read(held, small=True) == "sencha"
    return made


@pytest.fixture
def writes(process, server):
    """Starts writers, each of which has the file until it is let go."""

    def begin(value):
        writer = process(WRITER.replace("cups", f"cups_of_{value}"), value)
        says(writer, "inside")
        return writer

    return begin


def end(writer):
    let_go(writer)
    says(writer, "done")
    writer.wait(LONG)


def test_what_is_held_answers_until_the_write_ends(server, writes):
    writer = writes("gyokuro")
    assert server.read(held, small=True) == "sencha"
    assert server.read(held, small=True) == "sencha"
    end(writer)
    assert server.read(held, small=True) == "gyokuro"


def test_what_is_not_held_waits_for_the_writer(server, writes):
    writes("gyokuro")
    with pytest.raises(IndexBusy):
        server.read(tea, small=True)
    assert server.read(held, small=True) == "sencha"


def test_a_read_that_did_not_ask_for_it_waits(server, writes):
    writes("gyokuro")
    with pytest.raises(IndexBusy):
        server.read(held)


def test_a_command_waits(database, process, server):
    command = database(patience=0.1)
    assert command.read(held, small=True) == "sencha"
    says(process(WRITER, "gyokuro"), "inside")
    with pytest.raises(IndexBusy):
        command.read(held, small=True)


def test_the_next_writer_may_have_found_another_state(server, writes):
    end(writes("gyokuro"))
    writes("matcha")
    with pytest.raises(IndexBusy):
        server.read(held, small=True)


def test_a_killed_writer_leaves_nothing_to_the_next_one(server, writes):
    writer = writes("gyokuro")
    assert server.read(held, small=True) == "sencha"
    writer.kill()
    writer.wait(LONG)
    writes("matcha")
    with pytest.raises(IndexBusy):
        server.read(held, small=True)


def test_a_read_beside_a_write_of_its_own_process_is_answered(server, beside):
    found = []

    def work(cursor):
        setting("gyokuro")(cursor)
        found.append(beside(server.read, held, small=True).result(LONG))

    server.write(work)
    assert found == ["sencha"]
    assert server.read(held, small=True) == "gyokuro"


def test_a_file_that_was_put_in_the_place_of_the_index_is_told_from_it(server, path, process):
    copy = path.with_name("copy")
    server.close()
    shutil.copy(path, copy)
    assert server.read(held, small=True) == "sencha"
    copy.replace(path)
    assert server._left_to_writer() is None
    says(process(WRITER, "gyokuro"), "inside")
    with pytest.raises(IndexBusy):
        server.read(held, small=True)


def test_a_writer_that_could_not_sign_is_not_known_again(server, path, monkeypatch, beside):
    monkeypatch.setattr(lock_signature, "sign", lambda *_, **__: None)
    gate = FileLock(path)
    path.with_name("index.duckdb.lock").write_bytes(b"")
    gate.shut()
    with pytest.raises(IndexBusy):
        server.read(held, small=True)
    gate.open()
    assert server.read(held, small=True) == "sencha"


def test_two_writes_of_one_process_have_two_marks(path, monkeypatch):
    monkeypatch.setattr(file_lock, "WRITER_PAUSE_SECONDS", 0)
    gate, other = FileLock(path), FileLock(path)
    assert other.writer() is None
    gate.shut()
    first = other.writer()
    assert first is not None
    assert other.writer() == first
    gate.open()
    assert other.writer() is None
    gate.shut()
    second = other.writer()
    assert second is not None
    assert second.text != first.text
    assert second.text.strip() == first.text.strip()
    gate.open()


def test_a_writer_that_waits_gets_in_while_reads_are_answered(server, process, beside):
    writer = process(WRITER, "gyokuro")
    wait_for_writer(server)
    for _ in range(LONG * 100):
        assert server.read(held, small=True) == "sencha"
        if server._attached is None:
            break
        time.sleep(0.01)
    says(writer, "inside")


def test_nothing_of_a_state_without_a_file_can_be_reached(server, writes):
    writes("gyokuro")
    server.read(held, small=True)
    earlier = server._earlier_state()
    cursor = earlier.cursor()
    assert cursor.memory is earlier.memory
    for use in (tea, lambda cursor: cursor.connection.execute("from words")):
        with pytest.raises(OutOfReach):
            use(cursor)


def test_results_that_depend_on_texts_alone_outlive_the_state(server, path):
    def links(cursor):
        asked = cursor.each("links", ["hash"], lambda _: {"hash": object()}, of_texts=True)
        return asked["hash"]

    found = server.read(links)
    server.write(setting("gyokuro"))
    assert server.read(links) is found
    server.close()
    shutil.copy(path, path.with_name("copy"))
    path.with_name("copy").replace(path)
    assert server.read(links) is not found


def test_a_forked_process_does_not_touch_what_its_parent_has_attached(server, monkeypatch, path):
    gate = FileLock(path)
    gate.shut()
    monkeypatch.setattr(server, "_process", 0)
    with pytest.raises(OfAnotherProcess):
        server.read(held, small=True)
    gate.open()


def test_an_entry_of_another_machine_is_no_mark(path, monkeypatch):
    gate, other = FileLock(path), FileLock(path)
    monkeypatch.setattr(processes, "machine_name", lambda: "elsewhere")
    lock_signature._own_words.cache_clear()
    gate.shut()
    monkeypatch.undo()
    assert other.writer() is None
    gate.open()
    lock_signature._own_words.cache_clear()


def test_a_search_looks_for_the_mark_once(server, path, monkeypatch):
    gate = FileLock(path)
    gate.shut()
    assert server.read(held, small=True) == "sencha"
    looked = []
    monkeypatch.setattr(lock_signature, "mark", looked.append)
    with pytest.raises(IndexBusy):
        server.read(held, small=True)
    gate.open()
    assert len(looked) == 1


def test_what_is_held_goes_when_the_index_is_closed(server, writes):
    writes("gyokuro")
    server.read(held, small=True)
    assert server._earlier is not None
    server.close()
    assert server._earlier is None


def test_an_index_is_closed_though_its_lock_cannot_be_used(server, path, monkeypatch):
    def unusable(_):
        raise LockUnusable(path)

    monkeypatch.setattr(server._gate, "writer", unusable)
    server._detach()
    assert server._attached is None
