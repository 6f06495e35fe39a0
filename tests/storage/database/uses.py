"""Uses of an index: reads and writes, and processes that hold it."""

from __future__ import annotations

import select
import threading
import time

from qmd.storage.file_lock import FileLock

LONG = 20
"""Seconds after which something that has to happen is taken for stuck."""

WRITER = """
import sys
from pathlib import Path
from qmd.storage.database import Database

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
    looks = (FileLock(index.path).is_shut() or time.sleep(0.005) for _ in range(LONG * 200))
    assert any(looks)
