"""Generator of docs/commands.md from the help of each command.

python -m tools.commands
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "commands.md"

HEAD = """\
# Commands

What each command says with `--help`; `python -m tools.commands` writes this page.
"""

_PANEL = re.compile(r"^╭─ (?!Options |Arguments )(.*?)^╰", re.MULTILINE | re.DOTALL)
_COMMAND = re.compile(r"^│ ([a-z][a-z-]*)  ", re.MULTILINE)


def help_of(*command: str) -> str:
    """Return the help of a command, 100 columns wide, without colours."""
    from qmd.surfaces.cli import run

    told = StringIO()
    before = dict(os.environ)
    os.environ |= {"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"}
    try:
        with redirect_stdout(told):
            run([*command, "--help"])
    finally:
        os.environ.clear()
        os.environ.update(before)
    return "\n".join(line.rstrip() for line in told.getvalue().strip().splitlines())


def sections(*command: str) -> Iterator[str]:
    """Yield the sections of a command and its subcommands."""
    told = help_of(*command)
    name = " ".join(("qmd", *command))
    yield f"{'##' if len(command) < 2 else '###'} {name}\n\n```\n{told.strip()}\n```\n"
    for panel in _PANEL.findall(told):
        for each in _COMMAND.findall(panel):
            yield from sections(*command, each)


def page() -> str:
    """Return the whole page."""
    return "\n".join((HEAD, *sections()))


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
