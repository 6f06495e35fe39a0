"""One index file, shared with every other process that uses it."""

from __future__ import annotations

import select
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

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
        made.append(Database(place, patience=options.pop("patience", LONG), **options))
        return made[-1]

    yield make
    for each in made:
        each.close()


@pytest.fixture
def process(path):
    """Starts a process that says when it is inside, and ends when it is let go."""
    started = []

    def start(script, *arguments):
        started.append(
            subprocess.Popen(
                [sys.executable, "-c", script, str(path), *arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        )
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
    assert process.stdout.readline() == f"{word}\n"


def let_go(process):
    process.stdin.write("\n")
    process.stdin.flush()


def tea(cursor):
    rows = cursor.run("store/setting", name="tea")
    return rows[0][0] if rows else None


def setting(value):
    def work(cursor):
        cursor.run("store/forget_setting", name="tea")
        cursor.run("store/set_setting", name="tea", value=value)

    return work


class Held:
    """Work that stays inside until it is let go."""

    def __init__(self, work=tea):
        self.inside, self.go = threading.Event(), threading.Event()
        self._work = work

    def __call__(self, cursor):
        found = self._work(cursor)
        self.inside.set()
        assert self.go.wait(LONG)
        return found


def wait_until(fact):
    """Look until it is so."""
    slowly = threading.Event()
    for _ in range(LONG * 200):
        if fact():
            return
        slowly.wait(0.005)
    raise AssertionError("this never came about")


def test_the_first_use_makes_the_index_and_its_folder(tmp_path, database):
    place = tmp_path / "deep" / "it's" / "index.duckdb"
    assert database(place).read(tea) is None
    assert place.exists()


def test_what_was_written_is_read_by_whoever_comes_next(database):
    database().write(setting("sencha"))
    assert database().read(tea) == "sencha"
    assert database(warm=True).read(tea) == "sencha"


@pytest.mark.parametrize("warm", [False, True])
def test_two_databases_in_one_process_see_what_the_other_wrote(database, warm):
    first, second = database(warm=warm), database(warm=warm)
    for number in range(5):
        first.write(setting(f"first {number}"))
        assert second.read(tea) == f"first {number}"
        second.write(setting(f"second {number}"))
        assert first.read(tea) == f"second {number}"


def test_work_that_fails_changes_nothing_and_the_next_goes_on(database):
    index = database(warm=True)
    index.write(setting("sencha"))

    def fail(cursor):
        setting("oolong")(cursor)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        index.write(fail)
    assert index.read(tea) == "sencha"
    index.write(setting("pu-erh"))
    assert index.read(tea) == "pu-erh"


def test_many_threads_read_whole_states_while_one_writes(database, beside):
    index = database(warm=True)

    def both(value):
        def work(cursor):
            for name in ("left", "right"):
                cursor.run("store/forget_setting", name=name)
                cursor.run("store/set_setting", name=name, value=value)

        return work

    index.write(both("0"))
    over = threading.Event()

    def look():
        seen = 0
        while not over.is_set():
            [[left], [right]] = index.read(
                lambda cursor: (
                    [*cursor.run("store/setting", name="left")]
                    + [*cursor.run("store/setting", name="right")]
                )
            )
            assert left == right
            assert int(left) >= seen
            seen = int(left)
        return seen

    readers = [beside(look) for _ in range(8)]
    for number in range(1, 11):
        index.write(both(str(number)))
    over.set()
    assert all(reader.result(LONG) <= 10 for reader in readers)


def test_reads_of_one_process_run_beside_each_other(database, beside):
    index = database(warm=True)
    reads = [Held(), Held(), Held()]
    results = [beside(index.read, read) for read in reads]
    for read in reads:
        assert read.inside.wait(LONG)
    for read in reads:
        read.go.set()
    assert [result.result(LONG) for result in results] == [None] * 3


def test_a_write_waits_for_the_reads_of_its_own_process(database, beside):
    index, read = database(warm=True), Held()
    index.write(setting("sencha"))
    result = beside(index.read, read)
    assert read.inside.wait(LONG)
    written = beside(index.write, setting("oolong"))
    wait_until(Gate(index.path).is_shut)
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
    says(writer, "done")
    assert index.read(tea) == "sencha"


def test_a_writer_of_another_process_gets_in_before_reads_that_come_later(
    database, process, beside
):
    index, first = database(warm=True), Held()
    early = beside(index.read, first)
    assert first.inside.wait(LONG)
    writer = process(WRITER, "sencha")
    let_go(writer)
    wait_until(Gate(index.path).is_shut)
    late = [beside(index.read, tea) for _ in range(4)]
    first.go.set()
    says(writer, "inside")
    says(writer, "done")
    assert early.result(LONG) is None
    assert [each.result(LONG) for each in late] == ["sencha"] * 4


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
    tables = warm.read(lambda cursor: cursor.run("store/tables"))
    assert ("cups",) not in tables


def test_who_waits_too_long_is_told_which_process_holds_the_index(database, process):
    database().write(setting("sencha"))
    writer = process(WRITER, "oolong")
    says(writer, "inside")
    hasty = database(patience=0.2)
    for use in (lambda: hasty.read(tea), lambda: hasty.write(setting("pu-erh"))):
        with pytest.raises(IndexBusy, match=f"held by process {writer.pid} for 0 seconds"):
            use()
    let_go(writer)
    says(writer, "done")
    assert hasty.read(tea) == "oolong"


def test_a_program_that_knows_no_gate_is_waited_for_and_named(database, process):
    database().write(setting("sencha"))
    stranger = process(STRANGER)
    says(stranger, "inside")
    hasty = database(patience=0.2)
    for use in (lambda: hasty.read(tea), lambda: hasty.write(setting("oolong"))):
        with pytest.raises(IndexBusy, match=rf"held by process {stranger.pid} \(.*python"):
            use()
    let_go(stranger)
    assert database().read(tea) == "sencha"


def test_a_writer_that_gives_up_does_not_put_the_readers_beside_it_out(database, path, beside):
    index, read = database(warm=True, patience=0.1), Held()
    result = beside(index.read, read)
    assert read.inside.wait(LONG)
    other = Gate(path, patience=0.1)
    other.shut()
    with pytest.raises(IndexBusy):
        index.write(setting("sencha"))
    with pytest.raises(IndexBusy):
        other.enter_to_write()
    other.open()
    read.go.set()
    assert result.result(LONG) is None


@pytest.mark.parametrize("warm", [False, True])
@pytest.mark.parametrize("aside", [False, True])
def test_an_index_that_was_replaced_is_noticed(tmp_path, path, database, warm, aside):
    index, other = database(warm=warm), database(tmp_path / "other.duckdb")
    index.write(setting("sencha"))
    assert index.read(tea) == "sencha"
    other.write(setting("oolong"))
    other.close()
    if aside:
        path.rename(tmp_path / "old.duckdb")
    other.path.rename(path)
    assert index.read(tea) == "oolong"
    index.write(setting("pu-erh"))
    assert database().read(tea) == "pu-erh"


@pytest.mark.parametrize("warm", [False, True])
@pytest.mark.parametrize("pattern", ["index.duckdb", "index.duckdb*"])
def test_an_index_that_was_deleted_is_made_anew(path, database, warm, pattern):
    index = database(warm=warm)
    index.write(setting("sencha"))
    assert index.read(tea) == "sencha"
    for file in path.parent.glob(pattern):
        file.unlink()
    assert index.read(tea) is None
    index.write(setting("oolong"))
    assert index.read(tea) == "oolong"
    assert database().read(tea) == "oolong"


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
    result = beside(index.read, read)
    assert read.inside.wait(LONG)
    closed = beside(index.close)
    assert not closed.done()
    read.go.set()
    closed.result(LONG)
    assert result.result(LONG) is None
    index.write(setting("sencha"))
    assert index.read(tea) == "sencha"
