"""Messages between a process and one that it has started, over two pipes.

A message is a Python object, pickled: both ends are qmd, and trust each other. It is preceded by
its length in eight bytes.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable
from typing import Any

from qmd.errors import QmdError

AT_ONCE = 1 << 20
"""Bytes that are read or written by one call."""

_HEAD = 8


class Unsendable(Exception):
    """A message that cannot be pickled."""


class TooLong(Exception):
    """A message with more bytes than its reader takes."""


def write(descriptor: int, message: object) -> None:
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
            view = view[os.write(descriptor, view[:AT_ONCE]) :]


def read(
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
        part = os.read(descriptor, min(size - len(found), AT_ONCE))
        if not part:
            raise EOFError
        found += part
    return found


def packed(error: Exception) -> tuple[type[Exception], str, dict[str, Any]]:
    """An error as a message: its class may take other arguments than its text."""
    if isinstance(error, QmdError):
        return type(error), error.message, vars(error)
    return type(error), str(error), {}


def unpacked(message: tuple[type[Exception], str, dict[str, Any]]) -> Exception:
    """The error that `packed` has made a message of."""
    kind, text, facts = message
    error = kind.__new__(kind, text)
    Exception.__init__(error, text)
    vars(error).update(facts)
    return error
