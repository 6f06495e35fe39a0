"""HTTP connections whose requests can be cancelled.

httpx cannot cancel a running request. So each request runs in its own thread while the caller
waits. To cancel it, the socket is shut down, which wakes the thread wherever it waits: in a
handshake, for the head of a response, for its next byte. Closing the socket would not.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future, wait
from contextlib import suppress
from typing import Any

import httpx

from qmd.models.protocols import Between

LISTEN = 0.05
"""Seconds between two checks for cancellation while a response is awaited."""


class Connections:
    """Connection pool of one endpoint. Safe to share between threads.

    Args:
        make: gives what opens and keeps one of them.
    """

    def __init__(self, make: Callable[[], httpx.Client]) -> None:
        self._make = make
        self._turn = threading.Lock()
        self._idle = [_Connection(make())]
        self._is_closed = False

    def close(self) -> None:
        """Close all connections; one with a running request closes after its response."""
        with self._turn:
            self._is_closed = True
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def post(self, path: str, content: bytes, between: Between) -> httpx.Response:
        """Send a request and return the complete response.

        Args:
            between: what it raises gives the request up, whatever the endpoint does.

        Raises:
            httpx.RequestError: there is no answer.
        """
        with self._turn:
            connection = self._idle.pop() if self._idle else _Connection(self._make())
        try:
            return connection.post(path, content, between)
        finally:
            if not connection.is_given_up:
                self._keep(connection)

    def _keep(self, connection: _Connection) -> None:
        with self._turn:
            if not self._is_closed:
                self._idle.append(connection)
                return
        connection.close()


class _Connection:
    """A connection, opened on demand, for one request at a time.

    Attributes:
        is_given_up: it closes itself as soon as it can, and takes no further request.
    """

    def __init__(self, http: httpx.Client) -> None:
        self.is_given_up = False
        self._http = http
        self._turn = threading.Lock()
        self._socket: socket.socket | None = None

    def close(self) -> None:
        """Close the connection, which has no running request."""
        self._http.close()
        self._release()

    def post(self, path: str, content: bytes, between: Between) -> httpx.Response:
        """See `Connections`."""
        answer: Future[httpx.Response] = Future()
        try:
            # Not awaited: a thread that resolves a host name cannot be interrupted.
            threading.Thread(
                target=self._post, args=(path, content, answer), name="qmd-endpoint", daemon=True
            ).start()
            while not wait([answer], LISTEN).done:
                between()
        except BaseException:
            self._give_up()
            answer.add_done_callback(lambda _: self.close())
            raise
        return answer.result()

    def _post(self, path: str, content: bytes, answer: Future[httpx.Response]) -> None:
        try:
            response = self._http.post(path, content=content, extensions={"trace": self._traced})
            is_open = response.extensions["network_stream"].get_extra_info("socket").fileno() >= 0
        except BaseException as error:
            self._release()
            answer.set_exception(error)
        else:
            if not is_open:
                self._release()
            answer.set_result(response)

    def _traced(self, event: str, info: Mapping[str, Any]) -> None:
        """Duplicate the descriptor of each new connection, to shut it down safely.

        TLS replaces the first socket, and after httpx has closed its own, the number may be that of
        another file.
        """
        if not event.endswith("connect_tcp.complete"):
            return
        self._release()
        with self._turn:
            self._socket = info["return_value"].get_extra_info("socket").dup()
            if self.is_given_up:
                self._shut()

    def _give_up(self) -> None:
        with self._turn:
            self.is_given_up = True
            self._shut()

    def _shut(self) -> None:
        if self._socket is not None:
            with suppress(OSError):  # the other side may have been faster
                self._socket.shutdown(socket.SHUT_RDWR)

    def _release(self) -> None:
        """Close the duplicated descriptor, which would keep the connection open."""
        with self._turn:
            if self._socket is not None:
                self._socket.close()
                self._socket = None
