"""Access control for everything that is served over HTTP.

A server on the loopback interface is out of reach for other machines, not for web pages. A page
can point its own name at 127.0.0.1 after it was loaded (DNS rebinding); the headers `Host`, the
name it asks for, and `Origin`, the page that asks, give it away. A browser sends a form with any
text to another site without a preflight request, but no JSON. `/health`, and what the log-in page
needs, are served without the token.
"""

from __future__ import annotations

import hmac
import json
import re
from collections.abc import Iterable, Sequence
from ipaddress import IPv6Address, ip_address
from typing import TYPE_CHECKING
from urllib.parse import quote

import anyio

from qmd.errors import UsageError
from qmd.named_tuple import NamedTuple
from qmd.surfaces.http import session

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from qmd.surfaces.http.session import Sessions

LARGEST_BODY = 4 * 1024 * 1024
"""Bytes of a request."""

BODY_SECONDS = 30.0
"""Seconds for a request to arrive whole, once its head is there."""

MOST_REQUESTS = 64
"""Requests at work or waiting at the same time; further ones are refused. A request that has not
arrived whole does not count."""

LINGER_SECONDS, LINGER_BYTES = 1.0, 16 * 1024 * 1024
"""Seconds and bytes of a refused request that are read and thrown away. A connection that is closed
while the client still sends is reset, and the client may never read why."""

EVERYWHERE = frozenset({"", "*", "0.0.0.0", "::"})
"""Addresses of all interfaces, whose host names are unknown."""

_HOST = r"(?P<host>\[[0-9a-f:.]+\]|[^\s/?#@:\\\[\]]+)(?::(?P<port>[0-9]{1,5}))?"
_HOST_HEADER = re.compile(_HOST, re.IGNORECASE)
_ORIGIN = re.compile(rf"(?P<scheme>[a-z][a-z0-9+.-]*)://{_HOST}/?", re.IGNORECASE)
_PORTS = {"http": "80", "https": "443"}


def is_loopback(host: str) -> bool:
    """Return whether a name or an address is that of the machine itself.

    `0.0.0.0` is not: a browser that is sent there arrives here, without a name to look at.
    """
    name = host.strip().lower().removeprefix("[").removesuffix("]")
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        address = ip_address(name)
    except ValueError:
        return False
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        return address.ipv4_mapped.is_loopback
    return address.is_loopback


class Policy(NamedTuple):
    """The permitted host names and pages, besides those of this machine.

    Attributes:
        disabled: neither is looked at.
        origins: of pages, as `_normal` has them.
        hosts: names with or without a port, in small letters.
        any_host: the name is not looked at.
    """

    disabled: bool = False
    origins: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    any_host: bool = False

    def problem(self, hosts: Sequence[str], origins: Sequence[str]) -> tuple[int, str] | None:
        """Status and reason for refusing a request with these headers, or None."""
        if self.disabled:
            return None
        for origin in origins:
            if not self._is_ours(origin):
                return 403, f"Origin not allowed: {origin}"
        host = ", ".join(hosts)
        if not self.any_host and not self._is_our_name(host):
            return 421, f"Host not allowed: {host or '(none)'}"
        return None

    def _is_ours(self, origin: str) -> bool:
        parts = _ORIGIN.fullmatch(origin)
        if parts is None:
            return False
        here = parts["scheme"].lower() in _PORTS and is_loopback(parts["host"])
        return here or _normal(parts) in self.origins

    def _is_our_name(self, host: str) -> bool:
        parts = _HOST_HEADER.fullmatch(host)
        if parts is None:
            return False
        bare = parts["host"].lower()
        return (
            is_loopback(bare)
            or bare in self.hosts
            or bare.strip("[]") in self.hosts
            or host.lower() in self.hosts
        )


