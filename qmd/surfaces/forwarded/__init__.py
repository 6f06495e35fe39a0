"""Commands of other processes, carried out by a server: requests in, output and exit code out.

`listener` accepts connections of the same user, at a Unix socket or a named pipe of Windows,
`session` is one of them, `command` runs what it asks for on the open index. `qmd/forward.py` is
the other side.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from qmd.operations.index import Index
    from qmd.surfaces.forwarded.command import CarryOut


def serving(index: Index, carry_out: CarryOut) -> AbstractContextManager[None]:
    """Carry out commands of other processes on an open index."""
    from qmd.surfaces.forwarded import listener

    return listener.listening(index, carry_out)
