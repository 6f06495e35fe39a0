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
    """What was found in one state of the index, by kind and by what was asked."""

    def __init__(self) -> None:
        self._known: dict[str, dict[Any, Any]] = {}

    def of(self, kind: str) -> Mapping[Any, Any]:
        """What is known of a kind."""
        return self._known.get(kind, {})

    def add(self, kind: str, found: Mapping[Any, Any], *, most: int) -> None:
        """Keep some answers; it begins anew where there would be more than `most`."""
        known = self._known.setdefault(kind, {})
        if len(known) + len(found) > most:
            known = self._known[kind] = {}
        known.update(found)


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
        self,
        kind: str,
        keys: Iterable[Key],
        work: Callable[[list[Key]], Mapping[Key, Found]],
        *,
        most: int = 20_000,
        kept: Callable[[Found], bool] = lambda _: True,
    ) -> dict[Key, Found]:
        """What `work` finds for each of some keys; it is asked for those not known yet.

        Args:
            kind: of keys: the same key may be known in several ways.
            most: answers of this kind that are remembered.
            kept: whether an answer is worth it.
        """
        asked = dict.fromkeys(keys)
        known = self.memory.of(kind) if self.memory else {}
        found = {key: known[key] for key in asked if key in known}
        unknown = [key for key in asked if key not in found]
        if unknown:
            made = work(unknown)
            found.update(made)
            if self.memory:
                worth = {key: value for key, value in made.items() if kept(value)}
                self.memory.add(kind, worth, most=most)
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
