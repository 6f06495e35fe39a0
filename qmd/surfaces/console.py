"""Console of one command: its streams, environment and folder.

A command that runs by itself has those of the process. In a server, several commands run at the
same time, each with the streams and the environment of its caller. No command uses those of the
process directly: it asks `current` for its console.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from qmd.operations.index import Index
    from qmd.settings.environment import Machine, Place


class NotHere(BaseException):
    """The command has to run in the process of its caller. No handler of errors gets it."""


class Console:
    """Streams, environment and folder of the process, for a command that runs by itself.

    Attributes:
        is_process: False in a server, whose streams and models other commands use as well.
    """

    is_process = True

    @property
    def out(self) -> TextIO:
        """Standard output."""
        return sys.stdout

    @property
    def err(self) -> TextIO:
        """Standard error."""
        return sys.stderr

    @property
    def stdin(self) -> TextIO:
        """Standard input."""
        return sys.stdin

    @property
    def environ(self) -> Mapping[str, str]:
        """Variables of the environment."""
        return os.environ

    def folder(self) -> Path:
        """Return the current folder.

        Raises:
            FileNotFoundError: it was removed.
        """
        return Path.cwd()

    def columns(self) -> int:
        """Return the columns of the terminal that stdout is, or of `COLUMNS`; 80 by default."""
        import shutil

        return shutil.get_terminal_size().columns

    def columns_of_errors(self) -> int | None:
        """Return the columns of the terminal that stderr is; None if it does not tell."""
        try:
            return os.get_terminal_size(sys.stderr.fileno()).columns or None
        except (OSError, ValueError):
            return None

    def index(self, place: Place, machine: Machine) -> Index | None:
        """Return the open index of a server; None if the command opens it.

        Raises:
            NotHere: the server has another index open, or other models.
        """
        return None

    def stay_alone(self) -> None:
        """Go on only in the process of the caller.

        Raises:
            NotHere: this is a server. The caller then runs the command.
        """

    def discard(self) -> None:
        """Forget output that cannot be written any more: Python would complain while it ends."""
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


PROCESS = Console()
"""Console of this process."""

_CURRENT: ContextVar[Console] = ContextVar("console", default=PROCESS)


def current() -> Console:
    """Return the console of the command that runs in this thread or task."""
    return _CURRENT.get()


def use(console: Console) -> None:
    """Give the rest of this context a console of its own."""
    _CURRENT.set(console)
