"""`qmd trust …`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from qmd.errors import UsageError
from qmd.settings import trust
from qmd.surfaces import formats
from qmd.surfaces.cli.common import READ, Json, is_interactive, notice, say, state
from qmd.text import paths

app = typer.Typer(
    invoke_without_command=True,
    help="Approve the commands, outside folders, models and links of a project's index.yml.",
)


@app.callback()
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
    wanted = trust.gated(place, settings)
    if not wanted:
        say("Nothing in this project's index.yml needs approval.")
        return
    notice(f"{place.config} wants to:\n" + "\n".join(f"  {item}" for item in wanted) + "\n")
    if trust.is_trusted(place, settings):
        say("This is approved already.")
        return
    if not yes:
        if not is_interactive():
            raise UsageError("Nobody can be asked here. Read the list, then run 'qmd trust --yes'.")
        if not typer.confirm("Approve?", err=True):
            notice("Nothing was approved.")
            raise typer.Exit(1)
    trust.approve(place, settings)
    say(f"Approved for {place.project}.")


@app.command(name="list")
def list_(context: typer.Context, as_json: Json = False) -> None:
    """List the projects that were approved."""
    found = sorted(trust.approvals(state(context).place))
    if as_json:
        say(formats.as_json(found))
    else:
        say("".join(f"{project}\n" for project in found) or "No project is approved.")


@app.command()
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
        raise UsageError(f"{folder} is not approved. See 'qmd trust list'.")
    say(f"Took back the approval of {folder}.")
