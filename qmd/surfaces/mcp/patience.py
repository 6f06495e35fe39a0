"""Wait for calls in progress after a client has closed its input."""

from __future__ import annotations

import anyio

GRACE = 4.5
"""Seconds once the input has ended: with what is done then, it is over within 5."""

HURRY = 1.0
"""Seconds once a signal has come after that: the clients of the SDKs wait for 2 seconds when they
have closed the input, then send SIGTERM, and after 2 more SIGKILL."""


class Patience:
    """The time that is left.

    Attributes:
        scope: of the waiting; it ends when there is none left.
    """

    def __init__(self) -> None:
        self.scope = anyio.CancelScope()

    def input_ended(self) -> None:
        """Begin to count."""
        self._shorten(GRACE)

    def hurry(self) -> None:
        """Shorten the wait."""
        self._shorten(HURRY)

    def _shorten(self, seconds: float) -> None:
        self.scope.deadline = min(self.scope.deadline, anyio.current_time() + seconds)
