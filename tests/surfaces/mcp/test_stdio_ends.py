"""Calls that are cancelled, and calls under way when the input or the client ends."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
from contextlib import closing, suppress

import anyio
import pytest

from qmd.surfaces.mcp.patience import Patience
from qmd.surfaces.mcp.stdio import InputLines, _pieces
from tests.models.remote.fake_endpoint import FakeEndpoint
from tests.surfaces.mcp.server_process import INITIALIZE, INITIALIZED, LONG, SLOW, found, request

PATIENT = """
from qmd.surfaces.mcp import patience
from qmd.surfaces.tools import dispatch
patience.GRACE = dispatch.SOON = 1e6
"""
"""Before that: it gives up on nothing."""


def test_a_cancelled_call_stops_and_is_not_answered(serve):
    server = serve(sys.executable, "-c", SLOW)
    server.hello()
    server.send(request("first", "search", query="tea"))
    assert server.receive()["id"] == "first"  # settings are in the tables: no read has to wait
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


HASTY = """
import sys
from qmd.__main__ import main
from qmd.surfaces.mcp import patience

patience.GRACE = 0.2
sys.argv = ["qmd", "mcp"]
main()
"""
"""The server, in a hurry when its input has ended."""


def test_an_endpoint_that_does_not_answer_holds_up_neither_the_next_call_nor_the_end(
    serve, monkeypatch
):
    with closing(FakeEndpoint()) as endpoint:
        endpoint.silent.clear()
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.base_url)
        monkeypatch.setenv("QMD_RERANK_MODEL", "openai:m")
        server = serve(sys.executable, "-c", HASTY)
        server.hello()
        for number in (1, 2):
            server.send(request(number, "query", query="tea"))
            endpoint.await_requests(number)  # the second has the model, of which there is one
            if number == 1:
                cancelled = {"method": "notifications/cancelled", "params": {"requestId": 1}}
                server.send({"jsonrpc": "2.0", **cancelled})
        code, answers = server.end()
        assert code == 0
        assert [answer["error"]["code"] for answer in answers] == [-32000]


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


THREADED = """
import sys
from qmd.__main__ import main
from qmd.surfaces.mcp import stdio

stdio._pieces = stdio._pieces_in_thread
sys.argv = ["qmd", "mcp"]
main()
"""
"""The server, as it reads its input on Windows."""


@pytest.mark.parametrize("how", ["the end of its input", "a signal"])
def test_input_that_an_event_loop_cannot_wait_for_is_read_in_a_thread(serve, how):
    server = serve(sys.executable, "-c", THREADED)
    server.hello()
    server.send(request(1, "search", query="tea"), b"{bad", request(2, "search", query="tea"))
    assert {server.receive()["id"] for _ in range(3)} == {1, None, 2}
    if how == "a signal":
        server.process.send_signal(signal.SIGTERM)
        assert server.ended() == (0, [])
    else:
        assert server.end() == (0, [])


def test_lines_that_came_before_the_end_and_are_not_taken_yet_are_left():
    async def main() -> list[object]:
        lines = InputLines(next_piece, Patience())
        found = [await anext(lines)]
        lines.end()
        return found + [line async for line in lines]

    async def next_piece() -> bytes:
        return b"first\nsecond\nthi"

    assert anyio.run(main) == [b"first"]


def test_an_input_that_breaks_off_has_ended():
    ours, theirs = socket.socketpair()
    with ours:
        ours.send(b"never read")
        theirs.send(b"first\nsec")

        async def main() -> list[object]:
            async with _pieces(ours.fileno()) as next_piece:
                lines = InputLines(next_piece, Patience())
                found = [await anext(lines)]
                theirs.close()
                return found + [line async for line in lines]

        assert anyio.run(main) == [b"first", b"sec"]
