"""Index file shared between processes: read and write transactions.

`thread_lock` coordinates the threads of this process, `file_lock` the processes.

Never open the index file by other means in a process that has it attached: closing
any descriptor of it drops DuckDB's own lock (fcntl(2)). `os.stat` is fine.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from contextlib import nullcontext, suppress
from pathlib import Path

from qmd.errors import IndexNotWritable, NotEnoughMemory
from qmd.storage import cancellation
from qmd.storage.attachment import USUAL, Writing, attach
from qmd.storage.cursor import Connection, Cursor
from qmd.storage.descriptors import ensure_descriptors
from qmd.storage.duckdb_errors import translating
from qmd.storage.earlier_state import OutOfReach
from qmd.storage.file_version import is_settled, version_of, wal_path
from qmd.storage.thread_lock import IS_SPARING, Result, ThreadLock


class Database(ThreadLock):
    """An index file.

    Args:
        path: the index; made, with its folder, when it is first used.
        warm: stay attached between reads: for servers.
        patience: seconds to wait for other processes.
        memory_limit: of DuckDB's buffers, as DuckDB writes it.
        threads: that share a statement out. A search is too short for that.
        schema: number of the last migration to run; None: all.
        saves: facts about the index are saved beside it if the process ends after one command.
    """

    def read(
        self, work: Callable[[Cursor], Result], *, aside: bool = False, small: bool = False
    ) -> Result:
        """Run `work` on one state of the index, beside other reads.

        Args:
            aside: leave the cursors with plans to other reads.
            small: leave DuckDB with little memory where most is held outside of it. If that is not
                enough, `work` runs again with all of it. While a writer has the file, what is held
                of the state before is tried first, in a server.

        Raises:
            IndexFailure: the index is busy, unreadable, or too new.
            Stopped: the caller has cancelled. See `cancellation`.
        """
        if small:
            earlier = self._earlier_state()
            if earlier is not None:
                with suppress(OutOfReach):
                    return work(earlier.cursor())
            try:
                return self._read(work, aside=aside, small=True)
            except NotEnoughMemory:
                pass
        return self._read(work, aside=aside)

    def _read(
        self, work: Callable[[Cursor], Result], *, aside: bool, small: bool = False
    ) -> Result:
        stop = cancellation.CURRENT.get()
        cursor = self._begin_read(aside=aside, small=small)
        try:
            with translating(self.path), stop.over(cursor.connection) if stop else nullcontext():
                return work(cursor)
        finally:
            self._end_read(cursor, aside=aside)

    def remembered(
        self, key: Hashable, work: Callable[[Cursor], Result], *, cursor: Cursor | None = None
    ) -> Result:
        """Run `work`, or return its cached result if the file has not changed since.

        Args:
            key: what is asked, with all that the answer depends on besides the index.
            cursor: of the read that this is a part of, if it is one.
        """
        # A read sees the attached file, even if another file has taken its path since.
        memory = cursor.memory if cursor is not None else None
        if memory is not None and key in memory.remembered:
            result: Result = memory.remembered[key]
            return result
        version = version_of(self.path) if cursor is None else memory and memory.version
        known = self._memory.get(key)
        if known is not None and known[0] == version:
            known_result: Result = known[1]
            return known_result
        found = self.read(work) if cursor is None else work(cursor)
        if memory is not None:
            memory.remembered[key] = found
        # A file changed just now may change again within the same tick of the system's clock.
        if version and is_settled(version.changed):
            self._memory[key] = version, found
        return found

    def write(self, work: Callable[[Cursor], Result], *, writing: Writing = USUAL) -> Result:
        """Run `work` as one transaction, alone among all processes.

        Args:
            writing: its kind, on which row groups depend.

        Raises:
            IndexFailure: the index is busy, unreadable, too new, or cannot be written.
        """
        ensure_descriptors(self.path)
        with self._alone():
            return self._transaction(work, writing=writing)

    def sparingly(self, work: Callable[[], Result]) -> Result:
        """Run reads and writes with less memory for DuckDB, which spills what exceeds it to disk.

        Beside reads of other threads they have as much as those.

        Args:
            work: runs again with all memory, from its beginning, if this is not enough.
        """
        token = IS_SPARING.set(True)
        try:
            return work()
        except NotEnoughMemory:
            pass
        finally:
            IS_SPARING.reset(token)
        return work()

    def share_out(self, is_shared_out: bool) -> None:
        """Let several threads share out each statement from now on, or one run it, as at first.

        For what reads whole large tables. It does nothing in a process that goes on, or serves
        others: there may be reads at the same time that count on the order of one thread.
        """
        if self.is_of_one_command and not self.serves:
            with self._turn:
                self._attachment.share_out(is_shared_out)

    def replace(self, new: Path, agree: Callable[[Cursor], None]) -> None:
        """Replace this index file by another, alone among all processes.

        A process that is killed leaves the old file or the new one, whole.

        Args:
            new: on the same file system, and not in use.
            agree: is shown the index that is to go, if there is one, and raises to keep it.

        Raises:
            IndexFailure: the index is busy, unreadable, too new, or cannot be written.
        """
        from qmd import files

        with self._alone():
            log = wal_path(self.path)
            if self.path.exists():
                self._transaction(agree)
                if log.exists():
                    raise IndexNotWritable(self.path, f"{log.name} has changes that are not in it")
            self._drop()
            try:
                log.unlink(missing_ok=True)  # of a file that is gone: the new one must not get it
                files.fsync_path(new)
                target = self.path.resolve()
                new.replace(target)
                files.fsync_path(target.parent)
            except OSError as error:
                raise IndexNotWritable(self.path, error.strerror or str(error)) from error

    def apart(self, work: Callable[[Callable[[Connection], None]], Result]) -> Result:
        """Run `work` on the index with a DuckDB of its own, which it also closes.

        Meanwhile other reads and writes of this process wait: two engines of one process must
        not have the same file open, since the lock of both goes when one closes it.

        Args:
            work: is given a function that attaches the index to its engine, for reading. What it
                attaches it has to detach, and it must not use this database.

        Raises:
            IndexFailure: the index is busy or unreadable.
        """
        self.check_own()
        with cancellation.holding(self._one_writer):
            with self._turn:
                self._writing = True
            try:
                self._drain()
                with self._in_use(self._gate.leave):
                    self._gate.enter_to_read()
                    return work(self._attach_elsewhere)
            finally:
                with self._turn:
                    self._writing = False
                    self._turn.notify_all()

    def close(self, patience: float | None = None) -> None:
        """Detach and close the file. The next use opens it again.

        Args:
            patience: seconds to wait for those who use it; None for as long as they do. It is left
                to them if they take longer: an interrupt can end a use without a word of it. The
                last of them lets go, and so does every read until it is closed once more.
        """
        with self._turn:
            self._closed = True
            if not self._turn.wait_for(lambda: not self._active, patience):
                return  # the last of them detaches it
            self._closed = False
            self._earlier = None
            if self._facts is not None:
                self._facts.save()
            self._detach()
            self._drop(last=True)
            # A read that comes from here on has a watcher of its own.
            watcher, self._watcher = self._watcher, None
            self._asleep.notify_all()
        if watcher is not None:
            watcher.join()

    def is_wanted(self) -> bool:
        """Check that another process waits to write.

        Long reads outside of this engine ask for it.
        """
        return self._gate.is_shut()

    def is_waited_for(self) -> bool:
        """Check that other processes wait for the current reads. Long reads ask for it.

        A writer does, and other readers where another file was put in the place of the index.
        """
        if self._writing or self._gate.is_shut():
            return True
        return self._attached != version_of(self.path)

    def _attach_elsewhere(self, connection: Connection) -> None:
        attach(connection, self.path, "store/attach_to_read", patience=self._patience)
