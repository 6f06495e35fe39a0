"""Commands as typer declares them.

This module is imported where a command line has to be explained or refused: for help, completion
and errors. A command line that `direct` reads needs none of it.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from enum import StrEnum
from inspect import Parameter
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import typer
from typer._click.types import IntParamType
from typer.core import TyperArgument, TyperCommand, TyperGroup
from typer.models import TyperPath

from qmd.declaration import operation as declaration
from qmd.declaration.operation import REQUIRED, Declared, Operation
from qmd.errors import QmdError
from qmd.surfaces import console
from qmd.surfaces.cli.common import say, state
from qmd.surfaces.cli.derive import NO_GPU, long_option
from qmd.surfaces.formats import Format
from qmd.visible import hidden
from qmd.wording import bounds


def collection_names(context: typer.Context) -> list[str]:
    """Names of collections, for a shell that completes one. Nothing, if they cannot be had."""
    try:
        with state(context).engine() as engine:
            # A shell writes the names to the terminal; one with an escape could not be typed.
            return [each.name for each in engine.collections() if not hidden(each.name)]
    except QmdError:
        return []


COMPLETIONS: Mapping[str, Callable[..., list[str]]] = {
    "collections": collection_names,
    "formats": lambda: [form.value for form in Format],
}
"""Completions that a declaration may name."""

_TYPES: Mapping[str, Any] = {
    "text": str,
    "integer": int,
    "number": float,
    "flag": bool,
    "names": list[str],
    "day": str,
    "path": Path,
    "place": str,
}

_METAVARS = {"integer": "N", "number": "NUMBER"}


class Command(TyperCommand):
    """Command that names its arguments in the usual way: `QUERY...`, not `{query}...`."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        for each in self.params:
            if isinstance(each, TyperArgument) and each.metavar is None:
                each.metavar = f"{each.name}{'...' if each.nargs < 0 else ''}".upper()

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """See `TyperCommand`."""
        pieces = super().collect_usage_pieces(ctx)
        return [
            piece.replace("{", "").replace("}", "").upper() if piece.startswith("{") else piece
            for piece in pieces
        ]

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """See `TyperCommand`."""
        from qmd.surfaces.cli import help_page

        console.current().stay_alone()
        help_page.name_types(self, ctx)
        super().format_help(ctx, formatter)
        say(help_page.ending(self))


class Group(TyperGroup):
    """Group of commands that suggests one of them in place of an unknown one."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """See `TyperGroup`.

        Raises:
            CommandNotFound: there is no command of this name.
        """
        name = args[0]
        unknown = not name.startswith("-") and self.get_command(ctx, name) is None
        if unknown and not ctx.resilient_parsing:
            from qmd.surfaces.cli import guesses

            raise guesses.not_found(ctx.command_path, args, self.commands)
        return super().resolve_command(ctx, args)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """See `TyperGroup`."""
        from qmd.surfaces.cli import help_page

        console.current().stay_alone()
        help_page.name_types(self, ctx)
        super().format_help(ctx, formatter)
        say(help_page.ending(self))


class Whole(IntParamType):
    """Whole number with bounds, which messages and the help state in words."""

    def __init__(self, least: int, most: int | None = None) -> None:
        self.min, self.max = least, most

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """See `IntParamType`."""
        found = super().convert(value, param, ctx)
        if found < self.min or (self.max is not None and found > self.max):
            self.fail(f"it takes {bounds(self.min, self.max)}, not {found}.", param, ctx)
        return found


class NamedPath(TyperPath):
    """A path that has a name: an empty one, of a variable that is not set, is no current folder."""

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """See `TyperPath`."""
        if not str(value):
            self.fail("it is empty. The current folder is '.'.", param, ctx)
        if not Path(value).is_absolute():
            console.current().stay_alone()  # it begins at the folder of the caller
        return super().convert(value, param, ctx)


READ, WRITTEN = NamedPath(path_type=Path), NamedPath(path_type=Path, readable=False)
"""Of an option or argument that is a path."""

Collections = Annotated[
    list[str] | None,
    typer.Option(
        "-c",
        "--collection",
        metavar="NAME",
        help="Only this collection; may be repeated.",
        autocompletion=collection_names,
    ),
]

CollectionNames = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[NAME]...",
        help="Only these collections; as with -c.",
        autocompletion=collection_names,
    ),
]
"""Collections that a command is for, named without an option."""


def with_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the fields of its parameters that are named tuples, as options of its own."""
    own = {each.name: each for each in _by_hand(function)}
    tuples = {
        name: each.annotation
        for name, each in own.items()
        if hasattr(each.annotation, "_field_defaults")
    }

    def run(**values: Any) -> Any:
        for name, kind in tuples.items():
            values[name] = kind(**{field: values.pop(field) for field in kind._fields})
        return function(**values)

    parameters = [
        each.replace(kind=Parameter.KEYWORD_ONLY)
        for name, one in own.items()
        for each in (_fields(tuples[name]) if name in tuples else [one])
    ]
    run.__name__, run.__doc__ = function.__name__, function.__doc__
    run.__annotations__ = {each.name: each.annotation for each in parameters}
    vars(run).update(vars(function), __signature__=inspect.Signature(parameters))
    return run


