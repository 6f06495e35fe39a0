"""The MCP server over stdin and stdout, byte by byte."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from qmd.surfaces.tools.schemas import TOOLS
from tests.surfaces.mcp.server_process import INITIALIZE, INITIALIZED, LONG, SLOW, found, request


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
    listed = [each["name"] for each in server.receive()["result"]["tools"]]
    assert listed == [tool.name for tool in TOOLS if not tool.optional]
    assert not list(library.folder.glob("index.duckdb*"))
    assert server.end() == (0, [])


@pytest.mark.usefixtures("serve")
@pytest.mark.parametrize("is_blocking", [True, False])
def test_it_runs_where_stdin_is_a_terminal(is_blocking):
    """A person who tries the command sees it wait, and ends it."""
    leader, follower = os.openpty()
    os.set_blocking(follower, is_blocking)
    process = subprocess.Popen(
        [sys.executable, "-m", "qmd", "mcp"], stdin=follower, stdout=subprocess.PIPE
    )
    for _ in range(2):
        os.write(leader, json.dumps(INITIALIZE).encode() + b"\n")
        assert json.loads(process.stdout.readline())["id"] == "hello"
        time.sleep(0.2)  # it has to wait for what comes next
    process.send_signal(signal.SIGINT)
    assert process.wait(LONG) == 0
    os.close(leader)
    os.close(follower)
    process.stdout.close()
