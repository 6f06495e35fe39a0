"""Listener for the fronts of an index, in a thread of a long-running process.

Fronts connect to a Unix socket (`sockets`), or to a named pipe of Windows (`pipes`). Of several
servers of one index, one listens. When it ends, even by a kill, another takes its place within a
second.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
from collections.abc import Iterable, Iterator
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

if sys.platform == "win32":
    from qmd.surfaces.forwarded.pipes import PipeEndpoint as Endpoint
else:
    from qmd.surfaces.forwarded.sockets import SocketEndpoint as Endpoint

if TYPE_CHECKING:
    from qmd.operations.index import Index
    from qmd.surfaces.forwarded.command import CarryOut

_log = logging.getLogger("qmd.forwarded")

TICK_SECONDS = 1.0
"""Seconds between two looks at the endpoint and the fronts."""

MOST_RUNNING = max(2, min(8, os.cpu_count() or 1))
"""Commands that run at the same time."""

MOST_THREADS = 32
"""Commands that run, or wait for a front that reads slowly."""

CLOSE_SECONDS = 2.0
"""Seconds that commands have to end when the server does."""


class CodeFingerprint:
    """Fingerprint of the code on disk, as it was when the server began."""

    def __init__(self) -> None:
        roots = {Path(forward.PACKAGE), *map(statements.data_folder, ("sql", "migrations"))}
        self._files = [
            str(file)
            for root in roots
            for kind in ("py", "sql")
            for file in root.rglob(f"*.{kind}")
        ]
        self._folders = {str(Path(file).parent) for file in self._files}
        self._known = self._stamps()

    def is_current(self) -> bool:
        """Check that no file has changed since."""
        return self._stamps() == self._known

    def _stamps(self) -> dict[str, tuple[int, int] | None]:
        """Read the times and sizes of the files; None for one that is missing."""
        if sys.platform == "win32":  # a folder tells them, and opening each file takes longer
            found = _listed(self._folders)
            return {file: found.get(file) for file in self._files}
        return {file: _stamp(file) for file in self._files}


def _stamp(file: str | os.DirEntry[str]) -> tuple[int, int] | None:
    try:
        info = file.stat() if isinstance(file, os.DirEntry) else os.stat(file)
    except OSError:
        return None
    return info.st_mtime_ns, info.st_size


def _listed(folders: Iterable[str]) -> dict[str, tuple[int, int] | None]:
    """Read the times and sizes of all files in some folders, without opening them on Windows."""
    found: dict[str, tuple[int, int] | None] = {}
    for folder in folders:
        with suppress(OSError), os.scandir(folder) as entries:
            found |= {entry.path: _stamp(entry) for entry in entries}
    return found


class Listener:
    """Answers the fronts of one index.

    Args:
        index: open, and closed by its owner after this.
        carry_out: runs one command.
    """

    def __init__(self, index: Index, carry_out: CarryOut) -> None:
        self._carry_out = carry_out
        self.endpoint = Endpoint(forward.endpoint_of(os.environ, str(index.place.database)))
        self._index = index
        self._code = CodeFingerprint()
        self._settings: tuple[object, bool] = None, True
        self._sessions: dict[object, Session] = {}  # by their connections
        self._turns = threading.Semaphore(MOST_RUNNING)
        self._threads = ThreadPoolExecutor(MOST_THREADS, thread_name_prefix="qmd-forwarded")
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="qmd-forward", daemon=True)

    def start(self) -> None:
        """Listen, in a thread of its own."""
        self.endpoint.look()
        if self.endpoint.is_listening:
            self.endpoint.clean()
        self._thread.start()

    def close(self) -> None:
        """End the thread, the socket and the connections; commands are cancelled."""
        self._closing = True
        self.endpoint.wake()
        self._thread.join()
        self._threads.shutdown(wait=False)
        until = time.monotonic() + CLOSE_SECONDS
        for session in list(self._sessions.values()):
            session.leave()
        for session in list(self._sessions.values()):
            self._drop(session)
            session.wait_until_free(until)
        self.endpoint.close()

    # -- the thread ----------------------------------------------------------------------

    def _run(self) -> None:
        ticked = time.monotonic()
        while not self._closing:
            for link in self.endpoint.ready(TICK_SECONDS):
                if link is None:
                    self._accept()
                else:
                    self._serve(self._sessions[link])
            now = time.monotonic()
            if now - ticked >= TICK_SECONDS and not self._closing:
                ticked = now
                self.endpoint.look()
                self._tick(now)

    def _tick(self, now: float) -> None:
        """End what takes too long; leave commands to their callers if all threads are held up."""
        is_full = sum(each.is_waiting for each in self._sessions.values()) >= MOST_THREADS
        for session in list(self._sessions.values()):
            if is_full and session.is_taken and not session.has_begun:
                session.leave()
            session.tick(now)
            if session.is_gone:
                self._drop(session)

    def _accept(self) -> None:
        if len(self._sessions) >= self.endpoint.most_sessions:
            time.sleep(0.001)  # they wait in the queue of the system
            return
        link = self.endpoint.accept()
        if link is not None:
            self._sessions[link] = session = Session(link, self._turns)
            self.endpoint.watch(link)
            self._serve(session)

    def _serve(self, session: Session) -> None:
        content = session.receive()
        if session.is_gone:
            self._drop(session)
        elif content is not None:
            session.greet()
            self._threads.submit(self._command, session, content)

    def _drop(self, session: Session) -> None:
        if self._sessions.pop(session.link, None) is not None:
            self.endpoint.unwatch(session.link)
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


@contextmanager
def listening(index: Index, carry_out: CarryOut) -> Iterator[None]:
    """Carry out commands of other processes on an open index."""
    index.database.serves = True
    made = Listener(index, carry_out)
    made.start()
    try:
        yield
    finally:
        made.close()
