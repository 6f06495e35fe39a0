"""One index file, shared with every other process that uses it.

A process keeps one in-memory DuckDB and attaches the index to it: for reading while
it reads, and until a writer wants in; for writing only as long as one transaction.
Attaching costs a few milliseconds at any size of the index.

Never open the index file by other means in a process that has it attached: closing
any descriptor of it drops DuckDB's own lock (fcntl(2)). `os.stat` is fine.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any, TypeVar

from qmd.errors import IndexNotWritable, IndexUnreadable
from qmd.store import migrate, stopping
from qmd.store.attachment import Attachment, attach, version_of
from qmd.store.cursor import Connection, Cursor, DatabaseError, Memory
from qmd.store.failures import in_words, log_of
from qmd.store.gate import Gate

Result = TypeVar("Result")

WATCH = 0.03
"""Seconds between two looks of an idle reader at whether a writer wants in."""

SETTLED_NS = 50_000_000
"""Nanoseconds after a change from which on the time of the file tells it from the next."""


class Database:
    """One index file.

    Args:
        path: the index; made, with its folder, when it is first used.
        warm: stay attached between reads: for servers.
        patience: seconds to wait for other processes.
        memory_limit: of DuckDB's buffers, as DuckDB writes it.
        threads: that share a statement out. A search is too short for that.
        schema: number of the last migration to run; None: all.
    """

    def __init__(
        self,
        path: Path,
        *,
        warm: bool = False,
        patience: float = 30.0,
        memory_limit: str = "1GB",
        threads: int = 1,
        schema: int | None = None,
    ) -> None:
        self.path = path
        self._warm = warm
        self._patience = patience
        self._schema = schema
        self._gate = Gate(path, patience=patience)
        self._attachment = Attachment(
            path, patience=patience, memory_limit=memory_limit, threads=threads
        )
        self._idle: list[Cursor] = []
        self._active = 0
        self._attached: tuple[int, ...] | None = None  # the file as it was then
        self._seen = Memory()  # of what is attached
        self._writing = False
        self._closed = False
        lock = threading.RLock()
        self._turn = threading.Condition(lock)
        self._asleep = threading.Condition(lock)  # the watcher, which reads need not wake
        self._one_writer = threading.Lock()
        self._watcher: threading.Thread | None = None
        self._memory: dict[Hashable, tuple[tuple[int, ...], Any]] = {}

    # -- doors -----------------------------------------------------------------

    def read(self, work: Callable[[Cursor], Result]) -> Result:
        """What `work` finds, from one state of the index. May run beside other reads.

        Raises:
            IndexFailure: the index is busy, unreadable, or too new.
            Stopped: nobody waits for it any more. See `stopping`.
        """
        stop = stopping.CURRENT.get()
        cursor = self._begin_read()
        try:
            with in_words(self.path), stop.over(cursor.connection) if stop else nullcontext():
                return work(cursor)
        finally:
            self._end_read(cursor)

    def remembered(
        self, key: Hashable, work: Callable[[Cursor], Result], *, cursor: Cursor | None = None
    ) -> Result:
        """What `work` finds, from memory as long as nobody has written to the file.

        Args:
            key: what is asked, with all that the answer depends on besides the index.
            cursor: of the read that this is a part of, if it is one.
        """
        # A read finds what was attached, though somebody has put another file there meanwhile.
        version = version_of(self.path) if cursor is None else self._attached
        known = self._memory.get(key)
        if known is not None and known[0] == version:
            result: Result = known[1]
            return result
        found = self.read(work) if cursor is None else work(cursor)
        # A file changed just now may change again within the same tick of the system's clock.
        if version and time.time_ns() - version[1] > SETTLED_NS:
            self._memory[key] = version, found
        return found

    def write(self, work: Callable[[Cursor], Result], *, settled: bool = False) -> Result:
        """Run `work` as one transaction, alone among all processes.

        Args:
            settled: it has to be in the file itself. Otherwise what is committed may stay in the
                log beside it as long as the file cannot grow.

        Raises:
            IndexFailure: the index is busy, unreadable, too new, or cannot be written.
        """
        with self._alone():
            return self._transaction(work, settled=settled)

    def replace(self, new: Path, agree: Callable[[Cursor], None]) -> None:
        """Put another index file in the place of this one, alone among all processes.

        Whoever is killed leaves the old file or the new one, whole.

        Args:
            new: on the same file system; nobody uses it.
            agree: is shown the index that is to go, if there is one, and raises to keep it.

        Raises:
            IndexFailure: the index is busy, unreadable, too new, or cannot be written.
        """
        from qmd.store import files

        with self._alone():
            log = log_of(self.path)
            if self.path.exists():
                self._transaction(agree)
                if log.exists():
                    raise IndexNotWritable(self.path, f"{log.name} has changes that are not in it")
            self._drop()
            try:
                log.unlink(missing_ok=True)  # of a file that is gone: the new one must not get it
                files.flush(new)
                target = self.path.resolve()
                new.replace(target)
                files.flush(target.parent)
            except OSError as error:
                raise IndexNotWritable(self.path, error.strerror or str(error)) from error

    def apart(self, work: Callable[[Callable[[Connection], None]], Result]) -> Result:
        """What `work` finds in the index with a DuckDB of its own, which it also takes down.

        Meanwhile other reads and writes of this process wait: two engines of one process must
        not have the same file open, since the lock of both goes when one closes it.

        Args:
            work: is given a function that attaches the index to its engine, for reading. What it
                attaches it has to detach, and it must not use this database.

        Raises:
            IndexFailure: the index is busy or unreadable.
        """
        with self._as_only_writer():
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
        """Let go of the file. The next use opens it again.

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
            self._detach()
            self._drop()
            # A read that comes from here on has a watcher of its own.
            watcher, self._watcher = self._watcher, None
            self._asleep.notify_all()
        if watcher is not None:
            watcher.join()

    @contextmanager
    def _in_use(self, leave: Callable[[], None]) -> Iterator[None]:
        """Let nobody close this before it has left the room."""
        with self._turn:
            self._active += 1
        try:
            yield
        finally:
            leave()
            with self._turn:
                self._active -= 1
                self._turn.notify_all()

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Be the only one who has the file, among all threads and processes."""
        with self._as_only_writer():
            with self._turn:
                self._writing = True
            try:
                self._gate.shut()
                self._drain()
                with self._in_use(self._gate.open):
                    self._gate.enter_to_write()
                    yield
            finally:
                self._gate.open()  # also if it did not come so far
                with self._turn:
                    self._writing = False
                    self._turn.notify_all()

    def is_wanted(self) -> bool:
        """Whether another process waits to write: to be asked by who looks apart for long."""
        return self._gate.is_shut()

    # -- reading ---------------------------------------------------------------

    def _begin_read(self) -> Cursor:
        with self._turn:
            while True:
                stopping.check()
                if self._writing:
                    self._turn.wait(WATCH)
                elif self._attached is None:
                    self._attach_to_read()
                elif self._gate.is_shut() or self._attached != version_of(self.path):
                    # A writer wants in, or this is another file by now, or has other contents:
                    # no writer of ours changes it meanwhile, but some copy over it.
                    if self._active:
                        self._turn.wait(WATCH)
                    else:
                        self._detach()
                else:
                    break
            cursor = self._idle.pop() if self._idle else Cursor(self._attachment.connection())
            cursor.memory = self._seen
            self._active += 1
            return cursor

    def _end_read(self, cursor: Cursor) -> None:
        with self._turn:
            self._active -= 1
            if self._attachment.is_there:
                self._idle.append(cursor)
            if not self._active:
                if not self._warm or self._closed or self._gate.is_shut():
                    self._detach()
                elif self._watcher is None:
                    self._watcher = threading.Thread(
                        target=self._watch, name="qmd-index-watcher", daemon=True
                    )
                    self._watcher.start()
            self._turn.notify_all()

    def _watch(self) -> None:
        """Leave the room when a writer wants in and nobody here is reading."""
        with self._turn:
            while self._watcher is threading.current_thread():
                if self._attached is not None and not self._active and self._gate.is_shut():
                    self._detach()
                self._asleep.wait(WATCH if self._attached is not None else None)

    def _attach_to_read(self) -> None:
        """Attach for reading; make the index, or bring it up to date, if need be."""
        for _ in range(2):
            if self.path.exists():
                self._gate.enter_to_read()
                seen = version_of(self.path) or ()
                try:
                    with self._attaching():
                        self._attachment.attach_to_read()
                    self._attached = seen
                    self._seen = Memory()
                    self._asleep.notify_all()
                    with in_words(self.path):
                        if migrate.is_current(Cursor(self._attachment.connection()), self.path):
                            return
                except BaseException:
                    self._detach()
                    self._gate.leave()
                    raise
                self._detach()
            self._turn.release()
            try:
                self.write(lambda _: None)
            finally:
                self._turn.acquire()
        raise IndexUnreadable(self.path, "it has no tables, and cannot be given any.")

    # -- writing ---------------------------------------------------------------

    @contextmanager
    def _as_only_writer(self) -> Iterator[None]:
        """Be the one thread of this process that writes."""
        while not self._one_writer.acquire(timeout=WATCH):
            stopping.check()
        try:
            yield
        finally:
            self._one_writer.release()

    def _drain(self) -> None:
        """Wait for this process's own readers and leave the room."""
        with self._turn:
            while self._active:
                stopping.check()
                self._turn.wait(WATCH)
            self._detach()

    def _transaction(self, work: Callable[[Cursor], Result], *, settled: bool = False) -> Result:
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise IndexNotWritable(self.path, error.strerror or str(error)) from error
        with self._attaching():
            self._attachment.attach_to_write()
        try:
            with in_words(self.path):
                connection = self._attachment.connection()
                cursor = Cursor(connection)
                migrate.bring_up_to_date(cursor, self.path, last=self._schema)
                connection.begin()
                try:
                    result = work(cursor)
                    connection.commit()
                except BaseException:
                    with suppress(DatabaseError):  # after a fatal error, of no transaction
                        connection.rollback()
                    raise
                connection.close()
                try:
                    self._attachment.detach()
                except DatabaseError:
                    if settled:
                        raise
                    self._drop()  # nothing is lost: whoever attaches it next reads the log
                return result
        except BaseException:
            # A failed write can leave the engine unusable: begin again with a new one.
            self._drop()
            raise

    # -- the file --------------------------------------------------------------

    @contextmanager
    def _attaching(self) -> Iterator[None]:
        """Begin with a new engine after a file that cannot be attached."""
        try:
            yield
        except (IndexUnreadable, IndexNotWritable):
            self._drop()
            raise

    def _attach_elsewhere(self, connection: Connection) -> None:
        attach(connection, self.path, "store/attach_to_read", patience=self._patience)

    def _detach(self) -> None:
        """Leave the file and the room; nothing happens if not attached."""
        if self._attached is not None:
            self._attached = None
            try:
                for cursor in self._idle:
                    cursor.forget_plans()
            finally:
                self._attachment.detach()
        self._gate.leave()

    def _drop(self) -> None:
        """Give the engine up with all its cursors. Closing it lets go of the file."""
        for cursor in self._idle:
            cursor.connection.close()
        self._idle.clear()
        self._attached = None
        self._attachment.drop()
