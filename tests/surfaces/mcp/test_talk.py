"""Answers on the wire, however slowly they are read."""

from __future__ import annotations

import json
import os
import socket
import threading
import tty
from collections import Counter
from contextlib import suppress

import anyio
import pytest
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCNotification

from qmd.surfaces.mcp.patience import Patience
from qmd.surfaces.mcp.session import write_outgoing
from qmd.surfaces.mcp.talk import Talk


def _terminal():
    reading, writing = os.openpty()
    tty.setraw(writing)
    return reading, writing


def _sockets():
    return tuple(each.detach() for each in socket.socketpair())


@pytest.mark.parametrize("wire", [os.pipe, _terminal, _sockets])
@pytest.mark.parametrize("size", [10, 4_096, 100_000, 1_000_000])
def test_a_client_that_reads_late_gets_all_and_keeps_nobody_waiting(wire, size):
    reading, writing = wire()
    read, waited = [], []
    late = threading.Event()

    def client() -> None:
        waited.append(late.wait(5))
        with suppress(OSError):  # so a terminal ends
            while piece := os.read(reading, 1 << 16):
                read.append(piece)

    async def main() -> None:
        say, outgoing = anyio.create_memory_object_stream(3)
        talk = Talk(writing, patience=Patience(), hung_up=lambda: None)
        for number in range(3):
            note = JSONRPCNotification(
                jsonrpc="2.0", method="note", params={"text": str(number) * size}
            )
            say.send_nowait(SessionMessage(note))
        say.close()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(write_outgoing, talk, outgoing, Counter())
            for _ in range(5):
                await anyio.sleep(0.01)
            late.set()
        os.close(writing)

    thread = threading.Thread(target=client)
    thread.start()
    anyio.run(main)
    thread.join()
    os.close(reading)
    assert waited == [True]
    texts = [json.loads(line)["params"]["text"] for line in b"".join(read).splitlines()]
    assert texts == [str(number) * size for number in range(3)]
