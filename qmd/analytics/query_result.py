"""What a query of a person gave, for as long as its sandbox is there."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, NamedTuple

from qmd.errors import SqlError
from qmd.storage.cursor import Connection, Cursor
from qmd.storage.statements import statement

if TYPE_CHECKING:
    import pyarrow as pa

AT_ONCE = 1000
"""Rows that are fetched together."""


_STRANGE = re.compile(r"\b(UHUGEINT|VARIANT)\b")
"""Types that only DuckDB has: as Arrow, numbers of the one would be negative."""


_QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'")
"""Names and values within a type."""


class Heading(NamedTuple):
    """A column of an answer, with its type as DuckDB names it."""

    name: str
    kind: str


class Answer:
    """Rows, kept in the sandbox of their query until that is closed.

    Args:
        cursor: of the sandbox.
        enough: raises what it encloses in words if there is not enough memory for it.
        done: closes the sandbox.

    Attributes:
        headings: the columns.
        count: of rows.
        notices: what the person should know of the searches.
    """

    def __init__(
        self,
        cursor: Cursor,
        *,
        enough: Callable[[], AbstractContextManager[None]],
        done: Callable[[], None],
    ) -> None:
        self._connection = cursor.connection
        self._enough = enough
        self._done = done
        self.count: int = cursor.one("sandbox/count")
        described = self._all(0).description or []
        self.headings = tuple(Heading(name, str(kind)) for name, kind, *_ in described)
        self.notices: tuple[str, ...] = ()

    def texts(self, limit: int | None = None) -> Iterator[tuple[str | None, ...]]:
        """Rows as DuckDB writes values; None is null."""
        return self._rows("sandbox/texts", limit)

    def json(self, limit: int | None = None) -> Iterator[tuple[str | None, ...]]:
        """Rows of values in JSON, as `to_json` of DuckDB writes it; None is null."""
        return self._rows("sandbox/json", limit)

    def _rows(self, name: str, limit: int | None) -> Iterator[tuple[str | None, ...]]:
        left = self.count if limit is None else min(limit, self.count)
        with self._enough():
            rows = self._connection.execute(statement(name))
        while left > 0:
            with self._enough():
                some = rows.fetchmany(min(left, AT_ONCE))
            yield from some
            left -= AT_ONCE

    def batches(self, limit: int | None = None) -> pa.RecordBatchReader:
        """Rows as Arrow batches.

        Raises:
            SqlError: Arrow has no type for one of the columns.
        """
        self._check_for_arrow()
        return self._all(limit).to_arrow_reader(100 * AT_ONCE)

    def table(self) -> pa.Table:
        """All rows as an Arrow table. See `batches`."""
        self._check_for_arrow()
        return self._all(None).to_arrow_table()

    def _check_for_arrow(self) -> None:
        for name, kind in self.headings:
            if found := _STRANGE.search(_QUOTED.sub("", kind)):
                raise SqlError(
                    f"Arrow has no type for the {found[0]} of column {name}.\n\n"
                    "Cast the column to text in the query: column::text."
                )

    def _all(self, limit: int | None) -> Connection:
        return self._connection.execute(statement("sandbox/rows"), {"limit": limit})

    def close(self) -> None:
        """Throw it away with its sandbox."""
        self._done()
