"""State of the index before a write that goes on: what is held of it in memory answers reads."""

from __future__ import annotations

from typing import Any, NoReturn, cast

from qmd.lock_signature import WriterMark
from qmd.named_tuple import NamedTuple
from qmd.storage.cursor import Connection, Cursor, Memory


class OutOfReach(Exception):
    """A read needs the file, which a writer has."""


class _NoConnection:
    """Stand-in for the connection to a file that is not attached."""

    def __getattr__(self, name: str) -> NoReturn:
        raise OutOfReach(name)


class EarlierState(NamedTuple):
    """State in which a process left the index to a writer.

    Until the write ends, it is the state of the index for all others. That the writer is the same
    is told by its mark: the next one may have found another state.

    Attributes:
        memory: what is held of it.
        writer: mark of the writer that waited when the file was released.
    """

    memory: Memory
    writer: WriterMark

    def cursor(self) -> Cursor:
        """Make a cursor that knows what is held; `OutOfReach` is raised where it would read."""
        connection: Any = _NoConnection()
        return Cursor(cast("Connection", connection), self.memory)
