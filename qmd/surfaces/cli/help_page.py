"""Help of a command in plain words: values, bounds and examples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from typer._click.types import FloatParamType, IntParamType, StringParamType
from typer.core import TyperArgument

from qmd.surfaces import console, terminal
from qmd.wording import bounds

if TYPE_CHECKING:
    from qmd.declaration.operation import Example

MOST = 4
"""Examples in the help of a group that has none of its own."""

GREY = "2"


class _Unnamed(StringParamType):
    """Type that the help does not name."""

    def get_metavar(self, param: Any, ctx: Any) -> str:
        """See `StringParamType`."""
        return ""


def name_types(command: Any, context: Any) -> None:
    """Replace the library's names of types by what a user writes.

    It changes the parameters, and so it is for a command that only shows its help.
    """
    operation = getattr(command.callback, "operation", None)
    for each in command.get_params(context):
        declared = operation.parameters.get(each.name) if operation is not None else None
        least, most = _bounds(each, declared)
        if least is not None or most is not None:
            each.help = f"{each.help} [{bounds(least, most)}]"
        if isinstance(each, TyperArgument):
            each.type = _Unnamed()
        elif each.name == "help":
            each.help = "Show this help."
        elif not each.is_flag:
            each.metavar, each.type = _value(each), _Unnamed()


def _bounds(parameter: Any, declared: Any) -> tuple[float | None, float | None]:
    """Return the least and the greatest value of a number, if it has bounds."""
    if declared is not None:
        about = declared.about
        return (None, None) if "command" in about.unbounded else (about.least, about.most)
    if not isinstance(parameter.type, IntParamType | FloatParamType):
        return None, None
    return getattr(parameter.type, "min", None), getattr(parameter.type, "max", None)


def _value(option: Any) -> str:
    """Return the name of an option's value: its choices, N, or the name of the option."""
    if option.metavar is not None:
        return str(option.metavar)
    if choices := getattr(option.type, "choices", None):
        return "|".join(str(getattr(each, "value", each)) for each in choices)
    if isinstance(option.type, IntParamType):
        return "N"
    if isinstance(option.type, FloatParamType):
        return "NUMBER"
    return str(max(option.opts, key=len).lstrip("-").replace("-", "_").upper())


def ending(command: Any) -> str:
    """Return the examples of a command as its help ends with them."""
    colour = terminal.may_colour(console.current().environ)
    lines = [" Examples:"]
    for purpose, line in examples_of(command):
        comment = f"# {purpose}"
        lines += ["", f"   {terminal.paint(comment, GREY) if colour else comment}", f"   {line}"]
    return terminal.joined_styled("\n", lines)


def examples_of(command: Any) -> Sequence[Example]:
    """Return the examples of a command; a group without its own has the first of its commands."""
    own: Sequence[Example] = getattr(command.callback, "examples", ())
    if own or not hasattr(command, "commands"):
        return own
    shown = [each for each in command.commands.values() if not each.hidden]
    return [examples_of(each)[0] for each in shown[:MOST]]
