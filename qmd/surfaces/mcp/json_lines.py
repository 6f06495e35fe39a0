"""Messages as bytes, and what is wrong with bytes that are none."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from qmd.named_tuple import NamedTuple

if TYPE_CHECKING:
    from mcp_types import JSONRPCMessage

MOST_BYTES = 16 * 1024 * 1024
"""Of a message."""

PARSE_ERROR, INVALID_REQUEST = -32700, -32600
"""Source: JSON-RPC 2.0, section 5.1."""


class Problem(NamedTuple):
    """The reason why a line is not a message.

    Attributes:
        id: of the request that it would have been, or None.
    """

    code: int
    text: str
    id: str | int | None = None

    @property
    def answer(self) -> bytes:
        """Response to the sender."""
        error = {"code": self.code, "message": self.text}
        return json.dumps({"jsonrpc": "2.0", "id": self.id, "error": error}).encode()


def message_of(line: bytes) -> JSONRPCMessage | Problem:
    """Parse a line to a message, or describe its problem."""
    from mcp_types import JSONRPCNotification, jsonrpc_message_adapter
    from pydantic import ValidationError
    from pydantic_core import from_json

    try:
        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValidationError:
        return line_problem(line)
    # A request whose id is null, say, is read as a notification: its sender would wait for ever.
    if isinstance(message, JSONRPCNotification) and "id" in from_json(line):
        return Problem(INVALID_REQUEST, "Invalid Request: an id is a string or a whole number")
    return message


def line_problem(line: bytes) -> Problem:
    """Describe, for its sender, why a line is not a message."""
    try:
        found = json.loads(line.decode())
    except UnicodeDecodeError:
        return Problem(PARSE_ERROR, "Parse error: the message is not valid UTF-8")
    except (ValueError, RecursionError):
        return Problem(PARSE_ERROR, "Parse error: the message is not valid JSON")
    if not isinstance(found, dict):
        return Problem(INVALID_REQUEST, "Invalid Request: a message is one JSON object")
    number = found.get("id")
    known = number if isinstance(number, str | int) and not isinstance(number, bool) else None
    try:
        json.dumps(found, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        known = known if not isinstance(known, str) or known.isascii() else None
        text = "Parse error: the message has a surrogate without its other half"
        return Problem(PARSE_ERROR, text, known)
    return Problem(INVALID_REQUEST, "Invalid Request: this is not a message of JSON-RPC 2.0", known)


class LineSplitter:
    """Lines of an input that comes in pieces; one that is too long is told of, and left out."""

    def __init__(self) -> None:
        self._held = bytearray()
        self._skipping = False

    def split(self, piece: bytes) -> Iterator[bytes | Problem]:
        """Yield the lines that end in a piece."""
        *ended, rest = piece.split(b"\n")
        for part in ended:
            line = bytes(self._held) + part
            self._held.clear()
            if not self._skipping:
                yield line if len(line) <= MOST_BYTES else _TOO_LONG
            self._skipping = False
        if not self._skipping:
            self._held += rest
        if len(self._held) > MOST_BYTES:
            yield _TOO_LONG
            self._held.clear()
            self._skipping = True

    def end(self) -> Iterator[bytes]:
        """Yield what is behind the last newline."""
        if self._held:
            yield bytes(self._held)
            self._held.clear()


_TOO_LONG = Problem(
    INVALID_REQUEST, f"Invalid Request: the message has more than {MOST_BYTES >> 20} MiB"
)
