"""One index file, shared with every other process that uses it."""

from __future__ import annotations

import threading
import time
from functools import partial

import pytest

from qmd.errors import IndexBusy
from qmd.storage.cancellation import CURRENT, Stop, Stopped
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


def test_an_idle_warm_reader_lets_a_writer_of_another_process_in(database, process):
    index = database(warm=True)
    assert index.read(tea) is None
    writer = process(WRITER, "sencha")
    says(writer, "inside")
    let_go(writer)
    assert index.read(tea) == "sencha"


def test_a_writer_of_another_process_goes_before_reads_that_come_later(database, process, beside):
    index, first = database(warm=True), Held()
    early = first.begun(beside, index)
    writer = process(WRITER, "sencha")
    let_go(writer)
    wait_for_writer(index)
    late = [beside(index.read, tea) for _ in range(4)]
    first.go.set()
    says(writer, "inside")
    says(writer, "done")
    assert [each.result(LONG) for each in (early, *late)] == [None, *["sencha"] * 4]


def test_a_writer_killed_in_its_transaction_leaves_the_earlier_state(database, process, beside):
    database().write(setting("sencha"))
    warm = database(warm=True)
    assert warm.read(tea) == "sencha"
    writer = process(WRITER, "oolong")
    says(writer, "inside")
    waiting = beside(warm.read, tea)
    writer.kill()
    assert waiting.result(LONG) == "sencha"
    assert database().read(tea) == "sencha"
    database().write(setting("pu-erh"))
    assert warm.read(tea) == "pu-erh"
    assert ("cups",) not in warm.read(lambda cursor: cursor.run("store/tables"))


@pytest.mark.parametrize("script", [WRITER, STRANGER], ids=["qmd", "another program"])
def test_who_waits_too_long_is_told_which_process_holds_the_index(database, process, script):
    database().write(setting("sencha"))
    holder = process(script, "oolong")
    says(holder, "inside")
    hasty = database(patience=0.2)
    for use in (lambda: hasty.read(tea), lambda: hasty.write(setting("pu-erh"))):
        with pytest.raises(IndexBusy, match=f"for 0 seconds by python.*, process {holder.pid}"):
            use()
    let_go(holder)
    assert database().read(tea) == ("oolong" if script is WRITER else "sencha")


@pytest.mark.parametrize("script", [WRITER, STRANGER], ids=["qmd", "another program"])
def test_who_waits_behind_others_of_its_process_is_not_told_later(
    database, process, beside, script
):
    database().write(setting("sencha"))
    holder = process(script, "oolong")
    says(holder, "inside")
    patience = 1.0
    hasty = database(patience=patience)
    for use in (partial(hasty.write, setting("pu-erh")), partial(hasty.read, tea)):
        began = time.monotonic()
        for waiting in [beside(use) for _ in range(4)]:
            with pytest.raises(IndexBusy, match=f" by python.*, process {holder.pid}"):
                waiting.result(LONG)
        assert time.monotonic() - began < 3 * patience  # four times that if one by one


@pytest.mark.parametrize("script", [WRITER, STRANGER], ids=["qmd", "another program"])
def test_a_read_that_nobody_waits_for_any_more_stops_waiting_for_the_index(
    database, process, script
):
    database().write(setting("sencha"))
    holder = process(script, "oolong")
    says(holder, "inside")
    stop = Stop()
    asking = threading.Timer(0.2, stop.ask)
    asking.start()
    token = CURRENT.set(stop)
    try:
        with pytest.raises(Stopped):
            database(patience=LONG).read(tea)
    finally:
        CURRENT.reset(token)
        asking.join()
    let_go(holder)
    assert database().read(tea) == ("oolong" if script is WRITER else "sencha")


def test_a_writer_that_gives_up_does_not_put_the_readers_beside_it_out(database, path, beside):
    index, read = database(warm=True, patience=0.1), Held()
    result = read.begun(beside, index)
    other = FileLock(path, patience=0.1)
    other.shut()
    try:
        for enter in (lambda: index.write(setting("sencha")), other.enter_to_write):
            with pytest.raises(IndexBusy):
                enter()
    finally:
        other.open()
        read.go.set()
    assert result.result(LONG) is None


SPILLING = """
import sys
from pathlib import Path
from qmd.storage.database import Database

def work(cursor):
    print("inside", flush=True)
    sys.stdin.readline()
    rows = "select repeat('x', 100) || range as t from range(1_500_000) order by t"
    query = f"select count(*) from ({rows} limit 1_499_999)"
    print(cursor.connection.execute(query).fetchall()[0][0], flush=True)

database = Database(Path(sys.argv[1]), memory_limit="60MB")
database.read(work)
database.close()
"""


def test_two_processes_that_need_more_than_their_memory_do_not_bring_each_other_down(
    database, process, path
):
    database().write(setting("sencha"))
    both = [process(SPILLING), process(SPILLING)]
    for each in both:
        says(each, "inside")
    for each in both:
        let_go(each)
    for each in both:
        says(each, "1499999")
        assert each.wait(LONG) == 0
    assert [file.name for file in path.parent.iterdir() if "spill" in file.name] == []
