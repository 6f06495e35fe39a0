"""Process that runs queries of users, one at a time: the other end of `sandbox_workers`.

It serves requests until the parent process closes the pipe or ends.
"""

from __future__ import annotations

import os
import select
import signal
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from qmd.analytics import channel
from qmd.analytics.sandbox import Limits, Outdated, Sandbox, memory_of
from qmd.storage import catalog, migrations
from qmd.storage.attachment import attach
from qmd.storage.cursor import Connection, Cursor

if TYPE_CHECKING:
    from qmd.analytics.channel import Heading
    from qmd.analytics.query_result import Kept
    from qmd.analytics.sandbox import Found
    from qmd.analytics.search_calls import Parameters
    from qmd.analytics.statement_check import CheckedStatement

UNTOUCHED = 512 << 20
"""Bytes that may be mapped beyond twice the memory of a query: allocators and threads reserve more
than they use."""


class Index(NamedTuple):
    """An index file to query.

    Attributes:
        path: of the file, to which no process writes in the meantime.
        digest: of the index.yml that its tables have to be made from; None: any.
        checked: whether its tables have to be of this version of qmd.
        patience: seconds to wait for programs that know nothing of qmd's locks.
    """

    path: Path
    digest: str | None = None
    checked: bool = False
    patience: float = 30.0


def serve_queries() -> None:
    """Run queries; never returns. Requests come from stdin, answers go to stdout."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent process
    requests, answers = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nothing, number)
    threading.Thread(target=_end_with, args=(requests,), daemon=True).start()
    session = _Session(answers)
    channel.send(answers, ("done", None))
    while True:
        try:
            name, given = channel.receive(requests)
        except EOFError:
            os._exit(0)
        except Exception as error:  # a value whose class is not known here
            channel.send(answers, ("failed", channel.packed(TypeError(str(error)))))
            continue
        try:
            reply = "done", getattr(session, name)(*given)
        except BrokenPipeError:
            os._exit(0)
        except Exception as error:
            reply = "failed", channel.packed(error)
        channel.send(answers, reply)


def _end_with(requests: int) -> None:
    """End this process with the one that asks: it may be killed while a query runs."""
    watched = select.poll()
    watched.register(requests, 0)
    watched.poll()
    os._exit(0)


class _Session:
    """Server of requests from the parent process."""

    def __init__(self, answers: int) -> None:
        self._answers = answers
        self._box: Sandbox | None = None
        self._kept: Kept | None = None

    def read(
        self, index: Path, limits: Limits, spill: Path, folder: str, text: str, given: Parameters
    ) -> CheckedStatement:
        """Begin with a query: read the statement."""
        self.close()
        if limits.files:
            os.chdir(folder)
        _bound(limits)
        self._box = Sandbox(index, limits, spill)
        return self._box.read(text, given)

    def answer(
        self,
        index: Index,
        request: CheckedStatement,
        parameters: Parameters,
        found: Sequence[Found],
        log: Sequence[str],
    ) -> tuple[tuple[Heading, ...], int]:
        """Run the statement, and keep what it gives."""
        assert self._box is not None

        def attached(connection: Connection) -> None:
            attach(connection, index.path, "store/attach_to_read", patience=index.patience)

        def check(cursor: Cursor) -> None:
            if index.checked and not migrations.is_current(cursor, index.path):
                raise Outdated
            if index.digest is not None and catalog.config_digest(cursor) != index.digest:
                raise Outdated

        self._kept = self._box.answer(request, parameters, found, log, attached, check)
        return self._kept.headings, self._kept.count

    def rows(self, name: str, limit: int | None) -> None:
        """Send the rows of the answer as text, in pieces."""
        assert self._kept is not None
        self._send(self._kept.pieces(name, limit))

    def arrow(self, limit: int | None) -> None:
        """Send the answer as a stream of Arrow, in pieces."""
        assert self._kept is not None
        self._kept.write_arrow(limit, lambda piece: self._send([piece]))

    def _send(self, pieces: Iterable[Any]) -> None:
        for piece in pieces:
            channel.send(self._answers, ("piece", piece))

    def close(self) -> None:
        """Discard the query."""
        if self._box is not None:
            self._box.close()
        self._box = self._kept = None


def _bound(limits: Limits) -> None:
    """Limit the memory of the process where the system can: DuckDB does not count all of it.

    The parent process checks this one repeatedly, but may be late.
    """
    try:
        data = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[5])
    except OSError:
        return
    import resource

    most = data * os.sysconf("SC_PAGE_SIZE") + 2 * memory_of(limits) + UNTOUCHED
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if hard == resource.RLIM_INFINITY or most < hard:
        resource.setrlimit(resource.RLIMIT_DATA, (most, hard))
