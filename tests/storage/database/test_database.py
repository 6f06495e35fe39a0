"""One index file, shared by all that a process does with it."""

from __future__ import annotations

import subprocess
import sys
import threading
from functools import partial
from pathlib import Path

import _duckdb
import pytest

import qmd
from qmd.errors import IndexUnreadable
from qmd.storage.cursor import NoSuchTable
from qmd.storage.file_lock import FileLock, errand
from qmd.storage.migrations import migrate
from tests.storage.database.uses import LONG, Held, setting, tea, wait_for_writer


def watchers():
    return {each for each in threading.enumerate() if each.name == "qmd-index-watcher"}


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


def test_a_migration_that_cannot_even_be_undone_says_what_went_wrong_first(tmp_path):
    class Connection:
        def begin(self):
            pass

        def execute(self, text):
            raise _duckdb.IOException("no space left")

        def rollback(self):
            raise _duckdb.TransactionException("no transaction is active")

    class Cursor:
        connection = Connection()

        def rows(self, *_):
            raise NoSuchTable

        def run(self, *_, **__):
            return []

    with pytest.raises(_duckdb.IOException, match="no space left"):
        migrate(Cursor(), tmp_path / "index.duckdb")


def test_work_that_fails_changes_nothing_and_the_next_goes_on(database):
    index = database(warm=True)
    index.write(setting("sencha"))
    with pytest.raises(ZeroDivisionError):
        index.write(lambda cursor: (setting("oolong")(cursor), 1 / 0))
    assert index.read(tea) == "sencha"
    index.write(setting("pu-erh"))
    assert index.read(tea) == "pu-erh"


@pytest.mark.parametrize("rows", [1, 50_000])
def test_a_commit_is_in_the_file_itself_and_never_in_a_log_that_a_kill_cuts_off(
    path, database, monkeypatch, rows
):
    index = database()
    left = []

    def killed():
        left.append(sorted(each.name for each in path.parent.glob(f"{path.name}.wal*")))
        index._drop()

    def work(cursor):
        cursor.connection.execute(
            f"insert into words select 'w' || range, 0, 'w' || range, range from range({rows})"
        )

    index.write(lambda _: None)
    monkeypatch.setattr(index._attachment, "detach", killed)
    index.write(work)
    monkeypatch.undo()
    assert left == [[]]
    assert index.read(lambda cursor: cursor.one("words/count")) == rows


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


def test_a_read_that_comes_while_it_is_closed_lets_a_writer_in(database, path, beside):
    others = watchers()
    index = database(warm=True)
    assert index.read(tea) is None
    [watcher] = watchers() - others
    join = watcher.join

    def read_meanwhile():
        assert beside(index.read, tea).result(LONG) is None
        join()

    watcher.join = read_meanwhile
    index.close()
    writer = FileLock(path, patience=LONG)
    writer.shut()
    writer.enter_to_write()
    writer.open()
    index.close()
    assert watchers() == others


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
    room = FileLock(ours.path, patience=0)
    room.enter_to_write()  # nobody is in it
    room.open()
    ours.close()
    assert ours.read(lambda cursor: cursor.one("store/setting", name="tea")) == "green"


@pytest.mark.parametrize("text", [b"root:x:0:0:root:/root:/bin/bash\n" * 40, b"tea"])
def test_beside_a_file_that_is_no_index_nothing_is_made(database, path, text):
    path.write_bytes(text)
    for work in (
        partial(database().read, tea),
        partial(database().write, tea),
        errand(path, "embed").__enter__,
    ):
        with pytest.raises(IndexUnreadable, match="is not a valid DuckDB database file"):
            work()
    assert list(path.parent.iterdir()) == [path]
    assert path.read_bytes() == text


BARS = """
from qmd.storage.cursor import connected
engine = connected()
for each in (engine, engine.cursor()):
    print(each.execute("select current_setting('enable_progress_bar')").fetchone()[0])
"""


def test_where_there_is_no_script_nothing_is_drawn_on_stdout():
    done = subprocess.run([sys.executable, "-c", BARS], capture_output=True, text=True, check=True)
    assert done.stdout == "False\nFalse\n"
    connecting = {
        file.name
        for file in Path(qmd.__file__).parent.rglob("*.py")
        if "duckdb.connect(" in file.read_text(encoding="utf-8")
    }
    assert connecting == {"cursor.py"}


def test_ctrl_c_in_a_statement_interrupts_a_read_and_a_write(database, press_ctrl_c):
    index = database()
    index.write(setting("sencha"))

    def long_statement(cursor):
        threading.Timer(0.2, press_ctrl_c).start()
        cursor.connection.execute("select sum(hash(i)) from range(1_000_000_000_000) t(i)")

    for use in (index.read, index.write):
        with pytest.raises(KeyboardInterrupt):
            use(long_statement)
    assert index.read(tea) == "sencha"
