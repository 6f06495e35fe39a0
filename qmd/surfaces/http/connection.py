"""Connections of clients that may say nothing, or half of something."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_SECONDS = 10.0
"""For the head of a request to arrive whole, from the first moment on."""

IDLE_SECONDS = 15
"""That a connection is kept after an answer."""

MOST_CONNECTIONS = 200
"""At the same time: below the 256 files that macOS lets a process open."""


class Connection(H11Protocol):
    """A connection that ends if the head of a request does not come in time.

    If there are too many, the one that has kept silent for the longest time ends.
    """

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for a request, and make room for it."""
        super().connection_made(transport)
        self._wait()
        if len(self.connections) > MOST_CONNECTIONS:
            silent = [
                (each._deadline.when(), number, each)
                for number, each in enumerate(self.connections)
                if isinstance(each, Connection) and each._deadline is not None
            ]
            min(silent)[2].transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Handle the end of the connection."""
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Something came: the whole head of a request, or more to wait for."""
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._stop_waiting()
        elif self._deadline is None:
            self._wait()

    def shutdown(self) -> None:
        """Stop: answer the complete requests, and drop incomplete ones."""
        if self.cycle is not None and self.cycle.more_body and not self.cycle.response_started:
            self.transport.abort()
        else:
            super().shutdown()

    def send_400_response(self, msg: str) -> None:
        """Say that this is no HTTP, as all errors are said."""
        body = json.dumps({"detail": msg, "status_code": 400}).encode()
        headers: list[tuple[bytes, bytes]] = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
            (b"connection", b"close"),
        ]
        events: list[Any] = [
            h11.Response(status_code=400, headers=headers, reason=b"Bad Request"),
            h11.Data(data=body),
            h11.EndOfMessage(),
        ]
        for event in events:
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def _wait(self) -> None:
        self._deadline = self.loop.call_later(HEAD_SECONDS, self._give_up)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _give_up(self) -> None:
        self._deadline = None
        self.transport.abort()
