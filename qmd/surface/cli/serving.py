"""`qmd mcp …` and `qmd server`: the index for agents."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from qmd.errors import UsageError
from qmd.surface import render
from qmd.surface.cli.common import Json, State, notice, say, state
from qmd.surface.clients import Client

if TYPE_CHECKING:
    import socket

    from qmd.environment import Serving
    from qmd.surface.http.app import Options, Server
    from qmd.surface.http.daemon import Files
    from qmd.surface.mcp.server import Names
    from qmd.surface.tools.toolbox import Toolbox

HOST = "127.0.0.1"
PATIENCE = 8.0
"""Seconds that a tool waits for other processes: less than it may take, so that it can say who."""

PORT, LONG_PORT = 8181, 18765
"""Of `qmd mcp --http`, and of `qmd server`."""

app = typer.Typer(
    invoke_without_command=True,
    help="Serve the index to agents: MCP over stdin and stdout, or over HTTP.",
)


class ToolNames(StrEnum):
    """Under which names the tools are listed."""

    PLAIN = "plain"
    PREFIXED = "prefixed"
    BOTH = "both"


class Transport(StrEnum):
    """How clients reach the server."""

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
    Path | None, typer.Option("--token-file", metavar="FILE", help="File with the token.")
]
Listed = Annotated[
    ToolNames, typer.Option("--tool-names", help="List tools as search, qmd_search, or both.")
]
ReadOnly = Annotated[bool, typer.Option("--read-only", help="Offer no tool that writes.")]
AllowWrite = Annotated[
    bool, typer.Option("--allow-write", help="Also offer tools that update and embed the index.")
]


class Tools(NamedTuple):
    """Which tools are offered, and how they are called."""

    names: ToolNames
    read_only: bool
    allow_write: bool

    @property
    def arguments(self) -> list[str]:
        """The same on a command line."""
        words = ["--tool-names", self.names.value] if self.names is not ToolNames.PLAIN else []
        words += ["--read-only"] if self.read_only else []
        return words + (["--allow-write"] if self.allow_write else [])


class Access(NamedTuple):
    """Where a server listens, and whom it answers."""

    host: str
    port: int
    hosts: Sequence[str]
    origins: Sequence[str]
    token: str | None

    @property
    def arguments(self) -> list[str]:
        """The same on a command line, without the token."""
        words = ["--host", self.host, "--port", str(self.port)]
        words += [word for host in self.hosts for word in ("--allow-host", host)]
        return words + [word for origin in self.origins for word in ("--allow-origin", origin)]


# -- commands ------------------------------------------------------------------------


@app.callback()
def mcp(
    context: typer.Context,
    http: Annotated[
        bool, typer.Option("--http", help="Serve HTTP: MCP at /mcp, and JSON.")
    ] = False,
    host: Host = None,
    port: Annotated[
        int | None,
        typer.Option("--port", min=0, max=65535, help=f"Port of the HTTP server ({PORT})."),
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
    print_config: Annotated[
        Client | None,
        typer.Option("--print-config", help="Print the settings for a client, and serve nothing."),
    ] = None,
    pid_file: Annotated[Path | None, typer.Option("--pid-file", hidden=True)] = None,
) -> None:
    """Serve the index to agents: MCP over stdin and stdout, or over HTTP."""
    if context.invoked_subcommand is not None:
        return
    here = state(context)
    tools = _tools(tool_names, read_only=read_only, allow_write=allow_write)
    if not http:
        _refuse(
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
    settings = _settings(here)
    access = Access(
        HOST if host is None else host,
        PORT if port is None else port,
        allow_host or settings.hosts,
        allow_origin or settings.origins,
        _token(token, token_file, settings) if http else None,
    )
    if print_config is not None:
        _print_config(here, print_config, tools, access if http else None)
    elif daemon:
        _start(here, tools, access)
    elif http:
        _serve(here, tools, access, stdio=False, pid_file=pid_file)
    else:
        _serve(here, tools, None, stdio=True)


def server(
    context: typer.Context,
    transport: Annotated[
        Transport,
        typer.Option("--transport", help="mcp: stdin and stdout; http; both, ending with stdin."),
    ] = Transport.MCP,
    host: Host = None,
    port: Annotated[
        int | None,
        typer.Option("--port", min=0, max=65535, help=f"Port of the HTTP server ({LONG_PORT})."),
    ] = None,
    allow_host: AllowHost = None,
    allow_origin: AllowOrigin = None,
    token: Token = None,
    token_file: TokenFile = None,
    tool_names: Listed = ToolNames.PLAIN,
    read_only: ReadOnly = False,
    allow_write: AllowWrite = False,
) -> None:
    """Serve the index to agents, like 'qmd mcp'."""
    here = state(context)
    tools = _tools(tool_names, read_only=read_only, allow_write=allow_write)
    settings = _settings(here)
    access = None
    if transport is Transport.MCP:
        _refuse(
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
            _token(token, token_file, settings),
        )
    _serve(here, tools, access, stdio=transport is not Transport.HTTP)


@app.command()
def stop(context: typer.Context) -> None:
    """End the server in the background."""
    from qmd.surface.http import daemon

    ended = daemon.stop(_files(state(context)))
    if ended is None:
        notice("No server runs in the background for this index.")
    else:
        say(f"Stopped the server at {ended.url} (process {ended.process}).")


@app.command()
def status(context: typer.Context, as_json: Json = False) -> None:
    """Show whether a server runs in the background."""
    import time

    from qmd.surface.http import daemon, listening

    files = _files(state(context))
    found = daemon.running(files)
    health = listening.health(found.host, found.port) if found else None
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
        say(render.as_json(facts))
    elif found is None:
        say("No server runs in the background for this index.")
    else:
        lasted = render.duration(time.time() - found.began)
        say(f"A server runs at {found.url} (process {found.process}) for {lasted}.")
        if health is None:
            notice(f"It does not answer. Its log is {files.log}.")


# -- settings ------------------------------------------------------------------------


def _settings(here: State) -> Serving:
    from qmd import environment

    return environment.serving(here.environ)


def _files(here: State) -> Files:
    from qmd.surface.http import daemon

    return daemon.files_of(here.place.database, _settings(here).state)


def _tools(names: ToolNames, *, read_only: bool, allow_write: bool) -> Tools:
    if read_only and allow_write:
        raise UsageError("--read-only and --allow-write contradict each other.")
    return Tools(names, read_only, allow_write)


def _refuse(options: Mapping[str, object], remedy: str) -> None:
    """Refuse options that only the HTTP server has.

    Raises:
        UsageError: one is given.
    """
    for name, value in options.items():
        if value is not None:
            raise UsageError(f"{name} is for the HTTP server. {remedy}")


def _token(given: str | None, file: Path | None, settings: Serving) -> str | None:
    """The token that requests have to bring.

    Raises:
        UsageError: it is given twice, cannot be read, or cannot be sent in a header.
    """
    if given is not None and file is not None:
        raise UsageError("Give either --token or --token-file.")
    if file is not None:
        try:
            given = file.expanduser().read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError, RuntimeError) as error:
            reason = {
                UnicodeDecodeError: "it is not UTF-8 text",
                RuntimeError: "there is no such home",
            }.get(type(error)) or getattr(error, "strerror", None)
            raise UsageError(f"The token cannot be read from {file}: {reason}.") from error
    token = settings.token if given is None else given
    if token is not None and not (token and all("!" <= mark <= "~" for mark in token)):
        raise UsageError(
            "A token has one or more letters, digits and signs of ASCII, and no blanks.\n\n"
            "This makes one: openssl rand -hex 32"
        )
    return token


def _print_config(here: State, client: Client, tools: Tools, access: Access | None) -> None:
    from qmd import environment
    from qmd.surface import clients
    from qmd.surface.http.listening import url_of

    if access is not None:
        url = f"{url_of(access.host, access.port)}/mcp"
        say(clients.found(client, url, has_token=access.token is not None))
    else:
        named = ["--index", here.index_name] if here.index_name else []
        words = [*clients.command(), *named, "mcp", *tools.arguments]
        environ = environment.carried(here.environ)
        say(clients.started(client, words, environ=environ, folder=here.place.project))
    notice(f"This belongs into {clients.where(client, http=access is not None)}.")


# -- serving -------------------------------------------------------------------------


@contextmanager
def _toolbox(here: State, tools: Tools) -> Iterator[Toolbox]:
    from qmd import environment
    from qmd.engine import Engine
    from qmd.surface.tools.toolbox import Toolbox

    engine = Engine(
        here.place, environment.machine(here.environ), warm=True, stays=True, patience=PATIENCE
    )
    toolbox = Toolbox(engine, read_only=tools.read_only, allow_write=tools.allow_write)
    try:
        yield toolbox
    finally:
        toolbox.close()


def _serve(
    here: State,
    tools: Tools,
    access: Access | None,
    *,
    stdio: bool,
    pid_file: Path | None = None,
) -> None:
    """Serve until the end of stdin, or until a signal.

    Args:
        access: for HTTP.
        pid_file: in which the server says that it runs.
    """
    import anyio

    _log(debug=_settings(here).debug)
    if access is None:
        with _ending_well(), _toolbox(here, tools) as toolbox:
            anyio.run(_speak, toolbox, tools.names.value)
        return
    # The socket comes first: it is seen at once whether it can be had, and who connects waits
    # while the rest is loaded.
    from qmd.surface.http import daemon, guard, listening

    policy = guard.policy(access.host, origins=access.origins, hosts=access.hosts)
    socket = listening.listen(access.host, access.port, has_token=access.token is not None)
    port = socket.getsockname()[1]
    signed = daemon.signed(pid_file, access.host, port) if pid_file else nullcontext()
    with socket, signed, _ending_well():
        if policy.disabled:
            notice("Any web page may ask (--allow-origin '*'). Let nobody else reach this port.")
        url = listening.url_of(access.host, port)
        notice(f"qmd serves {here.place.database} at {url} (MCP: {url}/mcp). Ctrl-C ends it.")
        from qmd.surface.http.app import Options, load

        if stdio:
            load()  # before there are two who do
        options = Options(policy, access.token, tools.names.value)
        with _toolbox(here, tools) as toolbox:
            anyio.run(_answer, toolbox, socket, options, stdio, _settings(here).debug)


@contextmanager
def _ending_well() -> Iterator[None]:
    """Let signals end this process without failure, as long as nobody else looks for them."""
    import signal
    import threading

    def end(number: int, frame: object) -> None:
        raise typer.Exit

    is_main = threading.current_thread() is threading.main_thread()
    numbers = (signal.SIGINT, signal.SIGTERM) if is_main else ()
    before = {number: signal.signal(number, end) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


async def _speak(toolbox: Toolbox, names: Names) -> None:
    from qmd.surface.mcp.stdio import serve_stdio

    await serve_stdio(toolbox, names=names)


async def _answer(
    toolbox: Toolbox, socket: socket.socket, options: Options, stdio: bool, debug: bool
) -> None:
    """Serve HTTP; with `stdio`, that too, and until it ends."""
    from functools import partial

    import anyio

    from qmd.surface.http.app import serve
    from qmd.surface.mcp.stdio import serve_stdio

    made: list[Server] = []
    run = partial(serve, toolbox, socket, options, debug=debug, made=made.append)
    if not stdio:
        await run()
        return
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(partial(run, signals=False))
        try:
            await serve_stdio(toolbox, names=options.names)
        finally:
            for each in made:
                each.should_exit = True


def _log(*, debug: bool) -> None:
    """Let libraries tell on stderr what goes wrong, and nothing else."""
    import logging

    logging.basicConfig(
        stream=sys.stderr,
        level=logging.INFO if debug else logging.WARNING,
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
    )


def _start(here: State, tools: Tools, access: Access) -> None:
    """Serve in the background."""
    from qmd.surface.http import daemon

    files = _files(here)
    named = ["--index", here.index_name] if here.index_name else []
    words = [sys.executable, "-P", "-m", "qmd", *named, "mcp", "--http", *access.arguments]
    words += [*tools.arguments, "--pid-file", str(files.pid)]
    environ = dict(here.environ)
    if access.token is not None:
        environ["QMD_TOKEN"] = access.token  # a command line is for everybody to see
    found = daemon.start(files, words, environ)
    say(f"Serving at {found.url} (process {found.process}; MCP: {found.url}/mcp).")
    notice(f"Its log is {files.log}. 'qmd mcp stop' ends it.")
