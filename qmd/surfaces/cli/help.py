"""`qmd help` and `qmd version`."""

from __future__ import annotations

from typing import Annotated

import typer

from qmd.surfaces.cli.common import examples, say
from qmd.version import __version__


@examples(
    ("List the commands", "qmd help"),
    ("Explain a command", "qmd help search"),
    ("Explain a command of a group", "qmd help collection add"),
)
def help(
    command: Annotated[
        list[str] | None,
        typer.Argument(metavar="[COMMAND]...", help="Such as search, or collection add."),
    ] = None,
) -> None:
    """Explain qmd, or one of its commands."""
    from qmd.surfaces.cli.app import application

    words = command or []
    application(words)([*words, "--help"], standalone_mode=False, prog_name="qmd")


@examples(
    ("Show the version", "qmd version"),
    ("The same as an option", "qmd --version"),
)
def version() -> None:
    """Show the version of qmd."""
    say(f"qmd {__version__}")
