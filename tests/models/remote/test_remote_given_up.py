"""A request that nobody waits for any more ends at once, whatever the endpoint does."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress

import pytest

from qmd.models.remote import RemoteEmbedder
from tests.models.remote.fake_endpoint import KINDS, LONG, Answer, ask, embedded

HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n"


class EnoughError(Exception):
    """Nobody waits any more."""


class Slow:
    """An endpoint of one connection that begins an answer and never ends it.

    Args:
        answer: what it sends at once.
        drip: what it sends again and again from then on.

    Attributes:
        began: set once something was asked, and `answer` is sent.
        ended: set once the connection is closed from the other side.
    """

    def __init__(self, answer: bytes, drip: bytes = b"") -> None:
        self.began, self.ended = threading.Event(), threading.Event()
        self._answer, self._drip = answer, drip
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}/v1"
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def close(self):
        self._thread.join(LONG)
        self._listener.close()
        assert not self._thread.is_alive()

    def _serve(self):
        self._listener.settimeout(LONG)
        connection, _ = self._listener.accept()
        with connection, suppress(ConnectionError):
            connection.recv(1 << 16)
            connection.sendall(self._answer)
            self.began.set()
            connection.settimeout(0.01 if self._drip else LONG)
            while True:
                try:
                    if not connection.recv(1 << 16):
                        break
                except TimeoutError:
                    assert self._drip, "the connection is still open"
                    connection.sendall(self._drip)
        self.ended.set()

    def between(self):
        """Enough, once it has begun."""
        if self.began.is_set():
            raise EnoughError


def no_thread_is_left():
    """Whether all that was asked has come to an end."""
    threads = [each for each in threading.enumerate() if each.name == "qmd-endpoint"]
    for thread in threads:
        thread.join(LONG)
    return not any(thread.is_alive() for thread in threads)


@KINDS
@pytest.mark.parametrize(
    ("scheme", "answer", "drip"),
    [
        ("http", b"", b""),
        ("http", HEAD[:20], b""),
        ("http", HEAD, b" "),
        ("https", b"", b""),
    ],
    ids=["no answer", "half a head", "a body in drips", "no handshake"],
)
def test_what_is_given_up_is_closed_and_leaves_no_thread(make, kind, scheme, answer, drip):
    slow = Slow(answer, drip)
    with pytest.raises(EnoughError):
        ask(make(kind, base_url=f"{scheme}://{slow.address}"), between=slow.between)
    assert slow.ended.wait(LONG)
    assert no_thread_is_left()
    slow.close()


def test_what_is_given_up_before_there_is_a_connection_is_never_sent(server, make, monkeypatch):
    looked_up, go_on = threading.Event(), threading.Event()
    original = socket.getaddrinfo

    def slow(*given):
        looked_up.set()
        assert go_on.wait(LONG)
        return original(*given)

    def between():
        if looked_up.is_set():
            raise EnoughError

    monkeypatch.setattr(socket, "getaddrinfo", slow)
    with pytest.raises(EnoughError):
        ask(make(RemoteEmbedder), between=between)
    go_on.set()
    assert no_thread_is_left()
    assert not server.seen


def test_an_interrupt_that_comes_from_elsewhere_ends_the_request_too(make, press_ctrl_c):
    slow = Slow(b"")
    pressing = threading.Thread(target=lambda: slow.began.wait(LONG) and press_ctrl_c())
    pressing.start()
    with pytest.raises(KeyboardInterrupt):
        ask(make(RemoteEmbedder, base_url=f"http://{slow.address}"))
    assert slow.ended.wait(LONG)
    assert no_thread_is_left()
    pressing.join(LONG)
    slow.close()


def test_the_next_request_does_not_suffer_from_one_that_was_given_up(server, make):
    server.answer = embedded
    model = make(RemoteEmbedder)
    ask(model)
    server.silent.clear()

    def between():
        if len(server.seen) == 2:
            raise EnoughError

    with pytest.raises(EnoughError):
        ask(model, between=between)
    server.silent.set()
    assert ask(model).shape == (1, 2)
    assert [each == server.callers[0] for each in server.callers] == [True, True, False]


def test_requests_one_after_another_share_a_connection(server, make):
    server.answer = embedded
    model = make(RemoteEmbedder)
    for _ in range(3):
        ask(model)
    assert len(set(server.callers)) == 1
    assert no_thread_is_left()


def test_a_connection_that_the_endpoint_ends_is_let_go_of_and_made_again(server, make):
    server.answer = lambda path, body: Answer(
        {"data": [{"index": 0, "embedding": [1.0]}]}, Connection="close"
    )
    model = make(RemoteEmbedder)
    for _ in range(2):
        ask(model)
        [connection] = model._line._connections._idle
        assert connection._socket is None
    assert len(set(server.callers)) == 2


def test_threads_that_share_a_model_do_not_wait_for_each_other(server, make):
    both = threading.Barrier(2, timeout=LONG)

    def together(path, body):
        both.wait()
        return embedded(path, body)

    server.answer = together
    model, made = make(RemoteEmbedder, dimensions=2), []
    threads = [threading.Thread(target=lambda: made.append(ask(model))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONG)
    assert [vectors.shape for vectors in made] == [(1, 2)] * 2


def test_a_model_that_is_closed_with_a_request_under_way_answers_it(server, make):
    server.answer = embedded
    server.silent.clear()
    model, made = make(RemoteEmbedder), []
    thread = threading.Thread(target=lambda: made.append(ask(model, between=closing)))

    def closing():
        if server.seen:
            model.close()
            server.silent.set()

    thread.start()
    thread.join(LONG)
    assert [vectors.shape for vectors in made] == [(1, 2)]
    assert not model._line._connections._idle
