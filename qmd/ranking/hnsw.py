"""HNSW index over the vectors of one model, in memory, for long-running processes.

The HNSW index covers a copy of one model's vectors, in a file beside the index. It is written once
and then only read: DuckDB's HNSW does not survive a killed writer, so the index itself has none.
The file may be deleted at any time. Candidates are compared again with the vectors of the index,
and newer vectors are compared in full: a neighbour can be missed, but none is invented.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from qmd.errors import IndexUnreadable, JobRunning, QmdError
from qmd.named_tuple import NamedTuple
from qmd.storage.arrow import fetched
from qmd.storage.attachment import check_files
from qmd.storage.cursor import Connection, Cursor, DatabaseError, connected
from qmd.storage.extensions import UNCHECKED, load
from qmd.storage.file_lock import errand
from qmd.storage.scratch import workplace
from qmd.storage.statements import filled, statement

if TYPE_CHECKING:
    import pyarrow as pa

    from qmd.storage.database import Database

_log = logging.getLogger("qmd.hnsw")
_log.addHandler(logging.NullHandler())  # a server may have a protocol on its streams

WORTH = 250_000
"""Vectors from which on the index pays. Measured: docs/models.md."""

OUTDATED = 0.1
"""Share of the vectors that may come or go before the index is rebuilt."""

BREADTH = 4
"""Candidates in the graph for each requested chunk."""

STEP = 20_000
"""Vectors that are copied at once."""


class Facts(NamedTuple):
    """State of the vectors that a copy was made of.

    Attributes:
        last: the highest chunk_id there was.
    """

    fingerprint: str
    last: int
    vectors: int


class Near(NamedTuple):
    """Result of a search in the graph.

    Attributes:
        last: the highest chunk_id that it knows.
    """

    chunk_ids: list[int]
    last: int


class Shortcut:
    """HNSW index of one model's vectors, if there is one.

    Args:
        index: the index file; the copy stands beside it.
    """

    def __init__(self, index: Path, fingerprint: str, dimensions: int) -> None:
        self._index = index
        self.path = index.with_name(f"{index.name}.hnsw")
        self._fingerprint = fingerprint
        self._dimensions = dimensions
        self._turn = threading.Lock()
        self._connection: Connection | None = None
        self._opened: int | None = None  # the copy's inode
        self._facts: Facts | None = None
        self._builder: threading.Thread | None = None
        self._building: Connection | None = None
        self._closed = self._failed = False

    def close(self) -> None:
        """Let go of the copy; one that is being made is given up."""
        self._closed = True
        while self._builder is not None and self._builder.is_alive():
            building = self._building
            if building is not None:
                with suppress(DatabaseError):  # it was closed just now
                    building.interrupt()
            self._builder.join(0.05)
        with self._turn:
            self._drop()

    def fits(self, count: int) -> bool:
        """Check that the copy is close enough to an index with so many vectors."""
        with self._turn:
            facts = self._current()
        return facts is not None and abs(facts.vectors - count) <= OUTDATED * count

    def nearest(self, vector: str, limit: int) -> Near | None:
        """Find the nearest vectors in the graph; None without a copy of this model.

        Args:
            vector: of length 1: '[0.1, …]'.
        """
        text = filled("shortcut/nearest", dimensions=self._dimensions, limit=limit)
        with self._turn:
            facts = self._current()
            if facts is None or self._connection is None:
                return None
            self._connection.execute(filled("shortcut/breadth", breadth=BREADTH * limit))
            rows = self._connection.execute(text, {"vector": vector}).fetchall()
        return Near([chunk_id for (chunk_id,) in rows], facts.last)

    def prepare(self, database: Database, model_id: int) -> None:
        """Rebuild the copy in a background thread; one at a time.

        After a failure no more: each search would pay for another. They do without the copy,
        and the log says why.
        """
        if not self._failed and (self._builder is None or not self._builder.is_alive()):
            self._builder = threading.Thread(
                target=self._build_in_background, args=(database, model_id), name="qmd-hnsw"
            )
            self._builder.start()

    def _build_in_background(self, database: Database, model_id: int) -> None:
        try:
            self.build(database, model_id)
        except JobRunning:
            return
        except (QmdError, DatabaseError, OSError) as error:
            if not self._closed:
                self._failed = True
                _log.warning("No HNSW copy of the vectors: %s", error)

    def build(self, database: Database, model_id: int) -> None:
        """Rebuild the copy. The old one serves until it is ready.

        Raises:
            JobRunning: another process is at it.
        """
        beside = self.path.with_name(f"{self.path.name}.new")
        with errand(self._index, "hnsw.lock"), workplace(beside) as folder:
            new = folder / self.path.name
            try:
                with closing(_connected()) as connection:
                    self._building = connection
                    self._fill(connection, new, partial(_part, model_id=model_id), database)
                if not self._closed:
                    new.replace(self.path)
            finally:
                self._building = None

    def _fill(
        self,
        connection: Connection,
        path: Path,
        part: Callable[..., pa.Table],
        database: Database,
    ) -> None:
        """Copy all vectors into a new file, and index them."""
        run = connection.execute
        run(statement("shortcut/persist"))
        run(filled("shortcut/attach_to_build", path=path))
        run(filled("shortcut/create", dimensions=self._dimensions))
        last = count = 0
        while not self._closed:
            some = database.read(partial(part, after=last))
            if not some.num_rows:
                break
            connection.register("fresh", some)
            run(statement("shortcut/fill"))
            connection.unregister("fresh")
            last = some["chunk_id"][-1].as_py()
            count += some.num_rows
        if not self._closed:
            run(statement("shortcut/index"))
            facts = {"fingerprint": self._fingerprint, "last": last, "vectors": count}
            run(statement("shortcut/create_facts"), facts)

    def _current(self) -> Facts | None:
        """Read the state of the current copy; None if there is none of this model."""
        try:
            inode = self.path.stat().st_ino
        except FileNotFoundError:
            self._drop()
            return None
        if inode != self._opened:
            self._drop()
            self._opened = inode
            try:
                self._open()
            except (DatabaseError, IndexUnreadable) as error:
                self._drop()
                self._opened = inode
                _log.warning("The HNSW copy %s cannot be used: %s", self.path, error)
        return self._facts

    def _open(self) -> None:
        check_files(self.path)
        self._connection = _connected()
        self._connection.execute(filled("shortcut/attach_to_read", path=self.path))
        facts = Facts(*self._connection.execute(statement("shortcut/facts")).fetchall()[0])
        if facts.fingerprint == self._fingerprint:
            self._facts = facts

    def _drop(self) -> None:
        self._facts = self._opened = None
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _part(cursor: Cursor, *, model_id: int, after: int) -> pa.Table:
    """Load vectors as an Arrow table: chunk_id, vector."""
    return fetched(
        cursor.connection,
        statement("embeddings/part"),
        {"model_id": model_id, "after": after, "limit": STEP},
    ).read_all()


def _connected() -> Connection:
    """Open an engine of its own with the extension loaded.

    Raises:
        ExtensionUnusable: the extension cannot be loaded, or is no longer installed.
    """
    connection = connected(UNCHECKED)
    load(connection, "vss")
    return connection
