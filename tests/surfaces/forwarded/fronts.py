"""A server of commands in this process, and fronts in processes of their own."""

from __future__ import annotations

import codecs
import os
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from qmd import forward, startup
from qmd.operations.index import Index
from qmd.settings import environment
from qmd.surfaces import cli
from qmd.surfaces.forwarded.listener import Listener

LONG = 300 if sys.platform == "win32" else 60
"""Seconds after which something that has to happen is taken for stuck."""

if sys.platform == "win32":
    from qmd import pipe
    from qmd.surfaces.forwarded.pipes import PipeEndpoint
else:
    import pty
    import termios
    from fcntl import ioctl

NEEDED = ("SYSTEMROOT", "USERPROFILE", "APPDATA")
"""Variables without which a process of Windows does not start, or has no home."""

of_sockets = pytest.mark.skipif(sys.platform == "win32", reason="Windows has pipes")
"""Marks tests of sockets, signals or terminals."""

codecs.register_error("spelled out", startup._spelled)


class Done(NamedTuple):
    """A command that has ended."""

    code: int
    out: bytes
    err: bytes


class Fronts:
    """Commands of one index, in processes of their own.

    Attributes:
        codes: exit codes of the commands that the last server of this process carried out; None
            for what it left to the caller.
    """

    def __init__(self, folder: Path, runtime: str) -> None:
        self.folder = folder
        self.codes: list[int | None] = []
        self.environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder / "home"),
            "QMD_CONFIG_DIR": str(folder / "config"),
            "INDEX_PATH": str(folder / "index.duckdb"),
            "XDG_CACHE_HOME": str(folder / "cache"),
            "XDG_RUNTIME_DIR": runtime,
            "TERM": "xterm-256color",
            **{name: os.environ[name] for name in (*forward.ALIKE, *NEEDED) if name in os.environ},
        }
        self.socket = forward.endpoint_of(self.environ, self.environ["INDEX_PATH"])

    def call(self, *words: object, stdin: bytes = b"", merged: bool = False, **more) -> Done:
        """Run a command; its streams are pipes."""
        done = subprocess.run(
            self.words(*words),
            input=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT if merged else subprocess.PIPE,
            check=False,
            timeout=LONG,
            **{"env": self.environ, "cwd": self.folder / "notes", **more},
        )
        return Done(done.returncode, done.stdout, done.stderr or b"")

    def alone(self, *words: object, **more) -> Done:
        """Run a command by itself."""
        return self.call("--no-server", *words, **more)

    def begun(self, *words: object, **more) -> subprocess.Popen[bytes]:
        """Begin a command; its streams are pipes."""
        return subprocess.Popen(
            self.words(*words),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self.environ,
            cwd=self.folder / "notes",
            **more,
        )

    def at_terminal(self, *words: object, columns: int = 70, **more) -> Done:
        """Run a command at a terminal."""
        own, other = pty.openpty()
        ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", 30, columns, 0, 0))
        given = {"env": self.environ, "cwd": self.folder / "notes", **more}
        process = subprocess.Popen(
            self.words(*words), stdin=other, stdout=other, stderr=other, **given
        )
        os.close(other)
        pieces = []
        while True:
            try:
                piece = os.read(own, 1 << 16)
            except OSError:  # the other end is closed
                break
            if not piece:
                break
            pieces.append(piece)
        os.close(own)
        return Done(process.wait(LONG), b"".join(pieces), b"")

    def words(self, *words: object) -> list[str]:
        return [sys.executable, "-m", "qmd", *map(str, words)]

    @contextmanager
    def server(self) -> Iterator[Listener]:
        """Serve from this process."""
        place = environment.locate(self.environ, self.folder)
        index = Index(place, environment.machine(self.environ), warm=True)
        # A command that ends only after its server does not count for the next one.
        codes = self.codes = []

        def carry_out(arguments):
            code = None
            try:
                code = cli.carry_out_here(arguments)
            finally:
                codes.append(code)
            return code

        listener = Listener(index, carry_out)
        listener.start()
        try:
            yield listener
        finally:
            listener.close()
            index.close()


@contextmanager
def connected(fronts: Fronts) -> Iterator[forward.Link]:
    """Connect to the server.

    Raises:
        OSError: there is none.
    """
    if sys.platform == "win32":
        made = pipe.connected(fronts.socket, LONG)
        if made is None:
            raise ConnectionRefusedError
    else:
        made = socket.socket(socket.AF_UNIX)
    with closing(made):
        if sys.platform != "win32":
            made.settimeout(LONG)
            made.connect(fronts.socket)
        yield made


def until(holds) -> None:
    """Wait until something holds."""
    end = time.monotonic() + LONG
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.01)


class Impostor:
    """A server that sends what a test wants, and keeps the requests.

    Args:
        answers: sent to each front, which then is left alone; None: it is kept waiting.
    """

    def __init__(self, path: str, answers: bytes | None) -> None:
        self.path = path
        self.requests: list[bytes] = []
        self._answers = answers
        self._kept: list[socket.socket] = []
        self._is_closing = threading.Event()
        if sys.platform == "win32":
            self._endpoint = PipeEndpoint(path)
            self._endpoint.look()
        else:
            Path(path).parent.mkdir(mode=0o700, exist_ok=True)
            Path(path).unlink(missing_ok=True)
            self._socket = socket.socket(socket.AF_UNIX)
            self._socket.bind(path)
            self._socket.listen(8)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        accepted = self._of_pipe if sys.platform == "win32" else self._of_socket
        while (link := accepted()) is not None:
            data = link.recv(1 << 20)
            if not data:
                link.close()
                return
            self.requests.append(data)
            if self._answers is None:
                self._kept.append(link)
            else:
                link.sendall(self._answers)
                link.close()

    def _of_socket(self) -> socket.socket:
        return self._socket.accept()[0]

    def _of_pipe(self) -> _Accepted | None:
        while not list(self._endpoint.ready(LONG)):
            if self._is_closing.is_set():
                return None
        link = self._endpoint.accept()
        return link and _Accepted(link)

    def close(self) -> None:
        self._is_closing.set()
        if sys.platform == "win32":
            self._endpoint.wake()
            self._thread.join()
            self._endpoint.close()
        else:
            with socket.socket(socket.AF_UNIX) as last:
                last.connect(self.path)
            self._thread.join()
            self._socket.close()
            Path(self.path).unlink(missing_ok=True)
        for link in self._kept:
            link.close()


class _Accepted:
    """Connection of a pipe whose operations are waited for."""

    def __init__(self, link) -> None:
        self._link = link
        self.close = link.close

    def recv(self, size: int) -> bytes:
        end = time.monotonic() + LONG
        while time.monotonic() < end:
            try:
                return self._link.recv(size)
            except BlockingIOError:
                time.sleep(0.01)
        raise TimeoutError

    def sendall(self, data: bytes) -> None:
        if data:
            self._link.send(data)
        self._link.wait_for_reader(LONG)
