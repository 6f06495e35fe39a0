"""Writes that fail after DuckDB has put blocks into the file."""

from __future__ import annotations

import duckdb
import pytest

from qmd.storage.extent import cut_back, extent_of
from qmd.storage.file_version import wal_path
from tests.storage.database.uses import STRANGER, says, setting, tea

MANY = "create table many as select sha256(range::text) as text from range(400_000)"
"""A statement with more rows than there is room for."""


LIMITED = f"""
import resource, signal, sys
from pathlib import Path
from qmd.storage.database import Database

path, room = Path(sys.argv[1]), int(sys.argv[2])
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + room,) * 2)
try:
    Database(path).write(lambda cursor: cursor.connection.execute({MANY!r}))
except Exception as error:
    print(type(error).__name__, flush=True)
else:
    print("done", flush=True)
"""


@pytest.mark.parametrize("room", [0, 5_000_000])
def test_a_write_that_finds_no_room_gives_it_back(database, path, process, room):
    index = database()
    index.write(setting("sencha"))
    size = path.stat().st_size
    says(process(LIMITED, str(room)), "IndexNotWritable")
    assert path.stat().st_size == size
    assert index.read(tea) == "sencha"
    index.write(setting("oolong"))
    assert database().read(tea) == "oolong"


@pytest.fixture
def grown(path):
    """Makes a database file, and returns its extent of before it grew."""
    with duckdb.connect(path) as connection:
        connection.execute("create table few as select 1 as n")
    before = extent_of(path)
    with duckdb.connect(path) as connection:
        connection.execute(MANY)
    return before


def test_blocks_that_a_commit_refers_to_stay(path, grown):
    assert not cut_back(path, grown)
    with duckdb.connect(path, read_only=True) as connection:
        assert connection.execute("select count(*) from many").fetchone() == (400_000,)


def test_blocks_that_a_log_may_refer_to_stay(path, grown):
    wal_path(path).write_bytes(b"")
    now = extent_of(path)
    size = path.stat().st_size
    with path.open("ab") as file:
        file.write(bytes(5000))
    assert not cut_back(path, now)
    wal_path(path).unlink()
    assert cut_back(path, now)
    assert path.stat().st_size == size


def test_blocks_of_another_program_that_has_the_file_open_stay(path, grown, process):
    now = extent_of(path)
    with path.open("ab") as file:
        file.write(bytes(5000))
    size = path.stat().st_size
    says(process(STRANGER), "inside")
    assert not cut_back(path, now)
    assert path.stat().st_size == size
