"""Exceptions for servers that do not start or stop."""

from __future__ import annotations

from qmd.errors.base import QmdError
from qmd.visible import shown


class PortTaken(QmdError):
    """Another program listens on the address."""

    def __init__(self, url: str, *, by_qmd: bool) -> None:
        super().__init__(
            f"qmd answers at {shown(url)} already.\n\n"
            "Use that one, stop it ('qmd mcp stop' if it runs in the background), or choose "
            "another port with --port."
            if by_qmd
            else f"Another program listens at {shown(url)}.\n\nChoose another port with --port."
        )
        self.url = url
        self.by_qmd = by_qmd


class AlreadyServed(QmdError):
    """A background server already runs for this index."""

    def __init__(self, url: str, process: int) -> None:
        super().__init__(
            f"A server for this index runs already at {shown(url)} (process {process}).\n\n"
            "Use that one, or stop it with 'qmd mcp stop'."
        )
        self.url = url
        self.process = process


class ServerFailure(QmdError):
    """A background server did not start or does not stop."""
