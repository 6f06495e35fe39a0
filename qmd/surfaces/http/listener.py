"""A socket for a server, and who listens there if it cannot be had."""

from __future__ import annotations

import errno
import json
import os
import socket
from contextlib import suppress
from http.client import HTTPConnection, HTTPException

from qmd.errors import PortTaken, UsageError
from qmd.surfaces.http.access_control import EVERYWHERE, is_loopback

BACKLOG = 128
"""Connections that wait until the server is ready for them."""

SECONDS = 2.0
"""Time limit for the health of a server."""


def listen(host: str, port: int, *, has_token: bool) -> socket.socket:
    """Open a socket that listens; connections wait until the server is ready.

    Args:
        host: a name or an address; empty means all interfaces.
        port: 0 means any that is free.
        has_token: whether requests have to bring one.

    Raises:
        UsageError: there is no such address here, or other machines could ask without a token.
        PortTaken: another process listens there.
    """
    family, address = _resolved(host, port)
    if not has_token and not is_loopback(str(address[0])):
        raise UsageError(
            f"Other machines could read the index at {host or 'this address'}.\n\n"
            "Set a token that requests have to bring, in QMD_TOKEN or with --token-file, or "
            "listen at 127.0.0.1."
        )
    # asyncio sends at once what it is given only over sockets that are TCP by name; with others
    # each answer waits 40 ms for the client to confirm its head.
    made = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(address)
        made.listen(BACKLOG)
    except OSError as error:
        made.close()
        if error.errno == errno.EADDRINUSE:
            url = url_of(host, port)
            raise PortTaken(url, by_qmd=health(host, port) is not None) from error
        raise UsageError(
            f"A server cannot listen at {host}, port {port}: {os.strerror(error.errno or 0)}.\n\n"
            "Choose others with --host and --port."
        ) from error
    return made


def _resolved(host: str, port: int) -> tuple[int, tuple[object, ...]]:
    """Family and address of a name; IPv4, if it has both."""
    name = None if host in ("", "*") else host.strip("[]")
    try:
        found = socket.getaddrinfo(name, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError) as error:
        raise UsageError(f"There is no host '{host}'. Such as: --host 127.0.0.1.") from error
    family, _, _, _, address = min(found, key=lambda each: each[0] != socket.AF_INET)
    return family, address


def url_of(host: str, port: int) -> str:
    """Return the URL, from this machine, of a server that listens at `host`."""
    bare = host.strip("[]")
    name = "127.0.0.1" if bare in EVERYWHERE else bare
    return f"http://[{name}]:{port}" if ":" in name else f"http://{name}:{port}"


def health(host: str, port: int) -> dict[str, object] | None:
    """Ask a server for its health; None without an answer from qmd."""
    bare = host.strip("[]")
    link = HTTPConnection("127.0.0.1" if bare in EVERYWHERE else bare, port, timeout=SECONDS)
    with suppress(OSError, HTTPException, ValueError):
        try:
            link.request("GET", "/health")
            answer = link.getresponse()
            body = json.loads(answer.read(4096))
        finally:
            link.close()
        if isinstance(body, dict) and {"status", "model_loaded", "uptime"} <= set(body):
            return body
    return None
