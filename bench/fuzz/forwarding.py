"""Readers of the Unix socket: requests to a server, and its answers to the front."""

from __future__ import annotations

import codecs
import socket
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import suppress
from threading import Semaphore, Thread
from typing import Any

from bench.fuzz.library import library
from bench.fuzz.sources import Bytes, Input, Target

KINDS = b"oeixrk?"
"""Kinds of frames, and one that is none."""


def requests() -> Iterator[Target]:
    """Bytes at the socket: each connection ends, with whole frames, and its command alone."""
    from qmd import forward, startup
    from qmd.surfaces import cli
    from qmd.surfaces.forwarded import command
    from qmd.surfaces.forwarded.listener import Listener
    from qmd.surfaces.forwarded.session import Session

    codecs.register_error("spelled out", startup._spelled)
    with library(lines=3) as engine:
        codes: list[int | None] = []
        failed: list[str] = []
        command._log.exception = lambda *_: failed.append(traceback.format_exc())  # type: ignore

        def carry_out(arguments: Sequence[str]) -> int | None:
            codes.append(cli.carry_out_here(arguments))
            return codes[-1]

        listener = Listener(engine, carry_out)
        own = [
            *(forward.PROTOCOL, forward.__version__, sys.prefix, forward.PACKAGE, "/tmp", "000"),
            *("0 0 4096", "utf-8 utf-8 utf-8 strict", "00"),
        ]
        place = engine.place
        environ = {"INDEX_PATH": place.database, "QMD_CONFIG_DIR": place.config.parent}
        given = [f"{name}={value}" for name, value in environ.items()]
        changed = [*own, "x", "1e9", "-1", "\udcff", "latin-1 no utf-8 strict", "9 9 99999999999"]

        def made(source: Bytes) -> Input:
            kind, cut, at = source.number(0, 3), source.number(1, 400), source.number(0, 11)
            if kind == 0:
                return source.rest(), cut
            facts = list(own)
            if kind == 1 and at < len(facts):
                facts[at] = source.pick(changed)
            arguments = source.text().replace("\0", " ").split("\n")
            fields = [*facts, str(len(arguments) + (at == 11)), *arguments, *given]
            fields += [source.text()] if kind == 2 else []
            content = "\0".join(fields).encode("utf-8", "surrogateescape")
            return len(content).to_bytes(4, "big") + content + source.rest()[:at], cut

        def check(data: bytes, cut: int) -> None:
            codes.clear()
            failed.clear()
            front, link = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
            session = Session(link, Semaphore(2))
            threads: list[Thread] = []
            with front, link:
                for at in range(0, min(len(data), 200 * cut), cut):
                    with suppress(OSError):  # the session has ended
                        front.sendall(data[at : at + cut])
                    content = session.receive()
                    if content is not None:
                        threads.append(Thread(target=listener._command, args=(session, content)))
                        threads[-1].start()
                        threads[-1].join(0.5)  # it may wait for stdin
                    if session.is_gone:
                        break
                was_left = session.is_gone or any(thread.is_alive() for thread in threads)
                session.leave()
                for thread in threads:
                    thread.join(20)
                    assert not thread.is_alive()
                front.settimeout(5)
                with suppress(OSError):
                    front.shutdown(socket.SHUT_WR)
                frames = list(forward._frames(front))
            assert not failed, failed[0]
            assert len(codes) <= len(threads) <= 1
            shown = b"".join(content for kind, content in frames if kind in b"oe")
            assert b"mistake in qmd" not in shown
            assert b"Traceback" not in shown
            assert all(kind in b"oeik" for kind, _ in frames[:-1])
            if codes and codes[0] is not None and not was_left:
                assert frames[-1] == (forward.EXIT, str(codes[0]).encode())
            elif threads and not was_left:
                assert frames[-1] == (forward.DECLINED, b"")

        words = (
            "search\n¦get\n¦ls¦status¦--json¦-n\n5¦notes/tea.md¦tea¦multi-get\n¦--help¦\udc80¦--index\n¦sql\n"
            "select 1¦-¦--¦COLUMNS=1e9¦LINES=¦QMD_DEBUG=1¦=¦collection\nadd\n.¦vsearch\n"
        ).split("¦")
        examples = (
            b"search\ntea\n-n\n3\n--json\xff\1\3",
            b"get\nnotes/tea.md:1:2\xff\1\2",
            b"ls\nnotes\xff\1\1",
            b"\0\0\0\5qmd-f\0",
        )
        yield Target(made, check, words, examples, linear=False)


def answers() -> Iterator[Target]:
    """Bytes that a front gets: its exit code is one, and what was printed is not printed again."""
    from qmd import forward

    written: list[tuple[int, bytes]] = []
    complaints: list[str] = []
    instead: dict[str, Any] = {
        "_write": lambda descriptor, content: written.append((descriptor, content)),
        "_complain": complaints.append,
        "_all_of_stdin": lambda: b"x" * 100,
        "_give_back": lambda content: None,
        "SILENCE_SECONDS": 0.001,
    }
    before = {name: getattr(forward, name) for name in instead}
    for name, function in instead.items():
        setattr(forward, name, function)
    contents = (b"", b"0", b"-1", b"256", b"9" * 30, b" 1_0")

    def made(source: Bytes) -> Input:
        sent = b""
        for _ in range(source.number(0, 5)):
            kind = bytes([source.pick(KINDS)])
            content = source.pick([*contents, source.text().encode()])
            size = source.pick([len(content), len(content), len(content), 1 << 17, 0])
            sent += kind + size.to_bytes(4, "big") + content
        return sent + source.rest(), source.number(0, 1)

    def check(data: bytes, ends: int) -> None:
        written.clear()
        complaints.clear()
        front, server = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        with front, server:
            front.settimeout(5 if ends else 0.001)
            server.sendall(data)
            if ends:
                server.shutdown(socket.SHUT_WR)
            code = forward._carried_out(front, b"request")
        assert all(descriptor in (1, 2) for descriptor, _ in written)
        assert code is None or 0 <= code <= 255
        assert code is not None or not written
        assert code != forward.INCOMPLETE or complaints or data.count(b"x")

    try:
        yield Target(made, check, (), (b"\0\0\0\0\0", b"tea\xff\0\0\6\0\1"), linear=False)
    finally:
        for name, function in before.items():
            setattr(forward, name, function)
