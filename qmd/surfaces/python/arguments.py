"""Arguments of Python calls: checked against the declaration of their operation.

A value of the wrong type is a TypeError; a number, choice or list out of bounds is a ValueError.
Texts that name or mean something (a date, a filter, a document) are left to the operation: people
write those, and a QmdError says what is wrong with them.
"""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from qmd.declaration.operation import Declared, Operation
from qmd.declaration.parameters import UNLIMITED

MOST = (1 << 31) - 1
"""Largest whole number that is passed on; larger ones mean "all" as well."""


def signature_of(operation: Operation) -> inspect.Signature:
    """Return the signature of an operation as a method, with its groups spelled out."""
    kinds = inspect.Parameter
    hints = inspect.signature(operation.function).parameters
    own = [kinds("self", kinds.POSITIONAL_ONLY)]
    for name, each in operation.parameters_on("python").items():
        kind = kinds.POSITIONAL_OR_KEYWORD if each.positional else kinds.KEYWORD_ONLY
        annotation = hints[name].annotation if name in hints else each.annotation
        own.append(kinds(name, kind, default=each.default_on("python"), annotation=annotation))
    return inspect.Signature(
        own, return_annotation=inspect.signature(operation.function).return_annotation
    )


def checked(
    operation: Operation, signature: inspect.Signature, /, *given: Any, **named: Any
) -> dict[str, Any]:
    """Bind the arguments of a call, and check those that are given.

    Raises:
        TypeError: an argument is unknown, missing or of the wrong type.
        ValueError: an argument is out of bounds.
    """
    try:
        bound = signature.bind(None, *given, **named)
    except TypeError as error:
        raise TypeError(f"{operation.python}(): {error}") from None
    values = {name: value for name, value in bound.arguments.items() if name != "self"}
    return {
        name: _checked(operation.parameters[name], value, name) for name, value in values.items()
    }


def _checked(declared: Declared, value: Any, name: str) -> Any:
    if value is None and declared.optional:
        return None
    found = _CHECKS[declared.kind](value, name, declared)
    if declared.about.problem and (problem := declared.about.problem(found)):
        raise ValueError(f"{name} {problem}")
    return float(found) if declared.kind == "number" else found


def _text(value: Any, name: str, declared: Declared) -> str | tuple[str, ...]:
    if "python" in declared.about.several and isinstance(value, list | tuple):
        return tuple(text(each, name) for each in value)
    return text(value, name)


def text(value: str, name: str) -> str:
    """Check a text.

    Raises:
        TypeError: the value is no text.
        ValueError: UTF-8 cannot write it.
    """
    if not isinstance(value, str):
        raise wrong_type(name, "a text", value)
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"{name} has half a character in it: {_told(value)}.") from error
    return value


def _integer(value: int, name: str, declared: Declared) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise wrong_type(name, "a whole number", value)
    least = None if "python" in declared.about.unbounded else declared.about.least
    if least is not None and value < least:
        if name == "limit":
            raise ValueError(f"limit={value} asks for nothing; None asks for all.")
        raise ValueError(f"{name} takes {least:g} or more, not {_told(value)}.")
    return min(value, UNLIMITED if name == "limit" else MOST)


def _number(value: float, name: str, declared: Declared) -> float:
    if declared.about.problem is not None:
        return _of_type(value, name)
    is_bounded = declared.about.least is not None and "python" not in declared.about.unbounded
    return bounded(value, name, least=declared.about.least if is_bounded else None)


def bounded(value: float, name: str, *, least: float | None = None) -> float:
    """Check a finite number.

    Raises:
        TypeError: the value is no number.
        ValueError: it is not finite, or below `least`.
    """
    _of_type(value, name)
    is_finite = -sys.float_info.max <= value <= sys.float_info.max
    if not is_finite or (least is not None and value < least):
        bound = "a number" if least is None else f"{least:g} or more"
        raise ValueError(f"{name} takes {bound}, not {_told(value)}.")
    return value


def _of_type(value: float, name: str) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise wrong_type(name, "a number", value)
    return value


def _flag(value: bool, name: str, declared: Declared) -> bool:
    return bool(value)


def _choice(value: str, name: str, declared: Declared) -> str:
    if value not in declared.choices:
        valid = " or ".join(map(repr, declared.choices))
        raise ValueError(f"{name} takes {valid}, not {_told(value)}.")
    return value


def _names(value: str | Iterable[str], name: str, declared: Declared) -> tuple[str, ...]:
    """Check names: one, or several; an empty list is no way to ask for all."""
    if isinstance(value, str):
        return (text(value, name),)
    if isinstance(value, bytes | Mapping) or not isinstance(value, Iterable):
        raise wrong_type(name, "a name, or several", value)
    found = tuple(text(each, name) for each in value)
    if not found:
        raise ValueError(f"{name} is an empty list, which names nothing; None means all.")
    return found


def _day(value: date | str, name: str, declared: Declared) -> date | str:
    if not isinstance(value, date | str):
        raise wrong_type(name, "a date, or a text such as 2025-03-14", value)
    return value


def _path(value: str | os.PathLike[str], name: str, declared: Declared) -> Path:
    return path_of(value, name)


def path_of(value: str | os.PathLike[str], name: str) -> Path:
    """Check a path.

    Raises:
        TypeError: the value is no path.
        ValueError: it is empty.
    """
    if not isinstance(value, str | os.PathLike) or not isinstance(os.fspath(value), str):
        raise wrong_type(name, "a path", value)
    if not text(os.fspath(value), name):
        raise ValueError(f"{name} takes a path, not an empty text.")
    return Path(value)


def _place(value: str | os.PathLike[str], name: str, declared: Declared) -> str:
    """Check the place of a context. `qmd://` is no path, of which two slashes are one."""
    path_of(value, name)
    return os.fspath(value)


def _callback(value: Callable[..., object], name: str, declared: Declared) -> Any:
    if not callable(value):
        raise wrong_type(name, "a function", value)
    return value


def _json(value: Any, name: str, declared: Declared) -> Any:
    return value


def wrong_type(name: str, wanted: str, value: object) -> TypeError:
    """Make the error for an argument of the wrong type."""
    return TypeError(f"{name} takes {wanted}, not {_told(value)}.")


def _told(value: object) -> str:
    """Return a value, as short as an error can be."""
    told = ascii(value)
    return told if len(told) <= 60 else f"{told[:57]}..."


def _bindings(
    value: Mapping[str, Any] | Sequence[Any], name: str, declared: Declared
) -> Mapping[str, Any] | Sequence[Any]:
    """Check values by name, or in order.

    Raises:
        TypeError: they are neither.
        ValueError: UTF-8 cannot write a text among them.
    """
    if not isinstance(value, Mapping | Sequence) or isinstance(value, str | bytes):
        raise wrong_type(name, "a mapping by name, or a list in order", value)
    named = value.items() if isinstance(value, Mapping) else enumerate(value, 1)
    for key, each in named:
        _check_texts(each, f"The parameter {_told(key)}")
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


_CHECKS: Mapping[str, Callable[[Any, str, Declared], Any]] = {
    "text": _text,
    "integer": _integer,
    "number": _number,
    "flag": _flag,
    "choice": _choice,
    "names": _names,
    "day": _day,
    "path": _path,
    "place": _place,
    "callback": _callback,
    "json": _json,
    "bindings": _bindings,
}
