"""Command lines that are read without typer.

Importing typer and declaring a command takes longer than a search. The options of each derived
command stand in `command_table.py`, which is made of what typer knows of them. A command line that
has nothing else in it is read here; help, completion and whatever is wrong is left to typer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from qmd.forward import ALLOW_PARTIAL
from qmd.surfaces import console
from qmd.surfaces.cli import ALIASES, GROUPS, function_of, options_before
from qmd.surfaces.cli.command_table import COMMANDS
from qmd.surfaces.cli.common import State

_DIGITS = 9
"""Digits of a number that is read here, at most."""


class _NotPlain(Exception):
    """Command line that typer has to read."""


def command(arguments: Sequence[str]) -> Callable[[], int] | None:
    """Return what carries a command out, or None if typer has to read the command line."""
    if "_QMD_COMPLETE" in console.current().environ:
        return None
    before = options_before(arguments)
    front = dict(zip(arguments[:before:2], arguments[1:before:2], strict=False))
    is_partial = ALLOW_PARTIAL in arguments[:before]
    words = arguments[before:]
    name = ALIASES.get(words[0], words[0]) if words else ""
    if name in GROUPS or name not in COMMANDS:
        return None
    values = given(name, words[1:])
    if values is None:
        return None
    function = function_of(name)

    def carry_out() -> int:
        environ = dict(console.current().environ)
        function(State(environ, front.get("--index"), front.get("--engine"), is_partial), **values)
        return 0

    return carry_out


def given(name: str, arguments: Sequence[str]) -> dict[str, Any] | None:
    """Read the arguments of a command; None if typer has to.

    Returns:
        Each parameter with its value, as typer gives it; choices as text.
    """
    positionals, options, defaults = COMMANDS[name]
    values = dict(defaults)
    rest: list[str] = []
    try:
        for option, value in _parts(options, arguments):
            if option is None:
                rest.append(value)
                continue
            parameter, kind, several = option
            read = _value(kind, value)
            if several:
                values[parameter] = [*(values[parameter] or ()), read]
            else:
                values[parameter] = read
    except _NotPlain:
        return None
    for parameter, kind, several, required in positionals:
        if several:
            taken, rest = rest, []
            found: Any = [_value(kind, each) for each in taken]
        else:
            taken, rest = rest[:1], rest[1:]
            found = _value(kind, taken[0]) if taken else None
        if taken:
            values[parameter] = found
        elif required:
            return None
    return None if rest else values


def _parts(options: dict[str, Any], arguments: Sequence[str]) -> Iterator[tuple[Any, Any]]:
    """Yield each option with its value, and None with each other argument.

    Raises:
        _NotPlain: something else is given.
    """
    left = iter(arguments)
    for word in left:
        if word == "--":
            yield from ((None, each) for each in left)
        elif not word.startswith("-") or word == "-":
            yield None, word
        else:
            name, joined, value = word.partition("=")
            option = options.get(name)
            if option is None or (joined and not name.startswith("--")):
                raise _NotPlain
            kind = option[1]
            if kind is True or kind is False:  # a flag, with the value that it gives
                if joined:
                    raise _NotPlain
                yield option, kind
                continue
            if not joined:
                value = next(left, "-")
                if value.startswith("-"):
                    raise _NotPlain
            yield option, value


def _value(kind: Any, text: Any) -> Any:
    """Read a value of an option.

    Raises:
        _NotPlain: it is none, or one that is written in another way.
    """
    if kind == "text" or isinstance(kind, bool):
        return text
    if isinstance(kind, tuple):
        if text in kind:
            return text
        raise _NotPlain
    whole, _, part = text.partition(".") if kind == "number" else (text, "", "0")
    if not (text.isascii() and whole.isdigit() and len(text) <= _DIGITS):
        raise _NotPlain
    if kind == "number":
        if part and not part.isdigit():
            raise _NotPlain
        return float(text)
    return int(text)
