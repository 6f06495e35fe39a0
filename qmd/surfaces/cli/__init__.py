"""The command line: thin layers over the engine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from keyword import iskeyword
from typing import Annotated, Any

import typer

from qmd.errors import QmdError, UsageError
from qmd.forward import hoisted
from qmd.surfaces import console
from qmd.surfaces.cli.common import (
    BUSY,
    INTERRUPTED,
    Command,
    Group,
    State,
    complain,
    examples,
    is_text,
    say,
    state,
)
from qmd.version import __version__
from qmd.visible import hidden, shown
from qmd.wording import readable

COMMANDS = {
    "search": "search",
    "vsearch": "semantic_search",
    "query": "semantic_search",
    "embed": "embed",
    "get": "documents",
    "multi-get": "documents",
    "ls": "documents",
    "update": "update",
    "watch": "upkeep",
    "status": "status",
    "doctor": "upkeep",
    "cleanup": "upkeep",
    "init": "upkeep",
    "sql": "sql",
    "stats": "statistics",
    "map": "statistics",
    "export": "exchange",
    "import": "exchange",
    "bench": "bench",
    "server": "serve",
    "help": "help",
    "version": "help",
}
"""Each command and the module of its function, which has its name, or that and an underscore."""

_COMPLETE = "_QMD_COMPLETE"
"""Variable by which a shell asks for completions."""

ALIASES = {"vector-search": "vsearch", "deep-search": "query"}
"""Other names of commands, not shown in the help."""

GROUPS = {
    "collection": "collections",
    "context": "contexts",
    "models": "embed",
    "trust": "trust",
    "mcp": "serve",
    "skill": "skill",
}
"""Each group of commands and the module of its `app`."""

PANELS = {
    "Search": "search vsearch query sql",
    "Read documents": "get multi-get ls",
    "Choose what is indexed": "collection context init trust",
    "Keep the index up to date": "update watch embed models",
    "Check the index": "status doctor cleanup",
    "Look at all documents": "stats map bench",
    "Move the index": "export import",
    "Connect agents": "mcp server skill",
    "Get help": "help version",
}
"""The parts of the help, and the commands in each."""


def application(arguments: Sequence[str]) -> typer.Typer:
    """Build the command that is called, or all commands if it is not known.

    Making a command out of a function, and importing what it needs, takes longer than some
    searches; a call pays for one.
    """
    app = typer.Typer(
        name="qmd",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback(cls=Group)(options)
    called = _called(arguments)
    if called in ALIASES:
        app.command(name=called, cls=Command)(function_of(called))
    known = called in COMMANDS or called in GROUPS or called in ALIASES
    if not known and called is not None and not called.startswith("-"):
        from qmd.surfaces.cli import guesses

        words = arguments[_options_before(arguments) :]
        raise guesses.not_found("qmd", words, [*COMMANDS, *GROUPS])
    for panel, names in PANELS.items():
        for name in names.split():
            if not known or name == called:
                _add(app, name, panel)
    return app


def _add(app: typer.Typer, name: str, panel: str) -> None:
    """Add a command, or a group of commands, to a part of the help."""
    if name in GROUPS:
        group = _module(GROUPS[name]).app
        for each in group.registered_commands:
            each.cls = Command
        app.add_typer(group, name=name, cls=Group, rich_help_panel=panel)
        return
    app.command(name=name, cls=Command, rich_help_panel=panel)(function_of(name))


def function_of(name: str) -> Callable[..., Any]:
    """Return the function of a command that is in no group."""
    own = ALIASES.get(name, name).replace("-", "_")
    module = _module(COMMANDS[ALIASES.get(name, name)])
    function: Callable[..., Any] = getattr(module, f"{own}_" if iskeyword(own) else own)
    return function


def _called(arguments: Sequence[str]) -> str | None:
    """Find the command that is called, if any."""
    return next(iter(arguments[_options_before(arguments) :]), None)


def verbs(arguments: Sequence[str]) -> list[str]:
    """Find the words of the command that is called, without options and their values."""
    rest = hoisted(arguments)
    found = rest[_options_before(rest) :][:2]
    if found and found[0] in GROUPS:
        return [word for word in found if not word.startswith("-")]
    return [word for word in found[:1] if word in COMMANDS or word in ALIASES]


def _options_before(arguments: Sequence[str]) -> int:
    """Count the arguments before the command: `--index NAME`, or none."""
    return 2 if arguments and arguments[0] == "--index" else 0


def _module(name: str) -> Any:
    return import_module(f"qmd.surfaces.cli.{name}")


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
        raise typer.Exit


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
    context.obj = State(dict(console.current().environ), index)


def run(arguments: Sequence[str], begin: Callable[[], None] = lambda: None) -> int:
    """Run one command.

    Args:
        begin: called when the command has been loaded, before it does anything.

    Returns:
        The exit code: 0 done, 1 usage or not found, 2 partly done or no such command, 3 the index
        is busy or unreadable, 130 interrupted.
    """
    from typer._click import exceptions as click  # the errors that typer itself raises

    if any(not is_text(argument) for argument in arguments):
        complain("An argument is not valid UTF-8 text.")
        return 1
    try:
        arguments = hoisted(arguments)
        if len(arguments) > 1 and arguments[0] in ("--show-completion", "--install-completion"):
            _complete(arguments[0], arguments[1:])
            return 0
        app = application(arguments)
        begin()
        code = app(arguments, standalone_mode=False, prog_name="qmd")
        console.current().out.flush()
        if code == INTERRUPTED:  # typer has taken the interrupt for an exit
            complain("Interrupted.")
    except click.NoArgsIsHelpError:
        return 0
    except click.UsageError as error:
        complain(readable(_usage(error, _called(arguments))))
        return 1
    except (KeyboardInterrupt, typer.Abort):
        complain("Interrupted.")
        return INTERRUPTED
    except (BrokenPipeError, SystemExit) as error:
        # The reader has gone (`qmd … | head`). Python would complain again while it ends.
        if isinstance(error, SystemExit) and not isinstance(error.__context__, BrokenPipeError):
            raise  # typer has made it of a broken pipe otherwise
        console.current().discard()
        return 0
    except QmdError as error:
        if error.exit_code == BUSY:
            console.current().stay_alone()  # it has more time than a server takes
        if console.current().environ.get("QMD_DEBUG") == "1":
            raise
        complain(error.told("command"))
        return error.exit_code
    except Exception as error:
        if _is_of_interrupt(error):
            complain("Interrupted.")
            return INTERRUPTED
        console.current().stay_alone()  # it may be the server that lacks something
        if console.current().environ.get("QMD_DEBUG") == "1":
            raise
        if isinstance(error, OSError) and error.filename is None and _output_fails():
            complain(f"The output cannot be written: {error.strerror or error}.")
            return 1
        refused = _refused(error)
        if refused:
            complain(refused)
            return 1
        complain(
            readable(f"qmd failed: {type(error).__name__}: {shown(error)}") + "\n\n"
            "This is a mistake in qmd. Run it again with QMD_DEBUG=1 to see where."
        )
        return 1
    return code if isinstance(code, int) else 0


def carry_out(arguments: Sequence[str]) -> int | None:
    """Run a command of another process, on the current console.

    Returns:
        Its exit code. None: its operation is not forwardable, or it has none.
    """
    called = verbs(arguments)
    if not called or called[0] in GROUPS:
        return None
    operation = vars(function_of(called[0])).get("operation")
    return run(arguments) if operation is not None and operation.forwardable else None


def _refused(error: Exception) -> str | None:
    """Describe an operation that the system refused; None for a mistake in qmd."""
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryException":  # DuckDB's
        return "There is not enough memory.\n\nEnd other programs, or raise the limit (ulimit -v)."
    if not isinstance(error, OSError) or error.errno is None:
        return None
    names = [str(name) for name in (error.filename, error.filename2) if name is not None]
    what = f"{' and '.join(names)}: {error.strerror}" if names else str(error.strerror)
    return readable(
        f"The system refuses: {what}.\n\nCheck the path, its permissions, the free space and the "
        "limits of this process (ulimit -a). QMD_DEBUG=1 shows what was to be done."
    )


def _output_fails() -> bool:
    """Return whether stdout accepts no more output, such as a file on a full disk.

    What could not be written may be forgotten, so that to flush again proves nothing.
    """
    try:
        say("\n")
        console.current().out.flush()
    except OSError:
        return True
    return False


def _is_of_interrupt(error: BaseException | None) -> bool:
    """Return whether Ctrl-C caused the failure, such as of a library while it loads."""
    while error is not None:
        # DuckDB, which loads modules on its own, only quotes it.
        quotes = type(error).__module__ == "_duckdb" and "KeyboardInterrupt" in str(error)
        if quotes or isinstance(error, KeyboardInterrupt):
            return True
        error = error.__cause__ or error.__context__
    return False


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
