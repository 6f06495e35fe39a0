"""The command line: thin layers over the engine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from keyword import iskeyword
from typing import Any

from qmd.errors import QmdError
from qmd.forward import ALLOW_PARTIAL, GLOBAL, hoisted
from qmd.surfaces import console
from qmd.surfaces.cli.common import BUSY, INTERRUPTED, Ended, complain, is_text, say
from qmd.visible import shown
from qmd.wording import readable

COMMANDS = {
    "search": "search",
    "vsearch": "semantic_search",
    "query": "semantic_search",
    "grep": "grep",
    "similar": "similar",
    "links": "links",
    "facets": "facets",
    "passages": "passages",
    "ask": "ask",
    "open": "browser",
    "embed": "embed",
    "get": "documents",
    "multi-get": "documents",
    "ls": "documents",
    "put": "put",
    "remove": "put",
    "append": "writing",
    "edit": "writing",
    "move": "writing",
    "undo": "writing",
    "journal": "writing",
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

ALIASES = {"vector-search": "vsearch", "deep-search": "query"}
"""Other names of commands, not shown in the help."""

GROUPS = {
    "collection": "collections",
    "context": "contexts",
    "experiences": "experiences",
    "models": "embed",
    "trust": "trust",
    "mcp": "serve",
    "skill": "skill",
    "service": "service",
    "cluster": "cluster",
}
"""Each group of commands and the module of its `app`."""

PANELS = {
    "Search": "search vsearch query passages ask similar links grep sql open",
    "Read documents": "get multi-get ls facets",
    "Choose what is indexed": "collection context init trust",
    "Write documents": "put append edit move remove undo journal",
    "Keep the index up to date": "update watch embed models",
    "Check the index": "status doctor cleanup",
    "Look at all documents": "stats map bench",
    "Move the index": "export import cluster",
    "Connect agents": "mcp server service skill experiences",
    "Get help": "help version",
}
"""The parts of the help, and the commands in each."""


def called_command(arguments: Sequence[str]) -> str | None:
    """Find the command that is called, if any."""
    return next(iter(arguments[options_before(arguments) :]), None)


def module_of(name: str) -> Any:
    """Import a module of this room."""
    return import_module(f"qmd.surfaces.cli.{name}")


def function_of(name: str) -> Callable[..., Any]:
    """Return the function of a command, which has its name, or that and an underscore."""
    own = name.replace("-", "_")
    function: Callable[..., Any] = getattr(
        module_of(COMMANDS[name]), f"{own}_" if iskeyword(own) else own
    )
    return function


def verbs(arguments: Sequence[str]) -> list[str]:
    """Find the words of the command that is called, without options and their values."""
    rest = hoisted(arguments)
    found = rest[options_before(rest) :][:2]
    if found and found[0] in GROUPS:
        return [word for word in found if not word.startswith("-")]
    return [word for word in found[:1] if word in COMMANDS or word in ALIASES]


def options_before(arguments: Sequence[str]) -> int:
    """Count the arguments before the command: `--index NAME`, `--engine NAME`, flags."""
    count = 0
    while arguments[count : count + 1] and arguments[count] in GLOBAL:
        count += 2
    return count + (arguments[count : count + 1] == [ALLOW_PARTIAL])


def run(arguments: Sequence[str], begin: Callable[[], None] = lambda: None) -> int:
    """Run one command.

    Args:
        begin: called when the command has been loaded, before it does anything.

    Returns:
        The exit code: 0 done, 1 usage or not found, 2 partly done or no such command, 3 the index
        is busy or unreadable, 130 interrupted.
    """
    if any(not is_text(argument) for argument in arguments):
        complain("An argument is not valid UTF-8 text.")
        return 1
    try:
        arguments = hoisted(arguments)
        from qmd.surfaces.cli import direct

        carry_out = direct.command(arguments)
        if carry_out is None:
            from qmd.surfaces.cli import app

            carry_out = app.command(arguments)
        begin()
        try:
            code = carry_out()
        except Ended as ended:
            code = ended.exit_code
        console.current().out.flush()
    except KeyboardInterrupt:
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
        complain(_in_words(error))
        return 1
    return code


def _in_words(error: Exception) -> str:
    """Describe an error that is none of qmd's own."""
    if isinstance(error, OSError) and error.filename is None and _output_fails():
        return f"The output cannot be written: {error.strerror or error}."
    return _refused(error) or (
        readable(f"qmd failed: {type(error).__name__}: {shown(error)}") + "\n\n"
        "This is a mistake in qmd. Run it again with QMD_DEBUG=1 to see where."
    )


def carry_out_here(arguments: Sequence[str]) -> int | None:
    """Run a command of another process, on the current console.

    Returns:
        Its exit code. None: its operation is not forwardable, or it has none.
    """
    called = verbs(arguments)
    if not called or called[0] in GROUPS:
        return None
    operation = vars(function_of(ALIASES.get(called[0], called[0]))).get("operation")
    return run(arguments) if operation is not None and operation.forwardable else None


def _refused(error: Exception) -> str | None:
    """Describe an operation that the system refused; None for a mistake in qmd."""
    from qmd.errors.shortage import shortage_of

    if shortage := shortage_of(error):
        return str(shortage)
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
    from qmd.errors.shortage import causes
    from qmd.storage.duckdb_errors import is_interrupt

    return any(
        # DuckDB, which loads modules on its own, only quotes it.
        (type(each).__module__ == "_duckdb" and "KeyboardInterrupt" in str(each))
        or isinstance(each, KeyboardInterrupt)
        or is_interrupt(each)
        for each in causes(error)
    )