def declared(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the signature that typer reads, and return it.

    Args:
        function: derived from an operation, or written by hand. Parameters of both may be annotated
            with a `declaration.Parameter`.
    """
    operation: Operation | None = getattr(function, "operation", None)
    if operation is None:
        parameters = _by_hand(function)
    else:
        context = Parameter("context", Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)
        parameters = [
            context,
            *parameters_of(operation),
            *_fields(vars(function)["options"]),
            *([_parameter(NO_GPU)] if operation.asks_models else []),
        ]
        function.__doc__ = operation.summary
        function.__doc__ = operation.summary
    function.__annotations__ = {each.name: each.annotation for each in parameters}
    vars(function)["__signature__"] = inspect.Signature(parameters)
    return function


def parameters_of(operation: Operation) -> list[Parameter]:
    """Return the parameters of a command, as typer reads them."""
    return [_parameter(each) for each in operation.parameters_on("command").values()]


def _by_hand(function: Callable[..., Any]) -> list[Parameter]:
    names = _names(function)
    parameters = inspect.signature(function, locals=names, eval_str=True).parameters.values()
    return [_read(each.name, each.annotation, each.default, each.kind) for each in parameters]


def _names(declares: object) -> dict[str, Any]:
    """Return what annotations of a module may name besides what it imports itself.

    A command need not import typer to be carried out.
    """
    ours = {
        "typer": typer,
        "Collections": Collections,
        "CollectionNames": CollectionNames,
        "READ": READ,
        "WRITTEN": WRITTEN,
    }
    return ours | vars(sys.modules[declares.__module__])


def _fields(options: type[Any] | None) -> list[Parameter]:
    if options is None:
        return []
    hints = get_type_hints(options, localns=_names(options), include_extras=True)
    return [_read(name, hints[name], options._field_defaults[name]) for name in options._fields]


def _read(name: str, hint: Any, default: Any, kind: Any = Parameter.KEYWORD_ONLY) -> Parameter:
    """Translate a parameter that is annotated as those of operations are; leave others."""
    notes = get_args(hint)[1:] if get_origin(hint) is Annotated else ()
    if any(isinstance(note, declaration.Parameter) for note in notes):
        found = declaration.of_hint(name, hint, default, positional=False)
        return _parameter(found).replace(kind=kind)
    return Parameter(name, kind, default=default, annotation=hint)


def _parameter(declared: Declared) -> Parameter:
    about, default = declared.about, declared.default_on("command")
    kind: Any = _TYPES.get(declared.kind)
    if declared.kind == "choice":
        kind = _choices(declared)
        default = kind(default) if default not in (None, REQUIRED) else default
    completion = COMPLETIONS.get(about.complete) if about.complete else None
    more: dict[str, Any] = {"autocompletion": completion} if completion else {}
    if declared.kind == "path":
        more = {**more, "click_type": READ}
    if declared.positional and not about.flags:
        several = about.words or "command" in about.several
        if several:
            kind, default = list[str], about.defaults.get("command", REQUIRED)
        name = about.metavar or declared.name.upper()
        if several and not name.startswith("["):  # one in brackets says itself how many
            name += "..."
        info: Any = typer.Argument(help=about.help_on("command"), metavar=name, **more)
    else:
        metavar = about.metavar or _METAVARS.get(declared.kind)
        flags = about.flags or (long_option(declared),)
        info = typer.Option(*flags, metavar=metavar, help=about.help_on("command"), **more)
    if declared.kind == "flag":
        default = False  # also of one that takes away, such as --no-vectors
    elif default is None:
        kind = kind | None
    return Parameter(
        declared.name,
        Parameter.KEYWORD_ONLY,
        default=Parameter.empty if default is REQUIRED else default,
        annotation=Annotated[kind, info],
    )


def _choices(declared: Declared) -> Any:
    """Make the enumeration that typer reads choices from."""
    return StrEnum("Choice", {each.upper(): each for each in declared.choices})
