"""The DuckDB in memory to which an index file is attached."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path

from qmd.errors import IndexBusy, IndexUnreadable
from qmd.storage import cancellation
from qmd.storage.cursor import Connection, DatabaseError, connected
from qmd.storage.duckdb_errors import holder_in, translated
from qmd.storage.file_lock import POLL
from qmd.storage.file_version import log_of
from qmd.storage.scratch import spill
from qmd.storage.statements import filled, statement

ROW_GROUP_SIZE = 4096
"""Rows. Small, since a commit writes the last, unfilled group of each table again (a
document's text is the widest of them); not smaller, since each group has to be pruned
in a search. It is no property of the file, so every writing attach has to say it."""

HEADERS = 3 * 4096
"""Bytes that DuckDB writes when it makes a file. Source: DuckDB 1.5.5."""

LEAST_MEMORY = "32MB"
"""What DuckDB keeps of a file whose parts are held elsewhere: what was read last."""

ENGINE: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "disabled_compression_methods": "alp,alprd,chimp,patas",
    "auto_checkpoint_skip_wal_threshold": "0",
    "checkpoint_threshold": "0B",
}
"""Settings of whatever writes an index.

The last two: a commit goes into the file itself and not into a log before, of which DuckDB 1.5
keeps all rows of a large insert though the commit that they are of was cut off
(duckdb/duckdb#25931). It is half of the writing, too."""


class Attachment:
    """A DuckDB in memory, and the index file while it is attached to it.

    Args:
        path: the index.
        patience: seconds to wait for programs that know nothing of the gate.
        memory_limit: of DuckDB's buffers, as DuckDB writes it.
        threads: that share a statement out.
    """

    def __init__(self, path: Path, *, patience: float, memory_limit: str, threads: int) -> None:
        self._path = path
        self._patience = patience
        self._memory_limit = memory_limit
        self._threads = threads
        self._root: Connection | None = None

    @property
    def is_there(self) -> bool:
        """Whether there is an engine; it begins with the first `attach`."""
        return self._root is not None

    def attach_to_read(self, began: float | None = None) -> None:
        """Attach the file for reading.

        Args:
            began: when the waiting did, by the monotonic clock; now, if it has not.

        Raises:
            IndexFailure: it is busy or unreadable.
        """
        name = "store/attach_to_read"
        attach(self._engine(), self._path, name, patience=self._patience, began=began)

    def attach_to_write(self, began: float | None = None) -> None:
        """Attach the file for reading and writing.

        Args:
            began: see `attach_to_read`.

        Raises:
            IndexFailure: it is busy, unreadable, or cannot be written.
        """
        if is_unfinished(self._path):
            self._path.resolve().unlink()
        name = "store/attach_to_write"
        attach(self._engine(), self._path, name, patience=self._patience, began=began)

    def connection(self) -> Connection:
        """A new connection to what is attached."""
        connection = self._engine().cursor()
        connection.execute(statement("store/use"))
        return connection

    def detach(self) -> None:
        """Let go of the file; the log that another program may have left goes into it.

        Raises:
            DatabaseError: it could not be written; the log is as it was.
        """
        self._engine().execute(statement("store/detach"))

    def shed(self) -> None:
        """Give back the memory that holds parts of the file: who asks for them reads them again.

        Nobody may use the engine meanwhile.
        """
        try:
            with suppress(DatabaseError):  # some of it is in use, and stays
                self._engine().execute(filled("store/limit_memory", limit=LEAST_MEMORY))
        finally:
            self._engine().execute(filled("store/limit_memory", limit=self._memory_limit))

    def drop(self) -> None:
        """Give the engine up. That lets go of the file as it is."""
        if self._root is not None:
            self._root.close()
            self._root = None

    def _engine(self) -> Connection:
        if self._root is None:
            self._root = connected(
                ENGINE
                | {
                    "threads": str(self._threads),
                    "memory_limit": self._memory_limit,
                    "temp_directory": str(spill(self._path)),
                }
            )
        return self._root


def attach(
    connection: Connection, path: Path, name: str, *, patience: float, began: float | None = None
) -> None:
    """Attach an index file to an engine.

    Args:
        name: of the statement that does it.
        patience: seconds to wait for programs that know nothing of the gate.
        began: when the waiting did; now, if it has not.

    Raises:
        IndexFailure: the file is busy or unreadable, or cannot be written.
        Stopped: nobody waits for it any more. See `stopping`.
    """
    check_files(path)
    text = filled(name, path=path, row_group_size=ROW_GROUP_SIZE)
    began = time.monotonic() if began is None else began
    while True:
        try:
            connection.execute(text)
            return
        except DatabaseError as error:
            problem = str(error)
            if "Could not set lock on file" not in problem:
                raise translated(path, error) or IndexUnreadable(path, problem) from error
            waited = time.monotonic() - began
            if waited > patience:
                raise IndexBusy(path, holder=holder_in(problem), waited=waited) from error
            cancellation.check()
            time.sleep(5 * POLL)


def is_unfinished(path: Path) -> bool:
    """Return whether a process was killed while it made this file: nothing can be in it yet.

    DuckDB opens no file whose headers are cut off. It writes them before anything else.
    """
    try:
        if not path.is_file() or path.stat().st_size >= HEADERS or log_of(path).exists():
            return False
        with path.open("rb") as file:
            begins = file.read(12)
    except OSError:
        return False  # what is wrong with it is told by who attaches it
    return not begins or begins[8:] == b"DUCK"


def check_files(path: Path) -> None:
    """Refuse a pipe: DuckDB would wait for who writes into it.

    Raises:
        IndexUnreadable: the index, or its log, is something else than a file.
    """
    for file in (path, log_of(path)):
        if file.exists() and not file.is_file():
            raise IndexUnreadable(
                path,
                f"{file.name} has to be a file: it is a pipe or a folder.",
                mend="Look who put it there, remove it, and try again.",
            )
