"""`qmd mcp …` and `qmd server`: the index for agents."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from qmd.errors import UsageError
from qmd.surfaces import formats, wording
from qmd.surfaces.cli.common import Json, State, agreed, examples, notice, say, state
from qmd.surfaces.cli.framework import READ, WRITTEN, Whole
from qmd.surfaces.cli.server_options import (
    Access,
    ToolNames,
    Tools,
    refuse,
    settings_of,
    token_of,
    tools_of,
)
from qmd.surfaces.cli.server_process import files_of, serve, start
from qmd.surfaces.mcp.client_config import Client
from qmd.visible import shown

if TYPE_CHECKING:
    from qmd.surfaces.mcp.client_config import Entry

HOST = "127.0.0.1"
PORT, LONG_PORT = 8181, 18765
"""Of `qmd mcp --http`, and of `qmd server`."""

app = typer.Typer(
    invoke_without_command=True,
    help="Serve the index to agents: MCP over stdin and stdout, or over HTTP.",
)


class Transport(StrEnum):
    """The connection between clients and the server."""

    MCP = "mcp"
    HTTP = "http"
    BOTH = "both"


Host = Annotated[str | None, typer.Option("--host", help=f"Address of the HTTP server ({HOST}).")]
AllowHost = Annotated[
    list[str] | None,
    typer.Option("--allow-host", metavar="NAME", help="Be reached under this name; repeatable."),
]
AllowOrigin = Annotated[
    list[str] | None,
    typer.Option("--allow-origin", metavar="URL", help="Let this web page ask; repeatable."),
]
Token = Annotated[
    str | None,
    typer.Option(
        "--token", help="Every request has to bring it. Others can see it here: prefer QMD_TOKEN."
    ),
]
TokenFile = Annotated[
    Path | None,
    typer.Option("--token-file", metavar="FILE", click_type=READ, help="File with the token."),
]
Listed = Annotated[
    ToolNames, typer.Option("--tool-names", help="List tools as search, qmd_search, or both.")
]
ReadOnly = Annotated[bool, typer.Option("--read-only", help="Offer no tool that writes.")]
AllowWrite = Annotated[
    bool, typer.Option("--allow-write", help="Also offer tools that update, embed and write.")
]
Confirm = Annotated[
    bool,
    typer.Option("--confirm", help="Have the client ask before documents are written."),
]
Compact = Annotated[
    bool,
    typer.Option("--compact", help="Answer in text alone, for models that are shown data as well."),
]


@app.callback()
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
    host: Host = None,
    port: Annotated[
        int | None,
        typer.Option(
            "--port", click_type=Whole(0, 65535), help=f"Port of the HTTP server ({PORT})."
        ),
    ] = None,
    daemon: Annotated[
        bool, typer.Option("--daemon", help="Serve in the background. Ends with 'qmd mcp stop'.")
    ] = False,
    allow_host: AllowHost = None,
    allow_origin: AllowOrigin = None,
    token: Token = None,
    token_file: TokenFile = None,
    tool_names: Listed = ToolNames.PLAIN,
    read_only: ReadOnly = False,
    allow_write: AllowWrite = False,
    compact: Compact = False,
    confirm: Confirm = False,
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
    tools = tools_of(
        tool_names,
        read_only=read_only,
        allow_write=allow_write,
        compact=compact,
        confirm=confirm,
    )
    if not http:
        refuse(
            {
                "--host": host,
                "--port": port,
                "--daemon": daemon or None,
                "--allow-host": allow_host,
                "--allow-origin": allow_origin,
                "--token": token,
                "--token-file": token_file,
            },
            "Add --http.",
        )
    settings = settings_of(here)
    access = Access(
        HOST if host is None else host,
        PORT if port is None else port,
        allow_host or settings.hosts,
        allow_origin or settings.origins,
        token_of(token, token_file, settings) if http else None,
    )
    if bundle is not None:
        if http:
            raise UsageError("Claude Desktop starts the server itself: leave out --http.")
        _write_bundle(here, bundle, tools)
    elif install is not None:
        _install(here, install, tools, access if http else None, yes=yes)
    elif print_config is not None:
        _print_config(here, print_config, tools, access if http else None)
    elif daemon:
        start(here, tools, access)
    elif http:
        serve(here, tools, access, stdio=False, pid_file=pid_file)
    else:
        serve(here, tools, None, stdio=True)


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
    host: Host = None,
    port: Annotated[
        int | None,
        typer.Option(
            "--port", click_type=Whole(0, 65535), help=f"Port of the HTTP server ({LONG_PORT})."
        ),
    ] = None,
    allow_host: AllowHost = None,
    allow_origin: AllowOrigin = None,
    token: Token = None,
    token_file: TokenFile = None,
    tool_names: Listed = ToolNames.PLAIN,
    read_only: ReadOnly = False,
    allow_write: AllowWrite = False,
    compact: Compact = False,
    confirm: Confirm = False,
) -> None:
    """Serve the index to agents, like 'qmd mcp'."""
    here = state(context)
    tools = tools_of(
        tool_names,
        read_only=read_only,
        allow_write=allow_write,
        compact=compact,
        confirm=confirm,
    )
    settings = settings_of(here)
    access = None
    if transport is Transport.MCP:
        refuse(
            {
                "--host": host,
                "--port": port,
                "--allow-host": allow_host,
                "--allow-origin": allow_origin,
                "--token": token,
                "--token-file": token_file,
            },
            "Add --transport http, or --transport both.",
        )
    else:
        access = Access(
            HOST if host is None else host,
            LONG_PORT if port is None else port,
            allow_host or settings.hosts,
            allow_origin or settings.origins,
            token_of(token, token_file, settings),
        )
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


def _entry(here: State, client: Client, tools: Tools, access: Access | None) -> Entry:
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


def _server_words(here: State, tools: Tools) -> list[str]:
    """Return the command that serves this index over stdin and stdout."""
    from qmd.surfaces.mcp import client_config

    named = ["--index", here.index_name] if here.index_name else []
    return [*client_config.server_command(), *named, "mcp", *tools.arguments]


def _write_bundle(here: State, path: Path, tools: Tools) -> None:
    """Write a bundle, into a folder under the name of the index."""
    import re

    from qmd.settings import environment
    from qmd.surfaces.mcp import bundle
    from qmd.surfaces.tools.dispatch import offered_tools

    index = re.sub(r"[^a-z0-9]+", "-", (here.index_name or "").lower()).strip("-")
    name = f"qmd-{index}" if index else "qmd"
    file = path / f"{name}{bundle.SUFFIX}" if path.is_dir() else path
    if file.suffix != bundle.SUFFIX:
        raise UsageError(f"{shown(file)} is no name of a bundle: it ends with {bundle.SUFFIX}.")
    described = bundle.manifest(
        _server_words(here, tools),
        environ=environment.carried(here.environ),
        folder=here.place.project,
        tools=offered_tools(
            read_only=tools.read_only, allow_write=tools.allow_write, compact=tools.compact
        ),
        name=name,
    )
    bundle.write_bundle(file, described)
    say(f"Wrote {shown(file)}. Open it with Claude Desktop to install it.")


def _install(
    here: State, client: Client, tools: Tools, access: Access | None, *, yes: bool
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


def _print_config(here: State, client: Client, tools: Tools, access: Access | None) -> None:
    from qmd.surfaces.mcp import client_config

    say(client_config.settings_file(client, _entry(here, client, tools, access)))
    notice(f"This belongs into {client_config.where(client, http=access is not None)}.")
