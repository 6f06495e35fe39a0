"""The process that serves: this one, until stdin or a signal ends it, or one in the background."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from qmd.surfaces import terminal
from qmd.surfaces.cli.common import Ended, State, notice, say
from qmd.surfaces.cli.server_options import Access, settings_of
from qmd.visible import shown

if TYPE_CHECKING:
    import socket

    from qmd.surfaces.http.app import Options, Server
    from qmd.surfaces.http.daemon import Files, Running
    from qmd.surfaces.tools.dispatch import Toolbox
    from qmd.surfaces.tools.server_tools import ServerTools

LONGEST = 4000
"""Characters of a line of the log."""

PATIENCE = 7.0
"""Seconds that a tool waits for other processes: less than it may take, so that it can say who."""


def serve(
    here: State,
    tools: ServerTools,
    access: Access | None,
    *,
    stdio: bool,
    pid_file: Path | None = None,
) -> None:
    """Serve until the end of stdin, or until a signal.

    Args:
        access: for HTTP.
        pid_file: in which the server says that it runs.

    Raises:
        IndexNotFound: there is no index of the given name.
    """
    import anyio

    here.check_exists()
    _log(debug=settings_of(here).debug)
    if access is None:
        from qmd.surfaces.mcp.stdio import serve_stdio

        with _ending_well(), _toolbox(here, tools) as toolbox:
            anyio.run(serve_stdio, toolbox)
        return
    # The socket comes first: it is seen at once whether it can be had, and who connects waits
    # while the rest is loaded.
    from qmd.surfaces.http import access_control, daemon, listener

    policy = access_control.policy(access.host, origins=access.origins, hosts=access.hosts)
    socket = listener.listen(access.host, access.port, has_token=access.token is not None)
    port = socket.getsockname()[1]
    signed = daemon.signed(pid_file, access.host, port) if pid_file else nullcontext()
    with socket, signed, _ending_well():
        if policy.disabled:
            notice(
                "Any web page may send requests (--allow-origin '*'). "
                "Let no other machine reach this port."
            )
        url = listener.url_of(access.host, port)
        notice(f"qmd serves {here.place.database} at {url} (MCP: {url}/mcp). Ctrl-C ends it.")
        from qmd.surfaces.http.app import Options, load_sdk

        if stdio:
            load_sdk()  # before there are two who do
        options = Options(policy, access.token)
        with _toolbox(here, tools) as toolbox:
            anyio.run(_answer, toolbox, socket, options, stdio, settings_of(here).debug)


def start(here: State, tools: ServerTools, access: Access) -> None:
    """Serve in the background.

    Raises:
        IndexNotFound: there is no index of the given name.
    """
    found = started(here, tools, access)
    say(f"Serving at {found.url} (process {found.process}; MCP: {found.url}/mcp).")
    notice(f"Its log is {files_of(here).log}. 'qmd mcp stop' ends it.")


def started(here: State, tools: ServerTools, access: Access) -> Running:
    """Start a server in the background, and return it when it answers.

    Raises:
        IndexNotFound: there is no index of the given name.
    """
    from qmd.surfaces.http import daemon

    here.check_exists()
    files = files_of(here)
    named = ["--index", here.index_name] if here.index_name else []
    named += ["--engine", here.engine_name] if here.engine_name else []
    named += ["--allow-partial"] if here.allow_partial else []
    words = [sys.executable, "-P", "-m", "qmd", *named, "mcp", "--http", *access.arguments]
    words += [*tools.arguments, "--pid-file", str(files.pid)]
    environ = dict(here.environ)
    if access.token is not None:
        environ["QMD_TOKEN"] = access.token  # a command line is for everybody to see
    return daemon.start(files, words, environ)


def files_of(here: State) -> Files:
    """Return the files of the server of this index: pid file and log."""
    from qmd.surfaces.http import daemon

    return daemon.files_of(here.place.database, settings_of(here).state)


@contextmanager
def _toolbox(here: State, tools: ServerTools) -> Iterator[Toolbox]:
    from qmd.settings import environment
    from qmd.surfaces import cli, forwarded, opening
    from qmd.surfaces.tools.dispatch import Toolbox

    engine = opening.opened(
        here.place,
        environment.machine(here.environ),
        engine=here.engine_name,
        allow_partial=here.allow_partial,
        warm=True,
        stays=True,
        patience=PATIENCE,
    )
    toolbox = Toolbox(engine, tools)
    try:
        # Commands without --engine are for the index file.
        is_file = engine.place.database == here.place.database
        with forwarded.serving(engine, cli.carry_out_here) if is_file else nullcontext():
            yield toolbox
    finally:
        toolbox.close()


@contextmanager
def _ending_well() -> Iterator[None]:
    """Let signals end this process without failure, as long as no other part handles them."""
    import signal
    import threading

    def end(number: int, frame: object) -> None:
        raise Ended(0)

    is_main = threading.current_thread() is threading.main_thread()
    numbers = (signal.SIGINT, signal.SIGTERM) if is_main else ()
    before = {number: signal.signal(number, end) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


async def _answer(
    toolbox: Toolbox, socket: socket.socket, options: Options, stdio: bool, debug: bool
) -> None:
    """Serve HTTP; with `stdio`, that too, and until it ends."""
    from functools import partial

    import anyio

    from qmd.surfaces.http import app
    from qmd.surfaces.mcp.stdio import serve_stdio

    made: list[Server] = []
    run = partial(app.serve, toolbox, socket, options, debug=debug, made=made.append)
    if not stdio:
        await run()
        return
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(partial(run, signals=False))
        try:
            await serve_stdio(toolbox)
        finally:
            for each in made:
                each.should_exit = True


def _log(*, debug: bool) -> None:
    """Let libraries tell on stderr what goes wrong, and nothing else."""
    import logging

    class Line(logging.Formatter):
        """Writes a message on one line; a traceback follows on lines of its own."""

        def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802  # its name there
            return shown(super().formatMessage(record), most=LONGEST)

    class Handler(logging.Handler):
        """Writes to stderr as everything else does that people read."""

        def emit(self, record: logging.LogRecord) -> None:
            try:
                terminal.err(self.format(record) + "\n")
                sys.stderr.flush()
            except Exception:
                self.handleError(record)

    handler = Handler()
    handler.setFormatter(Line("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(handlers=[handler], level=logging.INFO if debug else logging.WARNING)
