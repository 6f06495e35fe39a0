"""`qmd service …`: a service of the user that keeps an index fresh and commands instant."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from qmd import forward
from qmd.settings import environment
from qmd.surfaces import formats, service
from qmd.surfaces.cli.common import (
    Json,
    State,
    agreed,
    examples,
    notice,
    say,
    state,
)
from qmd.surfaces.service import Service

app = typer.Typer(
    no_args_is_help=True,
    help="A service of yours that watches, embeds and serves the index after each login.",
)

HUB = ("HF_HOME", "HF_HUB_CACHE", "HF_HUB_OFFLINE", "QMD_FORCE_CPU", "QMD_TRUST_LOCAL_CONFIG")
"""Variables that a server has to share with the commands that it carries out."""

Yes = Annotated[bool, typer.Option("--yes", help="Do not ask.")]


@app.command()
@examples(
    ("See what would be written, then decide", "qmd service install"),
    ("For a script", "qmd service install --yes"),
    ("For another index", "qmd --index archive service install"),
)
def install(context: typer.Context, yes: Yes = False) -> None:
    """Install a systemd user unit or launchd agent that runs 'qmd watch --embed'."""
    here = state(context)
    here.check_exists()
    found = _service(here)
    say(f"{found.file}:\n\n{found.text}")
    say("Then:\n" + "\n".join(f"  {' '.join(command)}" for command in found.begin))
    agreed("Write this file and start the service?", yes=yes)
    service.install(found)
    say("Installed and started. 'qmd service status' shows it, 'qmd service remove' ends it.")


@app.command()
@examples(
    ("See whether it runs and answers", "qmd service status"),
    ("For a program", "qmd service status --json"),
)
def status(context: typer.Context, as_json: Json = False) -> None:
    """Show whether the service is installed, runs, and carries commands out."""
    here = state(context)
    found = _service(here)
    path = forward.endpoint_of(here.environ, str(here.place.database))
    facts = {
        "installed": found.file.exists(),
        "running": service.is_active(found),
        "answers": forward.is_listening(path),
        "file": str(found.file),
        "socket": path,
    }
    if as_json:
        say(formats.as_json(facts))
        return
    if not facts["installed"]:
        say("The service is not installed: qmd service install")
    else:
        say(f"{found.file}: {'running' if facts['running'] else 'not running'}")
    say(
        "A server carries commands out."
        if facts["answers"]
        else "No server carries commands out: each runs by itself."
    )


@app.command()
@examples(
    ("End it for good", "qmd service remove"),
    ("For a script", "qmd service remove --yes"),
)
def remove(context: typer.Context, yes: Yes = False) -> None:
    """Stop the service and remove its file."""
    found = _service(state(context))
    if not found.file.exists():
        notice("The service is not installed.")
        return
    commands = (*found.end, *found.forget)
    say(f"Remove {found.file}, with:\n" + "\n".join(f"  {' '.join(c)}" for c in commands))
    agreed("Stop the service and remove its file?", yes=yes)
    service.remove(found)
    say("Removed.")


def _service(here: State) -> Service:
    named = ["--index", here.index_name] if here.index_name else []
    # -P: the folder it is started in has no say in what is imported.
    words = [sys.executable, "-P", "-m", "qmd", *named, "watch", "--embed"]
    environ = environment.carried(here.environ)
    environ |= {name: here.environ[name] for name in HUB if here.environ.get(name)}
    return service.of(here.place, words, environ, environment.home_of(here.environ))
