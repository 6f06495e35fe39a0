"""Unix socket of an index, and the fronts that are connected to it.

Of several servers of one index, the one that holds the lock beside the socket listens.
"""

from __future__ import annotations

import sys

assert sys.platform != "win32"  # `pipes` does the same there

import errno
import fcntl
import logging
import os
import resource
import selectors
import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from qmd import forward

_log = logging.getLogger("qmd.forwarded")

MOST_SESSIONS = 1000
"""Connections; further ones wait in the queue of the system."""


class SocketEndpoint:
    """Unix socket that the fronts of one index connect to.

    Args:
        path: of the socket.

    Attributes:
        most_sessions: connections that there may be.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.most_sessions = _most_sessions()
        self._lock: int | None = None
        self._socket: socket.socket | None = None
        self._number = 0
        self._selector = selectors.DefaultSelector()
        self._wakes, self._wake = socket.socketpair()
        self._selector.register(self._wakes, selectors.EVENT_READ)

    @property
    def is_listening(self) -> bool:
        """True if fronts connect to this process."""
        return self._socket is not None

    def look(self) -> None:
        """Begin to listen if no other server does; notice that the socket was removed."""
        if self._socket is not None:
            with suppress(OSError):
                if os.lstat(self.path).st_ino == self._number:
                    return
            self._stop_listening()
        with suppress(OSError):
            self._listen()

    def clean(self) -> None:
        """Remove what killed servers have left behind."""
        _remove_left_over(Path(self.path).parent)

    def ready(self, seconds: float) -> Iterator[socket.socket | None]:
        """Wait for fronts; yield connections with something to receive, and None for a new one."""
        for key, _ in self._selector.select(seconds):
            if key.fileobj is self._socket:
                yield None
            elif key.fileobj is not self._wakes:
                yield key.data

    def accept(self) -> socket.socket | None:
        """Accept a connection, unless its process is of another user."""
        assert self._socket is not None
        try:
            link, _ = self._socket.accept()
        except OSError:  # it has gone, or there are too many open files
            return None
        try:
            mine = forward.user_of(link) == os.geteuid()
        except OSError:
            mine = False
        if not mine:
            link.close()
            return None
        link.setblocking(False)
        return link

    def watch(self, link: socket.socket) -> None:
        """Let `ready` yield a connection from now on."""
        self._selector.register(link, selectors.EVENT_READ, link)

    def unwatch(self, link: socket.socket) -> None:
        """Let `ready` yield a connection no more."""
        self._selector.unregister(link)

    def wake(self) -> None:
        """Let `ready` return at once, from another thread."""
        self._wake.send(b"\0")

    def close(self) -> None:
        """Stop listening."""
        self._stop_listening()
        self._selector.close()
        self._wakes.close()
        self._wake.close()

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
