"""Answers of SQL as text and as files: for people, for pipes, for programs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import IO, TYPE_CHECKING

from qmd.errors import SqlError
from qmd.surfaces.formats import csv_lines
from qmd.text.display_width import columns_of, cut_to, padded
from qmd.visible import one_line

if TYPE_CHECKING:
    from qmd.analytics.query_result import Answer


class TableFormat(StrEnum):
    """The formats of query results."""

    TABLE = "table"
    JSON = "json"
    JSONL = "jsonl"
    CSV = "csv"
    MD = "md"
    PARQUET = "parquet"
    ARROW = "arrow"

    @property
    def is_binary(self) -> bool:
        """True if a terminal cannot show the format."""
        return self in (TableFormat.PARQUET, TableFormat.ARROW)


SUFFIXES = {
    ".json": TableFormat.JSON,
    ".jsonl": TableFormat.JSONL,
    ".ndjson": TableFormat.JSONL,
    ".csv": TableFormat.CSV,
    ".md": TableFormat.MD,
    ".parquet": TableFormat.PARQUET,
    ".arrow": TableFormat.ARROW,
    ".feather": TableFormat.ARROW,
    ".txt": TableFormat.TABLE,
    "": TableFormat.TABLE,
}
"""Formats that the ending of a file's name tells."""

NULL = "NULL"

NARROWEST = 6
"""Columns of a terminal that a column of a table has at least."""

_NUMBERS = re.compile(
    r"U?(TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT)|FLOAT|DOUBLE|DECIMAL\(.*\)", re.I
)
_NO_NUMBER = re.compile(r"\b(NaN|Infinity)\b")


def written(
    answer: Answer,
    form: TableFormat,
    *,
    limit: int | None = None,
    width: int | None = None,
    raw_csv: bool = False,
) -> Iterator[str]:
    """Write a result, piece by piece.

    Args:
        limit: rows at most.
        width: columns of the terminal; None: it is none, and nothing is cut off.
        raw_csv: write cells of CSV as they are, also those that a spreadsheet would run.
    """
    match form:
        case TableFormat.JSON:
            return _array(answer, limit)
        case TableFormat.JSONL:
            return (f"{each}\n" for each in _objects(answer, limit))
        case TableFormat.CSV:
            return _csv(answer, limit, raw_csv)
        case TableFormat.MD:
            return _markdown(answer, limit)
        case TableFormat.TABLE if _is_plan(answer):
            return (f"{plan}\n" for _, plan in answer.texts(limit))
        case TableFormat.TABLE:
            return _table(answer, limit, width)
        case _:
            raise ValueError(f"{form} is no text")


def _is_plan(answer: Answer) -> bool:
    """Return whether a result is that of EXPLAIN, which is a drawing."""
    return [heading.name for heading in answer.headings] == ["explain_key", "explain_value"]


# -- for people ----------------------------------------------------------------------


def numeric(answer: Answer) -> list[bool]:
    """Tell of each column whether its values are numbers."""
    return [_NUMBERS.fullmatch(heading.kind) is not None for heading in answer.headings]


def _table(answer: Answer, limit: int | None, width: int | None) -> Iterator[str]:
    names = [_shown(heading.name) for heading in answer.headings]
    right = numeric(answer)
    widths = [columns_of(name) for name in names]
    for row in answer.texts(limit):
        for at, value in enumerate(row):
            widths[at] = max(widths[at], columns_of(_shown(value)))
    if width is not None:
        widths = _narrowed(widths, width)

    def line(values: Sequence[str]) -> str:
        cells = zip(values, widths, right, strict=True)
        return "  ".join(_cell(*each) for each in cells).rstrip() + "\n"

    yield line(names)
    yield "  ".join("─" * each for each in widths) + "\n"
    for row in answer.texts(limit):
        yield line([_shown(value) for value in row])


def _shown(value: str | None) -> str:
    """Format a value in one line, without characters that act on a terminal."""
    return NULL if value is None else one_line(value)


def _cell(text: str, width: int, right: bool) -> str:
    return padded(cut_to(text, width), width, right=right)


def _narrowed(widths: Sequence[int], width: int) -> list[int]:
    """Widths that fit a terminal as far as that is possible: the widest give way."""
    left = width - 2 * (len(widths) - 1)
    if sum(widths) <= left:
        return list(widths)
    bound, most = NARROWEST, max(widths)
    while bound < most:  # the largest bound that fits
        middle = (bound + most + 1) // 2
        if sum(min(each, middle) for each in widths) <= left:
            bound = middle
        else:
            most = middle - 1
    return [min(each, bound) for each in widths]


def _markdown(answer: Answer, limit: int | None) -> Iterator[str]:
    def line(values: Sequence[str]) -> str:
        return "| " + " | ".join(values) + " |\n"

    yield line([_in_markdown(heading.name) for heading in answer.headings])
    yield line(["--:" if each else "---" for each in numeric(answer)])
    for row in answer.texts(limit):
        yield line(["" if value is None else _in_markdown(value) for value in row])


def _in_markdown(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("|", "\\|")
    return escaped.replace("\r\n", "\n").replace("\n", "<br>")


# -- for programs --------------------------------------------------------------------


def _csv(answer: Answer, limit: int | None, raw_csv: bool) -> Iterator[str]:
    names = [heading.name for heading in answer.headings]
    return csv_lines(names, answer.texts(limit), numeric=numeric(answer), raw_csv=raw_csv)


def _array(answer: Answer, limit: int | None) -> Iterator[str]:
    before = "[\n  "
    for each in _objects(answer, limit):
        yield before + each
        before = ",\n  "
    yield "[]\n" if before.startswith("[") else "\n]\n"


def _objects(answer: Answer, limit: int | None) -> Iterator[str]:
    names = [json.dumps(heading.name, ensure_ascii=False) for heading in answer.headings]
    for row in answer.json(limit):
        values = zip(names, map(_value, row), strict=True)
        yield "{" + ", ".join(f"{name}: {value}" for name, value in values) + "}"


def _value(text: str | None) -> str:
    """Convert a value to JSON, which has no NaN and no infinity."""
    if text is None:
        return "null"
    if not _NO_NUMBER.search(text):
        return text
    return json.dumps(json.loads(text, parse_constant=lambda _: None), ensure_ascii=False)


def write_binary(
    answer: Answer, form: TableFormat, file: IO[bytes], limit: int | None, *, whole: bool
) -> None:
    """Write Parquet or Arrow.

    Args:
        whole: Arrow as a file that can be read anywhere, not as a stream.
    """
    import pyarrow as pa

    batches = answer.batches(limit)
    try:
        if form is TableFormat.PARQUET:
            from pyarrow import parquet

            with parquet.ParquetWriter(file, batches.schema) as writer:
                for batch in batches:
                    writer.write_batch(batch)
            return
        make = pa.ipc.new_file if whole else pa.ipc.new_stream
        with make(file, batches.schema) as sink:
            for batch in batches:
                sink.write_batch(batch)
    except pa.ArrowException as error:
        if isinstance(error, OSError):
            raise
        raise SqlError(
            f"{form.capitalize()} cannot hold this answer: {error}\n\n"
            "Cast the column to text in the query: column::text."
        ) from error
