"""The guard stands in front of everything that an HTTP server answers."""

from __future__ import annotations

import httpx
import pytest

from qmd.surfaces.http import access_control
from qmd.surfaces.http.access_control import policy
from qmd.surfaces.http.app import Options
from qmd.surfaces.tools.dispatch import Toolbox
from tests.surfaces.http.wire import HEAD, SSE
from tests.surfaces.service import LONG, all_of, service


@pytest.mark.parametrize(
    ("headers", "status", "detail"),
    [
        ({"host": "evil.example"}, 421, "Host not allowed: evil.example"),
        ({"origin": "https://evil.example"}, 403, "Origin not allowed: https://evil.example"),
        ({"origin": "null"}, 403, "Origin not allowed: null"),
        ({"content-type": "text/plain"}, 415, "Content-Type must be application/json."),
        ({"authorization": "Bearer other"}, 401, "The bearer token is not right."),
        ({"authorization": ""}, 401, "The bearer token is not right."),
    ],
)
@pytest.mark.parametrize("path", ["/search", "/mcp", "/absent"])
def test_the_guard_stands_in_front_of_everything(shelf, path, headers, status, detail):
    options = Options(policy("127.0.0.1"), "right")
    given = {"authorization": "Bearer right", **SSE, **headers}
    with service(Toolbox(shelf.engine), options) as server:
        answer = server.post(path, {"query": "tea"}, headers=given)
        assert answer.status_code == status
        assert answer.json() == {"detail": detail, "status_code": status}
        assert ("www-authenticate" in answer.headers) == (status == 401)


def test_with_the_right_token_everything_is_as_without(shelf):
    options = Options(policy("127.0.0.1"), "right")
    with service(Toolbox(shelf.engine), options) as server:
        assert server.get("/health").status_code == 200
        assert server.get("/status").status_code == 401
        headers = {"authorization": "Bearer right", "origin": "http://localhost:3000"}
        assert server.get("/status", headers=headers).status_code == 200


def test_no_page_is_told_that_it_may_read_answers(served):
    headers = {"origin": "http://localhost:3000", "access-control-request-method": "POST"}
    for method in ("OPTIONS", "POST"):
        answer = httpx.request(
            method, f"{served.url}/search", json={"query": "tea"}, headers=headers, timeout=LONG
        )
        assert not [name for name in answer.headers if name.startswith("access-control")]


def test_a_body_that_says_it_is_too_large_is_refused_before_it_is_sent(served, monkeypatch):
    monkeypatch.setattr(access_control, "LINGER_SECONDS", 0)
    size = f"Content-Length: {access_control.LARGEST_BODY + 1}\r\n\r\n".encode()
    answer = served.said(HEAD + size)
    assert answer.startswith(b"HTTP/1.1 413")
    assert b"connection: close" in answer


def test_chunks_that_never_end_are_refused_and_no_longer_read(served):
    chunk = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
    with served.connect() as link:
        link.sendall(HEAD + b"Transfer-Encoding: chunked\r\n\r\n")
        sent = 0
        try:
            while sent < 64 * access_control.LARGEST_BODY:
                link.sendall(chunk)
                sent += len(chunk)
        except OSError:
            pass
        answer = all_of(link)
    assert sent < 64 * access_control.LARGEST_BODY
    assert answer.startswith(b"HTTP/1.1 413") or answer == b""  # read before it was reset, or not


def test_chunks_that_are_too_many_are_refused_in_words(served):
    chunk = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
    many = access_control.LARGEST_BODY // 0x10000 + 2
    answer = served.said(HEAD + b"Transfer-Encoding: chunked\r\n\r\n", chunk * many + b"0\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 413")


def test_a_body_of_the_largest_size_is_taken(served):
    filler = b" " * (access_control.LARGEST_BODY - len(b'{"query": "boil"}'))
    answer = httpx.post(
        f"{served.url}/search",
        content=b'{"query": "boil"}' + filler,
        headers={"content-type": "application/json"},
        timeout=LONG,
    )
    assert answer.status_code == 200
