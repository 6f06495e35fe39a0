"""Column batches passed to DuckDB through the Arrow C interface.

This replaces pyarrow, which takes longer to load than most updates take.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime_CAPI
from itertools import accumulate
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import _duckdb

from qmd.named_tuple import NamedTuple

if TYPE_CHECKING:
    import pyarrow as pa
    from _duckdb import DuckDBPyConnection as Connection

Buffer = bytes | memoryview | array  # type: ignore[type-arg]


IS_2 = hasattr(_duckdb, "_set_arrow_sources")
"""True on DuckDB 2, whose engine leaves Arrow to the Python package."""

READS_SOURCES = _duckdb.__version__ == "2.0.1"
"""True if the engine is known to read sources such as `_Capsule`, which is no public API."""

_CAPSULE = type(datetime_CAPI)


def load_arrow() -> None:
    """Make DuckDB read and return objects of Arrow.

    The engine of DuckDB 1 does so by itself. The Python package of DuckDB 2 takes three times as
    long to load as the engine.
    """
    if IS_2:
        import duckdb  # noqa: F401


def load_streams() -> None:
    """Make DuckDB read streams of Arrow's C interface, as `Relation.stream` gives them.

    Without the Python package of DuckDB 2, which takes as long to load as a small update does.
    """
    if not READS_SOURCES or "duckdb" in sys.modules:
        load_arrow()  # which waits for a thread that is loading it
    elif not _Sources.are_set:
        _duckdb._set_arrow_sources(_Sources)
        _Sources.are_set = True


class _Capsule:
    """A stream that DuckDB reads. Source of the protocol: `duckdb/_sources/arrow.py` of 2.0.1."""

    one_shot = schema_is_stable = True
    pull_under_gil = False

    def __init__(self, capsule: object) -> None:
        self._capsule = capsule

    def rows(self) -> None:
        """Return the number of rows, if it is known."""

    def accepts(self, _predicate: object) -> bool:
        """Check that the stream leaves rows out by a predicate: none does."""
        return False

    def stream(self, _columns: object, _filters: object) -> tuple[object, bool]:
        """Return the stream, and whether it has just the columns that were asked for."""
        return self._capsule, False


class _Nodes:
    """Nodes of predicates, which `_Capsule.accepts` does not look at."""

    def __getattr__(self, _kind: str) -> Callable[..., None]:
        return lambda *_: None


class _Sources:
    """Stand-in for `duckdb._sources`, which DuckDB 2 asks for the source of an object.

    Attributes:
        are_set: the engine asks here, or did before that.
    """

    are_set = False
    nodes = _Nodes()

    @staticmethod
    def adapt(given: object) -> object:
        """Return the source of an object; of others than streams, that of the Python package."""
        if type(given) is _CAPSULE:
            return _Capsule(given)
        import duckdb

        _duckdb._set_arrow_sources(duckdb._sources)
        return duckdb._sources.adapt(given)


def fetched(
    connection: Connection,
    text: str,
    parameters: Mapping[str, object],
    *,
    batch_rows: int = 100_000,
) -> pa.RecordBatchReader:
    """Run a query and return its rows as batches of Arrow.

    DuckDB 2 would copy the rows of `execute` once more, and warn of it. DuckDB 1 makes an object of
    each value of a relation with parameters: 81,000 vectors of 384 numbers took 14 times the
    processor time and 1.3 GB more memory, to which its limit does not apply.
    """
    load_arrow()
    given = dict(parameters)
    rows: Any = connection.sql(text, params=given) if IS_2 else connection.execute(text, given)
    reader: pa.RecordBatchReader = rows.to_arrow_reader(batch_rows)
    return reader


def values(connection: Connection, text: str) -> Iterator[tuple[memoryview, ...]]:
    """Run a query without parameters and yield its columns as bytes, up to a million rows at once.

    No object is made of a value, which takes three times as long. Texts and blobs of a column
    follow each other, as the numbers of lists do; none may be null. What is yielded is there until
    the next is asked for.
    """
    import nanoarrow

    load_arrow()
    rows: Any = connection.sql(text)
    # What fails here is an error of DuckDB; later, it would be one of nanoarrow.
    rows = rows.materialize() if IS_2 else rows.execute()
    for batch in nanoarrow.c_array_stream(rows.__arrow_c_stream__()):
        yield tuple(map(_content, batch.view().children))


def _content(column: Any) -> memoryview:
    values = column.child(0) if column.n_children else column  # of lists
    return memoryview(values.buffer(values.n_buffers - 1)).cast("B")


class Column(NamedTuple):
    """A column of a batch, as buffers of Arrow.

    Attributes:
        kind: of its values, as Arrow names it.
        buffers: as Arrow lays them out, the first says which values are there.
        parts: the columns that one of structs or lists is made of, by name.
    """

    kind: str
    rows: int
    buffers: tuple[Buffer | None, ...]
    parts: Mapping[str, Column] = MappingProxyType({})


class Relation:
    """A batch of rows in columns of equal length."""

    def __init__(self, **columns: Column) -> None:
        self._whole = struct(**columns)

    def stream(self) -> object:
        """Return the rows as a stream of Arrow's C interface, which DuckDB reads once."""
        import nanoarrow

        def schema(column: Column) -> Any:
            parts = {name: schema(part) for name, part in column.parts.items()}
            if column.kind == "struct":
                return nanoarrow.struct(parts)
            return getattr(nanoarrow, column.kind)(*parts.values())

        def made(column: Column) -> Any:
            return nanoarrow.c_array_from_buffers(
                schema(column),
                column.rows,
                column.buffers,
                children=[made(part) for part in column.parts.values()],
            )

        return nanoarrow.c_array_stream(made(self._whole)).__arrow_c_stream__()


_CODES = {"int64": "q", "uint64": "Q", "uint32": "I", "uint8": "B"}


def numbers(kind: str, values: Iterable[int] | memoryview) -> Column:
    """Make a column of numbers: `int64`, `uint64`, `uint32` or `uint8`."""
    held = values if isinstance(values, memoryview) else memoryview(array(_CODES[kind], values))
    return Column(kind, len(held), (None, held))


def texts(values: Sequence[str | bytes | None]) -> Column:
    """Make a column of strings, in UTF-8 where they are bytes; None is null."""
    encoded = [value.encode() if isinstance(value, str) else value or b"" for value in values]
    ends = array("q", accumulate(map(len, encoded), initial=0))
    there = _bits([value is not None for value in values]) if None in values else None
    return Column("large_string", len(encoded), (there, ends, b"".join(encoded)))


def blobs(values: Sequence[bytes]) -> Column:
    """Make a column of bytes."""
    ends = array("q", accumulate(map(len, values), initial=0))
    return Column("large_binary", len(values), (None, ends, b"".join(values)))


def lists(ends: memoryview, values: Column) -> Column:
    """Make a column of lists.

    Args:
        ends: int32, where each begins in `values`, and where the last one ends.
    """
    return Column("list_", len(ends) - 1, (None, ends), {"item": values})


def struct(**parts: Column) -> Column:
    """Make a column of structs."""
    return Column("struct", min((part.rows for part in parts.values()), default=0), (None,), parts)


def _bits(flags: Sequence[bool]) -> bytes:
    """Pack flags into bits, the first one lowest."""
    number = int("".join("01"[flag] for flag in reversed(flags)), 2)
    return number.to_bytes(-(-len(flags) // 8), "little")
