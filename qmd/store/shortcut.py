"""A faster way to the nearest of very many vectors, for processes that stay.

An HNSW index of a copy of one model's vectors, in a file of its own beside the index. It is
written once and only read after: DuckDB's HNSW does not survive a writer that is killed, so that
there is none in the index itself. It may be deleted at any time. What it finds is compared
again with the vectors of the index, and what came after it was made is compared in full: it can
miss a neighbour, but never show what is not there.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import _duckdb

from qmd.errors import QmdError
from qmd.store.cursor import Connection, Cursor, DatabaseError
from qmd.store.statements import statement
from qmd.store.stemmer import extension

if TYPE_CHECKING:
    from qmd.store.database import Database

WORTH = 250_000
"""Vectors from which on it pays. Measured: docs/models.md."""

OUTDATED = 0.1
"""Share of the vectors that may have come or gone before it is made anew."""

BREADTH = 4
"""Candidates in the graph for each chunk that is wanted."""

STEP = 20_000
"""Vectors that are copied at once."""


class Facts(NamedTuple):
    """What a copy is of.

    Attributes:
        last: the highest chunk_id there was.
    """

    fingerprint: str
    last: int
    vectors: int


class Shortcut:
    """The HNSW index of one model's vectors, if there is one.

    Args:
        index: the index file; the copy stands beside it.
    """

    def __init__(self, index: Path, fingerprint: str, dimensions: int) -> None:
        self.path = index.with_name(f"{index.name}.hnsw")
        self._fingerprint = fingerprint
        self._dimensions = dimensions
        self._turn = threading.Lock()
        self._connection: Connection | None = None
        self._builder: threading.Thread | None = None
        self._building: Connection | None = None
        self._closed = False
        self._facts: Facts | None = None

    def close(self) -> None:
        """Let go of the copy; one that is being made is given up."""
        self._closed = True
        if self._builder is not None:
            while self._builder.is_alive():
                building = self._building
                if building is not None:
                    with suppress(DatabaseError):  # it was closed just now
                        building.interrupt()
                self._builder.join(0.05)
        with self._turn:
            self._drop()

    def facts(self) -> Facts | None:
        """What the copy is of; None if there is none of this model."""
        with self._turn:
            if self._connection is None and self.path.exists():
                with suppress(DatabaseError):
                    self._open()
            return self._facts

    def fits(self, count: int) -> bool:
        """Whether there is a copy that is near enough to an index of so many vectors."""
        facts = self.facts()
        return facts is not None and abs(facts.vectors - count) <= OUTDATED * count

    def nearest(self, vector: str, limit: int) -> list[int]:
        """chunk_id of the nearest, by the graph.

        Args:
            vector: of length 1: '[0.1, …]'.
        """
        text = statement("shortcut/nearest").replace("$dimensions", str(self._dimensions))
        with self._turn:
            assert self._connection is not None
            breadth = statement("shortcut/breadth").replace("$breadth", str(BREADTH * limit))
            self._connection.execute(breadth)
            rows = self._connection.execute(
                text.replace("$limit", str(limit)), {"vector": vector}
            ).fetchall()
        return [chunk_id for (chunk_id,) in rows]

    def prepare(self, database: Database, model_id: int) -> None:
        """Make the copy anew, in a thread of its own; one at a time."""
        if self._builder is None or not self._builder.is_alive():
            self._builder = threading.Thread(
                target=self._build_quietly, args=(database, model_id), name="qmd-shortcut"
            )
            self._builder.start()

    def _build_quietly(self, database: Database, model_id: int) -> None:
        with suppress(QmdError, DatabaseError, OSError):  # searches do without it
            self.build(database, model_id)

    def build(self, database: Database, model_id: int) -> None:
        """Make the copy anew. The old one serves until it is ready."""
        new = self.path.with_name(f"{self.path.name}.{os.getpid()}.new")
        try:
            with _engine() as connection:
                self._building = connection
                run = connection.execute
                run(statement("shortcut/persist"))
                run(_with_path("shortcut/attach_to_build", new))
                run(statement("shortcut/create").replace("$dimensions", str(self._dimensions)))
                last = count = 0
                while True:
                    work = partial(_part, model_id=model_id, after=last)
                    some = database.read(work)
                    if self._closed or not some.num_rows:
                        break
                    connection.register("fresh", some)
                    run(statement("shortcut/fill"))
                    connection.unregister("fresh")
                    last = some["chunk_id"][-1].as_py()
                    count += some.num_rows
                if self._closed:
                    return
                run(statement("shortcut/index"))
                run(
                    statement("shortcut/create_facts"),
                    {"fingerprint": self._fingerprint, "last": last, "vectors": count},
                )
            with self._turn:
                self._drop()
                new.replace(self.path)
        finally:
            self._building = None
            for rest in (new, Path(f"{new}.wal")):
                rest.unlink(missing_ok=True)

    def _open(self) -> None:
        self._connection = _connected()
        self._connection.execute(_with_path("shortcut/attach_to_read", self.path))
        facts = Facts(*self._connection.execute(statement("shortcut/facts")).fetchall()[0])
        if facts.fingerprint == self._fingerprint:
            self._facts = facts
        else:
            self._drop()

    def _drop(self) -> None:
        self._facts = None
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _part(cursor: Cursor, *, model_id: int, after: int) -> Any:
    """Some vectors as an Arrow table: chunk_id, vector."""
    return cursor.connection.execute(
        statement("embeddings/part"), {"model_id": model_id, "after": after, "limit": STEP}
    ).to_arrow_table()


@contextmanager
def _engine() -> Iterator[Connection]:
    connection = _connected()
    try:
        yield connection
    finally:
        connection.close()


def _connected() -> Connection:
    """An engine of its own with the extension loaded."""
    connection = _duckdb.connect(":memory:")
    connection.execute(_with_path("shortcut/load", extension("vss")))
    return connection


def _with_path(name: str, path: Path) -> str:
    quoted = str(path).replace("'", "''")
    return statement(name).replace("$path", f"'{quoted}'")
