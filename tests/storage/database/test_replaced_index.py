"""A file that took the place of an index, or that is none, is noticed."""

from __future__ import annotations

import os
import subprocess
from functools import partial

import pytest

from qmd.errors import IndexUnreadable
from qmd.storage.database import Database
from tests.storage.database.uses import LONG, setting, tea


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
