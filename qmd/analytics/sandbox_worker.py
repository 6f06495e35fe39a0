"""Process that runs queries of users, one at a time: the other end of `sandbox_workers`.

It serves requests until the parent process closes the pipe or ends.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qmd.analytics.sandbox import Limits, Outdated, Sandbox, memory_of
from qmd.named_tuple import NamedTuple
from qmd.storage import catalog, migrations
from qmd.storage.attachment import attach
from qmd.storage.cursor import Connection, Cursor
from qmd.workers import channel, serving

if TYPE_CHECKING:
    from qmd.analytics.heading import Heading
    from qmd.analytics.query_result import SandboxRows
    from qmd.analytics.sandbox import GatheredTable, SearchRow
    from qmd.analytics.search_calls import Parameters
    from qmd.analytics.statement_check import CheckedStatement

UNTOUCHED = 512 << 20
"""Bytes that may be mapped beyond twice the memory of a query: allocators and threads reserve more
than they use."""


class IndexFile(NamedTuple):
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
    serving.serve(_Session)


class _Session:
    """Server of requests from the parent process."""

    def __init__(self, answers: int) -> None:
        self._answers = answers
        self._box: Sandbox | None = None
        self._kept: SandboxRows | None = None

    def read(
        self, index: Path, limits: Limits, spill: Path, folder: str, text: str, given: Parameters
    ) -> CheckedStatement:
        """Begin with a query: read the statement."""
        self.close()
        if limits.files:
            os.chdir(folder)
        serving.bound_memory(2 * memory_of(limits) + UNTOUCHED)
        self._box = Sandbox(index, limits, spill)
        return self._box.read(text, given)

    def answer(
        self,
        index: IndexFile,
        request: CheckedStatement,
        parameters: Parameters,
        found: Sequence[SearchRow],
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

    def merge(
        self,
        request: CheckedStatement,
        parameters: Parameters,
        found: Sequence[SearchRow],
        tables: Sequence[GatheredTable],
        across: Sequence[str],
    ) -> tuple[tuple[Heading, ...], int]:
        """Run the statement over rows of several indexes, and keep what it gives."""
        assert self._box is not None
        self._kept = self._box.merge(request, parameters, found, tables, across)
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
