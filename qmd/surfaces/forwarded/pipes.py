"""Named pipe of an index on Windows, and the fronts that are connected to it.

Of several servers of one index, the one that made the first instance of the pipe listens. A pipe is
owned by its user, who alone may open it; processes of a lower integrity level may not write to it,
and other machines may not connect. While a front is connected, the next instance waits, so that
the name is never free.
"""

from __future__ import annotations

import sys

assert sys.platform == "win32"  # `sockets` does the same elsewhere

import _winapi
import ctypes
import socket
from collections.abc import Iterator
from contextlib import suppress
from ctypes import wintypes

from qmd import forward, pipe

MOST_SESSIONS = 60
"""Connections: a thread waits for 64 events at most. Further fronts run their commands."""

_BUFFER = 1 << 18
"""Bytes that the system keeps for a front that reads slowly."""

_FIRST = 0x00080000
_REJECT_REMOTE = 0x00000008
_IO_INCOMPLETE = 996

_kernel = ctypes.WinDLL("kernel32", use_last_error=True)


class _SecurityAttributes(ctypes.Structure):
    _fields_ = (
        ("length", wintypes.DWORD),
        ("descriptor", ctypes.c_void_p),
        ("is_inherited", wintypes.BOOL),
    )


def _declare() -> None:
    """Declare results and arguments: a handle has 64 bits, and ctypes assumes 32."""
    handle, dword, pointer = wintypes.HANDLE, wintypes.DWORD, ctypes.c_void_p
    text, boolean = wintypes.LPCWSTR, wintypes.BOOL
    six = (dword,) * 6
    for name, result, *arguments in (
        ("CreateNamedPipeW", handle, text, *six, pointer),
        ("DisconnectNamedPipe", boolean, handle),
        ("CreateEventW", handle, pointer, boolean, boolean, text),
        ("SetEvent", boolean, handle),
    ):
        function = getattr(_kernel, name)
        function.restype, function.argtypes = result, arguments


_declare()


class PipeLink:
    """Connection to a front, with the methods of a socket that a session calls.

    It does not block: one operation of reading and one of writing are under way at most.
    """

    def __init__(self, handle: int) -> None:
        self._handle = handle
        self._is_complete = False
        self._writing: _winapi.Overlapped | None = None
        self._reading = self._read()

    @property
    def event(self) -> int:
        """Event that tells that there is something to receive, or the end."""
        return self._reading.event

    def recv(self, size: int) -> bytes:
        """Receive what has come.

        Raises:
            BlockingIOError: nothing.
            OSError: the front has ended.
        """
        if _pending(self._reading):
            raise BlockingIOError
        data = bytes(self._reading.getbuffer() or b"")
        self._reading = self._read()
        return data

    def send(self, data: bytes | memoryview) -> int:
        """Send bytes, and return how many.

        Raises:
            BlockingIOError: the front has not read what was sent before.
            OSError: it has ended.
        """
        if self._writing is not None and _pending(self._writing):
            raise BlockingIOError
        self._writing = _winapi.WriteFile(self._handle, bytes(data), overlapped=True)[0]
        return len(data)

    def wait_for_reader(self, seconds: float) -> None:
        """Wait until the front has read, or some seconds."""
        if self._writing is not None:
            _winapi.WaitForSingleObject(self._writing.event, int(seconds * 1000))

    def shutdown(self, how: int) -> None:
        """End the connection, from any thread. What a complete answer left is still to be read."""
        if how == socket.SHUT_WR:
            self._is_complete = True
        elif not self._is_complete:
            _kernel.DisconnectNamedPipe(self._handle)

    def close(self) -> None:
        """Release the connection."""
        for operation in (self._reading, self._writing):
            if operation is not None:
                _cancel(operation)
        _winapi.CloseHandle(self._handle)

    def _read(self) -> _winapi.Overlapped:
        return _winapi.ReadFile(self._handle, forward.MAX_FRAME, overlapped=True)[0]


