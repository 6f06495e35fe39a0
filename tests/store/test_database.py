"""One index file, shared with every other process that uses it."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from subprocess import PIPE

import _duckdb
import pytest

from qmd.errors import IndexBusy, IndexUnreadable
from qmd.store.database import Database
from qmd.store.gate import Gate

LONG = 20
"""Seconds after which something that has to happen is taken for stuck."""

WRITER = """
import sys
from pathlib import Path
from qmd.store.database import Database

def work(cursor):
    cursor.run("store/forget_setting", name="tea")
    cursor.run("store/set_setting", name="tea", value=sys.argv[2])
    cursor.connection.execute("create table cups as select range as cup from range(200_000)")
    print("inside", flush=True)
    sys.stdin.readline()

Database(Path(sys.argv[1])).write(work)
print("done", flush=True)
"""

STRANGER = """
import sys, _duckdb
connection = _duckdb.connect(sys.argv[1])
print("inside", flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def path(tmp_path):
    return tmp_path / "index.duckdb"


@pytest.fixture
def database(path):
    """Makes databases on one index, as a command or, warm, as a server has them."""
    made = []

    def make(place=path, **options):
        made.append(Database(place, **{"patience": LONG, **options}))
        return made[-1]

    yield make
    for each in made:
        each.close()


@pytest.fixture
def process(path):
    """Starts a process that says when it is inside, and ends when it is let go."""
    started = []

    def start(script, *arguments):
        command = [sys.executable, "-c", script, path, *arguments]
        started.append(subprocess.Popen(command, bufsize=0, stdin=PIPE, stdout=PIPE))
        return started[-1]

    yield start
    for each in started:
        each.kill()
        each.communicate()


@pytest.fixture
def beside():
    """Runs functions in threads; all have to end with the test."""
    with ThreadPoolExecutor(12) as pool:
        yield pool.submit


def says(process, word):
    assert select.select([process.stdout], [], [], LONG)[0]
    assert process.stdout.readline().decode() == f"{word}\n"


def let_go(process):
    process.stdin.write(b"\n")


def tea(cursor, name="tea"):
    rows = cursor.run("store/setting", name=name)
    return rows[0][0] if rows else None


def setting(value, *names):
    def work(cursor):
        for name in names or ["tea"]:
            cursor.run("store/forget_setting", name=name)
            cursor.run("store/set_setting", name=name, value=value)

    return work


class Held:
    """A read that stays inside until it is let go."""

    def __init__(self):
        self.inside, self.go = threading.Event(), threading.Event()

    def __call__(self, cursor):
        found = tea(cursor)
        self.inside.set()
        assert self.go.wait(LONG)
        return found

    def begun(self, beside, database):
        result = beside(database.read, self)
        assert self.inside.wait(LONG)
        return result


def wait_for_writer(index):
    """Wait until a writer wants in."""
    looks = (Gate(index.path).is_shut() or time.sleep(0.005) for _ in range(LONG * 200))
    assert any(looks)


def test_the_first_use_makes_the_index_and_its_folder(tmp_path, database):
    place = tmp_path / "deep" / "it's" / "index.duckdb"
    assert database(place).read(tea) is None
    assert place.exists()


def test_an_index_may_lie_in_a_folder_of_any_name(tmp_path, database):
    path = tmp_path / "it's\n$path -- $row_group_size; x" / "index.duckdb"
    database(path).write(lambda cursor: cursor.run("store/set_setting", name="tea", value="green"))
    assert database(path).read(lambda cursor: cursor.one("store/setting", name="tea")) == "green"


@pytest.mark.parametrize("warm", [False, True])
def test_two_databases_in_one_process_see_what_the_other_wrote(database, warm):
    both = database(warm=warm), database(warm=warm)
    for number in range(8):
        both[number % 2].write(setting(f"{number}"))
        assert both[1 - number % 2].read(tea) == f"{number}"


def test_work_that_fails_changes_nothing_and_the_next_goes_on(database):
    index = database(warm=True)
    index.write(setting("sencha"))
    with pytest.raises(ZeroDivisionError):
        index.write(lambda cursor: (setting("oolong")(cursor), 1 / 0))
    assert index.read(tea) == "sencha"
    index.write(setting("pu-erh"))
    assert index.read(tea) == "pu-erh"


def test_many_threads_read_together_and_see_whole_states_while_one_writes(database, beside):
    index = database(warm=True)
    index.write(setting("0", "left", "right"))
    together = threading.Barrier(9)
    over = threading.Event()

    def look():
        seen = [index.read(lambda _: together.wait(LONG))]
        while not over.is_set():
            seen.append(index.read(lambda cursor: (tea(cursor, "left"), tea(cursor, "right"))))
        return seen[1:]

    readers = [beside(look) for _ in range(8)]
    together.wait(LONG)
    for number in range(1, 10):
        index.write(setting(str(number), "left", "right"))
    over.set()
    for reader in readers:
        seen = reader.result(LONG)
        assert all(left == right for left, right in seen)
        assert seen == sorted(seen)


def test_a_write_waits_for_the_reads_of_its_own_process(database, beside):
    index, read = database(warm=True), Held()
    index.write(setting("sencha"))
    result = read.begun(beside, index)
    written = beside(index.write, setting("oolong"))
    wait_for_writer(index)
    assert not written.done()
    read.go.set()
    assert result.result(LONG) == "sencha"
    written.result(LONG)
    assert index.read(tea) == "oolong"


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
        with pytest.raises(IndexBusy, match=f"held by process {holder.pid} .*for 0 seconds"):
            use()
    let_go(holder)
    assert database().read(tea) == ("oolong" if script is WRITER else "sencha")


def test_a_writer_that_gives_up_does_not_put_the_readers_beside_it_out(database, path, beside):
    index, read = database(warm=True, patience=0.1), Held()
    result = read.begun(beside, index)
    other = Gate(path, patience=0.1)
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
from qmd.store.database import Database

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


@pytest.mark.parametrize("warm", [False, True])
@pytest.mark.parametrize(
    "how",
    ["replaced", "moved and replaced", "replaced in place", "deleted", "deleted with locks"],
)
def test_an_index_that_was_replaced_or_deleted_is_noticed(tmp_path, path, database, warm, how):
    index, other = database(warm=warm), database(tmp_path / "other.duckdb")
    index.write(setting("sencha"))
    assert index.read(tea) == "sencha"
    if "replaced" in how:
        other.write(setting("oolong"))
        if "moved" in how:
            path.rename(tmp_path / "old.duckdb")
        if "in place" in how:
            subprocess.run(["cp", other.path, path], check=True, timeout=LONG)
        else:
            other.path.rename(path)
    else:
        for file in tmp_path.glob("index.duckdb*" if "locks" in how else "index.duckdb"):
            file.unlink()
    assert index.read(tea) == ("oolong" if "replaced" in how else None)
    index.write(setting("pu-erh"))
    assert database().read(tea) == "pu-erh"


def test_a_file_that_is_no_index_blocks_nobody_once_it_is_gone(path, database):
    path.write_bytes(b"tea\n" * 5000)
    index = database(warm=True, patience=0.2)
    for use in (lambda: index.read(tea), lambda: index.write(setting("sencha"))):
        with pytest.raises(IndexUnreadable):
            use()
    path.unlink()
    database(patience=0.2).write(setting("oolong"))
    assert index.read(tea) == "oolong"


def test_closing_waits_for_reads_and_the_next_use_opens_again(database, beside):
    index, read = database(warm=True), Held()
    result = read.begun(beside, index)
    closed = beside(index.close)
    assert not closed.done()
    read.go.set()
    closed.result(LONG)
    assert result.result(LONG) is None
    index.write(setting("sencha"))
    assert index.read(tea) == "sencha"


def test_closing_waits_for_a_write_and_the_next_use_opens_again(database, beside):
    index, inside, go = database(warm=True), threading.Event(), threading.Event()

    def work(cursor):
        setting("sencha")(cursor)
        inside.set()
        assert go.wait(LONG)

    result = beside(index.write, work)
    assert inside.wait(LONG)
    closed = beside(index.close)
    with pytest.raises(TimeoutError):
        closed.result(0.1)
    go.set()
    closed.result(LONG)
    result.result(LONG)
    assert index.read(tea) == "sencha"


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
    gate = Gate(index.path, patience=0.1)
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


def test_what_a_read_finds_is_not_remembered_of_a_file_that_took_the_place_of_its_own(tmp_path):
    database, other = Database(tmp_path / "index.duckdb"), Database(tmp_path / "other.duckdb")
    for each, value in ((database, "old"), (other, "new")):
        each.write(partial(_set, value=value))
        os.utime(each.path, (1, 1))

    def work(cursor):
        other.path.replace(database.path)
        return database.remembered("tea", _told, cursor=cursor)

    assert database.read(work) == "old"
    assert database.remembered("tea", _told) == "new"


def _set(cursor, value):
    cursor.run("store/set_setting", name="tea", value=value)


def _told(cursor):
    return cursor.one("store/setting", name="tea")


def test_whoever_has_been_interrupted_closes_without_waiting_for_a_use_that_never_ends(database):
    ours = database(warm=True)
    ours.write(lambda cursor: cursor.run("store/set_setting", name="tea", value="green"))
    used, over = threading.Event(), threading.Event()

    def use(cursor):
        used.set()
        over.wait(LONG)

    reader = threading.Thread(target=ours.read, args=(use,))
    reader.start()
    assert used.wait(LONG)
    ours.close(0.01)
    assert reader.is_alive()
    over.set()
    reader.join()
    ours.close()
    assert ours.read(lambda cursor: cursor.one("store/setting", name="tea")) == "green"
