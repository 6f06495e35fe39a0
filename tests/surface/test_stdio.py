"""The MCP server over stdin and stdout, byte by byte."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
from contextlib import suppress

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from qmd.surface.mcp.lines import MOST_BYTES, Problem, message_of, problem_of, split

LONG = 40
"""Seconds after which something that has to happen is taken for stuck."""

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": "hello",
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}

SLOW = """
import os
import sys
from qmd.engine import Engine
from qmd.__main__ import main

plain = Engine.search

def search(engine, text, **options):
    if text == "for ever":
        os.write(1, b"began\\n")  # to stderr, if stdout belongs to the protocol
        return engine.read(lambda cursor: cursor.connection.execute(
            "select count(*) from range(1000000) a, range(1000000) b where a.range + b.range = 7"
        ).fetchall())
    if text == "a while":
        print("began", flush=True)
        engine.read(lambda cursor: cursor.connection.execute(
            "select count(*) from range(20000) a, range(2000) b where a.range + b.range = 7"
        ).fetchall())
        return plain(engine, "tea", **options)
    return plain(engine, text, **options)

Engine.search = search
sys.argv = ["qmd", "mcp"]
main()
"""
"""The server, with two questions that take long."""

PATIENT = """
from qmd.surface.mcp import patience
from qmd.surface.tools import toolbox
patience.GRACE = toolbox.SOON = 1e6
"""
"""Before that: it gives up on nothing."""


def request(number: object, name: str, **arguments: object) -> dict[str, object]:
    """A call of a tool."""
    params = {"name": name, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


class Server:
    """A server process, and what it writes, line by line."""

    def __init__(self, *command: str, cwd: object) -> None:
        self.process = subprocess.Popen(
            command or (sys.executable, "-m", "qmd", "mcp"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=cwd,
        )
        self._lines: queue.Queue[bytes] = queue.Queue()
        self._errors: queue.Queue[bytes] = queue.Queue()
        self._threads = [
            threading.Thread(target=_collect, args=each)
            for each in (
                (self.process.stdout, self._lines),
                (self.process.stderr, self._errors),
            )
        ]
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """Leave nothing of it."""
        self.process.kill()
        self.end()
        for thread in self._threads:
            thread.join(LONG)

    def send(self, *messages: object) -> None:
        """Write messages, or bytes as they are."""
        assert self.process.stdin is not None
        for message in messages:
            data = message if isinstance(message, bytes) else json.dumps(message).encode()
            self.process.stdin.write(data + b"\n")
        self.process.stdin.flush()

    def hello(self) -> dict:
        """Initialize."""
        self.send(INITIALIZE, INITIALIZED)
        return self.receive()

    def receive(self) -> dict:
        """The next message."""
        line = self._lines.get(timeout=LONG)
        assert line, "the server has ended"
        return json.loads(line)

    def until(self, words: str) -> None:
        """Wait until this stands on stderr."""
        while words.encode() not in (line := self._errors.get(timeout=LONG)):
            assert line, "the server has ended"

    def end(self) -> tuple[int, list[dict]]:
        """Close its input.

        Returns:
            Its exit code, and what it wrote until then.
        """
        assert self.process.stdin is not None
        with suppress(BrokenPipeError):
            self.process.stdin.close()
        return self.ended()

    def ended(self) -> tuple[int, list[dict]]:
        """The same, once it has ended by itself."""
        code = self.process.wait(LONG)
        rest = []
        while line := self._lines.get(timeout=LONG):
            rest.append(json.loads(line))
        self._lines.put(b"")
        return code, rest


def _collect(stream, lines) -> None:
    with stream:
        for line in stream:
            lines.put(line)
    lines.put(b"")


@pytest.fixture
def serve(library, tmp_path, monkeypatch):
    """Starts servers of an index with one document."""
    library.write("tea.md", "# Tea\n\nGreen tea.\n")
    library.update()
    library.engine.close()
    monkeypatch.setenv("QMD_CONFIG_DIR", str(library.folder))
    monkeypatch.setenv("INDEX_PATH", str(library.engine.place.database))
    started = []

    def start(*command: str) -> Server:
        started.append(Server(*command, cwd=tmp_path))
        return started[-1]

    yield start
    for server in started:
        server.close()


def found(answer: dict) -> list[str]:
    """Files of a search result."""
    return [each["file"] for each in answer["result"]["structuredContent"]["results"]]


def test_input_that_ends_at_once_is_answered_whole(serve):
    server = serve()
    server.send(INITIALIZE, INITIALIZED, request(1, "search", query="tea"), request(2, "status"))
    code, answers = server.end()
    assert code == 0
    by_id = {answer["id"]: answer for answer in answers}
    assert by_id.keys() == {"hello", 1, 2}
    assert found(by_id[1]) == ["notes/tea.md"]


def test_a_file_as_input_is_answered_whole(serve, tmp_path):
    lines = [INITIALIZE, INITIALIZED, request(1, "search", query="tea")]
    file = tmp_path / "input.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with file.open("rb") as stream:
        done = subprocess.run(
            [sys.executable, "-m", "qmd", "mcp"], stdin=stream, stdout=-1, timeout=LONG, check=True
        )
    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == ["hello", 1]


def test_no_input_at_all_is_a_quiet_end(serve):
    assert serve().end() == (0, [])


def test_a_line_that_is_no_message_is_answered_and_the_next_one_too(serve):
    server = serve()
    server.hello()
    server.send(
        b"{bad", b"\xff\xfe", b"[]", b'{"jsonrpc": "2.0", "id": 5, "method": 7}', b"", b"  "
    )
    server.send(b'{"jsonrpc": "2.0", "id": 6, "method": "ping", "params": {"a": "\\ud83d"}}')
    server.send(request(7, "search", query="tea"))
    code, answers = server.end()
    assert code == 0
    errors = [(answer["id"], answer["error"]["code"]) for answer in answers if "error" in answer]
    assert errors == [
        (None, -32700),
        (None, -32700),
        (None, -32600),
        (5, -32600),
        (6, -32700),
    ]
    assert answers[-1]["id"] == 7


def test_an_id_that_is_none_is_refused_and_no_notification(serve):
    server = serve()
    for number in (b"null", b"1.5", b"true", b"[]"):
        server.send(b'{"jsonrpc": "2.0", "method": "ping", "id": %s}' % number)
        refused = server.receive()
        assert (refused["id"], refused["error"]["code"]) == (None, -32600)
    assert server.end() == (0, [])


def test_calls_with_one_id_are_all_answered(serve):
    server = serve()
    server.hello()
    server.send(*(request(number, "search", query="tea") for number in (2, 2, "2")))
    code, answers = server.end()
    assert code == 0
    assert [found(answer) for answer in answers] == [["notes/tea.md"]] * 3


@pytest.mark.parametrize("number", ["", "²", "9" * 5000, -5, 10**30])
def test_an_id_may_be_any_text_and_any_whole_number(serve, number):
    server = serve()
    cancelled = {"method": "notifications/cancelled", "params": {"requestId": number}}
    server.send({"jsonrpc": "2.0", **cancelled})
    server.send({"jsonrpc": "2.0", "id": number, "method": "ping"})
    assert server.receive() == {"jsonrpc": "2.0", "id": number, "result": {}}
    assert server.end() == (0, [])


@pytest.mark.parametrize("params", [{}, {"requestId": {}}, {"requestId": [1]}, {"requestId": 99}])
def test_a_cancellation_of_nothing_is_no_harm(serve, params):
    server = serve()
    server.hello()
    server.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})
    server.send(request(1, "search", query="tea"))
    assert found(server.receive()) == ["notes/tea.md"]
    assert server.end() == (0, [])


def test_a_line_of_20_megabytes_is_refused_and_the_next_one_answered(serve):
    server = serve()
    server.hello()
    server.send(request(1, "search", query="x" * 20_000_000))
    server.send(request(2, "search", query="tea"))
    code, [refused, answer] = server.end()
    assert code == 0
    assert refused["id"] is None
    assert refused["error"] == {
        "code": -32600,
        "message": "Invalid Request: the message has more than 16 MiB",
    }
    assert found(answer) == ["notes/tea.md"]


def test_an_unknown_method_and_a_call_before_the_handshake_are_errors(serve):
    server = serve()
    server.send(request(1, "search", query="tea"))
    assert server.receive()["error"]["code"] == -32602
    server.hello()
    server.send({"jsonrpc": "2.0", "id": 2, "method": "tea/brew"})
    assert server.receive()["error"]["code"] == -32601
    server.send({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"nam": "x"}})
    assert server.receive()["error"]["code"] == -32602
    assert server.end() == (0, [])


def test_twenty_calls_at_once_are_all_answered(serve):
    server = serve()
    server.hello()
    server.send(*(request(n, "search", query="tea") for n in range(20)))
    answers = [server.receive() for _ in range(20)]
    assert {answer["id"] for answer in answers} == set(range(20))
    assert all(found(answer) == ["notes/tea.md"] for answer in answers)
    assert server.end() == (0, [])


def test_a_cancelled_call_stops_and_is_not_answered(serve):
    server = serve(sys.executable, "-c", SLOW)
    server.hello()
    server.send(*(request(n, "search", query="for ever") for n in range(4)))
    for _ in range(4):  # as many as may read at once
        server.until("began")
    for n in range(4):
        params = {"requestId": n, "reason": "enough"}
        server.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})
    server.send(request("after", "search", query="tea"))
    assert server.receive()["id"] == "after"
    assert server.end() == (0, [])


@pytest.mark.parametrize("how", ["end of input", signal.SIGTERM, signal.SIGINT])
def test_what_is_under_way_at_the_end_is_answered(serve, how):
    server = serve(sys.executable, "-c", SLOW)
    server.hello()
    server.send(request(1, "search", query="a while"))
    server.until("began")
    if isinstance(how, signal.Signals):
        server.process.send_signal(how)
        code, answers = server.ended()
    else:
        code, answers = server.end()
    assert code == 0
    assert [found(answer) for answer in answers] == [["notes/tea.md"]]


def test_what_takes_too_long_at_the_end_is_given_up(serve):
    server = serve(sys.executable, "-c", SLOW)
    server.hello()
    server.send(request(1, "search", query="for ever"))
    server.until("began")
    code, answers = server.end()
    assert code == 0
    assert [answer["error"]["code"] for answer in answers] == [-32000]


def test_a_signal_after_the_end_of_the_input_does_not_wait_for_all_of_that(serve):
    server = serve(sys.executable, "-c", PATIENT + SLOW)
    server.hello()
    server.send(request(1, "search", query="for ever"))
    server.until("began")
    server.process.stdin.close()
    for _ in range(LONG):  # the first one may come before the end is seen
        server.process.send_signal(signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            server.process.wait(1)
            break
    assert server.ended()[0] == 0


@pytest.mark.usefixtures("serve")
def test_a_client_that_reads_no_more_ends_the_server():
    lines = b"".join(json.dumps(each).encode() + b"\n" for each in (INITIALIZE, INITIALIZED))
    with subprocess.Popen([sys.executable, "-m", "qmd", "mcp"], stdin=-1, stdout=-1) as process:
        process.stdin.write(lines)
        process.stdin.flush()
        process.stdout.readline()
        process.stdout.close()
        process.stdin.write(json.dumps(request(1, "status")).encode() + b"\n")
        process.stdin.flush()
        assert process.wait(LONG) == 0


def test_what_is_printed_does_not_get_into_the_protocol(serve):
    server = serve(sys.executable, "-c", SLOW)
    server.hello()
    server.send(request(1, "search", query="a while"))
    assert found(server.receive()) == ["notes/tea.md"]
    server.until("began")
    assert server.end() == (0, [])


def test_what_another_process_indexed_is_in_the_next_answer(serve, library):
    server = serve()
    server.hello()
    server.send(request(1, "search", query="oolong"))
    assert found(server.receive()) == []
    library.write("oolong.md", "# Oolong\n\nHalf fermented.\n")
    subprocess.run(
        [sys.executable, "-m", "qmd", "update"], check=True, timeout=LONG, stdout=subprocess.DEVNULL
    )
    server.send(request(2, "search", query="oolong"))
    assert found(server.receive()) == ["notes/oolong.md"]
    assert server.end() == (0, [])


def test_a_server_that_only_greets_opens_nothing(serve, library):
    for file in library.folder.glob("index.duckdb*"):
        file.unlink()
    server = serve()
    server.hello()
    server.send({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
    assert len(server.receive()["result"]["tools"]) == 8
    assert not list(library.folder.glob("index.duckdb*"))
    assert server.end() == (0, [])


# -- lines ---------------------------------------------------------------------------


def pieces(*given: bytes):
    """What reads these, one after the other."""
    rest = iter(given)
    return lambda: next(rest, b"")


@pytest.mark.parametrize(
    ("given", "lines"),
    [
        ([b"a\nb\n"], [b"a", b"b"]),
        ([b"a", b"b\nc", b"\n"], [b"ab", b"c"]),
        ([b"\n\na"], [b"", b"", b"a"]),
        ([b"a\r\n"], [b"a\r"]),
        ([], []),
    ],
)
def test_lines_may_come_in_any_pieces(given, lines):
    assert list(split(pieces(*given))) == lines


@given(
    st.dictionaries(
        st.sampled_from(["jsonrpc", "id", "method", "params", "result", "error", "x"]),
        st.sampled_from(
            ["2.0", "x", '"2.0"', '"ping"', "7", "null", "1.5", "1e999", "9" * 5000, "{}", "[]",
             '"\\ud83d"', "true", "[" * 300 + "]" * 300, '{"code": 1, "message": "x"}']
        ),
    )
)  # fmt: skip
@example({"jsonrpc": '"2.0"', "method": '"ping"', "x": "9" * 5000})
def test_any_line_is_a_message_or_told_why_not(fields):
    line = "{" + ", ".join(f'"{name}": {value}' for name, value in fields.items()) + "}"
    found = message_of(line.encode())
    if isinstance(found, Problem):
        assert json.loads(found.answer)["error"]["code"] in (-32700, -32600)
    else:
        assert hasattr(found, "id") or "id" not in fields


def test_a_line_too_long_is_told_of_once_and_costs_no_memory():
    half = b"x" * (MOST_BYTES // 2 + 1)
    found_lines = list(split(pieces(half, half, half, b"tail\nnext\n", half, half)))
    assert [line if isinstance(line, bytes) else "long" for line in found_lines] == [
        "long",
        b"next",
        "long",
    ]


def test_the_id_of_what_is_no_message_is_given_back_only_if_it_is_one():
    for text, number in [
        ('{"id": 3}', 3),
        ('{"id": "x"}', "x"),
        ('{"id": true}', None),
        ('{"id": [1]}', None),
        ('{"id": "\\ud83d"}', None),
        ("3", None),
        ("[" * 100_000, None),
    ]:
        assert problem_of(text.encode()).id == number


@pytest.mark.usefixtures("serve")
def test_it_runs_where_stdin_is_a_terminal():
    """A person who tries the command sees it wait, and ends it."""
    leader, follower = os.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "qmd", "mcp"], stdin=follower, stdout=subprocess.PIPE
    )
    os.write(leader, json.dumps(INITIALIZE).encode() + b"\n")
    assert json.loads(process.stdout.readline())["id"] == "hello"
    process.send_signal(signal.SIGINT)
    assert process.wait(LONG) == 0
    os.close(leader)
    os.close(follower)
    process.stdout.close()