class PipeEndpoint:
    """Named pipe that the fronts of one index connect to.

    Args:
        path: of the pipe.

    Attributes:
        most_sessions: connections that there may be.
    """

    most_sessions = MOST_SESSIONS

    def __init__(self, path: str) -> None:
        self.path = path
        self._next: int | None = None
        self._connecting: _winapi.Overlapped | None = None
        self._watched: list[PipeLink] = []
        self._wake = _kernel.CreateEventW(None, True, False, None)
        pipe.checked(self._wake)

    @property
    def is_listening(self) -> bool:
        """True if fronts connect to this process."""
        return self._next is not None

    def look(self) -> None:
        """Begin to listen if no other server does."""
        if self._next is None:
            with suppress(OSError):
                self._listen(_FIRST)

    def clean(self) -> None:
        """Do nothing: killed servers leave nothing behind."""

    def ready(self, seconds: float) -> Iterator[PipeLink | None]:
        """Wait for fronts; yield connections with something to receive, and None for a new one."""
        events: dict[int, PipeLink | None] = {each.event: each for each in self._watched}
        if self._connecting is not None:
            events[self._connecting.event] = None
        _winapi.WaitForMultipleObjects([self._wake, *events], False, int(seconds * 1000))
        for event, link in events.items():
            if _winapi.WaitForSingleObject(event, 0) == _winapi.WAIT_OBJECT_0:
                yield link

    def accept(self) -> PipeLink | None:
        """Accept a connection, and let another instance wait for the next."""
        handle, self._next = self._next, None
        assert handle is not None
        with suppress(OSError):  # there is too little memory: `look` tries again
            self._listen()
        try:
            return PipeLink(handle)
        except OSError:  # the front has gone
            _winapi.CloseHandle(handle)
            return None

    def watch(self, link: PipeLink) -> None:
        """Let `ready` yield a connection from now on."""
        self._watched.append(link)

    def unwatch(self, link: PipeLink) -> None:
        """Let `ready` yield a connection no more."""
        self._watched.remove(link)

    def wake(self) -> None:
        """Let `ready` return at once, from another thread."""
        _kernel.SetEvent(self._wake)

    def close(self) -> None:
        """Stop listening."""
        if self._connecting is not None:
            _cancel(self._connecting)
            self._connecting = None
        if self._next is not None:
            _winapi.CloseHandle(self._next)
            self._next = None
        _winapi.CloseHandle(self._wake)

    def _listen(self, flags: int = 0) -> None:
        """Make an instance of the pipe, and wait for a front in the background.

        Args:
            flags: `_FIRST` if there is to be no other.

        Raises:
            OSError: that cannot be done.
        """
        self._connecting = None
        handle = _instance(self.path, flags)
        while True:
            try:
                self._connecting = _winapi.ConnectNamedPipe(handle, overlapped=True)
            except BrokenPipeError:  # a front came and went
                _kernel.DisconnectNamedPipe(handle)
            except OSError:
                _winapi.CloseHandle(handle)
                raise
            else:
                self._next = handle
                return


def _instance(path: str, flags: int) -> int:
    """Make an instance of a pipe, which its user alone may open.

    Raises:
        OSError: another process has a pipe of this name, or there is too little memory.
    """
    descriptor = pipe.own_descriptor()
    security = _SecurityAttributes(ctypes.sizeof(_SecurityAttributes), descriptor, False)
    try:
        handle = _kernel.CreateNamedPipeW(
            path,
            _winapi.PIPE_ACCESS_DUPLEX | _winapi.FILE_FLAG_OVERLAPPED | flags,
            _REJECT_REMOTE,
            _winapi.PIPE_UNLIMITED_INSTANCES,
            _BUFFER,
            _BUFFER,
            0,
            ctypes.byref(security),
        )
        pipe.checked(handle != ctypes.c_void_p(-1).value)
        return int(handle)
    finally:
        pipe.free(descriptor)


def _pending(operation: _winapi.Overlapped) -> bool:
    """Return whether an operation is under way.

    Raises:
        OSError: it failed.
    """
    _, error = operation.GetOverlappedResult(False)
    if error not in (0, _IO_INCOMPLETE):
        raise BrokenPipeError
    return error != 0


def _cancel(operation: _winapi.Overlapped) -> None:
    """End an operation, so that the system no longer uses its memory."""
    with suppress(OSError):
        operation.cancel()
        operation.GetOverlappedResult(True)
