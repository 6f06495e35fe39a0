"""Tables as CSV and TSV: blocks of rows, each below the names of its columns."""

from __future__ import annotations

import csv
import io

from qmd.ingest.readers.reading import NamedPart, Reading, Unreadable
from qmd.ingest.readers.text import decoded_text

BLOCK = 40
"""Rows below one head: a passage of a large table has it too."""

LONGEST = 1 << 20
"""Characters of a cell."""

_SEPARATORS = ",;\t|"


def read(data: bytes, name: str) -> Reading:
    """Read a table."""
    text, remark = decoded_text(data)
    csv.field_size_limit(LONGEST)
    separator = "\t" if name.lower().endswith(".tsv") else _separator(text)
    try:
        rows = [
            row for row in csv.reader(io.StringIO(text, newline=""), delimiter=separator) if row
        ]
    except csv.Error as error:
        raise Unreadable(f"damaged table: {error}") from error
    if not rows:
        raise Unreadable("empty")
    head, *rest = [[_cell(cell) for cell in row] for row in rows]
    lines: list[str] = []
    places: list[NamedPart] = []
    for first in range(0, len(rest) or 1, BLOCK):
        block = rest[first : first + BLOCK]
        if lines:
            lines.append("")
        places.append(NamedPart("row", str(first + 1), len(lines) + 1))
        lines += [_line(head), _line(["---"] * len(head))]
        lines += [_line(row) for row in block]
    return Reading("\n".join(lines) + "\n", places=places, remark=remark)


def _separator(text: str) -> str:
    """Choose the separator that divides the first line into most parts."""
    first = text[: text.find("\n") if "\n" in text else len(text)]
    return max(_SEPARATORS, key=first.count)


def _cell(cell: str) -> str:
    return " ".join(cell.split()).replace("|", "\\|")


def _line(row: list[str]) -> str:
    return f"| {' | '.join(row)} |"
