"""`qmd mcp …` and `qmd server`: the index for agents."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from qmd.errors import UsageError
from qmd.surfaces import formats, wording
from qmd.surfaces.cli.common import Json, State, agreed, examples, notice, say, state
from qmd.surfaces.cli.framework import WRITTEN, with_options
from qmd.surfaces.cli.server_options import LONG_PORT, PORT, Access, HttpOptions, refuse_option
from qmd.surfaces.cli.server_process import files_of, serve, start
from qmd.surfaces.mcp.client_config import Client
from qmd.surfaces.tools.server_tools import PLAIN, ServerTools
from qmd.visible import shown

if TYPE_CHECKING:
    from qmd.surfaces.mcp.client_config import Entry

NO_HTTP_OPTIONS = HttpOptions()

app = typer.Typer(
    invoke_without_command=True,
    help="Serve the index to agents: MCP over stdin and stdout, or over HTTP.",
)


class Transport(StrEnum):
    """The connection between clients and the server."""

    MCP = "mcp"
    HTTP = "http"
    BOTH = "both"


@app.callback()
@with_options
@examples(
    ("Serve a client that starts it", "qmd mcp"),
    ("Add it to the settings of a client", "qmd mcp --install cursor --yes"),
    ("Write a bundle for Claude Desktop", "qmd mcp --bundle ."),
    ("Serve MCP and JSON over HTTP, in the background", "qmd mcp --http --daemon"),
)
def mcp(
    context: typer.Context,
    http: Annotated[
        bool, typer.Option("--http", help="Serve HTTP: MCP at /mcp, and JSON.")
    ] = False,
    options: HttpOptions = NO_HTTP_OPTIONS,
    daemon: Annotated[
        bool, typer.Option("--daemon", help="Serve in the background. Ends with 'qmd mcp stop'.")
    ] = False,
    tools: ServerTools = PLAIN,
    print_config: Annotated[
        Client | None,
        typer.Option("--print-config", help="Print the settings for a client, and serve nothing."),
    ] = None,
    install: Annotated[
        Client | None,
        typer.Option("--install", help="Write the settings into the file of a client."),
    ] = None,
    bundle: Annotated[
        Path | None,
        typer.Option(
            "--bundle",
            metavar="PATH",
            click_type=WRITTEN,
            help="Write a bundle (.mcpb) for Claude Desktop: a file, or into a folder.",
        ),
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Do not ask before it is written.")
    ] = False,
    pid_file: Annotated[Path | None, typer.Option("--pid-file", hidden=True)] = None,
) -> None:
    """Serve the index to agents: MCP over stdin and stdout, or over HTTP."""
    if context.invoked_subcommand is not None:
        return
    here = state(context)
    tools.check()
    if not http:
        options.refuse("Add --http.")
        if daemon:
            refuse_option("--daemon", "Add --http.")
    access = options.access(here, PORT) if http else None
    if bundle is not None:
        if http:
            raise UsageError("Claude Desktop starts the server itself: leave out --http.")
        _write_bundle(here, bundle, tools)
    elif install is not None:
        _install(here, install, tools, access, yes=yes)
    elif print_config is not None:
        _print_config(here, print_config, tools, access)
    elif access is None:
        serve(here, tools, None, stdio=True)
    elif daemon:
        start(here, tools, access)
    else:
        serve(here, tools, access, stdio=False, pid_file=pid_file)


@with_options
@examples(
    ("Serve a client that starts it", "qmd server"),
    ("Serve over HTTP", "qmd server --transport http --port 8383"),
)
def server(
    context: typer.Context,
    transport: Annotated[
        Transport,
        typer.Option("--transport", help="mcp: stdin and stdout; http; both, ending with stdin."),
    ] = Transport.MCP,
    options: HttpOptions = NO_HTTP_OPTIONS,
    tools: ServerTools = PLAIN,
) -> None:
    """Serve the index to agents, like 'qmd mcp'."""
    here = state(context)
    tools.check()
    access = None
    if transport is Transport.MCP:
        options.refuse("Add --transport http, or --transport both.")
    else:
        access = options.access(here, LONG_PORT)
    serve(here, tools, access, stdio=transport is not Transport.HTTP)


@app.command()
@examples(
    ("End the server in the background", "qmd mcp stop"),
    ("That of another index", "qmd --index archive mcp stop"),
)
def stop(context: typer.Context) -> None:
    """End the server in the background."""
    from qmd.surfaces.http import daemon

    ended = daemon.stop(files_of(state(context)))
    if ended is None:
        notice("No server runs in the background for this index.")
    else:
        say(f"Stopped the server at {ended.url} (process {ended.process}).")


@app.command()
@examples(
    ("See whether a server runs", "qmd mcp status"),
    ("For a program", "qmd mcp status --json"),
)
def status(context: typer.Context, as_json: Json = False) -> None:
    """Show whether a server runs in the background."""
    import time

    from qmd.surfaces.http import daemon, listener

    files = files_of(state(context))
    found = daemon.running(files)
    health = listener.health(found.host, found.port) if found else None
    if as_json:
        facts: dict[str, object] = {"running": found is not None}
        if found is not None:
            facts |= {
                "pid": found.process,
                "url": found.url,
                "uptime": round(time.time() - found.began, 3),
                "healthy": health is not None,
                "log": str(files.log),
            }
        say(formats.as_json(facts))
    elif found is None:
        say("No server runs in the background for this index.")
    else:
        lasted = wording.duration(time.time() - found.began)
        say(f"A server runs at {found.url} (process {found.process}) for {lasted}.")
        if health is None:
            notice(f"It does not answer. Its log is {files.log}.")


def _entry(here: State, client: Client, tools: ServerTools, access: Access | None) -> Entry:
    """Build what the settings of a client have to say."""
    from qmd.settings import environment
    from qmd.surfaces.http.listener import url_of
    from qmd.surfaces.mcp import client_config

    if access is not None:
        url = f"{url_of(access.host, access.port)}/mcp"
        return client_config.http_config(client, url, has_token=access.token is not None)
    environ = environment.carried(here.environ)
    words = _server_words(here, tools)
    return client_config.stdio_config(client, words, environ=environ, folder=here.place.project)


def _server_words(here: State, tools: ServerTools) -> list[str]:
    """Return the command that serves this index over stdin and stdout."""
    from qmd.surfaces.mcp import client_config

    named = ["--index", here.index_name] if here.index_name else []
    return [*client_config.server_command(), *named, "mcp", *tools.arguments]


def _write_bundle(here: State, path: Path, tools: ServerTools) -> None:
    """Write a bundle, into a folder under the name of the index."""
    import re

    from qmd.settings import environment
    from qmd.surfaces.mcp import bundle

    index = re.sub(r"[^a-z0-9]+", "-", (here.index_name or "").lower()).strip("-")
    name = f"qmd-{index}" if index else "qmd"
    file = path / f"{name}{bundle.SUFFIX}" if path.is_dir() else path
    if file.suffix != bundle.SUFFIX:
        raise UsageError(f"{shown(file)} is no name of a bundle: it ends with {bundle.SUFFIX}.")
    described = bundle.manifest(
        _server_words(here, tools),
        environ=environment.carried(here.environ),
        folder=here.place.project,
        tools=tools.offered(),
        name=name,
    )
    bundle.write_bundle(file, described)
    say(f"Wrote {shown(file)}. Open it with Claude Desktop to install it.")


def _install(
    here: State, client: Client, tools: ServerTools, access: Access | None, *, yes: bool
) -> None:
    """Show the change of a client's settings, ask, and write it.

    Raises:
        UsageError: the file cannot be read or written, or there is no terminal to ask at.
    """
    import difflib

    from qmd.settings import environment
    from qmd.surfaces.mcp import client_files

    path = client_files.settings_path(
        client,
        environ=here.environ,
        home=environment.home_of(here.environ),
        project=here.place.project,
    )
    before = client_files.read(path)
    after = client_files.with_server(client, _entry(here, client, tools, access), before, path)
    if after == before:
        say(f"{shown(path)} has these settings already.")
        return
    lines = difflib.unified_diff(
        before.splitlines(), after.splitlines(), str(path), str(path), lineterm=""
    )
    for line in lines:
        say(shown(line))
    agreed("Write this?", yes=yes)
    client_files.write(path, after)
    say(f"Wrote {shown(path)}. Start {client.value} again to use it.")


def _print_config(here: State, client: Client, tools: ServerTools, access: Access | None) -> None:
    from qmd.surfaces.mcp import client_config

    say(client_config.settings_file(client, _entry(here, client, tools, access)))
    notice(f"This belongs into {client_config.where(client, http=access is not None)}.")
