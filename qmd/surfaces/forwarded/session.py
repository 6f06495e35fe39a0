"""Connection of one front: a request is read, and frames are sent.

The thread of the listener reads, and the thread of the command writes. A front that reads slowly,
or not at all, holds up its own command alone, and its turn passes to another meanwhile.
"""

from __future__ import annotations

import select
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from qmd import forward
from qmd.storage.cancellation import Stop

if TYPE_CHECKING:
    if sys.platform == "win32":
        from qmd.surfaces.forwarded.pipes import PipeLink

        Link = PipeLink
    else:
        Link = socket.socket

REQUEST_SECONDS = 5.0
"""Seconds in which a request has to arrive whole, and in which a front has to end its side."""

LOOK_SECONDS = 0.5
"""Seconds after which a wait for the front looks whether it is still wanted."""


class Session:
    """One connection.

    Args:
        link: accepted, from a process of the same user; it does not block.
        turns: commands that may run at the same time.

    Attributes:
        stop: cancels what the command reads.
        has_sent: a part of the output has been sent, so that the front cannot run the command.
        is_gone: the front has ended, or broke the protocol.
        has_begun: a thread runs the command.
        is_waiting: it waits for its front to read, or to send.
    """

    def __init__(self, link: Link, turns: threading.Semaphore) -> None:
        self.link = link
        self.stop = Stop()
        self.has_sent = self.is_gone = self.is_taken = False
        self.has_begun = self.is_waiting = False
        self._turns = turns
        self._held = bytearray()
        self._wants_stdin = False
        self._stdin: bytes | None = None
        self._sending = threading.Lock()
        self._changed = threading.Condition()
        self._owners = 1
        self._deadline = time.monotonic() + REQUEST_SECONDS

    # -- the thread of the listener ------------------------------------------------------

    def receive(self) -> bytes | None:
        """Read what has come; return the request once it is whole."""
        try:
            data = self.link.recv(forward.MAX_FRAME)
        except (BlockingIOError, InterruptedError):
            return None
        except OSError:
            data = b""
        if not data:
            self.leave()
            return None
        self._held += data
        most = forward.MAX_STDIN if self.is_taken else forward.MAX_REQUEST
        size = int.from_bytes(self._held[:4], "big") if len(self._held) >= 4 else 0
        is_expected = not self.is_taken or (self._wants_stdin and self._stdin is None)
        if size > most or len(self._held) > size + 4 > 4 or not is_expected:
            self.leave()
            return None
        if len(self._held) < 4 or len(self._held) < size + 4:
            return None
        content = bytes(self._held[4:])
        self._held.clear()
        if not self.is_taken:
            self.is_taken = True
            self._owners += 1
            return content
        with self._changed:
            self._stdin = content
            self._changed.notify_all()
        return None

    def tick(self, now: float) -> None:
        """Tell the front that its command is worked on, or end a connection that takes too long."""
        if self.is_taken and self._owners > 1:
            self.greet()
        elif now > self._deadline:
            self.leave()

    def greet(self) -> None:
        """Tell the front that its command is worked on, unless output is being sent."""
        if not self._sending.acquire(blocking=False):
            return
        try:
            if self._owners > 1 and self.link.send(forward.ALIVE + bytes(4)) < 5:
                self.leave()
        except BlockingIOError:
            pass  # the front has much to read
        except OSError:
            self.leave()
        finally:
            self._sending.release()

    def leave(self) -> None:
        """Cancel the command: the front has ended, or has to."""
        self.is_gone = True
        with suppress(OSError):
            self.link.shutdown(socket.SHUT_RDWR)
        self.stop.ask()
        with self._changed:
            self._changed.notify_all()

    # -- the thread of the command -------------------------------------------------------

    def send(self, kind: bytes, content: bytes) -> None:
        """Send a frame, or several.

        Raises:
            BrokenPipeError: the front has ended.
        """
        with self._sending:
            for at in range(0, len(content) or 1, forward.MAX_FRAME):
                piece = content[at : at + forward.MAX_FRAME]
                self._send(kind + len(piece).to_bytes(4, "big") + piece)

    def output(self, kind: bytes, content: bytes) -> None:
        """Send a part of the output.

        Raises:
            BrokenPipeError: the front has ended.
        """
        self.has_sent = True
        self.send(kind, content)

    def stdin(self) -> bytes:
        """Ask the front for its stdin, and wait for the end of that.

        Raises:
            BrokenPipeError: the front has ended, or has more than a command may send.
        """
        if not self._wants_stdin:
            self._wants_stdin = True
            self.send(forward.STDIN, b"")
        with self._waiting(), self._changed:
            while self._stdin is None:
                if self.is_gone:
                    raise BrokenPipeError
                self._changed.wait(LOOK_SECONDS)
        return self._stdin

    def release(self) -> None:
        """Let go of the connection; the last of its owners closes it."""
        with self._changed:
            self._owners -= 1
            is_last = not self._owners
            self._deadline = time.monotonic() + REQUEST_SECONDS
            self._changed.notify_all()
        if is_last:
            self.link.close()
        else:
            with suppress(OSError):
                self.link.shutdown(socket.SHUT_WR)

    def wait_until_free(self, until: float) -> None:
        """Wait until the command has ended, at most until a time of the monotonic clock."""
        with self._changed:
            self._changed.wait_for(lambda: not self._owners, max(0.0, until - time.monotonic()))

    def _send(self, frame: bytes) -> None:
        view = memoryview(frame)
        while view:
            if self.is_gone:
                raise BrokenPipeError
            try:
                view = view[self.link.send(view) :]
            except BlockingIOError:
                with self._waiting():
                    self._wait_for_reader()
            except OSError as error:
                raise BrokenPipeError from error

    def _wait_for_reader(self) -> None:
        if sys.platform == "win32":
            self.link.wait_for_reader(LOOK_SECONDS)
            return
        look = select.poll()
        look.register(self.link, select.POLLOUT)
        look.poll(LOOK_SECONDS * 1000)

    @contextmanager
    def _waiting(self) -> Iterator[None]:
        """Let another command run while this one waits for its front."""
        self._turns.release()
        self.is_waiting = True
        try:
            yield
        finally:
            self.is_waiting = False
            self._turns.acquire()
