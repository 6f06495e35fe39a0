"""Resolved links of a large index, in a file beside it.

To find where links lead takes 3 µs of processor time for each link of the index, 3 s for a million
of them; a query that reads the stored rows takes a fiftieth. The first query over links makes the
file, and the first after a change of documents makes it again.

`index.duckdb.links` is a DuckDB file with the rows of the view `links`, and a stamp that says of
which state of the index they are. It is derived from the tables and may be deleted at any time.
"""

from __future__ import annotations

import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import _duckdb
import xxhash

from qmd.analytics.views import View, needed, views
from qmd.storage.attachment import BLOCK_SIZE
from qmd.storage.cursor import Cursor, DatabaseError
from qmd.storage.statements import filled

LINKS = "links"
"""Name of the view."""

WORTH = 1000
"""Documents from which on links are stored; those of fewer are resolved in a tenth of a second."""

ROW_GROUP_SIZE = 16_384
"""Rows. A group is held whole while it is written: the 122,880 of DuckDB take 80 MB."""

MEMORY, THREADS = 200_000_000, 2
"""Bytes of DuckDB's buffers, and threads, while links are resolved: enough for a million of them.
Without a limit, what is read of the index stays there."""


def links_path(index: Path) -> Path:
    """Return the path of the file with the resolved links of an index."""
    return index.with_name(f"{index.name}.links")


def attach_links(cursor: Cursor, view: View, *, index: Path, folder: Path, memory: int) -> bool:
    """Attach the resolved links of the index that is attached; they are made if necessary.

    Args:
        cursor: of a sandbox that has the views which `view` needs.
        view: `links`.
        index: path of the index.
        folder: for the new file, on the file system of the index; made, and removed again.
        memory: bytes that the query may use.

    Returns:
        False if the index is small, or if no file can be written beside it.

    Raises:
        DatabaseError: the links cannot be resolved.
    """
    [(documents, state)] = cursor.run("sandbox/links_state", rules=_rules())
    if documents < WORTH:
        return False
    path = links_path(index)
    if _attached(cursor, path, state):
        return True
    try:
        folder.mkdir(mode=0o700, parents=True)
        try:
            part = folder / path.name
            try:
                with _planned(cursor, min(MEMORY, memory), memory):
                    _write(cursor, view, part, state)
            except _duckdb.OutOfMemoryException:  # of many more links
                part.unlink(missing_ok=True)
                with _planned(cursor, memory, memory):
                    _write(cursor, view, part, state)
            part.chmod(0o600)
            part.replace(path)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    except OSError:  # a read-only folder; or, on Windows, another process reads the old file
        return False
    return _attached(cursor, path, state)


def _rules() -> str:
    """Return a digest of the statements that resolve links."""
    names = needed([LINKS])
    text = "".join(each.text for each in views() if each.name in names)
    return xxhash.xxh3_128_hexdigest(text.encode())


def _attached(cursor: Cursor, path: Path, state: str) -> bool:
    """Attach a file of resolved links; False if it is not there, or of another state."""
    try:
        if not stat.S_ISREG(path.lstat().st_mode):  # DuckDB would wait for the writer of a pipe
            return False
    except OSError:
        return False
    try:
        cursor.connection.execute(filled("sandbox/attach_links", path=path))
    except DatabaseError:
        return False  # another program made it, or it is damaged
    try:
        if cursor.run("sandbox/links_stamp") == [(state,)]:
            return True
    except DatabaseError:
        pass  # it is no file of links
    cursor.run("sandbox/detach_links")
    return False


@contextmanager
def _planned(cursor: Cursor, least: int, memory: int) -> Iterator[None]:
    """Run a statement with little memory and few threads, its joins as they are written.

    DuckDB takes the list of links of a document for one row. So it would hold all links in memory,
    to look up each document among them, instead of the other way round.

    Args:
        least: bytes that it may use.
        memory: bytes that others may use.
    """
    execute = cursor.connection.execute
    execute(filled("sandbox/bound_memory", most=f"{least}B"))
    execute(filled("sandbox/bound_threads", most=THREADS))
    cursor.run("sandbox/join_as_written")
    try:
        yield
    finally:
        cursor.run("sandbox/join_by_size")
        cursor.run("sandbox/free_threads")
        execute(filled("sandbox/bound_memory", most=f"{memory}B"))


def _write(cursor: Cursor, view: View, path: Path, state: str) -> None:
    """Resolve all links into a new file.

    Raises:
        OSError: the file cannot be written.
        DatabaseError: the links cannot be resolved.
    """
    attach = filled(
        "sandbox/attach_new_links",
        path=path,
        block_size=BLOCK_SIZE,
        row_group_size=ROW_GROUP_SIZE,
    )
    try:
        cursor.connection.execute(attach)
        try:
            cursor.connection.execute(view.table_in("qmd_links"))
            cursor.run("sandbox/stamp_links", state=state)
        finally:
            with suppress(_duckdb.IOException):  # of a full disk, which has been told
                cursor.run("sandbox/detach_links")
    except _duckdb.IOException as error:
        raise OSError(str(error)) from error
