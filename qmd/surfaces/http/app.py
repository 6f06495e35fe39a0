"""The application that is served, and the server."""

from __future__ import annotations

import gc
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import anyio
import uvicorn
from anyio import to_thread
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from qmd.named_tuple import NamedTuple
from qmd.surfaces.http import rest
from qmd.surfaces.http.access_control import Guard, Policy
from qmd.surfaces.http.connection import IDLE_SECONDS, Connection
from qmd.surfaces.http.session import Sessions
from qmd.surfaces.mcp.json_lines import Problem, message_of
from qmd.surfaces.mcp.sdk_import import light
from qmd.surfaces.page import routes as pages
from qmd.version import __version__

if TYPE_CHECKING:
    import socket
    from types import FrameType

    from mcp.server.lowlevel import Server as LowLevelServer
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from qmd.surfaces.tools.dispatch import Toolbox

GRACE, DRAIN = 3, 1.0
"""Seconds at the end for requests that run, and then for what they started."""


class Options(NamedTuple):
    """The options of the application.

    Attributes:
        policy: which names and pages are let in.
        token: that requests have to bring, or None.
    """

    policy: Policy = Policy()
    token: str | None = None


class Protocol:
    """MCP at one address: each request stands for itself.

    The library is loaded beside; until then requests wait, and all others are answered.
    """

    def __init__(self, toolbox: Toolbox) -> None:
        self._toolbox = toolbox
        self._manager: StreamableHTTPSessionManager | None = None
        self._loaded = anyio.Event()

    async def run(self) -> None:
        """Serve until it is cancelled."""
        self._manager = await to_thread.run_sync(self._made)
        async with self._manager.run():
            self._loaded.set()
            await anyio.sleep_forever()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request. An invalid message gets the same error as over stdio."""
        await self._loaded.wait()
        assert self._manager is not None
        request = await receive()
        body = request.get("body", b"")  # whole: the guard has read it
        problem = message_of(body)
        if isinstance(problem, Problem):
            await Response(problem.answer, 400, media_type="application/json")(scope, receive, send)
            return
        unread = [request]

        async def again() -> Message:
            return unread.pop() if unread else await receive()

        await self._manager.handle_request(scope, again, send)

    def _made(self) -> StreamableHTTPSessionManager:
        manager, make_server = load_sdk()
        # No settings: names and pages are what the guard looks at.
        made = manager(make_server(self._toolbox), stateless=True)
        # What is loaded stays; what requests leave behind does not (see startup).
        gc.freeze()
        gc.enable()
        return made


def load_sdk() -> tuple[type[StreamableHTTPSessionManager], Callable[..., LowLevelServer[Any]]]:
    """Import the parts for MCP; not while another thread imports the SDK as well."""
    with light():
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
        from sse_starlette.sse import AppStatus

        from qmd.surfaces.mcp.server import make_server

    # By itself it cuts off the answers that are under way when the server is to end.
    AppStatus.enable_automatic_graceful_drain = False
    return StreamableHTTPSessionManager, make_server


def asgi_application(toolbox: Toolbox, protocol: ASGIApp, options: Options) -> ASGIApp:
    """Build the ASGI application: all routes, behind the guard.

    Without sessions there is nothing that a client could listen to or end, so `/mcp` takes POST
    only.
    """
    sessions = Sessions(options.token) if options.token is not None else None
    app = Starlette(
        routes=[
            *rest.routes(toolbox),
            *pages.routes(toolbox, sessions.cookie if sessions else None),
            Route("/mcp", protocol, methods=["POST"]),
        ],
        exception_handlers={HTTPException: _failed, Exception: rest.our_failure},
    )
    app.router.redirect_slashes = False
    return Guard(app, options.policy, token=options.token, sessions=sessions)


async def _failed(request: Request, error: Exception) -> Response:
    """Answer a request without a route: a browser with a page, a program with JSON."""
    answer = await rest.http_failure(request, error)
    is_page = answer.status_code == 404 and "text/html" in request.headers.get("accept", "")
    return pages.not_found() if is_page else answer


class Server(uvicorn.Server):
    """HTTP server that ends when it is told to, and does not raise the signal again.

    Args:
        signals: whether SIGINT and SIGTERM tell it.
    """

    def __init__(self, config: uvicorn.Config, *, signals: bool) -> None:
        super().__init__(config)
        self._signals = signals and threading.current_thread() is threading.main_thread()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop: at the first signal after the requests in progress, at the second at once."""
        self.force_exit = self.should_exit
        self.should_exit = True

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Handle signals as uvicorn does, but do not send them again in the end."""
        numbers = (signal.SIGINT, signal.SIGTERM) if self._signals else ()
        before = {number: signal.signal(number, self.handle_exit) for number in numbers}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


async def serve(
    toolbox: Toolbox,
    listening: socket.socket,
    options: Options,
    *,
    signals: bool = True,
    debug: bool = False,
    made: Callable[[Server], object] = lambda server: None,
) -> None:
    """Answer requests until SIGINT, SIGTERM, or `should_exit` of the server.

    Args:
        signals: signals end it; else another part handles them.
        debug: log every request.
        made: is given the server.
    """
    protocol = Protocol(toolbox)
    config = uvicorn.Config(
        asgi_application(toolbox, protocol, options),
        http=Connection,
        ws="none",
        loop="asyncio",
        lifespan="off",
        log_config=None,
        access_log=debug,
        proxy_headers=False,
        server_header=False,
        headers=[("Server", f"qmd/{__version__}")],
        timeout_keep_alive=IDLE_SECONDS,
        timeout_graceful_shutdown=GRACE,
    )
    server = Server(config, signals=signals)
    made(server)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(protocol.run)
        tasks.start_soon(toolbox.get_ready)
        await server.serve(sockets=[listening])
        tasks.cancel_scope.cancel()
    await toolbox.drain(DRAIN)
