"""In-memory DuckDB with the index file attached."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from qmd import processes
from qmd.errors import IndexBusy, IndexUnreadable
from qmd.named_tuple import NamedTuple
from qmd.storage import cancellation
from qmd.storage.cursor import Connection, DatabaseError, connected
from qmd.storage.duckdb_errors import lock_holder, translate
from qmd.storage.extent import HEADERS
from qmd.storage.file_lock import LOCK_POLL_SECONDS
from qmd.storage.file_version import wal_path
from qmd.storage.scratch import spill_folder
from qmd.storage.statements import filled, statement

ROW_GROUP_SIZE = 4096
"""Rows. Small, since a commit writes the last, unfilled group of each table again (a
document's text is the widest of them); not smaller, since each group has to be pruned
in a search. It is no property of the file, so every writing attach has to say it."""

LEAST_ROW_GROUP_SIZE = 2048
"""Rows of a group to which a few rows are added: DuckDB's least. A group that has as many is not
written again for them, but a new one begun, and groups of so many are not joined."""

SORTED_ROW_GROUP_SIZE = 32_768
"""Rows of a group of postings that a merge has sorted. A process that ends after one search reads
the description of each group, which takes longer than to skip rows within the groups it needs;
groups of 16,384 and 122,880 rows took longer, too."""

VACUUM_TASKS = 100
"""Tasks of a checkpoint that join small row groups: DuckDB's own default. With large row groups,
they would rewrite all other tables, too."""

BLOCK_SIZE = 65_536
"""Bytes of a block of a new index file; an older file keeps the 262,144 of DuckDB until `cleanup`
writes it anew. A search reads a whole block for each text that it shows."""

LEAST_MEMORY = "64MB"
"""Buffer memory of DuckDB for a file whose content is cached elsewhere. It is enough for the parts
of tables that every search reads, and for the texts of some searches."""

SHARING_THREADS = 2
"""Threads that share out the sorting of a merge, or each statement. More would need more memory."""

SPARING_MEMORY = "256MB"
"""Buffers of DuckDB while a statement reads whole tables once: what it would cache is of no use."""

MERGING_MEMORY = "400MB"
"""Buffers of DuckDB for a slice of a merge, which uses half of them; the rest would only fill with
what is not read again."""

ENGINE: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "default_block_size": str(BLOCK_SIZE),
    "disabled_compression_methods": "alp,alprd,chimp,patas",
    "dynamic_or_filter_threshold": "1000",
    "auto_checkpoint_skip_wal_threshold": "0",
    "checkpoint_threshold": "0B",
}
"""Settings of every engine that writes an index.

Up to 1,000 values of one side of a join, not 50, decide which parts of the other table are read:
see docs/decisions/053-keys-of-buckets.md.

The last two make a commit go into the file itself instead of a log: DuckDB 1.5 replays all rows of
a large insert although its commit was cut off (duckdb/duckdb#25931). They also halve the writing.
"""

_LEFT: list[object] = []
"""Engines and their cursors that nothing uses any more: Python would take them down."""


class Writing(NamedTuple):
    """Kind of a write.

    Attributes:
        row_group_size: rows of new row groups.
        is_merge: what is written is sorted postings.
        memory: of DuckDB's buffers at most, as DuckDB writes it; None: all that there is.
        is_one_of_many: others follow, as in an update of many files or in a merge: its memory is
            returned to the system after it. See `return_memory`.
    """

    row_group_size: int
    is_merge: bool = False
    memory: str | None = None
    is_one_of_many: bool = False


USUAL, MANY = Writing(LEAST_ROW_GROUP_SIZE), Writing(ROW_GROUP_SIZE, is_one_of_many=True)
LARGE_MERGE = Writing(SORTED_ROW_GROUP_SIZE, is_merge=True, is_one_of_many=True)
MERGE = LARGE_MERGE._replace(memory=MERGING_MEMORY)


class Attachment:
    """An in-memory DuckDB, and the index file while it is attached.

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
        self._limit = memory_limit  # of the engine now
        self._is_merging = self._is_shared_out = False
        self._running = threads  # of the engine now
        self._spill = spill_folder(path)

    @property
    def is_there(self) -> bool:
        """True once the engine exists; the first `attach` makes it."""
        return self._root is not None

    def attach_to_read(self, began: float | None = None) -> None:
        """Attach the file for reading.

        Args:
            began: when the waiting did, by the monotonic clock; now, if it has not.

        Raises:
            IndexFailure: it is busy or unreadable.
        """
        self._settle(is_merge=False)
        name = "store/attach_to_read"
        attach(self._engine(), self._path, name, patience=self._patience, began=began)

    def attach_to_write(
        self, began: float | None = None, *, writing: Writing = USUAL, sparing: bool = False
    ) -> None:
        """Attach the file for reading and writing.

        Args:
            began: see `attach_to_read`.
            sparing: see `spare`.

        Raises:
            IndexFailure: it is busy, unreadable, or cannot be written.
        """
        if is_unfinished(self._path):
            self._path.resolve().unlink()
        if sparing:
            self.spare()
        else:
            self._set_limit(self._at_most(writing.memory or self._memory_limit))
        self._settle(is_merge=writing.is_merge)
        attach(
            self._engine(),
            self._path,
            "store/attach_to_write",
            patience=self._patience,
            began=began,
            row_group_size=writing.row_group_size,
        )

    def connection(self) -> Connection:
        """Open a new connection to the engine."""
        connection = self._engine().cursor()
        connection.execute(statement("store/use"))
        return connection

    def detach(self) -> None:
        """Detach the file. A log that another program left behind is merged into it.

        Raises:
            DatabaseError: it could not be written; the log is as it was.
        """
        self._engine().execute(statement("store/detach"))

    def shed(self) -> None:
        """Release the memory of cached parts of the file, which later reads load again.

        From then on, such a part takes the place of another one until `grow`: to allocate new
        memory for it takes as long as to read it. No other thread may use the engine meanwhile.
        """
        self._set_limit(self._at_most(LEAST_MEMORY))

    def grow(self) -> None:
        """Give the engine all of its memory again."""
        self._set_limit(self._memory_limit)

    def return_memory(self) -> None:
        """Return the memory that DuckDB keeps for its next statements to the system.

        With each commit it keeps more: after those of a million files, .4 GB. It returns it when
        its limit is set, also to what it was. Source: duckdb/duckdb, src/storage/buffer/
        buffer_pool.cpp, `BufferPool::SetLimit`.
        """
        limit, self._limit = self._limit or self._memory_limit, ""
        self._set_limit(limit)

    def spare(self) -> None:
        """Give the engine little memory, for statements that read whole tables once.

        No other thread may use it meanwhile: its statements may need more. Those that begin call
        `grow`.
        """
        self._set_limit(self._at_most(SPARING_MEMORY))

    def share_out(self, is_shared_out: bool) -> None:
        """Let several threads share out each statement, or one run it: some count on its order.

        For a while, not for a statement: to end a thread takes 20 ms.
        """
        self._is_shared_out = is_shared_out
        self._set_threads()

    def _settle(self, *, is_merge: bool) -> None:
        """Set the engine for a merge, or for all else."""
        if self._is_merging is not is_merge:
            tasks = 0 if is_merge else VACUUM_TASKS
            self._engine().execute(filled("store/limit_vacuum", tasks=tasks))
            self._is_merging = is_merge
        self._set_threads()

    def _set_threads(self) -> None:
        is_shared = self._is_merging or self._is_shared_out
        sharing = min(SHARING_THREADS, processes.cores()) if is_shared else 1
        threads = max(sharing, self._threads)
        if self._running != threads:
            self._engine().execute(filled("store/limit_threads", threads=threads))
            self._running = threads

    def _at_most(self, memory_limit: str) -> str:
        return min(memory_limit, self._memory_limit, key=_bytes)

    def _set_limit(self, memory_limit: str) -> None:
        if self._limit != memory_limit:
            self._limit = ""  # unknown: if more is in use just now, the next read tries again
            with suppress(DatabaseError):
                self._engine().execute(filled("store/limit_memory", limit=memory_limit))
                self._limit = memory_limit

    def leave(self, cursors: Sequence[object]) -> bool:
        """Leave an engine without the file to the end of the process, which frees it at once.

        To take an engine down takes as long as to attach a file to it.

        Args:
            cursors: of the engine.

        Returns:
            False if the process goes on, has left one before, or the engine has spilled to disk.
        """
        if not processes.leave_open or _LEFT or self._root is None or self._spill.exists():
            return False
        _LEFT.extend((self._root, *cursors))
        self._forget()
        return True

    def drop(self) -> None:
        """Discard the engine, which also closes the file."""
        if self._root is not None:
            self._root.close()
            self._forget()

    def _forget(self) -> None:
        self._root, self._is_merging = None, False
        self._limit, self._running = self._memory_limit, self._threads

    def _engine(self) -> Connection:
        if self._root is None:
            self._root = connected(
                ENGINE
                | {
                    "threads": str(self._threads),
                    "memory_limit": self._memory_limit,
                    "temp_directory": str(self._spill),
                }
            )
        return self._root


def _bytes(memory_limit: str) -> float:
    """Return the bytes of a limit such as `1GB` or `953.6 MiB`."""
    number = memory_limit.rstrip("KMGTiB ")
    unit = memory_limit[len(number) :].strip()
    return float(number) * (1024.0 if "i" in unit else 1000.0) ** " KMGT".index(unit[0])


def attach(
    connection: Connection,
    path: Path,
    name: str,
    *,
    patience: float,
    began: float | None = None,
    row_group_size: int = LEAST_ROW_GROUP_SIZE,
) -> None:
    """Attach an index file to an engine.

    Args:
        name: of the statement that does it.
        patience: seconds to wait for programs that know nothing of the gate.
        began: when the waiting did; now, if it has not.
        row_group_size: rows of new row groups.

    Raises:
        IndexFailure: the file is busy or unreadable, or cannot be written.
        Stopped: the caller has cancelled. See `cancellation`.
    """
    check_files(path)
    text = filled(name, path=path, row_group_size=row_group_size)
    began = time.monotonic() if began is None else began
    while True:
        try:
            connection.execute(text)
            return
        except DatabaseError as error:
            problem = str(error)
            if "Could not set lock on file" not in problem:
                raise translate(path, error) or IndexUnreadable(path, problem) from error
            waited = time.monotonic() - began
            if waited > patience:
                raise IndexBusy(path, holder=lock_holder(problem), waited=waited) from error
            cancellation.check()
            time.sleep(5 * LOCK_POLL_SECONDS)


def is_unfinished(path: Path) -> bool:
    """Return whether a process was killed while it made this file: nothing can be in it yet.

    DuckDB opens no file whose headers are cut off. It writes them before anything else.
    """
    try:
        if not path.is_file() or path.stat().st_size >= HEADERS or wal_path(path).exists():
            return False
        with path.open("rb") as file:
            begins = file.read(12)
    except OSError:
        return False  # what is wrong with it is told by who attaches it
    return not begins or begins[8:] == b"DUCK"


def check_files(path: Path) -> None:
    """Refuse a pipe: DuckDB would wait for a process that writes to it.

    Raises:
        IndexUnreadable: the index, or its log, is something else than a file.
    """
    for file in (path, wal_path(path)):
        if file.exists() and not file.is_file():
            raise IndexUnreadable(
                path,
                f"{file.name} has to be a file: it is a pipe or a folder.",
                mend="Find out what made it, remove it, and try again.",
            )
