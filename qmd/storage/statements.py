"""SQL statements by name: `sql/<subject>/<name>.sql` is "subject/name".

Parts of a statement are optional: the lines from `-- if $name` to `-- end` are included only when
that parameter is given. DuckDB plans a statement on each run, and planning takes as long for parts
without effect as for others.

A number that several statements share stands here, once, and they name it: `@k1`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TypeVar

from qmd.patterns import pattern

Value = TypeVar("Value")

TITLE, PATH = 4.0, 1.5
"""Weights of a word in the title and in the path, beside 1 in the body. Postings in memory keep
frequencies doubled, as whole numbers, so these are multiples of one half.
Measured: docs/relevance.md."""

K1, B = 1.5, 0.75
"""Saturation and length normalization of BM25. Measured: docs/relevance.md."""

UNITS = 2.0**35
"""Units of a BM25 score of 1. What a term adds is a whole number of them, so that sums are exact in
any order: up to 2**53 units, a score of 262,144. A query of 5,000 times the same letter, which one
of a million documents has, reaches 167,500."""

LINK_LIST = 50
"""Percent of a text in lists of links from which on the document is a list of links."""

INLINE = 4096
"""Bytes of the longest text that DuckDB stores in the block of its row. Source: DuckDB 1.5.5,
`StringUncompressed::GetStringBlockLimit`."""

_NUMBERS = {
    "title": f"{TITLE}::double",
    "path": f"{PATH}::double",
    "k1": f"{K1}::double",
    "b": f"{B}::double",
    "units": f"{UNITS}::double",
    "link_list": str(LINK_LIST),
    "inline": str(INLINE),
}
"""Numbers that statements name, as SQL."""

_NUMBER = pattern(r"@([a-z]\w*)")

_PART = pattern(r"^ *-- if \$(\w+)\n(.*?)^ *-- end\n", re.M | re.S)
_HEADER = pattern(r"\A(--.*\n)*")
_PARAMETER = pattern(r"\$([a-z]\w*)")
_PACKAGE = Path(__file__).resolve().parent.parent


@cache
def data_folder(folder: str) -> Path:
    """Find `sql` or `migrations`: inside the installed package, or beside `qmd/` in a checkout."""
    inside = _PACKAGE / folder
    return inside if inside.is_dir() else _PACKAGE.parent / folder


@cache
def statement(name: str) -> str:
    """Return the text of a statement, with the numbers that it names.

    Raises:
        FileNotFoundError: no statement has this name.
        KeyError: it names a number that is not declared.
    """
    text = (data_folder("sql") / f"{name}.sql").read_text(encoding="utf-8")
    return _NUMBER.sub(lambda found: _NUMBERS[found[1]], text) if "@" in text else text


@cache
def without_header(name: str) -> str:
    """Return the text of a statement without its header."""
    return _HEADER.sub("", statement(name))


def filled(name: str, **values: Path | str | int | None) -> str:
    """Substitute values in a statement.

    One like ATTACH takes no parameters; and by a parameter, DuckDB 1 skips no row groups.

    Args:
        values: by parameter; others stay parameters.
    """
    text, taken = given(name, values)
    texts = {key: literal(value) for key, value in taken.items()}
    # All at once: a path may have the name of another value in it.
    return _PARAMETER.sub(lambda found: texts.get(found[1], found[0]), text)


def literal(value: object) -> str:
    """Write a value as an SQL literal: a number, or the string of anything else."""
    if value is None:
        return "null"
    return str(value) if isinstance(value, int) else "'" + str(value).replace("'", "''") + "'"


def given(name: str, parameters: Mapping[str, Value]) -> tuple[str, Mapping[str, Value]]:
    """Return a statement without the parts of absent parameters, and the parameters left."""
    optional = _optional(name)
    if not optional:
        return without_header(name), parameters
    without = frozenset(each for each in optional if parameters[each] is None)
    text, taken = _shortened(name, without)
    return text, {key: value for key, value in parameters.items() if key in taken}


@cache
def _optional(name: str) -> frozenset[str]:
    """Find the parameters with optional parts in a statement."""
    text = statement(name)
    parts = _PART.findall(text) if "-- if $" in text else ()
    return frozenset(parameter for parameter, _ in parts)


@cache
def _shortened(name: str, without: frozenset[str]) -> tuple[str, frozenset[str]]:
    """Remove the parts of some parameters; return the text and the remaining parameters."""
    text = _PART.sub(lambda part: "" if part[1] in without else part[2], without_header(name))
    return text, frozenset(_PARAMETER.findall(text))
