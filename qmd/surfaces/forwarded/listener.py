"""Listener at the Unix socket of an index, in a thread of a long-running process.

Of several servers of one index, the one that holds the lock beside the socket listens. When it
ends, even by a kill, another takes its place within a second.
"""

from __future__ import annotations

import sys

assert sys.platform != "win32"  # a command runs by itself there

import errno
import fcntl
import logging
import os
import resource
import selectors
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from contextvars import Context
from pathlib import Path
from typing import TYPE_CHECKING

from qmd import forward
from qmd.settings import config
from qmd.storage import statements
from qmd.surfaces.forwarded import command
from qmd.surfaces.forwarded.request import Request, parse_request
from qmd.surfaces.forwarded.session import Session
from qmd.version import __version__

if TYPE_CHECKING:
    from qmd.operations.index import Index
    from qmd.surfaces.forwarded.command import CarryOut

_log = logging.getLogger("qmd.forwarded")

TICK_SECONDS = 1.0
"""Seconds between two looks at the socket, its lock, and the fronts."""

MOST_RUNNING = max(2, min(8, os.cpu_count() or 1))
"""Commands that run at the same time."""

MOST_THREADS = 32
"""Commands that run, or wait for a front that reads slowly."""

MOST_SESSIONS = 1000
"""Connections; further ones wait in the queue of the system."""

CLOSE_SECONDS = 2.0
"""Seconds that commands have to end when the server does."""


class CodeFingerprint:
    """Fingerprint of the code on disk, as it was when the server began."""

    def __init__(self) -> None:
        roots = {Path(forward.PACKAGE), *map(statements.data_folder, ("sql", "migrations"))}
        files = [
            file for root in roots for kind in ("py", "sql") for file in root.rglob(f"*.{kind}")
        ]
        self._known = {str(file): self._stamp(str(file)) for file in files}

    @staticmethod
    def _stamp(file: str) -> tuple[int, int] | None:
        try:
            info = os.stat(file)
        except OSError:
            return None
        return info.st_mtime_ns, info.st_size

    def is_current(self) -> bool:
        """Check that no file has changed since."""
        return all(self._stamp(file) == stamp for file, stamp in self._known.items())


