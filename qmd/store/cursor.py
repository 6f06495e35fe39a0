"""A connection that runs statements by name and gives rows as dataclasses."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import _duckdb

from qmd.store.statements import statement

# `import duckdb` reads package metadata and costs as much again as the engine itself;
# the wheel's native module is all that is needed, and its version is pinned.
Connection = _duckdb.DuckDBPyConnection
DatabaseError = _duckdb.Error
NoSuchTable = _duckdb.CatalogException

Row = TypeVar("Row")
Value = str | int | float | bool | None


class Cursor:
    """One thread's connection to the index."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection

    def run(self, name: str, /, **parameters: Value) -> list[tuple[Any, ...]]:
        """All rows of a statement as tuples.

        Statements are not prepared: DuckDB plans one with parameters anew each time, and
        one without keeps the filters that a join pushed into a scan for other rows (1.5.5).
        """
        return self.connection.execute(statement(name), parameters).fetchall()

    def rows(self, kind: type[Row], name: str, /, **parameters: Value) -> list[Row]:
        """All rows of a statement as `kind`, whose fields are its columns in order."""
        return [kind(*row) for row in self.run(name, **parameters)]

    def one(self, name: str, /, **parameters: Value) -> Any:
        """The only value of a statement that gives one row of one column."""
        return self.run(name, **parameters)[0][0]

    @contextmanager
    def staged(self, **relations: object) -> Iterator[None]:
        """Arrow tables, or dictionaries of numpy arrays, as relations by name."""
        for name, relation in relations.items():
            self.connection.register(name, relation)
        try:
            yield
        finally:
            for name in relations:
                self.connection.unregister(name)


def as_json(value: object) -> str:
    """`value` for a parameter that a statement reads with from_json."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
