"""What results can be written as, and values as JSON, CSV, XML and columns of text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import TypeVar

from qmd.errors import UsageError
from qmd.text.display_width import columns_of, padded
from qmd.visible import shown


class Format(StrEnum):
    """How results are written."""

    CLI = "cli"
    JSON = "json"
    CSV = "csv"
    MD = "md"
    XML = "xml"
    FILES = "files"


Kind = TypeVar("Kind", bound=StrEnum)


def chosen(kinds: type[Kind], name: str | None, flags: Mapping[str, bool]) -> Kind | None:
    """The format that `--format` or one of its short forms means; None: none is given.

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


def as_csv(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Rows by RFC 4180, with line feeds."""
    import csv

    lines = CsvLines()
    writer = csv.writer(lines)
    writer.writerow(header)
    writer.writerows(rows)
    return "".join(lines)


class CsvLines(list[str]):
    """Lines that a CSV writer has written, each with a line feed at its end.

    The writer ends lines with CR LF: before Python 3.13 it quotes a value with a carriage return
    only then.
    """

    def write(self, text: str) -> None:
        """Take one line of the writer."""
        self.append(text.removesuffix("\r\n") + "\n")


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
    rows = [[shown(text) for text in row] for row in rows]
    widths = [max(columns_of(row[at]) for row in rows) for at in range(len(rows[0]))]
    return "".join(
        "  ".join(
            padded(text, width, right=at in right)
            for at, (text, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        + "\n"
        for row in rows
    )
