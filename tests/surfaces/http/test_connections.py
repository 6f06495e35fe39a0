"""Who says nothing, half of something or no HTTP stops nobody."""

from __future__ import annotations

import json
import socket

import pytest

from qmd.surfaces.http import access_control, connection
from qmd.surfaces.http.listener import listen
from tests.surfaces.http.wire import JSON
from tests.surfaces.service import LONG, all_of


def test_sixty_clients_that_say_half_of_something_stop_nobody(served, monkeypatch):
    monkeypatch.setattr(access_control, "MOST_REQUESTS", 2)
    links = [served.connect() for _ in range(60)]
    try:
        for link in links[20:40]:
            link.sendall(b"POST /search HTTP/1.1\r\nHost: loc")
        for link in links[40:]:
            link.sendall(b"POST /search HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n")
            link.sendall(JSON + b"\r\n{")
        assert served.post("/search", {"query": "boil"}).status_code == 200
        assert served.get("/status").status_code == 200
    finally:
        for link in links:
            link.close()


@pytest.mark.parametrize("said", [b"", b"GET /health HTTP/1.1\r\nHost: loc"])
def test_who_says_nothing_or_half_of_a_head_is_not_waited_for(served, monkeypatch, said):
    monkeypatch.setattr(connection, "HEAD_SECONDS", 0.01)
    assert served.said(said) == b""


def test_who_says_half_of_a_second_head_is_not_waited_for(served, monkeypatch):
    monkeypatch.setattr(connection, "HEAD_SECONDS", 0.01)
    with served.connect() as link:
        link.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        answer = b""
        while not answer.endswith(b"}"):
            answer += link.recv(65536)
        link.sendall(b"GET /health HTTP/1.1\r\n")
        assert all_of(link) == b""


def test_who_sends_half_of_a_body_is_told_that_it_took_too_long(served, monkeypatch):
    monkeypatch.setattr(access_control, "BODY_SECONDS", 0.01)
    monkeypatch.setattr(access_control, "LINGER_SECONDS", 0)
    head = b"POST /search HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n"
    assert served.said(head + JSON + b"\r\n{").startswith(b"HTTP/1.1 408")


def test_of_too_many_connections_the_one_that_is_silent_longest_ends(served, monkeypatch):
    monkeypatch.setattr(connection, "MOST_CONNECTIONS", 2)
    links = [served.connect() for _ in range(3)]
    try:
        assert all_of(links[0]) == b""
        for link in links[1:]:
            link.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            assert all_of(link).startswith(b"HTTP/1.1 200")
    finally:
        for link in links:
            link.close()


def test_a_connection_whose_request_is_under_way_is_not_the_one_that_ends(waiting, monkeypatch):
    monkeypatch.setattr(connection, "MOST_CONNECTIONS", 1)
    tools, server = waiting
    data = b'{"query": "tea"}'
    with server.connect() as link:
        head = f"POST /search HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(data)}\r\n"
        link.sendall(head.encode() + JSON + b"Connection: close\r\n\r\n" + data)
        assert tools.begun.wait(LONG)
        with server.connect() as other:
            assert all_of(other) == b""
        tools.go_on.set()
        assert all_of(link).startswith(b"HTTP/1.1 200")


def test_what_is_answered_is_sent_at_once():
    """Else the end of an answer waits until the client has confirmed its beginning."""
    with listen("127.0.0.1", 0, has_token=False) as made:
        assert made.proto == socket.IPPROTO_TCP  # what asyncio looks for


def test_what_is_no_http_is_an_error_like_all_others(served):
    head, _, body = served.said(b"\x16\x03\x01\x02\x00 hello\r\n\r\n").partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400")
    assert json.loads(body)["status_code"] == 400
