"""Output formats: JSON, CSV, Markdown, XML and columns of text."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import TypeVar

from qmd.errors import UsageError
from qmd.patterns import pattern
from qmd.visible import MAX_SHOWN_LENGTH, shown
from qmd.wording import on_one_line


class Format(StrEnum):
    """The formats of results."""

    CLI = "cli"
    JSON = "json"
    CSV = "csv"
    MD = "md"
    XML = "xml"
    FILES = "files"


Kind = TypeVar("Kind", bound=StrEnum)


def format_of(kinds: type[Kind], name: str | None, flags: Mapping[str, bool]) -> Kind | None:
    """Choose the format by `--format` or one of its short forms; None without them.

    Args:
        flags: of each short form, whether it is given.

    Raises:
        UsageError: it is unknown, or several are meant.
    """
    wanted = {kinds(flag) for flag, given in flags.items() if given}
    if name is not None:
        if name not in list(kinds):
            valid = ", ".join(form.value for form in kinds)
            raise UsageError(f"Unknown format: {name}. Valid: {valid}.")
        wanted.add(kinds(name))
    if len(wanted) > 1:
        raise UsageError(f"Choose one format, not {' and '.join(sorted(wanted))}.")
    return wanted.pop() if wanted else None


def as_json(value: object) -> str:
    """`value` for programs."""
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"


def as_csv(
    header: Sequence[str], rows: Iterable[Sequence[object]], *, raw_csv: bool = False
) -> str:
    """Write rows as CSV. See `csv_lines`."""
    return "".join(csv_lines(header, rows, raw_csv=raw_csv))


def csv_lines(
    header: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    numeric: Sequence[bool] | None = None,
    raw_csv: bool = False,
) -> Iterator[str]:
    """Write rows by RFC 4180, each with a line feed at its end.

    Args:
        numeric: of each column, whether its values are numbers, also those that are strings.
        raw_csv: write text cells as they are, not by `defused`.
    """
    import csv

    lines = _CsvLines()
    writer = csv.writer(lines)
    kept = numeric or [False] * len(header)

    def cells(row: Sequence[object]) -> Sequence[object]:
        if raw_csv:
            return row
        return [
            defused(value) if isinstance(value, str) and not number else value
            for value, number in zip(row, kept, strict=True)
        ]

    writer.writerow(header if raw_csv else [defused(name) for name in header])
    yield lines.pop()
    for row in rows:
        writer.writerow(cells(row))
        yield lines.pop()


_FORMULA = frozenset("=+-@\N{MINUS SIGN}")
"""Characters that begin a formula. Source: OWASP, "CSV Injection", which adds full-width forms."""

_NUMBER = pattern(r"[+-](?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
"""Number with a sign, which a spreadsheet reads as its value."""


def defused(text: str) -> str:
    """Put an apostrophe before a text that a spreadsheet would take for a formula.

    Spreadsheets skip blank and invisible characters at the start, and some read full-width and
    small forms as the ASCII characters. A tab, a line break or another control character at the
    start may end the cell before. A number stays as it is.
    """
    if not text or text[0].isalnum() or _NUMBER.fullmatch(text):
        return text
    first = next((mark for mark in text if mark.isprintable() and not mark.isspace()), "")
    begins = unicodedata.normalize("NFKC", first)[:1] in _FORMULA
    return f"'{text}" if begins or text[0] < " " else text


class _CsvLines(list[str]):
    """Lines that a CSV writer has written, each with a line feed at its end.

    The writer ends lines with CR LF: before Python 3.13 it quotes a value with a carriage return
    only then.
    """

    def write(self, text: str) -> None:
        """Take one line of the writer."""
        self.append(text.removesuffix("\r\n") + "\n")


def csv_row(fields: Sequence[str], *, always_quoted: set[int], raw_csv: bool) -> str:
    """Write one line of RFC 4180 in which some fields are quoted whether they need it or not."""
    cells = fields if raw_csv else [defused(text) for text in fields]
    return (
        ",".join(
            '"' + text.replace('"', '""') + '"'
            if at in always_quoted or any(mark in text for mark in ',"')
            else text
            for at, text in enumerate(cells)
        )
        + "\n"
    )


def joined_lines(text: str) -> str:
    """Join the lines of a text."""
    return " ".join(text.splitlines())


def markdown_block(title: str, file: str, docid: str, context: str | None, text: str) -> str:
    """Write a document or a result as a block of Markdown."""
    lines = [
        "---",
        f"# {joined_lines(title)}",
        f"**file:** `{on_one_line(file)}`",
        f"**docid:** `{docid}`",
    ]
    if context:
        lines.append(f"**context:** `{joined_lines(context)}`")
    return "\n".join([*lines, "", text.rstrip("\n"), ""])


def with_numbers(text: str, first: int = 1) -> str:
    """Put its number before each line."""
    lines = text.split("\n")
    last = lines.pop() if lines[-1] == "" and len(lines) > 1 else None
    numbered = [f"{first + at}: {line}" for at, line in enumerate(lines)]
    return "\n".join(numbered) + ("\n" if last is not None else "")


def as_xml(files: Iterable[tuple[Mapping[str, str | None], str]]) -> str:
    """One well-formed document; characters that XML has no place for become U+FFFD."""
    from xml.sax.saxutils import escape, quoteattr

    forbidden = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

    def clean(text: str) -> str:
        return forbidden.sub("\ufffd", text)

    lines = [
        "<file"
        + "".join(f" {key}={quoteattr(clean(value))}" for key, value in facts.items() if value)
        + f">{escape(clean(text))}</file>"
        for facts, text in files
    ]
    if not lines:
        return "<results></results>\n"
    return "\n".join(["<results>", *lines, "</results>"]) + "\n"


def table(rows: Sequence[Sequence[str]], *, right: frozenset[int] = frozenset()) -> str:
    """Rows in columns, each in one line; some columns aligned to the right."""
    if not rows:
        return ""
    columns = (
        _column(cells, right=at in right) for at, cells in enumerate(zip(*rows, strict=True))
    )
    return "".join("  ".join(row).rstrip() + "\n" for row in zip(*columns, strict=True))


def _column(cells: Sequence[str], *, right: bool) -> list[str]:
    """Write the cells of a column on one line each, as wide as the widest of them."""
    text = "".join(cells)
    if text.isascii() and text.isprintable() and max(map(len, cells)) <= MAX_SHOWN_LENGTH:
        width = max(map(len, cells))  # nothing to escape or to shorten, as in most columns
        return [cell.rjust(width) if right else cell.ljust(width) for cell in cells]
    from qmd.text.display_width import columns_of, padded

    written = [shown(cell) for cell in cells]
    width = max(map(columns_of, written))
    return [padded(cell, width, right=right) for cell in written]
