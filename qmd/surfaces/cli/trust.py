"""`qmd trust …`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from qmd.errors import UsageError
from qmd.settings import trust
from qmd.surfaces import formats, terminal
from qmd.surfaces.cli.common import (
    Ended,
    Json,
    confirmed,
    examples,
    is_interactive,
    notice,
    say,
    state,
)
from qmd.surfaces.cli.framework import READ
from qmd.text import paths
from qmd.text.display_width import columns_of
from qmd.visible import one_line, shown

DIGITS = 12
"""Digits of a SHA-256 that are shown; all of them are compared."""

BAR = "      │ "
"""What a line goes on behind that is longer than the terminal."""

ESCAPED = "      (\\n is a line break there, \\t a tab, and \\\\ one \\)"
"""Said below a value that is not shown letter by letter."""

app = typer.Typer(
    invoke_without_command=True,
    help="Approve the commands, outside folders, models and links of a project's index.yml.",
)


@app.callback()
@examples(
    ("See what a project wants, and approve it", "qmd trust"),
    ("Approve it without being asked", "qmd trust --yes"),
)
def ask(
    context: typer.Context,
    yes: Annotated[bool, typer.Option("-y", "--yes", help="Do not ask.")] = False,
) -> None:
    """Show what the project's index.yml wants, and approve it."""
    if context.invoked_subcommand is not None:
        return
    here = state(context)
    place = here.place
    if place.project is None:
        raise UsageError("This is not a project with its own index; there is nothing to approve.")
    with here.engine() as engine:
        settings = engine.settings()
    for each in settings.collections:
        if each.update_command is not None:
            trust.check_command(each.name, each.update_command, place.config)
    wanted = trust.demands(place, settings)
    if not wanted:
        say("Nothing in this project's index.yml needs approval.")
        return
    notice(listed(wanted, place.config))
    if trust.is_trusted(place, settings):
        say("This is approved already.")
        return
    if not yes:
        if not is_interactive():
            raise UsageError(
                "There is no terminal to ask on. Read the list, then run 'qmd trust --yes'."
            )
        if not confirmed("Approve?"):
            notice("Nothing was approved.")
            raise Ended(1)
    trust.approve(place, settings, seen=wanted)
    say(f"Approved for {one_line(place.project)}.")


def listed(wanted: Sequence[trust.Demand], config: Path) -> str:
    """Everything that is to be approved, none of it cut, with what each command runs.

    A line that is longer than the terminal goes on behind a bar, so that no part of a value can
    pass for a line of its own.
    """
    lines = [f"{one_line(config)} wants to:"]
    for demand in wanted:
        value = one_line(demand.value)
        lines.append(f"  {one_line(demand.act)}: {value}")
        if value != demand.value:
            lines.append(ESCAPED)
        for script in demand.scripts:
            name = one_line(script.name)
            if script.target != script.name:
                name += f", a link to {one_line(script.target)},"
            known = f"has SHA-256 {script.digest[:DIGITS]}…" if script.digest else "cannot be read"
            lines.append(f"      {name} {known}")
    wide = terminal.width()
    return "\n".join(part for line in lines for part in _wrapped(line, wide)) + "\n"


def _wrapped(line: str, width: int | None) -> list[str]:
    """Wrap a line to the width of the terminal."""
    if width is None or columns_of(line) < width:
        return [line]
    parts, used = [""], 0
    for mark in line:
        wide = columns_of(mark)
        if used + wide >= width:
            parts.append(BAR)
            used = len(BAR)
        parts[-1] += mark
        used += wide
    return parts


@app.command(name="list")
@examples(
    ("List what was approved", "qmd trust list"),
    ("For a program", "qmd trust list --json"),
)
def list_(context: typer.Context, as_json: Json = False) -> None:
    """List the projects that were approved."""
    found = sorted(trust.approvals(state(context).place))
    if as_json:
        say(formats.as_json(found))
    else:
        lines = "".join(f"{one_line(project)}\n" for project in found)
        say(lines or "No project is approved.")


@app.command()
@examples(
    ("Take back the approval of this project", "qmd trust revoke"),
    ("Of another one", "qmd trust revoke ~/clone"),
)
def revoke(
    context: typer.Context,
    project: Annotated[
        Path | None,
        typer.Argument(click_type=READ, help="Folder of the project; else the current one."),
    ] = None,
) -> None:
    """Take an approval back."""
    place = state(context).place
    folder = paths.at_home(project).resolve() if project is not None else place.project
    if folder is None:
        raise UsageError("Name the project whose approval is to be taken back.")
    if not trust.revoke(place, folder):
        raise UsageError(f"{shown(folder)} is not approved. See 'qmd trust list'.")
    say(f"Took back the approval of {shown(folder)}.")
