"""An index file whose maker was killed before its headers were whole: it is made anew."""

from __future__ import annotations

import pytest

from qmd.errors import IndexUnreadable
from qmd.storage.cursor import connected
from qmd.storage.database import Database
from qmd.storage.extent import HEADERS


@pytest.fixture
def headers(tmp_path):
    """What DuckDB writes first, of which no prefix can be opened."""
    path = tmp_path / "new.duckdb"
    connection = connected({})
    connection.execute(f"attach '{path}' as made")
    connection.close()
    assert path.stat().st_size == HEADERS
    return path.read_bytes()


@pytest.mark.parametrize("size", [0, 4096, 8192])
@pytest.mark.parametrize("use", ["read", "write"])
def test_an_index_that_was_killed_while_it_was_made_is_made_anew(tmp_path, headers, size, use):
    path, link = tmp_path / "index.duckdb", tmp_path / "link.duckdb"
    path.write_bytes(headers[:size])
    link.symlink_to(path)
    database = Database(link)
    assert getattr(database, use)(lambda cursor: cursor.one("documents/is_empty"))
    database.close()
    assert path.stat().st_size > HEADERS
    assert link.is_symlink()


@pytest.mark.parametrize("use", ["read", "write"])
@pytest.mark.parametrize("kept", [b"# Tea\n", b"x" * 8192, b"12345678DUC"])
def test_a_short_file_of_somebody_else_is_refused_and_stays(tmp_path, use, kept):
    path = tmp_path / "index.duckdb"
    path.write_bytes(kept)
    with pytest.raises(IndexUnreadable):
        getattr(Database(path), use)(lambda _: None)
    assert path.read_bytes() == kept


def test_a_short_file_with_a_log_beside_it_is_refused_and_stays(tmp_path, headers):
    path = tmp_path / "index.duckdb"
    path.write_bytes(headers[:4096])
    log = tmp_path / "index.duckdb.wal"
    log.write_bytes(b"changes")
    with pytest.raises(IndexUnreadable):
        Database(path).write(lambda _: None)
    assert (path.stat().st_size, log.read_bytes()) == (4096, b"changes")
