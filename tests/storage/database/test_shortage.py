"""An index for which there is not enough memory: it is told as such, and is used again later."""

from __future__ import annotations

import threading

import _duckdb
import pytest

from qmd.errors import NotEnoughMemory
from qmd.errors.shortage import causes, shortage_of
from qmd.storage import attachment
from qmd.storage.attachment import LARGE_MERGE, MANY, Attachment
from tests.storage.database.uses import setting, tea


def failing(error):
    def work(*_, **__):
        raise error

    return work


@pytest.mark.parametrize(
    "error",
    [
        _duckdb.OutOfMemoryException("Out of Memory Error: Allocation failure"),
        _duckdb.FatalException(
            "FATAL Error: Failed: database has been invalidated.\nOriginal error: bad allocation"
        ),
        _duckdb.TransactionException("Failed to commit: Failed to allocate block of 262144 bytes"),
        _duckdb.IOException('Extension "fts" could not be loaded: failed to map segment from x'),
    ],
)
def test_an_index_is_not_called_damaged_for_want_of_memory(database, error):
    used = database()
    used.write(setting("green"))
    for use in (used.read, used.write):
        with pytest.raises(NotEnoughMemory) as raised:
            use(failing(error))
        assert "The index stays whole." in str(raised.value)
        assert "Move this file away" not in str(raised.value)
        assert raised.value.exit_code == 1
    assert used.read(tea) == "green"


def test_an_engine_that_is_out_of_memory_lets_go_of_the_index(database, monkeypatch):
    reader, writer = database(), database()
    reader.write(setting("green"))
    with monkeypatch.context() as patch:
        patch.setattr(Attachment, "detach", failing(_duckdb.OutOfMemoryException("no memory")))
        assert reader.read(tea) == "green"
    writer.write(setting("black"))
    assert reader.read(tea) == "black"


def test_an_index_is_closed_whose_thread_could_not_be_started(database, monkeypatch):
    used = database(warm=True)
    used.write(setting("green"))
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", failing(RuntimeError("can't start new thread")))
        with pytest.raises(RuntimeError):
            used.read(tea)
    used.close()
    assert used.read(tea) == "green"


def test_an_error_that_has_led_to_itself_is_looked_at_once():
    error, other = MemoryError(), ValueError()
    error.__cause__, other.__context__ = other, error
    looked_at = []
    for each in causes(other):
        looked_at.append(each)
        assert len(looked_at) <= 2
    assert looked_at == [other, error]


@pytest.mark.parametrize(
    "error",
    [
        _duckdb.InvalidInputException("Invalid Input Error: bad_alloc"),
        RuntimeError("The model was trained with bad data."),
        ModuleNotFoundError("No module named 'bad_alloc'"),
        PermissionError(13, "Permission denied"),
    ],
)
def test_other_errors_are_no_shortage(error):
    assert shortage_of(error) is None


def test_each_of_many_writes_returns_the_memory_that_duckdb_keeps(database, monkeypatch):
    def limit(cursor):
        return cursor.connection.execute("select current_setting('memory_limit')").fetchall()

    used, said, filled = database(), [], attachment.filled
    used.write(setting("green"), writing=MANY)
    before = used.read(limit)
    monkeypatch.setattr(
        attachment, "filled", lambda name, **values: said.append(name) or filled(name, **values)
    )
    used.write(setting("black"))
    assert said.count("store/limit_memory") == 0
    for color, writing in (("red", MANY), ("white", LARGE_MERGE)):
        said.clear()
        used.write(setting(color), writing=writing)
        assert said.count("store/limit_memory") >= 1
        assert used.read(limit) == before
    assert used.read(tea) == "white"
