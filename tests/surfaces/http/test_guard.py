"""Who may ask an HTTP server. Names and origins here.

What needs a socket is in rest/test_guard_on_the_wire.py.
"""

from __future__ import annotations

import json
from pathlib import Path

import anyio
import pytest

from qmd.errors import UsageError
from qmd.settings.environment import serving
from qmd.surfaces.http import access_control
from qmd.surfaces.http.access_control import Guard, is_loopback, policy

FILE = Path(__file__).parents[4] / "shared" / "cases" / "guard.json"


def recorded(name):
    """The cases of one function of the reference tool, or none if the file is not there."""
    if not FILE.is_file():
        return [pytest.param(None, marks=pytest.mark.skip(reason="no recorded cases here"))]
    return json.loads(FILE.read_text(encoding="utf-8"))[name]


@pytest.mark.parametrize("case", recorded("origin_loopback"))
def test_an_address_is_known_as_that_of_this_machine_as_recorded(case):
    assert is_loopback(case["input"]) == case["expected"]


@pytest.mark.parametrize("case", recorded("origin_check"))
def test_a_request_is_let_in_or_refused_as_recorded(case):
    settings = serving(case["env"])
    made = policy(case["bind"], origins=settings.origins, hosts=settings.hosts)
    assert {
        "disabled": made.disabled,
        "allowedOrigins": list(made.origins),
        "allowedHosts": list(made.hosts),
        "enforceHost": not made.any_host,
    } == case["guard"]
    headers = {name: [value] for name, value in case["headers"].items()}
    problem = made.problem(headers.get("host", []), headers.get("origin", []))
    expected = case["expected"]
    assert (problem is None) == expected["ok"]
    assert expected["ok"] or problem[1] == expected["reason"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("localhost", True),
        ("LOCALHOST", True),
        ("notes.localhost", True),
        ("127.8.9.10", True),
        ("::ffff:10.0.0.1", False),
        ("localhost.evil.example", False),
        ("evil-localhost", False),
        ("127.0.0.1.evil.example", False),
        ("127.1", False),
        ("2130706433", False),
        ("::", False),
        ("", False),
    ],
)
def test_no_other_name_passes_for_that_of_this_machine(name, expected):
    assert is_loopback(name) == expected


@pytest.mark.parametrize(
    "origin",
    [
        "http://localhost:3000",
        "https://127.0.0.1",
        "http://[::1]:8181",
        "https://Notes.Example",
        "https://notes.example:443",
        "http://tool.example:8080",
    ],
)
def test_pages_of_this_machine_and_those_that_were_named_may_ask(origin):
    made = policy("127.0.0.1", origins=["https://notes.example/", "http://tool.example:8080"])
    assert made.problem(["localhost"], [origin]) is None


@pytest.mark.parametrize(
    "origin",
    [
        "",
        "null",
        "http://notes.example",
        "https://notes.example:8443",
        "http://tool.example",
        "https://notes.example.evil.example",
        "http://localhost:80@evil.example",
        "http://evil.example/localhost",
        "ftp://localhost",
        "localhost",
        "http://local\thost",
        "http://0.0.0.0:8181",
    ],
)
def test_all_other_pages_may_not(origin):
    made = policy("127.0.0.1", origins=["https://notes.example", "http://tool.example:8080"])
    assert made.problem(["localhost"], [origin]) == (403, f"Origin not allowed: {origin}")


def test_of_several_origins_all_have_to_be_let_in():
    pages = ["http://localhost", "http://evil.example"]
    problem = policy("127.0.0.1").problem(["localhost"], pages)
    assert problem == (403, "Origin not allowed: http://evil.example")


@pytest.mark.parametrize(
    ("bind", "hosts", "host", "let_in"),
    [
        ("127.0.0.1", [], "127.0.0.1:8181", True),
        ("127.0.0.1", [], "[::1]:8181", True),
        ("127.0.0.1", [], "192.168.1.5", False),
        ("127.0.0.1", [], "", False),
        ("127.0.0.1", [], "localhost:8181:evil.example", False),
        ("127.0.0.1", [], "evil.example#localhost", False),
        ("127.0.0.1", ["Notes.Lan"], "notes.lan:8181", True),
        ("127.0.0.1", ["notes.lan:8181"], "notes.lan:8181", True),
        ("127.0.0.1", ["notes.lan:8181"], "notes.lan:9000", False),
        ("0.0.0.0", ["notes.lan"], "other.lan", False),
        ("0.0.0.0", ["notes.lan"], "localhost", True),
        ("::", [], "anything", True),
        ("fd00::5", [], "[fd00::5]:8181", True),
        ("fd00::5", [], "[fd00::6]:8181", False),
    ],
)
def test_a_server_answers_to_names_that_it_has(bind, hosts, host, let_in):
    problem = policy(bind, hosts=hosts).problem([host] if host else [], [])
    assert problem == (None if let_in else (421, f"Host not allowed: {host or '(none)'}"))


