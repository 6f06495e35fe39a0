"""The command line: thin layers over the engine."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Annotated

import typer
from typer import Typer

from qmd import __version__
from qmd.errors import QmdError
from qmd.surface.cli import collections, contexts, documents, index, searching, trusting
from qmd.surface.cli.common import State, complain

app = Typer(
    name="qmd",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Search everything you have written down, on your own machine.",
)
app.add_typer(collections.app, name="collection")
app.add_typer(contexts.app, name="context")
app.add_typer(trusting.app, name="trust")
app.command()(searching.search)
app.command()(documents.get)
app.command(name="multi-get")(documents.multi_get)
app.command()(documents.ls)
app.command()(index.update)
app.command()(index.watch)
app.command()(index.status)
app.command()(index.doctor)
app.command()(index.cleanup)
app.command()(index.init)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"qmd {__version__}")
        raise typer.Exit


@app.callback()
def options(
    context: typer.Context,
    index: Annotated[
        str | None, typer.Option("--index", metavar="NAME", help="Use a separate, named index.")
    ] = None,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Search everything you have written down, on your own machine."""
    context.obj = State(dict(os.environ), index)


def run(arguments: Sequence[str]) -> int:
    """Run one command.

    Returns:
        The exit code: 0 done, 1 usage or not found, 2 partly done, 3 the index is busy or
        unreadable, 130 interrupted.
    """
    from typer._click import exceptions as click  # the errors that typer itself raises

    try:
        code = app(list(arguments), standalone_mode=False, prog_name="qmd")
        sys.stdout.flush()
    except click.NoArgsIsHelpError:
        return 0
    except click.UsageError as error:
        complain(_usage(error))
        return 1
    except (KeyboardInterrupt, typer.Abort):
        complain("Interrupted.")
        return 130
    except BrokenPipeError:
        # The reader has gone (`qmd … | head`). Python would complain again while it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except QmdError as error:
        if os.environ.get("QMD_DEBUG") == "1":
            raise
        complain(str(error))
        return error.exit_code
    except UnicodeEncodeError:
        if os.environ.get("QMD_DEBUG") == "1":
            raise
        complain("An argument is not valid UTF-8 text.")
        return 1
    return code if isinstance(code, int) else 0


def _usage(error: Exception) -> str:
    """What is wrong with the arguments, and where the right ones are to be found."""
    message = getattr(error, "format_message", lambda: str(error))()
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "qmd"
    return f"{message}\n\nSee '{path} --help'."
