"""Progress of long work: bars on a terminal, lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal, Protocol

from qmd.surfaces import terminal, wording
from qmd.surfaces.cli.common import notice
from qmd.visible import shown

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import ProgressColumn

WIDEST = 60
"""Characters of the name of a task."""

LINE_SECONDS = 10.0
"""Seconds between two lines of progress where stderr is no terminal."""

Counting = Literal["shares", "things", "bytes"]
"""Amounts that are shown: per cent, how many of how many, or bytes."""


class Tell(Protocol):
    """Callback that is told what is done, all there is to do, and what is in hand."""

    def __call__(self, done: int, total: int | None, doing: str = "") -> None:
        """Show it."""


@contextmanager
def bars(counting: Counting = "things") -> Iterator[Callable[[str], Tell]]:
    """Show the progress of several tasks, each under the name that it is given.

    On a terminal these are bars, and what is printed meanwhile appears above them, unless stdout
    leads elsewhere. Where stderr is no terminal, there is a line every `LINE_SECONDS`.
    """
    if not sys.stderr.isatty():
        yield lambda task: ProgressLines(task, counting)
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
            number = progress.add_task(shown(task, most=WIDEST), total=None, doing="")

            def tell(done: int, total: int | None, doing: str = "") -> None:
                progress.update(number, completed=done, total=total, doing=shown(doing))

            return tell

        yield of


@contextmanager
def bar(task: str, counting: Counting = "things") -> Iterator[Tell]:
    """Show the progress of one task, as `bars` does."""
    with bars(counting) as of:
        yield of(task)


class ProgressLines:
    """Progress of one task in lines, for a log or a pipe."""

    def __init__(self, task: str, counting: Counting) -> None:
        self._task = task
        self._counting = counting
        self._began = self._last = time.monotonic()

    def __call__(self, done: int, total: int | None, doing: str = "") -> None:
        """See `Tell`."""
        now = time.monotonic()
        if now - self._last < LINE_SECONDS:
            return
        self._last = now
        notice(f"{shown(self._task, most=WIDEST)}: {self._told(done, total, now)}{_after(doing)}")

    def _told(self, done: int, total: int | None, now: float) -> str:
        """Describe what is done, how fast, and how long the rest takes at that rate."""
        amounts = {
            "shares": f"{100 * done / total:.0f} %" if total else "",
            "things": f"{done:,} of {total:,}" if total else f"{done:,}",
            "bytes": wording.size(done) + (f" of {wording.size(total)}" if total else ""),
        }
        rate = done / max(now - self._began, 1e-9)
        speeds = {"things": f"{rate:.1f}/s", "bytes": f"{wording.size(round(rate))}/s"}
        left = f"{wording.duration((total - done) / rate)} left" if total and rate else ""
        parts = (amounts[self._counting], speeds.get(self._counting, ""), left)
        return ", ".join(filter(None, parts))


def _after(doing: str) -> str:
    return f"; {shown(doing)}" if doing else ""


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


def _columns(counting: Counting) -> list[ProgressColumn]:
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        MofNCompleteColumn,
        ProgressColumn,
        Task,
        TaskProgressColumn,
        TextColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )
    from rich.table import Column
    from rich.text import Text

    class Rate(ProgressColumn):
        """Things a second."""

        def render(self, task: Task) -> Text:
            """See `ProgressColumn`."""
            speed = task.finished_speed or task.speed
            return Text(f"{speed:.1f}/s" if speed else "")

    counted: dict[Counting, list[ProgressColumn]] = {
        "shares": [TaskProgressColumn()],
        "things": [MofNCompleteColumn(), Rate()],
        "bytes": [DownloadColumn(), TransferSpeedColumn()],
    }
    whole = Column(no_wrap=True, overflow="ellipsis")
    return [
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=20),
        *counted[counting],
        TimeRemainingColumn(),
        TextColumn("{task.fields[doing]}", markup=False, table_column=whole),
    ]
