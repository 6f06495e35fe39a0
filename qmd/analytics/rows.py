"""Result rows: lists for Python, Arrow and Polars tables on demand."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from pathlib import Path
from types import MappingProxyType, NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Any,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    overload,
)

from qmd.errors import UsageError

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa

    from qmd.ranking.excerpts import Excerpt
    from qmd.types import Result

Row = TypeVar("Row", covariant=True)

SHOWN, WIDE, NARROW = 20, 80, 32
"""Rows of a displayed table, and characters of a cell in a notebook and at a prompt."""

HIDDEN = frozenset({"uri"})
"""Columns that are not displayed."""


class Tabular(Sequence[Row]):
    """Rows with conversion to tables.

    They implement the Arrow C stream interface, so that DuckDB, pandas and pyarrow accept them
    directly (`duckdb.sql("from hits")`, `pyarrow.table(hits)`).
    """

    @abstractmethod
    def arrow(self) -> pa.Table:
        """Convert the rows to an Arrow table."""

    def polars(self) -> pl.DataFrame:
        """Convert the rows to a Polars data frame.

        Raises:
            UsageError: Polars is not installed.
        """
        try:
            import polars
        except ImportError as error:
            from qmd.errors import extras

            raise UsageError(
                "Polars is not installed.\n\n"
                f"Install it with: {extras.command('polars')}, or use .arrow()."
            ) from error
        frame = polars.from_arrow(self.arrow())
        assert isinstance(frame, polars.DataFrame)
        return frame

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.arrow().__arrow_c_stream__(requested_schema)

    @property
    @abstractmethod
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""

    @abstractmethod
    def _cells(self, count: int) -> list[Sequence[object]]:
        """Return the values of the first rows."""

    def _shown(self, width: int) -> list[list[str]]:
        """Format the first rows as text below their names, without empty columns."""
        rows = self._cells(SHOWN)
        shown = [
            [name, *(_text(value, width) for value in values)]
            for name, values in zip(self.columns, zip(*rows, strict=True), strict=bool(rows))
            if name not in HIDDEN and any(value is not None for value in values)
        ] or [[name] for name in self.columns]
        return [list(row) for row in zip(*shown, strict=True)]

    def _rest(self) -> list[str]:
        return [f"… {len(self) - SHOWN} more"] if len(self) > SHOWN else []

    def __repr__(self) -> str:
        from qmd.text.display_width import columns_of, padded

        rows = self._shown(NARROW)
        widths = [max(map(columns_of, column)) for column in zip(*rows, strict=True)]
        lines = ["  ".join(map(padded, row, widths)).rstrip() for row in rows]
        count = "1 row" if len(self) == 1 else f"{len(self)} rows"
        return "\n".join([f"<{type(self).__name__}: {count}>", *lines, *self._rest()])

    def _repr_html_(self) -> str:
        from html import escape

        head, *rows = [[escape(cell) for cell in row] for row in self._shown(WIDE)]
        lines = [
            "<table>",
            "<thead><tr>" + "".join(f"<th>{cell}</th>" for cell in head) + "</tr></thead>",
            "<tbody>",
            *("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows),
            "</tbody>",
            "</table>",
            *(f"<p>{text}</p>" for text in self._rest()),
        ]
        return "\n".join(lines)


class Rows(Tabular[Row]):
    """Rows of one type, whose fields are the columns.

    Args:
        kind: a dataclass or a named tuple.
    """

    def __init__(self, kind: type[Row], rows: Iterable[Row]) -> None:
        self._kind = kind
        self._rows = tuple(rows)

    @overload
    def __getitem__(self, at: int) -> Row: ...
    @overload
    def __getitem__(self, at: slice) -> Rows[Row]: ...
    def __getitem__(self, at: int | slice) -> Row | Rows[Row]:
        return Rows(self._kind, self._rows[at]) if isinstance(at, slice) else self._rows[at]

    def __len__(self) -> int:
        return len(self._rows)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Rows) and (self._kind, self._rows) == (other._kind, other._rows)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return _names(self._kind)

    def arrow(self) -> pa.Table:
        """Convert the rows to an Arrow table. Values without an Arrow type become JSON."""
        import pyarrow as pa

        kinds = _types(self._kind)
        columns = {
            name: pa.array([_plain(getattr(row, name), kind) for row in self._rows], kind)
            for name, kind in kinds.items()
        }
        return pa.table(columns)

    def _cells(self, count: int) -> list[Sequence[object]]:
        names = self.columns
        return [[getattr(row, name) for name in names] for row in self._rows[:count]]


CONTEXT_SHARE = 4
"""One part of so many of a budget that contexts may take."""


class Excerpts(Rows["Excerpt"]):
    """Passages for a question, document by document, the best first.

    Attributes:
        notice: something to know about them, such as that documents lack vectors; or None.
        left_out: further passages that found no room, the best first.
    """

    def __init__(
        self,
        question: str,
        found: Iterable[Excerpt],
        left_out: Sequence[Excerpt] = (),
        notice: str | None = None,
        *,
        most: int | None = None,
    ) -> None:
        from qmd.ranking.excerpts import Excerpt

        super().__init__(Excerpt, found)
        self.left_out = tuple(left_out)
        self.notice = notice
        self._question = question
        self._most = most

    @property
    def text(self) -> str:
        """All of it but the notice, as models read it, within the budget."""
        return self.told()

    def told(self, budget: str = "maxTokens") -> str:
        """Write the passages, and the places of those that are left out.

        Args:
            budget: name of the option that makes the answer longer.
        """
        from qmd.text.tokens import cut_to_tokens, estimated_tokens
        from qmd.wording import MOST_OF_VALUE, shortened

        if not self and not self.left_out:
            return f'No results found for "{shortened(self._question, MOST_OF_VALUE)}"'
        parts: list[str] = []
        described: set[str] = set()
        room = None if self._most is None else self._most // CONTEXT_SHARE
        for number, each in enumerate(self, 1):
            if each.context and each.context not in described:
                described.add(each.context)
                line = f"Context: {' '.join(each.context.split())}"
                if room is not None:
                    line = cut_to_tokens(line, room - 1)
                    room -= estimated_tokens(line) + 1
                parts += [line] if line else []
            parts.append(each.told(number))
        if self.left_out:
            room = None if self._most is None else self._most - estimated_tokens("\n".join(parts))
            parts.append(_remainder(self.left_out, budget, room))
        return "\n".join(parts)


def _remainder(left_out: Sequence[Excerpt], budget: str, room: int | None) -> str:
    """Name the passages that found no room, as many as there is room for, and how to get them."""
    from qmd.ranking import excerpts
    from qmd.text.tokens import estimated_tokens

    for count in range(min(excerpts.NAMED, len(left_out)), 0, -1):
        named = list(excerpts.places_of(left_out[:count]))
        rest = len(left_out) - len(named)
        more = f" and {rest} more" if rest else ""
        told = f"[Left out: {', '.join(named)}{more}; raise {budget}, or get one of them]"
        if room is None or estimated_tokens(told) < room:
            return told
    return f"[{len(left_out)} left out; raise {budget}]"


class Results(Rows["Result"]):
    """Results of a search, best first.

    Attributes:
        notice: something to know about them, such as that documents lack vectors; or None.
        words: of the index, that were looked for, each with the word of the query it answers.
        steering: words of the intent, which choose snippets as well.
        below: results that were left out for their scores.
        nearly: best of these scores; 0.0 without any.
        respelled: words of the query that no document has, each with those that were looked for
            in its place; the notice says so, too.
        missing_shards: numbers of the shards that did not answer, and whose documents are missing;
            the notice says so, too. Only with `allow_partial`.
        passages: of the results, within a budget of tokens; None: none was given.
    """

    missing_shards: tuple[int, ...] = ()
    passages: Excerpts | None = None

    def __init__(
        self,
        results: Iterable[Result],
        notice: str | None = None,
        *,
        words: Mapping[str, str] = MappingProxyType({}),
        steering: Mapping[str, str] = MappingProxyType({}),
        below: int = 0,
        nearly: float = 0.0,
        respelled: Mapping[str, Sequence[str]] = MappingProxyType({}),
    ) -> None:
        from qmd.types import Result

        super().__init__(Result, results)
        self.notice = notice
        self.words = words
        self.steering = steering
        self.below = below
        self.nearly = nearly
        self.respelled = respelled

    @property
    def about(self) -> dict[str, str]:
        """Words that snippets are chosen by."""
        return {**self.words, **self.steering}


class Table(Tabular[dict[str, Any]]):
    """Result of an SQL query, with dictionaries as rows."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    @overload
    def __getitem__(self, at: int) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, at: slice) -> Table: ...
    def __getitem__(self, at: int | slice) -> dict[str, Any] | Table:
        rows = range(len(self))[at]
        if isinstance(rows, range):
            import pyarrow as pa

            return Table(self._table.take(pa.array(rows, pa.int64())))
        row = self._table.slice(rows, 1)
        return {name: _values(row[name])[0] for name in self.columns}

    def __len__(self) -> int:
        return int(self._table.num_rows)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self._table.column_names)

    def arrow(self) -> pa.Table:
        """Convert the rows to an Arrow table."""
        return self._table

    def _cells(self, count: int) -> list[Sequence[object]]:
        columns = [_values(column) for column in self._table.slice(0, count).columns]
        return list(zip(*columns, strict=True))


