"""What a server holds of the index answers while a writer has the file, and only that writer."""

from __future__ import annotations

import shutil
import time

import pytest

from qmd import lock_signature
from qmd.errors import IndexBusy
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


def test_two_writes_of_one_process_have_two_marks(path):
    gate, other = FileLock(path), FileLock(path)
    assert other.writer() is None
    gate.shut()
    first = other.writer()
    assert first is not None
    assert other.writer() == first
    gate.open()
    assert other.writer() is None
    gate.shut()
    assert other.writer() not in (None, first)
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
