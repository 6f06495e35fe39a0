"""Generator of docs/qmd.1, the page of `man qmd`, from the commands as typer knows them.

python -m tools.manual
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from qmd.surfaces.cli import PANELS
from qmd.surfaces.cli.app import application
from qmd.version import __version__

PAGE = Path(__file__).parents[1] / "docs" / "qmd.1"

HEAD = f"""\
.\\" Written by python -m tools.manual.
.TH QMD 1 "" "qmd {__version__}" "User commands"
.SH NAME
qmd \\- search notes, documents and code by words, by meaning and in SQL
.SH SYNOPSIS
.B qmd
[\\fIoptions\\fR] \\fIcommand\\fR [\\fIarguments\\fR]
.SH DESCRIPTION
qmd keeps an index of folders in one file and searches it on this machine.
.PP
Completion is installed by \\fBqmd \\-\\-install\\-completion\\fR and the name of a shell:
bash, zsh, fish, powershell or pwsh.
"""

FOOT = """\
.SH SEE ALSO
\\fBqmd help\\fR \\fIcommand\\fR
"""


def escaped(text: str) -> str:
    """Write text so that roff takes no part of it for a request or an escape."""
    plain = text.replace("\\", "\\e").replace("-", "\\-")
    plain = re.sub(r"\s+", " ", plain).strip()
    return f"\\&{plain}" if plain.startswith((".", "'")) else plain


def page() -> str:
    """Return the whole page."""
    root: Any = typer.main.get_command(application([]))
    lines = [*_parameters(root)]
    for panel, names in PANELS.items():
        lines.append(f".SH {escaped(panel).upper()}")
        for name in names.split():
            lines += _command(root.commands[name], f"qmd {name}")
    return HEAD + ".SH OPTIONS\n" + "\n".join(lines) + "\n" + FOOT


def _command(command: Any, name: str) -> Iterator[str]:
    """Yield the lines of a command, or of each command of a group."""
    arguments = [_metavar(each) for each in command.params if each.param_type_name == "argument"]
    yield f".SS {escaped(' '.join([name, *arguments]))}"
    yield escaped(command.help or "")
    yield from _parameters(command)
    for title, line in getattr(command.callback, "examples", ()):
        yield from (".PP", f"{escaped(title)}:", ".br", f"\\fB{escaped(line)}\\fR")
    for each, below in getattr(command, "commands", {}).items():
        yield from _command(below, f"{name} {each}")


def _parameters(command: Any) -> Iterator[str]:
    for each in command.params:
        if getattr(each, "hidden", False) or not getattr(each, "help", None):
            continue
        if each.param_type_name == "argument":
            shown = f"\\fI{escaped(_metavar(each))}\\fR"
        else:
            flags = [*each.opts, *each.secondary_opts]
            names = ", ".join(f"\\fB{escaped(flag)}\\fR" for flag in flags)
            value = "" if each.is_flag else f" \\fI{escaped(_metavar(each))}\\fR"
            shown = names + value
        yield from (".TP", shown, escaped(each.help))


def _metavar(parameter: Any) -> str:
    """Return what stands for a value."""
    return str(parameter.metavar or parameter.human_readable_name.upper())


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
