"""Result of a user's query, kept in its sandbox and read from another process."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol

from qmd.analytics.heading import Heading
from qmd.errors import SqlError
from qmd.errors.usage import MORE_MEMORY
from qmd.storage.arrow import fetched
from qmd.storage.cursor import Connection, Cursor
from qmd.storage.statements import statement

if TYPE_CHECKING:
    import pyarrow as pa

Row = tuple[str | None, ...]


class Source(Protocol):
    """Process that holds the rows of a result and sends them in pieces."""

    def pieces(self, *request: Any) -> Iterator[Any]:
        """Send the rows that a request asks for."""


PIECE_CHARACTERS = 1 << 18
"""Characters of rows that are sent together, more or less."""

FETCH_ROWS = 1000
"""Rows that are fetched together at most."""

BATCH_ROWS = 100 * FETCH_ROWS
"""Rows of an Arrow batch."""

_STRANGE = re.compile(r"\b(UHUGEINT|VARIANT)\b")
"""Types that only DuckDB has: as Arrow, numbers of one of them would be negative."""

_QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'")
"""Names and values within a type."""


class SandboxRows:
    """Rows in the sandbox of their query.

    Args:
        cursor: of the sandbox.
        told: context manager that translates errors.
        widest: characters that a row may have as text.

    Attributes:
        headings: the columns.
        count: of rows.
    """

    def __init__(
        self, cursor: Cursor, told: Callable[[], AbstractContextManager[None]], *, widest: int
    ) -> None:
        self._connection = cursor.connection
        self._told = told
        self._widest = widest
        self.count: int = cursor.one("sandbox/count")
        described = self._all(0).description or []
        self.headings = tuple(Heading(name, str(kind)) for name, kind, *_ in described)

    def pieces(self, name: str, limit: int | None) -> Iterator[list[Row]]:
        """Yield the rows by a named statement, grouped to pieces.

        Raises:
            SqlError: one of them is too wide.
        """
        left = self.count if limit is None else min(limit, self.count)
        with self._told():
            rows = self._connection.execute(statement(name))
        some = 1
        while left > 0:
            with self._told():
                piece = rows.fetchmany(min(left, some))
            sizes = [sum(len(value) for value in row if value is not None) for row in piece]
            if max(sizes) > self._widest:
                raise SqlError(
                    f"A row of the answer has {max(sizes):,} characters as text, which takes too "
                    "much memory to write.",
                    advice=MORE_MEMORY,
                )
            yield piece
            left -= some
            some = min(FETCH_ROWS, 4 * some, max(1, some * PIECE_CHARACTERS // (sum(sizes) + 1)))

    def write_arrow(self, limit: int | None, write: Callable[[bytes], None]) -> None:
        """Write the rows as a stream of Arrow.

        Raises:
            SqlError: Arrow has no type for one of the columns.
        """
        import pyarrow as pa

        for name, kind in self.headings:
            if found := _STRANGE.search(_QUOTED.sub("", kind)):
                raise SqlError(
                    f"Arrow has no type for the {found[0]} of column {name}.\n\n"
                    "Cast the column to text in the query: column::text."
                )
        with self._told():
            batches = fetched(
                self._connection,
                statement("sandbox/rows"),
                {"limit": limit},
                batch_rows=BATCH_ROWS,
            )
            with pa.ipc.new_stream(_Sink(write), batches.schema) as sink:
                for batch in batches:
                    sink.write_batch(batch)

    def _all(self, limit: int | None) -> Connection:
        return self._connection.execute(statement("sandbox/rows"), {"limit": limit})


class Answer:
    """Rows of a query, kept in its process until closed, with one reader at a time.

    Args:
        done: is given the process back.

    Attributes:
        headings: the columns.
        count: of rows.
        notices: what the user should know of the searches.
    """

    def __init__(
        self,
        worker: Source,
        headings: tuple[Heading, ...],
        count: int,
        done: Callable[[Any], None],
    ) -> None:
        self._worker = worker
        self._done = done
        self._closed = False
        self.headings = headings
        self.count = count
        self.notices: tuple[str, ...] = ()

    def texts(self, limit: int | None = None) -> Iterator[Row]:
        """Yield rows as DuckDB writes values; None is null."""
        return self._rows("sandbox/texts", limit)

    def json(self, limit: int | None = None) -> Iterator[Row]:
        """Yield rows of values in JSON, as DuckDB's `to_json` writes it; None is null."""
        return self._rows("sandbox/json", limit)

    def _rows(self, name: str, limit: int | None) -> Iterator[Row]:
        for piece in self._worker.pieces("rows", name, limit):
            yield from piece

    def batches(self, limit: int | None = None) -> pa.RecordBatchReader:
        """Yield rows as Arrow batches.

        Raises:
            SqlError: Arrow has no type for one of the columns.
        """
        return self._opened(self._worker.pieces("arrow", limit))

    def table(self) -> pa.Table:
        """Return all rows as an Arrow table. See `batches`."""
        pieces = self._worker.pieces("arrow", None)
        table = self._opened(pieces).read_all()
        for _ in pieces:  # to the end, so that the process is free for the next query
            pass
        return table

    def _opened(self, pieces: Iterator[bytes]) -> pa.RecordBatchReader:
        import pyarrow as pa

        return pa.ipc.open_stream(_Source(pieces))

    def close(self) -> None:
        """Discard the result."""
        if not self._closed:
            self._closed = True
            self._done(self._worker)


class _Sink:
    """Writable file that passes on the bytes written."""

    closed = False

    def __init__(self, write: Callable[[bytes], None]) -> None:
        self._write = write

    def write(self, data: bytes) -> int:
        self._write(bytes(data))
        return len(data)

    def flush(self) -> None:
        """See `io.IOBase`."""

    def close(self) -> None:
        """See `io.IOBase`."""


class _Source:
    """Readable file over the pieces that arrive."""

    closed = False

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._left = b""

    def read(self, size: int) -> bytes:
        parts = [self._left]
        have = len(self._left)
        while have < size and (piece := next(self._pieces, None)) is not None:
            parts.append(piece)
            have += len(piece)
        found = b"".join(parts)
        self._left = found[size:]
        return found[:size]

    def close(self) -> None:
        """See `io.IOBase`."""
