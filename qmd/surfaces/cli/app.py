"""All commands as typer knows them: help, completion, and errors in what is given."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated

import typer
from typer._click import exceptions as click  # the errors that typer itself raises

from qmd.errors import QmdError, UsageError
from qmd.surfaces import console
from qmd.surfaces.cli import (
    ALIASES,
    COMMANDS,
    GROUPS,
    PANELS,
    called_command,
    function_of,
    module_of,
    options_before,
)
from qmd.surfaces.cli.common import INTERRUPTED, Ended, State, complain, examples, say, state
from qmd.surfaces.cli.framework import Command, Group, declared
from qmd.surfaces.cli.summaries import SUMMARIES
from qmd.version import __version__
from qmd.visible import hidden, shown
from qmd.wording import readable

_HELP = ("-h", "--help")

_COMPLETE = "_QMD_COMPLETE"
"""Variable by which a shell asks for completions."""


def command(arguments: Sequence[str]) -> Callable[[], int]:
    """Load the command that is called, and return what carries it out.

    Returns:
        A function that runs the command and returns its exit code.

    Raises:
        QmdError: there is no such command, or no such shell to complete in.
    """
    if len(arguments) > 1 and arguments[0] in ("--show-completion", "--install-completion"):
        _complete(arguments[0], arguments[1:])
        return lambda: 0
    if not arguments and _COMPLETE not in console.current().environ:
        arguments = ["--help"]
    app = application(arguments)
    return lambda: _carried_out(app, arguments)


def _carried_out(app: typer.Typer, arguments: Sequence[str]) -> int:
    try:
        code = app(arguments, standalone_mode=False, prog_name="qmd")
    except click.NoArgsIsHelpError:
        return 0
    except click.UsageError as error:
        complain(readable(_usage(error, called_command(arguments))))
        return 1
    except typer.Abort:
        code = INTERRUPTED
    if code == INTERRUPTED:  # typer has taken the interrupt for an exit
        complain("Interrupted.")
    return code if isinstance(code, int) else 0


def application(arguments: Sequence[str]) -> typer.Typer:
    """Build the command that is called, or all commands if there is none.

    Making a command out of a function, and importing what it needs, takes longer than some
    searches; a call pays for one, and the help of all for none.
    """
    app = typer.Typer(
        name="qmd",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": [*_HELP]},
    )
    app.callback(cls=Group)(options)
    called = called_command(arguments)
    if called in ALIASES:
        app.command(name=called, cls=Command)(declared(function_of(ALIASES[called])))
    if called in _HELP:
        _add_summaries(app)
        return app
    known = called in COMMANDS or called in GROUPS or called in ALIASES
    if not known and called is not None and not called.startswith("-"):
        from qmd.surfaces.cli import guesses

        words = arguments[options_before(arguments) :]
        raise guesses.not_found("qmd", words, [*COMMANDS, *GROUPS])
    for panel, names in PANELS.items():
        for name in names.split():
            if not known or name == called:
                _add(app, name, panel)
    return app


def _add_summaries(app: typer.Typer) -> None:
    """Add all commands, and then groups, as the help lists them; they cannot be run."""
    for panel, names in PANELS.items():
        for name in sorted(names.split(), key=GROUPS.__contains__):
            app.command(name=name, help=SUMMARIES[name], rich_help_panel=panel)(lambda: None)


def _add(app: typer.Typer, name: str, panel: str) -> None:
    """Add a command, or a group of commands, to a part of the help."""
    if name in GROUPS:
        group = module_of(GROUPS[name]).app
        for each in group.registered_commands:
            each.cls, each.callback = Command, declared(each.callback)
        app.add_typer(group, name=name, cls=Group, rich_help_panel=panel)
        return
    function = declared(function_of(name))
    app.command(name=name, cls=Command, rich_help_panel=panel)(function)


def _complete(option: str, shells: Sequence[str]) -> None:
    """Show or install completion for a shell that is named; typer itself takes no name.

    Raises:
        UsageError: it is no shell that can be completed in.
    """
    from typer._completion_shared import Shells, get_completion_script, install

    known = [shell.value for shell in Shells]
    if len(shells) > 1 or shells[0] not in known:
        raise UsageError(
            f"{option} takes the name of a shell, not '{' '.join(shells)}'. "
            f"Valid: {', '.join(known)}; without a name: the current one."
        )
    if option == "--show-completion":
        say(get_completion_script(prog_name="qmd", complete_var=_COMPLETE, shell=shells[0]))
        return
    shell, path = install(shells[0], "qmd", _COMPLETE)
    say(f"Completion for {shell} is in {path}. It works in a shell that is started now.")


def _index_names(context: typer.Context) -> list[str]:
    """Names of indexes, for a shell that completes one."""
    from qmd.settings import environment

    try:
        return [name for name in environment.known(state(context).place) if not hidden(name)]
    except QmdError:
        return []


def _version(wanted: bool) -> None:
    if wanted:
        say(f"qmd {__version__}")
        raise Ended(0)


@examples(
    ("Index a folder", "qmd collection add ~/notes"),
    ("Find documents that have both words", "qmd search green tea"),
    ("Prepare search by meaning, then ask", "qmd embed && qmd query 'how hot should tea be?'"),
    ("Read what was found", "qmd get notes/tea.md"),
)
def options(
    context: typer.Context,
    index: Annotated[
        str | None,
        typer.Option(
            "--index",
            metavar="NAME",
            help="Use a separate, named index.",
            autocompletion=_index_names,
        ),
    ] = None,
    engine: Annotated[
        str | None,
        typer.Option(
            "--engine",
            metavar="NAME[:DEST]",
            help="Search an index of shards: 'shards' or 'ray', as index.yml says, or of DEST.",
        ),
    ] = None,
    allow_partial: Annotated[
        bool,
        typer.Option(
            "--allow-partial",
            help="With --engine ray: search without shards that do not answer, and say so.",
        ),
    ] = False,
    no_server: Annotated[
        bool,
        typer.Option("--no-server", help="Run in this process, even if a server could answer."),
    ] = False,
    version: Annotated[
        bool,
        typer.Option("-V", "--version", callback=_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Search everything you have written down, on your own machine."""
    context.obj = State(dict(console.current().environ), index, engine, allow_partial)


def _usage(error: Exception, called: str | None) -> str:
    """Describe invalid arguments, and where the valid ones are documented.

    Args:
        called: the command, which an option that lacks its value does not know.
    """
    message = shown(getattr(error, "format_message", lambda: str(error))(), most=2000)
    context = getattr(error, "ctx", None)
    known = called in COMMANDS or called in ALIASES or called in GROUPS
    path = context.command_path if context is not None else f"qmd {called}" if known else "qmd"
    searches = {f"qmd {name}" for name, module in COMMANDS.items() if module == "search"}
    if getattr(error, "option_name", "--").startswith("--") or path not in searches:
        return f"{message}\n\nSee '{path} --help'."
    return (
        f"{message}\n\nA query that leaves out words is quoted, or comes after --: "
        f"{path} -- tea -green\nSee '{path} --help'."
    )
