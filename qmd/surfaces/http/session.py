"""Log-in of a browser: a cookie that stands for the token, for pages alone."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Sequence
from http.cookies import CookieError, SimpleCookie

LOGIN, STATIC = "/login", "/static/"
"""They need no token: the log-in page and what it looks like."""

FORM = "application/x-www-form-urlencoded"
"""Content type of the log-in form."""

PAGES = tuple("/ /go /picture /look /lists /map /map/points.svg /sql /sql/rows".split())
BELOW = ("/doc/", "/original/", "/links/")
"""Paths of pages, and what paths of others begin with."""


def is_open(path: str) -> bool:
    """Return whether a path needs no token."""
    return path == LOGIN or path.startswith(STATIC)


def is_page(path: str) -> bool:
    """Return whether a path is of the page in a browser, and so may be read with the cookie."""
    return path in PAGES or path.startswith(BELOW)


class Sessions:
    """Cookies of a server with a token.

    The value is a digest by a key of this process: it ends with the server, and tells nothing of
    the token. A browser sends cookies to every port of a host, so the name is of this process too.
    """

    def __init__(self, token: str) -> None:
        key = secrets.token_bytes(32)
        self._token = token.encode()
        self._value = hmac.digest(key, self._token, "sha256").hex()
        self.name = f"qmd-{secrets.token_hex(4)}"

    def cookie(self, token: str) -> str | None:
        """Return the Set-Cookie header for a token; None: it is wrong."""
        if not hmac.compare_digest(token.strip().encode(), self._token):
            return None
        return f"{self.name}={self._value}; Path=/; HttpOnly; SameSite=Strict"

    def is_valid(self, headers: Sequence[str]) -> bool:
        """Return whether Cookie headers have the value."""
        for header in headers:
            try:
                found = SimpleCookie(header).get(self.name)
            except CookieError:
                continue
            if found is not None and hmac.compare_digest(
                found.value.encode("utf-8", "replace"), self._value.encode()
            ):
                return True
        return False
