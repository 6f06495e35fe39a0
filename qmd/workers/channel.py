"""Messages between a process and its child, over two pipes.

A message is a pickled Python object, preceded by its length in eight bytes. Both ends are qmd and
trust each other.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable
from typing import Any

from qmd.errors import QmdError

CHUNK_BYTES = 1 << 20
"""Bytes that are read or written by one call."""

_HEAD = 8


class Unsendable(Exception):
    """A message that cannot be pickled."""


class TooLong(Exception):
    """A message with more bytes than its reader takes."""


def send(descriptor: int, message: object) -> None:
    """Send a message.

    Raises:
        Unsendable: it is nothing that another process can be given.
        BrokenPipeError: the other end is closed.
    """
    try:
        data = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    except (pickle.PicklingError, TypeError, AttributeError, RecursionError) as error:
        raise Unsendable(str(error)) from error
    for part in (len(data).to_bytes(_HEAD, "big"), data):
        view = memoryview(part)
        while view:
            view = view[os.write(descriptor, view[:CHUNK_BYTES]) :]


def receive(
    descriptor: int, wait: Callable[[], None] = lambda: None, *, most: int | None = None
) -> Any:
    """Receive a message.

    Args:
        wait: called before each read; may raise to give up.
        most: bytes of a message that is taken.

    Raises:
        EOFError: the other end is closed.
        TooLong: there are more bytes.
    """
    size = int.from_bytes(_read(descriptor, _HEAD, wait), "big")
    if most is not None and size > most:
        raise TooLong
    return pickle.loads(_read(descriptor, size, wait))


def _read(descriptor: int, size: int, wait: Callable[[], None]) -> bytearray:
    found = bytearray()
    while len(found) < size:
        wait()
        part = os.read(descriptor, min(size - len(found), CHUNK_BYTES))
        if not part:
            raise EOFError
        found += part
    return found


def packed_error(error: Exception) -> tuple[type[Exception], str, dict[str, Any]]:
    """Convert an error to a message; its class may take other arguments than its text."""
    if isinstance(error, QmdError):
        return type(error), error.message, vars(error)
    return type(error), str(error), {}


def unpacked_error(message: tuple[type[Exception], str, dict[str, Any]]) -> Exception:
    """Restore the error of a message from `packed_error`."""
    kind, text, facts = message
    error = kind.__new__(kind, text)
    Exception.__init__(error, text)
    vars(error).update(facts)
    return error