def policy(bind: str, *, origins: Iterable[str] = (), hosts: Iterable[str] = ()) -> Policy:
    """Build the policy of a server.

    Args:
        bind: the name or address that it listens at.
        origins: `scheme://host[:port]` of pages; `*` lets in all pages and all names.
        hosts: names with or without a port. A server on all interfaces looks at names only
            if there are some here.

    Raises:
        UsageError: one of `origins` is no origin, or one of `hosts` no name.
    """
    listed = list(origins)
    if "*" in listed:
        return Policy(disabled=True, any_host=True)
    pages = []
    for origin in listed:
        parts = _ORIGIN.fullmatch(origin)
        if parts is None:
            raise UsageError(
                f"'{origin}' is not the origin of a web page.\n\n"
                "An origin is a scheme and a name, such as https://notes.example; '*' allows all."
            )
        pages.append(_normal(parts))
    names = [host.lower() for host in hosts]
    for name in names:
        if _HOST_HEADER.fullmatch(name) is None and not is_loopback(name):
            raise UsageError(f"'{name}' is not the name of a host. Such as: notes.example.")
    bound = bind.strip().lower().strip("[]")
    if bound not in EVERYWHERE and not is_loopback(bound):
        names.append(bound)
    return Policy(False, tuple(pages), tuple(names), any_host=bound in EVERYWHERE and not names)


def _normal(parts: re.Match[str]) -> str:
    """Normalize an origin: in lower case, without the default port of its scheme."""
    scheme, port = parts["scheme"].lower(), parts["port"]
    tail = f":{port}" if port and port != _PORTS.get(scheme) else ""
    return f"{scheme}://{parts['host'].lower()}{tail}"


class RequestDenied(Exception):
    """A request that is refused."""

    def __init__(self, status: int, detail: str, *headers: tuple[str, str]) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.headers = headers


class _Gone(Exception):
    """The client has closed the connection."""


