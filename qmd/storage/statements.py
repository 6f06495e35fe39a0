"""Statements by name: `sql/<subject>/<name>.sql` is "subject/name".

Parts of a statement can be left out: the lines from `-- if $name` to `-- end` belong to it only
when that parameter is given. DuckDB plans a statement each time it runs, and takes as long for
parts that do nothing as for those that do.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TypeVar

Value = TypeVar("Value")

_PART = re.compile(r"^ *-- if \$(\w+)\n(.*?)^ *-- end\n", re.M | re.S)
_HEADER = re.compile(r"\A(--.*\n)*")
_PARAMETER = re.compile(r"\$([a-z]\w*)")
_PACKAGE = Path(__file__).resolve().parent.parent


def shipped(folder: str) -> Path:
    """`sql` or `migrations`: inside the installed package, or beside `qmd/` in a checkout."""
    inside = _PACKAGE / folder
    return inside if inside.is_dir() else _PACKAGE.parent / folder


@cache
def statement(name: str) -> str:
    """The text of a statement.

    Raises:
        FileNotFoundError: there is none of this name.
    """
    return (shipped("sql") / f"{name}.sql").read_text(encoding="utf-8")


@cache
def bare(name: str) -> str:
    """The text of a statement without its header."""
    return _HEADER.sub("", statement(name))


def filled(name: str, **values: Path | str | int) -> str:
    """A statement with values in its text, for what takes no parameters, like ATTACH.

    Args:
        values: by parameter; others stay parameters.
    """
    texts = {key: literal(value) for key, value in values.items()}
    # All at once: a path may have the name of another value in it.
    return _PARAMETER.sub(lambda found: texts.get(found[1], found[0]), bare(name))


def literal(value: object) -> str:
    """A value as it stands in a statement: a number, or anything else as its text."""
    if value is None:
        return "null"
    return str(value) if isinstance(value, int) else "'" + str(value).replace("'", "''") + "'"


def given(name: str, parameters: Mapping[str, Value]) -> tuple[str, Mapping[str, Value]]:
    """A statement without the parts for parameters that are None, and the parameters it takes."""
    optional = _optional(name)
    if not optional:
        return bare(name), parameters
    without = frozenset(each for each in optional if parameters[each] is None)
    text, taken = _shortened(name, without)
    return text, {key: value for key, value in parameters.items() if key in taken}


@cache
def _optional(name: str) -> frozenset[str]:
    """The parameters that a statement has parts for."""
    return frozenset(parameter for parameter, _ in _PART.findall(statement(name)))


@cache
def _shortened(name: str, without: frozenset[str]) -> tuple[str, frozenset[str]]:
    """A statement without the parts for some parameters, and the parameters that remain."""
    text = _PART.sub(lambda part: "" if part[1] in without else part[2], bare(name))
    return text, frozenset(_PARAMETER.findall(text))
