"""An HTTP server in a thread, for tests."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from types import SimpleNamespace

import anyio
import httpx

from qmd.settings.schema import Settings
from qmd.surfaces.http.app import Options, Server, serve
from qmd.surfaces.http.listener import listen
from qmd.surfaces.tools.dispatch import Toolbox
from qmd.surfaces.tools.reply import Reply

LONG = 20
"""Seconds after which something that has to happen is taken for stuck."""


class Service:
    """A server on a port of its own."""

    def __init__(self, toolbox: Toolbox, options: Options) -> None:
        self._socket = listen("127.0.0.1", 0, has_token=False)
        self.port = self._socket.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._server: Server | None = None
        made = threading.Event()

        def keep(server: Server) -> None:
            self._server = server
            made.set()

        run = partial(serve, toolbox, self._socket, options, made=keep)
        self._thread = threading.Thread(target=anyio.run, args=(run,))
        self._thread.start()
        assert made.wait(LONG)

    def end(self) -> None:
        """Tell it to end."""
        assert self._server is not None
        self._server.should_exit = True

    def close(self) -> None:
        """End it."""
        self.end()
        self._thread.join(LONG)
        assert not self._thread.is_alive()
        self._socket.close()

    def get(self, path: str, **more: object) -> httpx.Response:
        """Answer to a GET."""
        return httpx.get(self.url + path, timeout=LONG, **more)  # type: ignore[arg-type]

    def post(self, path: str, body: object = None, **more: object) -> httpx.Response:
        """Answer to a POST of JSON."""
        return httpx.post(self.url + path, json=body, timeout=LONG, **more)  # type: ignore[arg-type]

    def connect(self) -> socket.socket:
        """A connection to say anything over."""
        return socket.create_connection(("127.0.0.1", self.port), timeout=LONG)

    def is_deaf(self) -> bool:
        """Whether nobody is let in any more."""
        try:
            self.connect().close()
        except OSError:
            return True
        return False

    def said(self, *parts: bytes) -> bytes:
        """All that is answered to bytes, until the server closes the connection."""
        with self.connect() as link:
            for part in parts:
                link.sendall(part)
            return all_of(link)


def all_of(link: socket.socket) -> bytes:
    """What comes until the other side ends the connection."""
    received = b""
    try:
        while data := link.recv(65536):
            received += data
    except ConnectionResetError:
        pass
    return received


def until(holds: Callable[[], bool]) -> None:
    """Wait until something holds that nobody tells of."""

    async def work() -> None:
        with anyio.fail_after(LONG):
            while not holds():  # noqa: ASYNC110
                await anyio.sleep(0.01)

    anyio.run(work)


@contextmanager
def service(toolbox: Toolbox, options: Options | None = None) -> Iterator[Service]:
    """A server for the time of a test."""
    made = Service(toolbox, options or Options())
    try:
        yield made
    finally:
        made.close()


class Waiting(Toolbox):
    """Tools whose calls wait until they are told to go on.

    Attributes:
        begun: a call is under way.
        cancelled: it was cancelled.
        go_on: lets it answer.
        answer: what it answers then.
    """

    def __init__(self) -> None:
        super().__init__(SimpleNamespace(settings=Settings))  # type: ignore[arg-type]
        self.begun = threading.Event()
        self.cancelled = threading.Event()
        self.go_on = threading.Event()
        self.answer: Callable[[], Reply] = lambda: Reply(("Found nothing.",), {"results": []})

    async def call(self, name, arguments, *, progress=None, has_consent=False):
        """See `Toolbox`."""
        return await self._wait(self.answer)

    async def embed_texts(self, given):
        """See `Toolbox`."""
        return await self._wait(lambda: [[0.0] for _ in given])

    async def get_ready(self):
        """Nothing to be loaded."""

    async def _wait(self, answer):
        self.begun.set()
        try:
            while not self.go_on.is_set():  # noqa: ASYNC110  # set by another thread
                await anyio.sleep(0.005)
        except anyio.get_cancelled_exc_class():
            self.cancelled.set()
            raise
        return answer()

    async def drain(self, seconds):
        """See `Toolbox`."""

    @property
    def model_loaded(self):
        """See `Toolbox`."""
        return True
