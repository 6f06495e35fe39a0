"""Page for SQL: a query, its rows as a table and as bars, and the views that it can read."""

from __future__ import annotations

import math
import tempfile
from functools import cache
from typing import IO, TYPE_CHECKING
from urllib.parse import urlencode

from starlette.datastructures import QueryParams

from qmd.analytics.sandbox import Limits
from qmd.analytics.views import Example, View, examples, views
from qmd.errors import QmdError
from qmd.named_tuple import NamedTuple
from qmd.operations.sql import run_sql
from qmd.surfaces.sql_tables import NULL, TableFormat, numeric, write_binary, written

if TYPE_CHECKING:
    from qmd.operations.index import Index
    from qmd.surfaces.tools.dispatch import Toolbox

LIMITS = Limits(8.0, "500MB", False)
"""Of a query: less than a command has, as a server answers others meanwhile."""

MOST_ROWS = 500
"""Rows that are shown; a file has all of them."""

MOST_CHARACTERS = 2000
"""Of a cell that is shown."""

MOST_BARS = 40

LONGEST = 100_000
"""Characters of a query; an address has fewer in any case."""

IN_MEMORY = 4_000_000
"""Bytes of a file to download, from which on it waits on the disk."""

FORMATS = (TableFormat.CSV, TableFormat.PARQUET, TableFormat.JSON)
"""Files to download."""


class AddressedQuery(NamedTuple):
    """A query as its address has it.

    Attributes:
        runs: whether it is to be answered; else it is only shown.
    """

    text: str = ""
    runs: bool = False

    @classmethod
    def read(cls, given: QueryParams, *, from_elsewhere: bool) -> AddressedQuery:
        """Read an address.

        Args:
            from_elsewhere: another site has led here, which must not make this one work.
        """
        text = given.get("query", "")[:LONGEST].replace("\r\n", "\n")
        return cls(text, bool(text.strip()) and given.get("run") == "1" and not from_elsewhere)

    def url(self, form: str = "") -> str:
        """Return the address of the page that shows the query, or of its rows in a file."""
        there = f"/sql/rows?{urlencode({'form': form})}&run=1&" if form else "/sql?"
        return there + urlencode({"query": self.text})


class Bar(NamedTuple):
    """A row as a bar.

    Attributes:
        percent: of the longest bar.
    """

    label: str
    value: str
    percent: float


class SqlAnswer(NamedTuple):
    """Rows of a query, as they are shown.

    Attributes:
        numeric: for each column, whether its values are numbers.
        total: of all rows.
    """

    names: tuple[str, ...]
    numeric: tuple[bool, ...]
    rows: list[tuple[str, ...]]
    total: int
    notices: tuple[str, ...]
    bars: list[Bar]


class SqlView(NamedTuple):
    """A query, with its answer or why there is none.

    Attributes:
        files: formats to download, with addresses.
    """

    asked: AddressedQuery
    views: tuple[View, ...]
    examples: list[tuple[Example, str]]
    limits: Limits
    files: list[tuple[str, str]]
    answer: SqlAnswer | None = None
    problem: str | None = None


async def sql_view(toolbox: Toolbox, asked: AddressedQuery) -> SqlView:
    """Answer a query for the page."""
    files = [(form.value, asked.url(form.value)) for form in FORMATS]
    view = SqlView(asked, views(), _examples(), LIMITS, files)
    if not asked.runs:
        return view
    try:
        return view._replace(answer=await toolbox.look(_answer, asked.text, asks_models=True))
    except QmdError as error:
        return view._replace(problem=error.told("tool"))


async def rows_file(toolbox: Toolbox, asked: AddressedQuery, form: TableFormat) -> IO[bytes]:
    """Write all rows of a query to a temporary file, which the caller closes.

    Raises:
        QmdError: the query cannot be answered, or not in this format.
    """
    file: IO[bytes] = await toolbox.look(_written, asked.text, form, asks_models=True)
    return file


def _written(index: Index, text: str, form: TableFormat) -> IO[bytes]:
    file = tempfile.SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115 - closed by who sends it
    try:
        answer = run_sql(index, text, (), LIMITS)
        try:
            if form.is_binary:
                write_binary(answer, form, file, None, whole=True)
            else:
                file.writelines(piece.encode() for piece in written(answer, form))
        finally:
            answer.close()
    except BaseException:
        file.close()
        raise
    file.seek(0)
    return file


def _answer(index: Index, text: str) -> SqlAnswer:
    answer = run_sql(index, text, (), LIMITS)
    try:
        numbers = tuple(numeric(answer))
        rows = list(answer.texts(MOST_ROWS))
        return SqlAnswer(
            tuple(heading.name for heading in answer.headings),
            numbers,
            [tuple(NULL if value is None else _cut(value) for value in row) for row in rows],
            answer.count,
            answer.notices,
            _bars(rows, numbers) if answer.count <= MOST_BARS else [],
        )
    finally:
        answer.close()


def _cut(text: str) -> str:
    return text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS]}…"


def _bars(rows: list[tuple[str | None, ...]], numbers: tuple[bool, ...]) -> list[Bar]:
    """Draw the first column of numbers by the first one of texts; none if that makes no sense."""
    if len(rows) < 2 or True not in numbers or False not in numbers:
        return []
    label, number = numbers.index(False), numbers.index(True)
    found = [(row[label] or NULL, row[number] or "0") for row in rows]
    values = [float(value) for _, value in found]
    if not all(math.isfinite(value) and value >= 0 for value in values) or not any(values):
        return []
    most = max(values)
    return [
        Bar(_cut(name), text, round(100 * value / most, 2))
        for (name, text), value in zip(found, values, strict=True)
    ]


@cache
def _examples() -> list[tuple[Example, str]]:
    return [(each, AddressedQuery(each.query.strip()).url()) for each in examples()]
