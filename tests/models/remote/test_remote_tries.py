"""What may pass is tried again, and how long that waits."""

from __future__ import annotations

import socket

import pytest

from qmd.errors import ModelFailure
from qmd.models import endpoint
from qmd.models.remote import RemoteEmbedder
from tests.models.remote.fake_endpoint import KINDS, Answer, ask, embedded, error, one_after_another


@KINDS
@pytest.mark.parametrize("status", [429, 500, 502, 503, 504, 529])
def test_what_may_pass_is_tried_five_times_with_longer_and_longer_waits(server, make, kind, status):
    server.answer = error(status, "later")
    with pytest.raises(ModelFailure, match=f"answered {status} for m: later"):
        ask(make(kind))
    assert len(server.seen) == endpoint.TRIES == 5
    longest = 0.5 + 1 + 2 + 4
    assert longest / 2 <= sum(make.slept) <= longest
    assert max(make.slept) <= endpoint.SLICE


@KINDS
@pytest.mark.parametrize("status", [400, 418, 501])
def test_what_does_not_pass_is_tried_once(server, make, kind, status):
    server.answer = error(status, "no")
    with pytest.raises(ModelFailure):
        ask(make(kind))
    assert len(server.seen) == 1
    assert not make.slept


def test_a_quota_that_is_used_up_does_not_come_back_by_waiting(server, make):
    server.answer = error(429, "You exceeded your current quota", code="insufficient_quota")
    with pytest.raises(ModelFailure, match="exceeded your current quota"):
        ask(make(RemoteEmbedder))
    assert len(server.seen) == 1


@pytest.mark.parametrize(
    ("asked", "waited"),
    [
        ("7", 7),
        ("0", 0),
        ("0.35", 0.35),
        ("999", 60),
        ("Fri, 31 Dec 9999 23:59:59 GMT", 60),
        ("Fri, 31 Dec 1999 23:59:59 GMT", 0),
        ("Fri, 31 Dec 1999 23:59:59 -0000", 0),
        ("-5", 0),
    ],
)
def test_the_endpoint_says_how_long_to_wait(server, make, asked, waited):
    server.answer = one_after_another(
        lambda path, body: Answer({}, 429, Retry_After=asked), embedded
    )
    ask(make(RemoteEmbedder))
    assert sum(make.slept) == pytest.approx(waited)


@pytest.mark.parametrize("asked", ["soon", "", "nan"])
def test_what_cannot_be_read_is_no_reason_to_wait_for_long(server, make, asked):
    server.answer = one_after_another(
        lambda path, body: Answer({}, 429, Retry_After=asked), embedded
    )
    ask(make(RemoteEmbedder))
    assert sum(make.slept) <= endpoint.FIRST_WAIT


@KINDS
def test_an_interrupt_gets_through_while_waiting(server, make, kind):
    server.answer = lambda path, body: Answer({}, 503, Retry_After="60")
    model, calls = make(kind), []

    def between():
        calls.append(1)
        if len(make.slept) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ask(model, between=between)
    assert len(server.seen) == 1
    assert len(calls) == 5
    assert sum(make.slept) <= 0.31


def test_an_interrupt_gets_through_between_two_requests(server, make):
    server.answer = embedded

    def between():
        if server.seen:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        make(RemoteEmbedder).embed(["tea"] * 100, between=between)
    assert len(server.seen) == 1


def test_where_nothing_listens_is_tried_and_told_of(make):
    with socket.create_server(("127.0.0.1", 0)) as closed:
        base_url = f"http://127.0.0.1:{closed.getsockname()[1]}/v1"
    with pytest.raises(ModelFailure, match=r"cannot be reached: .*refused") as caught:
        ask(make(RemoteEmbedder, base_url=base_url))
    assert base_url in str(caught.value)
    assert "OPENAI_BASE_URL" in str(caught.value)
    assert sum(make.slept) >= (0.5 + 1 + 2 + 4) / 2


def test_an_endpoint_that_does_not_answer_is_tried_and_told_of(server, make, monkeypatch):
    monkeypatch.setattr(endpoint, "READ_SECONDS", 0.05)
    server.silent.clear()
    with pytest.raises(ModelFailure, match=r"cannot be reached: no answer within 0\.05 seconds"):
        ask(make(RemoteEmbedder))
    assert sum(make.slept) >= (0.5 + 1 + 2 + 4) / 2


def test_a_connection_that_breaks_is_made_again(server, make):
    def broken(path, body):
        raise ConnectionResetError

    server.answer = one_after_another(broken, embedded)
    assert make(RemoteEmbedder).embed(["tea"]).shape == (1, 2)
    assert len(server.seen) == 2