@pytest.mark.parametrize("origin", ["null", "notes.example", "https://", "https://a/b"])
def test_what_is_no_origin_cannot_be_allowed(origin):
    with pytest.raises(UsageError, match="is not the origin of a web page"):
        policy("127.0.0.1", origins=[origin])


def test_what_is_no_host_cannot_be_allowed():
    with pytest.raises(UsageError, match="is not the name of a host"):
        policy("127.0.0.1", hosts=["https://notes.lan"])


# -- the guard as an application ------------------------------------------------------


class Exchange:
    """One request to an application behind a guard.

    Attributes:
        sent: what the guard sent.
        reached: bodies with which the application was called.
        taken: messages of the request that were taken.
    """

    def __init__(self, *, token=None):
        self.sent = []
        self.reached = []
        self.taken = 0
        self._guard = Guard(self._application, policy("127.0.0.1"), token=token)

    async def _application(self, scope, receive, send):
        message = await receive()
        assert message["more_body"] is False
        self.reached.append(message["body"])

    def ask(self, *messages, method="POST", path="/search", headers=()):
        """Its status, or None if it was let in."""
        given = [("host", "localhost"), ("content-type", "application/json"), *headers]
        scope = {
            "type": "http",
            "method": method,
            "path": path,
            "headers": [(name.encode(), value.encode()) for name, value in given if value],
        }
        waiting = list(messages or [body(b"{}")])

        async def receive():
            self.taken += 1
            return waiting.pop(0) if waiting else {"type": "http.disconnect"}

        async def send(message):
            self.sent.append(message)

        anyio.run(self._guard, scope, receive, send)
        return self.sent[0]["status"] if self.sent else None


def body(data, *, more=False):
    return {"type": "http.request", "body": data, "more_body": more}


def test_a_body_in_pieces_arrives_whole():
    exchange = Exchange()
    assert exchange.ask(body(b'{"a"', more=True), body(b": 1}")) is None
    assert exchange.reached == [b'{"a": 1}']


def test_the_largest_body_is_let_in_and_one_byte_more_is_not(monkeypatch):
    monkeypatch.setattr(access_control, "LARGEST_BODY", 10)
    assert Exchange().ask(body(b"x" * 10)) is None
    assert Exchange().ask(body(b"x" * 10, more=True), body(b"x")) == 413


def test_of_a_body_that_is_declared_too_large_nothing_is_kept(monkeypatch):
    monkeypatch.setattr(access_control, "LINGER_BYTES", 0)
    exchange = Exchange()
    assert exchange.ask(headers=[("content-length", str(access_control.LARGEST_BODY + 1))]) == 413
    assert exchange.taken == 0


def test_a_body_that_never_ends_is_not_read_to_its_end(monkeypatch):
    monkeypatch.setattr(access_control, "LARGEST_BODY", 10)
    monkeypatch.setattr(access_control, "LINGER_BYTES", 30)
    exchange = Exchange()
    assert exchange.ask(*(body(b"x" * 10, more=True) for _ in range(100))) == 413
    assert exchange.taken == 2 + 3
    assert exchange.reached == []


def test_a_client_that_leaves_in_the_middle_of_its_request_is_not_answered():
    exchange = Exchange()
    assert exchange.ask(body(b"{", more=True), {"type": "http.disconnect"}) is None
    assert (exchange.sent, exchange.reached) == ([], [])


@pytest.mark.parametrize(
    ("given", "status"),
    [
        ([], 401),
        (["Bearer wrong"], 401),
        (["Bearer secret-and-more"], 401),
        (["Basic secret"], 401),
        (["secret"], 401),
        (["Bearer secret", "Bearer secret"], 401),
        (["Bearer sécret"], 401),
        (["Bearer secret"], None),
        (["bearer  secret"], None),
    ],
)
def test_only_the_right_token_is_let_in(given, status):
    exchange = Exchange(token="secret")
    headers = [("authorization", value) for value in given]
    assert exchange.ask(headers=headers) == status
    if status:
        assert b"www-authenticate" in dict(exchange.sent[0]["headers"])
        assert exchange.reached == []


def test_health_needs_no_token_but_a_name_that_is_ours():
    assert Exchange(token="secret").ask(method="GET", path="/health") is None
    evil = [("origin", "http://evil.example")]
    assert Exchange(token="secret").ask(method="GET", path="/health", headers=evil) == 403
    assert Exchange(token="secret").ask(method="GET", path="/health/") == 401
    assert Exchange(token="secret").ask(method="POST", path="/health") == 401


def test_further_requests_are_sent_away_while_too_many_are_at_work(monkeypatch):
    monkeypatch.setattr(access_control, "MOST_REQUESTS", 0)
    assert Exchange().ask() == 503
    assert Exchange().ask(method="GET", path="/health") is None


def test_control_characters_at_the_end_of_an_origin_are_a_part_of_it():
    assert Exchange().ask(headers=[("origin", "http://localhost ")]) is None
    assert Exchange().ask(headers=[("origin", "http://localhost\x1f")]) == 403
