"""Common parts of all commands: index, output and errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeVar

import typer
from typer._click.types import IntParamType
from typer.core import TyperArgument, TyperCommand, TyperGroup
from typer.models import TyperPath

from qmd.errors import UsageError
from qmd.surfaces import console, terminal
from qmd.visible import hidden, shown
from qmd.wording import bounds

if TYPE_CHECKING:
    from qmd.analytics.sandbox_workers import Workers
    from qmd.declaration.operation import Example
    from qmd.operations.index import Index
    from qmd.settings.environment import Place

Function = TypeVar("Function", bound=Callable[..., Any])

PARTLY = 2
"""Exit code when some of several things could not be done."""

BUSY = 3
"""Exit code when the index is busy or unreadable."""

INTERRUPTED = 130
"""Exit code after Ctrl-C: 128 and the number of the signal."""

PATIENCE = 2.0
"""Seconds that work has to stop after Ctrl-C."""


class State(NamedTuple):
    """The environment, and the global options."""

    environ: Mapping[str, str]
    index_name: str | None

    @property
    def place(self) -> Place:
        """Paths of the index of the command."""
        from qmd.settings import environment

        return environment.locate(self.environ, here(), index=self.index_name)

    def of(self, index: str | None) -> State:
        """Return the state for an index that an argument names, or this one for None.

        Raises:
            UsageError: the option names another.
        """
        if index is None or index == self.place.name:
            return self
        if self.index_name is not None:
            raise UsageError(
                f"Choose one index: --index says '{self.index_name}', and the path '{index}'."
            )
        return State(self.environ, index)

    def check_exists(self) -> None:
        """Refuse the name of an index that does not exist.

        Raises:
            IndexNotFound: with the names of those that there are.
        """
        from qmd.settings import environment

        if self.index_name is not None:
            environment.check_exists(self.place)

    @contextmanager
    def engine(
        self,
        *,
        warm: bool = False,
        gpu: bool = True,
        new: bool = False,
        workers: Workers | None = None,
    ) -> Iterator[Index]:
        """Open the index of the command.

        Args:
            warm: for a command that reads more than once.
            gpu: whether models may use one.
            new: for a command that makes the index whose name is given, if there is none.
            workers: processes for queries in SQL, if there are any yet.

        Raises:
            IndexNotFound: there is none, and the command makes none.
            IndexOutOfReach: its folder must not be read.
        """
        from qmd.operations.index import Index
        from qmd.settings import environment

        if not new:
            self.check_exists()
        environment.check_reach(self.place)
        machine = environment.machine(self.environ, gpu=gpu)
        shared = console.current().index(self.place, machine)
        if shared is not None:
            yield shared  # other commands use it, and the server closes it
            return
        engine = Index(self.place, machine, warm=warm, workers=workers)
        patience = None
        try:
            yield engine
        except KeyboardInterrupt:
            patience = PATIENCE
            raise
        finally:
            engine.close(patience)

    @property
    def colour(self) -> bool:
        """True if results may be coloured: on a terminal, unless switched off."""
        return terminal.may_colour(self.environ)


def collection_names(context: typer.Context) -> list[str]:
    """Names of collections, for a shell that completes one. Nothing, if they cannot be had."""
    from qmd.errors import QmdError

    try:
        with state(context).engine() as engine:
            # A shell writes the names to the terminal; one with an escape could not be typed.
            return [each.name for each in engine.collections() if not hidden(each.name)]
    except QmdError:
        return []


def examples(*found: Example) -> Callable[[Function], Function]:
    """Declare the examples of a command that is made of no operation."""

    def declare(function: Function) -> Function:
        vars(function)["examples"] = found
        return function

    return declare


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
        help_page.prepare(self, ctx)
        super().format_help(ctx, formatter)
        say(help_page.ending(self))


class Group(TyperGroup):
    """Group of commands that says which of them does what an unknown one is called for."""

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
        help_page.prepare(self, ctx)
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

Json = Annotated[bool, typer.Option("--json", help="Write JSON.")]
RawCsv = Annotated[
    bool, typer.Option("--raw-csv", help="Leave cells of CSV as they are: no ' before formulas.")
]
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


def here() -> Path:
    """Return the current folder.

    Raises:
        UsageError: it was removed.
    """
    try:
        return console.current().folder()
    except FileNotFoundError as error:
        raise UsageError(
            "The folder you are in does not exist any more.\n\nGo to another one: cd"
        ) from error


def state(context: typer.Context) -> State:
    """Return the state of a command's context."""
    found = context.find_root().obj
    return found if isinstance(found, State) else State(dict(console.current().environ), None)


def say(text: str) -> None:
    """Write a result to stdout, with a line break in the end."""
    terminal.out(terminal.ended(text) if text else text)


def notice(text: str) -> None:
    """Write a notice to stderr. A stderr that takes nothing is no reason to fail."""
    with suppress(OSError):
        terminal.err(terminal.ended(text))


def complain(text: str) -> None:
    """Write an error to stderr, as `notice` does."""
    red = terminal.may_colour(console.current().environ, errors=True)
    first, _, rest = text.partition("\n")
    head = terminal.paint(first, "31") if red else first
    notice(terminal.joined("\n", [head, rest] if rest else [head]))


def confirmed(question: str) -> bool:
    """Ask a question at the terminal; only a yes counts."""
    console.current().stay_alone()
    return typer.confirm(shown(question), err=True)


def is_text(argument: str) -> bool:
    """Return whether an argument was UTF-8; other bytes arrive as lone surrogates."""
    return argument.isascii() or not any("\ud800" <= mark <= "\udfff" for mark in argument)


def is_interactive() -> bool:
    """Return whether a person can be asked."""
    here = console.current()
    return here.stdin.isatty() and here.err.isatty()