class Guard:
    """ASGI middleware that passes permitted requests on, with their bodies read.

    Args:
        token: that a request has to bring, if there is one.
        sessions: cookies that stand for it, for pages alone.
    """

    def __init__(
        self,
        app: ASGIApp,
        policy: Policy,
        *,
        token: str | None = None,
        sessions: Sessions | None = None,
    ) -> None:
        self._app = app
        self._policy = policy
        self._sessions = sessions
        self._token = token.encode() if token is not None else None
        self._running = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http":
            return
        try:
            is_health = self._check(scope)
            body = await _body(scope, receive)
            if self._running >= MOST_REQUESTS and not is_health:
                raise RequestDenied(
                    503, "Too many requests at the same time.", ("retry-after", "1")
                )
        except RequestDenied as refused:
            await _refuse(refused, receive, send)
            return
        except _Gone:
            return
        self._running += 1
        try:
            await self._pass(body, scope, receive, send)
        finally:
            self._running -= 1

    async def _pass(self, body: bytes, scope: Scope, receive: Receive, send: Send) -> None:
        unread = [body]
        begun = False

        async def again() -> Message:
            if unread:
                return {"type": "http.request", "body": unread.pop(), "more_body": False}
            return await receive()

        async def answer(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self._app(scope, again, answer)
        except anyio.get_cancelled_exc_class():
            # The server ends, and its time to wait is over. No caller needs the exception.
            if not begun:
                await _say(RequestDenied(503, "The server has ended."), send)
            await send(_END)

    def _check(self, scope: Scope) -> bool:
        """Look at the head of a request. True: it only asks whether the server is well.

        Raises:
            RequestDenied: the request may not pass.
        """
        problem = self._policy.problem(_values(scope, b"host"), _values(scope, b"origin"))
        if problem is not None:
            raise RequestDenied(*problem)
        path, method = scope["path"], scope["method"]
        reads = method in ("GET", "HEAD")
        is_health = path == "/health" and reads
        if session.is_page(path) or session.is_open(path):
            self._check_site(scope)
        if not is_health and not session.is_open(path):
            is_page = reads and session.is_page(path)
            if not (is_page and self._is_logged_in(scope)):
                self._check_token(_values(scope, b"authorization"))
        if method == "POST":
            kinds = [
                value.split(";")[0].strip().lower() for value in _values(scope, b"content-type")
            ]
            kind = session.FORM if path == session.LOGIN else "application/json"
            if kinds != [kind]:
                raise RequestDenied(415, f"Content-Type must be {kind}.")
        return is_health

    def _check_site(self, scope: Scope) -> None:
        """Refuse pages to other sites, which could load them as parts of their own.

        A link that leads here is no part. Source: W3C, Fetch Metadata Request Headers.

        Raises:
            RequestDenied: another site wants to load it, or to send a form.
        """
        sites, modes = _values(scope, b"sec-fetch-site"), _values(scope, b"sec-fetch-mode")
        if self._policy.disabled or not sites or set(sites) <= {"same-origin", "none"}:
            return
        if modes != ["navigate"] or scope["method"] not in ("GET", "HEAD"):
            raise RequestDenied(403, "Another site may not load this.")

    def _is_logged_in(self, scope: Scope) -> bool:
        """Look for the cookie of a page.

        Raises:
            RequestDenied: it is not there, and a person who looks is sent to the log-in page.
        """
        if self._sessions is None or _values(scope, b"authorization"):
            return False
        if self._sessions.is_valid(_values(scope, b"cookie")):
            return True
        if "text/html" in ", ".join(_values(scope, b"accept")):
            there = scope["path"]
            if scope["query_string"]:
                there += "?" + scope["query_string"].decode("latin-1")
            where = f"{session.LOGIN}?next={quote(there, safe='')}"
            raise RequestDenied(303, "Log in.", ("location", where))
        return False

    def _check_token(self, given: Sequence[str]) -> None:
        if self._token is None:
            return
        if not given:
            raise RequestDenied(
                401, "A bearer token is needed.", ("www-authenticate", 'Bearer realm="qmd"')
            )
        scheme, _, token = given[0].partition(" ")
        right = hmac.compare_digest(token.strip().encode("latin-1"), self._token)
        if len(given) > 1 or scheme.lower() != "bearer" or not right:
            challenge = 'Bearer realm="qmd", error="invalid_token"'
            raise RequestDenied(
                401, "The bearer token is not right.", ("www-authenticate", challenge)
            )


def _values(scope: Scope, name: bytes) -> list[str]:
    """List the values of a header."""
    return [value.decode("latin-1").strip(" \t") for key, value in scope["headers"] if key == name]


async def _body(scope: Scope, receive: Receive) -> bytes:
    """Read the body of a request.

    Raises:
        RequestDenied: it is too large, whether it says so or not, or takes too long.
        _Gone: the client has closed the connection.
    """
    too_large = RequestDenied(413, f"A request may have {LARGEST_BODY} bytes at most.")
    declared = _values(scope, b"content-length")
    if declared and int(declared[0]) > LARGEST_BODY:
        raise too_large
    body = bytearray()
    with anyio.move_on_after(BODY_SECONDS):
        while True:
            message = await receive()
            if message["type"] != "http.request":
                raise _Gone
            body += message.get("body", b"")
            if len(body) > LARGEST_BODY:
                raise too_large
            if not message.get("more_body", False):
                return bytes(body)
    raise RequestDenied(408, f"The request did not arrive within {BODY_SECONDS:.0f} seconds.")


async def _refuse(refused: RequestDenied, receive: Receive, send: Send) -> None:
    """Say why, throw away what still comes for a while, and end the connection."""
    await _say(refused, send)
    left = LINGER_BYTES
    with anyio.move_on_after(LINGER_SECONDS):
        while left > 0:
            message = await receive()
            if message["type"] != "http.request" or not message.get("more_body", False):
                break
            left -= len(message.get("body", b""))
    await send(_END)


async def _say(refused: RequestDenied, send: Send) -> None:
    body = json.dumps({"detail": refused.detail, "status_code": refused.status}).encode()
    headers = [
        ("content-type", "application/json"),
        ("content-length", str(len(body))),
        ("connection", "close"),
        *refused.headers,
    ]
    await send(
        {
            "type": "http.response.start",
            "status": refused.status,
            "headers": [(name.encode(), value.encode()) for name, value in headers],
        }
    )
    await send({"type": "http.response.body", "body": body, "more_body": True})


_END: Message = {"type": "http.response.body", "body": b"", "more_body": False}
