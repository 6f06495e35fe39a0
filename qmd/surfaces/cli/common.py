"""Common parts of all commands: index, output and errors."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from qmd.declaration.operation import Parameter
from qmd.errors import UsageError
from qmd.named_tuple import NamedTuple
from qmd.surfaces import console, terminal
from qmd.visible import shown

if TYPE_CHECKING:
    import typer

    from qmd.analytics.sandbox_workers import Workers
    from qmd.declaration.operation import Example, Operation
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
    engine_name: str | None = None
    allow_partial: bool = False

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
        return self._replace(index_name=index)

    def check_exists(self) -> None:
        """Refuse the name of an index that does not exist.

        Raises:
            IndexNotFound: with the names of those that there are.
        """
        from qmd.settings import environment

        if self.index_name is not None:
            environment.check_exists(self.place)

    def check_operation(self, operation: Operation) -> None:
        """Refuse an operation that the engine of the command does not have.

        Raises:
            ClusterFailure: the engine searches shards, which cannot do it.
        """
        if operation.sharded and not operation.writes:
            return
        from qmd.surfaces import opening

        if opening.chosen_engine(self.place, self.engine_name) is not None:
            from qmd.cluster import open_index

            open_index.check_supported(operation)

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
        from qmd.settings import environment
        from qmd.surfaces import opening

        if not new:
            self.check_exists()
        environment.check_reach(self.place)
        machine = environment.machine(self.environ, gpu=gpu)
        shared = console.current().index(self.place, machine)
        if shared is not None:
            yield shared  # other commands use it, and the server closes it
            return
        engine = opening.opened(
            self.place,
            machine,
            engine=self.engine_name,
            allow_partial=self.allow_partial,
            warm=warm,
            workers=workers,
        )
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


def examples(*found: Example) -> Callable[[Function], Function]:
    """Declare the examples of a command that is made of no operation."""

    def declare(function: Function) -> Function:
        vars(function)["examples"] = found
        return function

    return declare


Json = Annotated[bool, Parameter(help="Write JSON.", flags=("--json",))]


class AsJson(NamedTuple):
    """The option that writes JSON, of a command that has no others."""

    as_json: Json = False


RawCsv = Annotated[
    bool,
    Parameter(help="Leave cells of CSV as they are: no ' before formulas.", flags=("--raw-csv",)),
]


class Ended(Exception):
    """End of a command that has said all there is to say.

    Attributes:
        exit_code: of the process.
    """

    def __init__(self, exit_code: int) -> None:
        super().__init__(exit_code)
        self.exit_code = exit_code


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


def state(context: typer.Context | State) -> State:
    """Return the state of a command's context; a command that is called directly is given it."""
    if isinstance(context, State):
        return context
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
    notice(terminal.joined_styled("\n", [head, rest] if rest else [head]))


def confirmed(question: str) -> bool:
    """Ask a question at the terminal; only a yes counts."""
    console.current().stay_alone()
    import typer

    try:
        return typer.confirm(shown(question), err=True)
    except typer.Abort as error:
        raise KeyboardInterrupt from error


def agreed(question: str, *, yes: bool) -> None:
    """Go on only after a yes.

    Raises:
        UsageError: there is no terminal to ask at.
        Ended: the answer was no.
    """
    if yes:
        return
    if not is_interactive():
        raise UsageError("Nothing was changed: there is no terminal to ask at. Add --yes.")
    if not confirmed(question):
        notice("Nothing was changed.")
        raise Ended(1)


def key_pressed(question: str, wanted: str) -> bool:
    """Ask a question at the terminal that one key answers, and return whether it was `wanted`.

    What was typed before the question is no answer to it.
    """
    at = console.current()
    at.stay_alone()
    if sys.platform == "win32":
        from qmd import windows

        terminal.err(shown(question))
        at.err.flush()
        key = windows.read_key()
        notice(key if key.isalnum() else "")
        return key.casefold() == wanted
    import termios
    import tty

    stream = at.stdin.fileno()
    before = termios.tcgetattr(stream)
    try:
        tty.setcbreak(stream)  # also discards what was typed; Ctrl-C still interrupts
        terminal.err(shown(question))
        at.err.flush()
        key = os.read(stream, 1).decode(errors="replace")
    finally:
        termios.tcsetattr(stream, termios.TCSADRAIN, before)
    notice(key if key.isalnum() else "")
    return key.casefold() == wanted


def is_text(argument: str) -> bool:
    """Return whether an argument was UTF-8; other bytes arrive as lone surrogates."""
    return argument.isascii() or not any("\ud800" <= mark <= "\udfff" for mark in argument)


def is_interactive() -> bool:
    """Return whether a person can be asked."""
    here = console.current()
    return here.stdin.isatty() and here.err.isatty()
