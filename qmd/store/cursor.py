"""A connection that runs statements by name and gives rows as dataclasses."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
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
Key = TypeVar("Key", bound=Hashable)
Found = TypeVar("Found")
Value = str | int | float | bool | Sequence[int] | Sequence[float] | None


class Memory:
    """What was found in one state of the index, by what was asked."""

    LARGEST = 20_000
    """Answers that are kept; then it begins anew."""

    def __init__(self) -> None:
        self.known: dict[Hashable, Any] = {}

    def add(self, found: Mapping[Any, Any]) -> None:
        """Keep some answers."""
        if len(self.known) + len(found) > self.LARGEST:
            self.known = {}
        self.known.update(found)


class Cursor:
    """One thread's connection to the index.

    Attributes:
        memory: of reads, which all find the same as long as the index is attached; None for a
            writer, who may change what it has found.
    """

    def __init__(self, connection: Connection, memory: Memory | None = None) -> None:
        self.connection = connection
        self.memory = memory

    def each(
        self, kind: str, keys: Iterable[Key], work: Callable[[list[Key]], Mapping[Key, Found]]
    ) -> dict[Key, Found]:
        """What `work` finds for each of some keys; it is asked for those not known yet.

        Args:
            kind: of keys: the same key may be known in several ways.
        """
        known = self.memory.known if self.memory else {}
        found = {key: known[kind, key] for key in keys if (kind, key) in known}
        unknown = [key for key in dict.fromkeys(keys) if key not in found]
        if unknown:
            made = work(unknown)
            found.update(made)
            if self.memory:
                self.memory.add({(kind, key): value for key, value in made.items()})
        return found

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