class Listener:
    """Answers the fronts of one index.

    Args:
        index: open, and closed by its owner after this.
        carry_out: runs one command.
    """

    def __init__(self, index: Index, carry_out: CarryOut) -> None:
        self._carry_out = carry_out
        self.path = forward.socket_of(os.environ, str(index.place.database))
        self._index = index
        self._code = CodeFingerprint()
        self._lock: int | None = None
        self._socket: socket.socket | None = None
        self._number = 0
        self._settings: tuple[object, bool] = None, True
        self._sessions: set[Session] = set()
        self._selector = selectors.DefaultSelector()
        self._turns = threading.Semaphore(MOST_RUNNING)
        self._threads = ThreadPoolExecutor(MOST_THREADS, thread_name_prefix="qmd-forwarded")
        self._closing = False
        self._wakes, self._wake = socket.socketpair()
        self._thread = threading.Thread(target=self._run, name="qmd-forward", daemon=True)

    def start(self) -> None:
        """Listen, in a thread of its own."""
        self._selector.register(self._wakes, selectors.EVENT_READ)
        self._look()
        if self._socket is not None:
            _remove_left_over(Path(self.path).parent)
        self._thread.start()

    def close(self) -> None:
        """End the thread, the socket and the connections; commands are cancelled."""
        self._closing = True
        self._wake.send(b"\0")
        self._thread.join()
        self._threads.shutdown(wait=False)
        until = time.monotonic() + CLOSE_SECONDS
        for session in list(self._sessions):
            session.leave()
        for session in list(self._sessions):
            self._drop(session)
            session.wait_until_free(until)
        self._stop_listening()
        self._selector.close()
        self._wakes.close()
        self._wake.close()

    # -- the socket ----------------------------------------------------------------------

    def _look(self) -> None:
        """Begin to listen if no other server does; notice that the socket was removed."""
        if self._socket is not None:
            with suppress(OSError):
                if os.lstat(self.path).st_ino == self._number:
                    return
            self._stop_listening()
        with suppress(OSError):
            self._listen()

    def _listen(self) -> None:
        folder = Path(self.path).parent
        with suppress(FileExistsError):
            folder.mkdir(mode=0o700)
        if not forward.is_private(str(folder)):
            _log.warning("Commands run by themselves: %s is open to other users.", folder)
            return
        lock = _locked(f"{self.path}.lock", os.O_CREAT)
        made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            with suppress(FileNotFoundError):
                Path(self.path).unlink()  # of a server that was killed
            made.setblocking(False)
            made.bind(self.path)
            Path(self.path).chmod(0o600)
            made.listen(MOST_SESSIONS)
            self._number = os.lstat(self.path).st_ino
        except OSError:
            made.close()
            os.close(lock)
            raise
        self._lock, self._socket = lock, made
        self._selector.register(made, selectors.EVENT_READ)

    def _stop_listening(self) -> None:
        if self._socket is None or self._lock is None:
            return
        with suppress(KeyError):
            self._selector.unregister(self._socket)
        with suppress(OSError):
            if os.lstat(self.path).st_ino == self._number:
                Path(self.path).unlink()
        with suppress(OSError):
            Path(f"{self.path}.lock").unlink()  # held until it is closed
        self._socket.close()
        os.close(self._lock)
        self._socket = self._lock = None

    # -- the thread ----------------------------------------------------------------------

    def _run(self) -> None:
        ticked = time.monotonic()
        while not self._closing:
            for key, _ in self._selector.select(TICK_SECONDS):
                if key.fileobj is self._socket:
                    self._accept()
                elif isinstance(key.data, Session):
                    self._serve(key.data)
            now = time.monotonic()
            if now - ticked >= TICK_SECONDS and not self._closing:
                ticked = now
                self._look()
                self._tick(now)

    def _tick(self, now: float) -> None:
        """End what takes too long; leave commands to their callers if all threads are held up."""
        is_full = sum(each.is_waiting for each in self._sessions) >= MOST_THREADS
        for session in list(self._sessions):
            if is_full and session.is_taken and not session.has_begun:
                session.leave()
            session.tick(now)
            if session.is_gone:
                self._drop(session)

    def _accept(self) -> None:
        """Accept a connection, unless its process is of another user."""
        assert self._socket is not None
        if len(self._sessions) >= _most_sessions():
            time.sleep(0.001)  # they wait in the queue of the system
            return
        try:
            link, _ = self._socket.accept()
        except OSError:  # it has gone, or there are too many open files
            return
        try:
            mine = forward.user_of(link) == os.geteuid()
        except OSError:
            mine = False
        if not mine:
            link.close()
            return
        session = Session(link, self._turns)
        self._sessions.add(session)
        self._selector.register(link, selectors.EVENT_READ, session)
        self._serve(session)

    def _serve(self, session: Session) -> None:
        content = session.receive()
        if session.is_gone:
            self._drop(session)
        elif content is not None:
            session.greet()
            self._threads.submit(self._command, session, content)

    def _drop(self, session: Session) -> None:
        if session in self._sessions:
            self._sessions.remove(session)
            self._selector.unregister(session.link)
            session.release()

    # -- the threads of commands ---------------------------------------------------------

    def _command(self, session: Session, content: bytes) -> None:
        try:
            with self._turns, suppress(BrokenPipeError):
                if session.is_gone:
                    return
                session.has_begun = True
                request = self._accepted(content)
                if request is None:
                    session.send(forward.DECLINED, b"")
                else:
                    Context().run(command.run, session, request, self._index, self._carry_out)
        finally:
            session.release()

    def _accepted(self, content: bytes) -> Request | None:
        """Read a request; None if it is not for this index, these settings, or this code."""
        try:
            request = parse_request(content)
        except ValueError:
            return None
        code = (__version__, sys.prefix, forward.PACKAGE)
        fits = request.code == code and self._code.is_current() and self._is_wanted()
        return request if fits and command.is_for(self._index, request) else None

    def _is_wanted(self) -> bool:
        """Check that index.yml does not switch this off; a fault in it is told by the command."""
        place = self._index.place
        try:
            stamp = config.stamp(place)
            if stamp is None or stamp != self._settings[0]:
                self._settings = stamp, self._index.settings().server
        except FileNotFoundError:
            return True
        except Exception:
            return False
        return self._settings[1]


def _locked(path: str, create: int = 0) -> int:
    """Open and lock the file beside a socket.

    Args:
        path: of the lock.
        create: `os.O_CREAT` to make it.

    Raises:
        OSError: another server holds it, or removed it meanwhile.
    """
    lock = os.open(path, os.O_RDWR | os.O_NOFOLLOW | create, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.fstat(lock).st_ino != os.lstat(path).st_ino:
            raise FileNotFoundError(errno.ENOENT, "It was removed by its last holder", path)
    except OSError:
        os.close(lock)
        raise
    return lock


def _remove_left_over(folder: Path) -> None:
    """Remove the sockets of killed servers, and their locks, which no server holds."""
    for path in folder.glob("*.sock.lock"):
        with suppress(OSError):
            lock = _locked(str(path))
            try:
                path.with_suffix("").unlink(missing_ok=True)
                path.unlink()
            finally:
                os.close(lock)


def _most_sessions() -> int:
    """Return how many connections there may be: half of the files that may be open."""
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return min(MOST_SESSIONS, max(16, limit // 2))


@contextmanager
def listening(index: Index, carry_out: CarryOut) -> Iterator[None]:
    """Carry out commands of other processes on an open index."""
    made = Listener(index, carry_out)
    made.start()
    try:
        yield
    finally:
        made.close()
