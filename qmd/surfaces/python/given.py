"""What a caller gives: refused in words before anything is done, alike everywhere.

The wrong kind of thing is a TypeError; a number, a choice or a list that makes no sense is a
ValueError. A text that cannot be read, or names nothing, is left to the verb: people write those,
and a QmdError tells them.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from qmd.errors import UsageError
from qmd.operations.parameters import UNLIMITED
from qmd.types import Filter

if TYPE_CHECKING:
    from qmd.analytics.search_calls import Parameters

Value = TypeVar("Value")

Names = str | Iterable[str] | None
"""One name, or several; None means all, in a search the collections included by default."""

Day = date | str | None
"""A day or a moment, in UTC if it does not say; text as 2025-03-14."""


MOST = (1 << 31) - 1
"""Stands for all whole numbers above it: nobody has as many of anything."""


def text(value: str, name: str) -> str:
    """A text.

    Args:
        name: of the parameter, here and below.

    Raises:
        TypeError: it is none.
        ValueError: UTF-8 cannot write it.
    """
    if not isinstance(value, str):
        raise _wrong(name, "a text", value)
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"{name} has half a character in it: {_told(value)}.") from error
    return value


def text_or_none(value: str | None, name: str) -> str | None:
    """A text, or None."""
    return None if value is None else text(value, name)


def whole(value: int, name: str, *, least: int = 1) -> int:
    """A whole number.

    Raises:
        TypeError: it is none.
        ValueError: it is too small.
    """
    if _is_whole(value, name) < least:
        raise ValueError(f"{name} takes {least} or more, not {_told(value)}.")
    return min(value, MOST)


def whole_or_none(value: int | None, name: str) -> int | None:
    """A whole number from 1, or None."""
    return None if value is None else whole(value, name)


def limit(value: int | None) -> int:
    """How many results, at most.

    Raises:
        ValueError: none.
    """
    if value is None:
        return UNLIMITED
    if _is_whole(value, "limit") < 1:
        raise ValueError(f"limit={value} asks for nothing; None asks for all.")
    return min(value, UNLIMITED)


def number(value: float, name: str, *, least: float = -math.inf) -> float:
    """A number.

    Raises:
        TypeError: it is none.
        ValueError: it is too small, or not finite.
    """
    _is_number(value, name)
    if not -sys.float_info.max <= value <= sys.float_info.max or value < least:
        bound = "a number" if least == -math.inf else f"{least:g} or more"
        raise ValueError(f"{name} takes {bound}, not {_told(value)}.")
    return value


def number_or_none(value: float | None, name: str) -> float | None:
    """A number from 0, or None."""
    return None if value is None else number(value, name, least=0)


def half_life(value: float | None, name: str) -> float | None:
    """Days above 0, or None.

    Raises:
        TypeError: it is no number.
        ValueError: it is not above 0, or not finite.
    """
    from qmd.text.dates import HALF_LIFE, is_half_life

    if value is None:
        return None
    if not is_half_life(_is_number(value, name)):
        raise ValueError(HALF_LIFE.format(name, _told(value)))
    return float(value)


def choice(value: Value, name: str, valid: Sequence[Value]) -> Value:
    """One of several.

    Raises:
        ValueError: it is none of them.
    """
    if value not in valid:
        raise ValueError(f"{name} takes {' or '.join(map(repr, valid))}, not {_told(value)}.")
    return value


def names(value: Names, name: str = "collection") -> tuple[str, ...]:
    """Names; none: all.

    Raises:
        TypeError: something else is among them.
        ValueError: an empty list, which a program that filters does not mean as all.
    """
    if value is None:
        return ()
    if isinstance(value, str):
        return (text(value, name),)
    if isinstance(value, bytes | Mapping) or not isinstance(value, Iterable):
        raise _wrong(name, "a name, or several", value)
    found = tuple(text(each, name) for each in value)
    if not found:
        raise ValueError(f"{name} is an empty list, which names nothing; None means all.")
    return found


def file(value: str | os.PathLike[str], name: str) -> Path:
    """A path.

    Raises:
        TypeError: it is none.
        ValueError: it is empty.
    """
    if not isinstance(value, str | os.PathLike) or not isinstance(os.fspath(value), str):
        raise _wrong(name, "a path", value)
    if not text(os.fspath(value), name):
        raise ValueError(f"{name} takes a path, not an empty text.")
    return Path(value)


def function(value: Value, name: str) -> Value:
    """A function, or None.

    Raises:
        TypeError: it is neither.
    """
    if value is not None and not callable(value):
        raise _wrong(name, "a function", value)
    return value


def parameters(value: Parameters) -> Parameters:
    """Values by name, or in order.

    Raises:
        TypeError: they are neither.
        ValueError: UTF-8 cannot write a text among them.
    """
    if not isinstance(value, Mapping | Sequence) or isinstance(value, str | bytes):
        raise _wrong("parameters", "a mapping by name, or a list in order", value)
    named = value.items() if isinstance(value, Mapping) else enumerate(value, 1)
    for name, each in named:
        _check_texts(each, f"The parameter {_told(name)}")
    return value


def _check_texts(value: object, name: str) -> None:
    """Refuse half a character in a text, or in one within: DuckDB has no words for it."""
    if isinstance(value, str):
        text(value, name)
    elif isinstance(value, Mapping):
        for each in (*value, *value.values()):
            _check_texts(each, name)
    elif isinstance(value, list | tuple):
        for each in value:
            _check_texts(each, name)


def among(collection: Names, since: Day, before: Day, filter: str | None) -> Filter:
    """Which documents.

    Raises:
        UsageError: a date or the filter cannot be read.
    """
    from qmd.text.filters import parse_filter

    return Filter(
        names(collection) or None,
        _moment(since, "since"),
        _moment(before, "before"),
        parse_filter(text(filter, "filter")) if filter is not None else (),
    )


def _moment(value: Day, name: str) -> datetime | None:
    from qmd.text.dates import DAYS, named_day

    if value is None:
        return None
    if not isinstance(value, date | str):
        raise _wrong(name, "a date, or a text such as 2025-03-14", value)
    found = named_day(value)
    if found is None or found != found:  # as the NaT of pandas
        raise UsageError(f"{name} takes a date such as {DAYS}, not {value!r}.")
    return found


def _is_number(value: float, name: str) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise _wrong(name, "a number", value)
    return value


def _is_whole(value: int, name: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise _wrong(name, "a whole number", value)
    return value


def _wrong(name: str, wanted: str, value: object) -> TypeError:
    return TypeError(f"{name} takes {wanted}, not {_told(value)}.")


def _told(value: object) -> str:
    """A value, as short as an error can be."""
    told = ascii(value)
    return told if len(told) <= 60 else f"{told[:57]}..."
