"""Connection that runs statements by name and returns rows as dataclasses."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

import _duckdb

from qmd.storage.prepared import PreparedStatements
from qmd.storage.stand_ins import HiddenModules, stood_in
from qmd.storage.statements import given, statement

if TYPE_CHECKING:
    from qmd.storage.file_version import Version
    from qmd.storage.saved_facts import SavedFacts

# `import duckdb` reads package metadata and costs as much again as the engine itself, or more;
# the wheel's native module is nearly all that is needed (`load_arrow`).
Connection = _duckdb.DuckDBPyConnection
DatabaseError = _duckdb.Error
NoSuchTable = _duckdb.CatalogException

Config = Mapping[str, str | bool | int | float | list[str]]
NO_CONFIG: Config = MappingProxyType({})

Row = TypeVar("Row")
Key = TypeVar("Key", bound=Hashable)
T = TypeVar("T")
Scalar = str | int | float | bool | None
Value = Scalar | list[int] | list[float] | list[bool]


def connected(config: Config = NO_CONFIG) -> Connection:
    """Open an in-memory DuckDB of its own.

    In a process that runs no script, such as `python -c` or a notebook, the Python package has it
    draw a bar on stdout when a statement takes long. This one does not.
    """
    HiddenModules.install()
    connection = _duckdb.connect(":memory:", config=dict(config))
    with stood_in():
        connection.execute(statement("store/draw_nothing"), {"drawn": "false"})
    return connection


class ResultCache:
    """Cache of read results, by kind and key."""

    def __init__(self) -> None:
        self._known: dict[str, dict[Any, Any]] = {}
        self._sizes: dict[str, int] = {}

    def of(self, kind: str) -> Mapping[Any, Any]:
        """Return the cached results of a kind."""
        return self._known.get(kind, {})

    def add(self, kind: str, found: Mapping[Any, Any], size: int, *, most: int) -> None:
        """Cache some results; the kind starts afresh when it would exceed `most`."""
        if size > most:
            return
        before = self._sizes.get(kind, 0)
        if before + size > most:
            self._known[kind], before = {}, 0
        self._known.setdefault(kind, {}).update(found)
        self._sizes[kind] = before + size


class Memory(ResultCache):
    """Cache of read results for one state of the index.

    Attributes:
        version: of the file.
        of_texts: results that depend on a text alone, whose hash is their key; for all states of
            the file.
        stands_for_file: much of the file is held here now, and need not be held by DuckDB, too.
        sheds: callbacks that release memory of what is held, to be loaded again.
        held: objects loaded from the whole file, by kind; their modules know the types.
        missed: callback for a read that postings in memory would have answered; the second
            argument is whether it counts as a search.
        facts: saved beside the index, in a process that ends after one command.
        remembered: results of `Database.remembered`.
    """

    def __init__(
        self,
        version: Version | None = None,
        missed: Callable[[Cursor, bool], None] | None = None,
        of_texts: ResultCache | None = None,
    ) -> None:
        super().__init__()
        self.version = version
        self.of_texts = of_texts or ResultCache()
        self.stands_for_file = False
        self.sheds: list[Callable[[], None]] = []
        self.held: dict[str, object] = {}
        self.missed = missed
        self.facts: SavedFacts | None = None
        self.remembered: dict[Hashable, Any] = {}


class Cursor:
    """A connection to the index, for one thread.

    Attributes:
        memory: of reads, which all find the same as long as the index is attached; None for a
            writer, who may change what it has found.
    """

    def __init__(self, connection: Connection, memory: Memory | None = None) -> None:
        self.connection = connection
        self.memory = memory
        self._plans = PreparedStatements(connection)

    def each(
        self,
        kind: str,
        keys: Iterable[Key],
        work: Callable[[list[Key]], Mapping[Key, T]],
        *,
        most: int = 20_000,
        size: Callable[[T], int] = lambda _: 1,
        of_texts: bool = False,
    ) -> dict[Key, T]:
        """Return the result of `work` for each key; it runs for keys that are not cached.

        Args:
            kind: of keys: the same key may be known in several ways.
            most: that is remembered of this kind: the sizes of all answers together, which keys do
                not count for.
            size: of an answer. One that takes a hundredth of all is not remembered.
            of_texts: each key is the hash of a text, on which alone the answer depends.
        """
        asked = dict.fromkeys(keys)
        cache = self.memory and (self.memory.of_texts if of_texts else self.memory)
        known = cache.of(kind) if cache else {}
        found = {key: known[key] for key in asked if key in known}
        unknown = [key for key in asked if key not in found]
        if unknown:
            made = work(unknown)
            found.update(made)
            if cache:
                sizes = {key: size(value) for key, value in made.items()}
                worth = [key for key in sizes if 100 * sizes[key] <= most]
                total = sum(sizes[key] for key in worth)
                cache.add(kind, {key: made[key] for key in worth}, total, most=most)
        return found

    def fact(self, name: str, read: Callable[[], object], made: Callable[[Any], T]) -> T:
        """Return a fact about the whole index. See `SavedFacts.get`."""
        facts = self.memory.facts if self.memory else None
        return made(read()) if facts is None else facts.get(name, read, made)

    def run(self, name: str, /, **parameters: Value) -> list[tuple[Any, ...]]:
        """Run a statement and return its rows as tuples.

        A list is given as JSON: DuckDB takes a tenth of a millisecond for ten elements, each of
        which it wants to compare with one of pandas.
        """
        text, taken = given(name, parameters)
        return self.connection.execute(text, _plain(taken)).fetchall()

    def again(self, name: str, /, **parameters: Value) -> list[tuple[Any, ...]]:
        """Run a statement that is planned once, while the index stays attached.

        See `plans` for what it may look like. No parameter may decide which part of a table is
        read, other than by a join: a plan for any value reads all of it.
        """
        if self.memory is not None:
            found = self._plans.run(name, _plain(parameters))
            if found is not None:
                return found
        return self.run(name, **parameters)

    def get_ready(self, name: str, /, **parameters: Value) -> None:
        """Plan a statement before its first run.

        Only which parameters are given matters, and the limit.
        """
        self._plans.make(name, parameters)

    def forget_plans(self) -> None:
        """Discard all plans before the index is detached."""
        self._plans.forget()

    def rows(self, kind: type[Row], name: str, /, **parameters: Value) -> list[Row]:
        """Run a statement and return its rows as `kind`, whose fields are its columns in order."""
        return [kind(*row) for row in self.run(name, **parameters)]

    def one(self, name: str, /, **parameters: Value) -> Any:
        """Run a statement with one row of one column, and return that value."""
        return self.run(name, **parameters)[0][0]

    @contextmanager
    def staged(self, **relations: object) -> Iterator[None]:
        """Register relations by name.

        An Arrow table or a dictionary of numpy arrays can be read often, a `Relation` once.
        """
        from qmd.storage import arrow  # of no use where nothing is written

        for name, relation in relations.items():
            if isinstance(relation, arrow.Relation):
                arrow.load_streams()
                self.connection.register(name, relation.stream())
            else:
                arrow.load_arrow()
                self.connection.register(name, relation)
        try:
            yield
        finally:
            for name in relations:
                self.connection.unregister(name)


def _plain(parameters: Mapping[str, Value]) -> dict[str, Scalar]:
    return {
        key: as_json(value) if isinstance(value, list) else value
        for key, value in parameters.items()
    }


def as_json(value: object) -> str:
    """Serialize `value` for a parameter that a statement reads with from_json."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
