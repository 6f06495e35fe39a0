"""Generator of qmd/surfaces/cli/summaries.py from the help of each command.

python -m tools.docs writes it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from pprint import pformat
from typing import Any

import typer

from qmd.surfaces.cli.app import application

MODULE = Path(__file__).parents[1] / "qmd" / "surfaces" / "cli" / "summaries.py"

HEAD = '''\
"""Summaries of all commands, for the help; `python -m tools.docs` writes this module.

With them the help lists the commands without loading any.
"""

# fmt: off

SUMMARIES: dict[str, str] = \\
'''


def module() -> str:
    """Return the module as it should be."""
    return HEAD + pformat(dict(_summaries()), width=96, sort_dicts=False) + "\n"


def _summaries() -> Iterator[tuple[str, str]]:
    """Yield each command and group with the first paragraph of its help."""
    root: Any = typer.main.get_command(application([]))
    for name, command in root.commands.items():
        if not command.hidden:
            yield name, " ".join(command.help.split("\n\n")[0].split())


def main() -> None:
    """Write the module."""
    MODULE.write_text(module(), encoding="utf-8")


if __name__ == "__main__":
    main()
