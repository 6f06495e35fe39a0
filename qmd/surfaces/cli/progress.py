"""Progress of long work, on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

from qmd.surfaces import terminal
from qmd.visible import shown

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import ProgressColumn

WIDEST = 60
"""Characters of the name of a task."""

Tell = Callable[[int, int | None], None]
"""Told (what is done, all there is to do)."""

Counting = Literal["shares", "things", "bytes"]
"""What a bar shows besides itself and the time left: per cent, how many of how many, or bytes with
their rate."""


@contextmanager
def bars(counting: Counting = "things") -> Iterator[Callable[[str], Tell] | None]:
    """Progress bars, each for the task that it is given; None where stderr is no terminal.

    What is printed meanwhile appears above them, unless stdout leads elsewhere.
    """
    if not sys.stderr.isatty():
        yield None
        return
    from rich.progress import Progress

    with Progress(
        *_columns(counting),
        console=_console(),
        transient=True,
        redirect_stdout=sys.stdout.isatty(),
    ) as progress:
        terminal.guard_errors()  # the stream that shows notices above the bars

        def of(task: str) -> Tell:
            number = progress.add_task(shown(task, most=WIDEST), total=None)
            return lambda done, total: progress.update(number, completed=done, total=total)

        yield of


@contextmanager
def bar(task: str, counting: Counting = "things") -> Iterator[Tell | None]:
    """Show a progress bar for one task; None where stderr is not a terminal."""
    with bars(counting) as of:
        yield of(task) if of else None


@contextmanager
def busy(task: str) -> Iterator[None]:
    """Word of a task that cannot say how far it has come, and prints nothing."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.text import Text

    with _console().status(Text(f"{shown(task, most=WIDEST)}...")):
        terminal.guard_errors()
        yield


def _console() -> Console:
    """Make a console that draws on stderr with its own escape sequences."""
    from rich.console import Console

    return Console(file=terminal.unguarded_errors())


def unseen(done: int, total: int | None) -> None:
    """Ignore progress."""


def _columns(counting: Counting) -> list[ProgressColumn]:
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        MofNCompleteColumn,
        TaskProgressColumn,
        TextColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )

    counted: dict[Counting, list[ProgressColumn]] = {
        "shares": [TaskProgressColumn()],
        "things": [MofNCompleteColumn()],
        "bytes": [DownloadColumn(), TransferSpeedColumn()],
    }
    return [
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        *counted[counting],
        TimeRemainingColumn(),
    ]