def _values(column: pa.ChunkedArray) -> list[Any]:
    """Return the values of a column, as text where Python cannot represent a time."""
    try:
        return column.to_pylist()  # type: ignore[no-any-return]
    except (OverflowError, ValueError):
        return column.cast("string").to_pylist()  # type: ignore[no-any-return]


def _names(kind: type[Any]) -> tuple[str, ...]:
    """List the fields of a dataclass or a named tuple."""
    named: tuple[str, ...] | None = getattr(kind, "_fields", None)
    if named is None:
        import dataclasses

        named = tuple(field.name for field in dataclasses.fields(kind))
    return named


def _types(kind: type[Any]) -> dict[str, pa.DataType]:
    """List the fields with the types of their columns."""
    hints = get_type_hints(kind)
    return {name: _type_of(hints[name]) for name in _names(kind)}


def _type_of(hint: Any) -> pa.DataType:
    import pyarrow as pa

    if get_origin(hint) in (UnionType, Union):
        [hint] = [each for each in get_args(hint) if each is not NoneType]
    if get_origin(hint) in (tuple, list) and get_args(hint)[0] is str:
        return pa.list_(pa.string())
    known = {
        int: pa.int64(),
        float: pa.float64(),
        bool: pa.bool_(),
        date: pa.date32(),
        datetime: pa.timestamp("us"),
    }
    return known.get(hint, pa.string())


def _plain(value: object, kind: pa.DataType) -> object:
    """Convert a value for a column."""
    if kind != "string" or value is None or isinstance(value, str):
        return value
    return str(value) if isinstance(value, Path) else json.dumps(value, ensure_ascii=False)


def _text(value: object, width: int) -> str:
    """Format a value as a table cell."""
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.3f}"
    if isinstance(value, datetime):
        return value.isoformat(sep=" ")[:16]
    text = " ".join(str(value)[: 4 * width].split())
    return text if len(text) <= width else text[: width - 1] + "…"
