"""A look at an index with an engine of its own, apart from all other uses."""

from __future__ import annotations

import threading

import _duckdb
import pytest

from qmd.errors import IndexBusy, IndexUnreadable
from qmd.storage.file_lock import FileLock
from tests.storage.database.uses import (
    LONG,
    STRANGER,
    WRITER,
    Held,
    let_go,
    says,
    setting,
    tea,
    wait_for_writer,
)


class Apart:
    """A look at the index with an engine of its own, which stays until it is let go."""

    def __init__(self):
        self.inside, self.go = threading.Event(), threading.Event()

    def __call__(self, attach):
        own = _duckdb.connect(":memory:")
        attach(own)
        self.inside.set()
        assert self.go.wait(LONG)
        found = own.execute("select value from qmd_index.settings where name = 'tea'").fetchone()
        own.close()
        return found[0] if found else None

    def begun(self, beside, database):
        result = beside(database.apart, self)
        assert self.inside.wait(LONG)
        return result


def test_whoever_looks_apart_has_the_index_alone_among_its_own_process(database, beside):
    index, apart = database(warm=True), Apart()
    index.write(setting("sencha"))
    assert index.read(tea) == "sencha"
    result = apart.begun(beside, index)
    waiting = [beside(index.read, tea), beside(index.write, setting("oolong")), beside(index.close)]
    for each in waiting:
        with pytest.raises(TimeoutError):
            each.result(0.1)
    apart.go.set()
    assert result.result(LONG) == "sencha"
    for each in waiting:
        each.result(LONG)
    assert index.read(tea) == "oolong"


def test_whoever_looks_apart_waits_for_reads_that_have_begun(database, beside):
    index, read, apart = database(warm=True), Held(), Apart()
    first = read.begun(beside, index)
    result = beside(index.apart, apart)
    assert not apart.inside.wait(0.1)
    read.go.set()
    apart.go.set()
    assert (first.result(LONG), result.result(LONG)) == (None, None)


def test_a_writer_of_another_process_waits_for_whoever_looks_apart(database, process, beside):
    index, apart = database(warm=True), Apart()
    index.write(setting("sencha"))
    assert index.read(tea) == "sencha"
    result = apart.begun(beside, index)
    gate = FileLock(index.path, patience=0.1)
    gate.shut()
    with pytest.raises(IndexBusy):
        gate.enter_to_write()
    gate.open()
    writer = process(WRITER, "oolong")
    let_go(writer)
    wait_for_writer(index)
    apart.go.set()
    assert result.result(LONG) == "sencha"
    says(writer, "inside")
    says(writer, "done")
    assert index.read(tea) == "oolong"


def test_other_programs_cannot_write_while_somebody_looks_apart(database, process, beside):
    index, apart = database(warm=True), Apart()
    index.write(setting("sencha"))
    assert index.read(tea) == "sencha"
    result = apart.begun(beside, index)
    assert process(STRANGER).wait(LONG) != 0  # it could not lock the file
    apart.go.set()
    assert result.result(LONG) == "sencha"


def test_a_look_apart_that_fails_leaves_the_index_to_others(database):
    index = database(warm=True)
    index.write(setting("sencha"))

    def fail(attach):
        own = _duckdb.connect(":memory:")
        attach(own)
        own.close()
        raise ValueError("enough")

    with pytest.raises(ValueError, match="enough"):
        index.apart(fail)
    database().write(setting("oolong"))
    assert index.read(tea) == "oolong"


def test_a_file_that_is_no_index_cannot_be_looked_at_apart(path, database):
    path.write_bytes(b"no database" * 1000)
    with pytest.raises(IndexUnreadable):
        database().apart(lambda attach: attach(_duckdb.connect(":memory:")))
