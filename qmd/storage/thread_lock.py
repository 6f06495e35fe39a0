"""Reader–writer lock between the threads of one process.

A process keeps one in-memory DuckDB and attaches the index to it: for reading until a writer
waits, and for writing during one transaction. Attaching takes a few milliseconds at any size of
the index.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from qmd import processes
from qmd.errors import (
    IndexBusy,
    IndexNotWritable,
    IndexUnreadable,
    LockUnusable,
    NotEnoughMemory,
    OfAnotherProcess,
)
from qmd.storage import cancellation, migrations
from qmd.storage.attachment import USUAL, Attachment, Writing, is_unfinished
from qmd.storage.cursor import Cursor, DatabaseError, Memory, ResultCache
from qmd.storage.duckdb_errors import translating
from qmd.storage.earlier_state import EarlierState
from qmd.storage.extent import cut_back, extent_of
from qmd.storage.file_lock import SIGNING_TRIES, FileLock
from qmd.storage.file_version import GONE, Version, version_of

if TYPE_CHECKING:
    from qmd.storage.saved_facts import SavedFacts

Result = TypeVar("Result")

WATCH_SECONDS = 0.03
"""Seconds between two checks of an idle reader for a waiting writer."""

SHED_READS = 32
"""Reads after which DuckDB's pages are released where postings outside of it stand for them: what
it keeps then is the texts of earlier results."""

IS_SPARING: ContextVar[bool] = ContextVar("is_sparing", default=False)
"""True where reads and writes of this thread run with little memory for DuckDB."""

MIN_WAIT_SECONDS = 0.2
"""Seconds that a use waits for other processes at least, within its timeout."""


class ThreadLock:
    """The readers and the writer of one index in this process.

    Args:
        path, warm, patience, memory_limit, threads, schema, saves: see `Database`.

    Attributes:
        missed: callback for each search that postings in memory would have answered.
        serves: True once this process also carries out what others ask for.
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
        saves: bool = False,
    ) -> None:
        self.path = path
        self._process = os.getpid()
        self._warm = warm
        self._patience = patience
        self._schema = schema
        self._gate = FileLock(path, patience=patience)
        self._attachment = Attachment(
            path, patience=patience, memory_limit=memory_limit, threads=threads
        )
        self._idle: list[Cursor] = []
        self._active = 0
        self._attached: Version | None = None  # the file as it was then
        self._seen = Memory()  # of what is attached
        self._earlier: EarlierState | None = None
        self._of_texts = 0, ResultCache()  # with the inode of the file
        self._saves = saves
        self._facts: SavedFacts | None = None
        self._unshed = 0  # reads since DuckDB's pages were released
        self.serves = False
        self.missed: Callable[[Cursor, bool], None] | None = None
        self._writing = False
        self._began = 0.0  # start of the writer's wait
        self._last_in = 0.0  # when one of this process had the file
        self._busy: tuple[float, IndexBusy | None] = 0.0, None
        self._closed = False
        lock = threading.RLock()
        self._turn = threading.Condition(lock)
        self._asleep = threading.Condition(lock)  # the watcher, which reads need not wake
        self._one_writer = threading.Lock()
        self._watcher: threading.Thread | None = None
        self._memory: dict[Hashable, tuple[tuple[int, ...], Any]] = {}

    @property
    def is_inherited(self) -> bool:
        """True in a process forked from the one that opened the index, which cannot use it."""
        return os.getpid() != self._process

    @property
    def stays_attached(self) -> bool:
        """True if the file stays attached between reads, as in servers."""
        return self._warm

    @property
    def is_of_one_command(self) -> bool:
        """True if the process ends after one command."""
        return self._saves and processes.leave_open

    def check_own(self) -> None:
        """Refuse use in a forked process: it lacks threads, and its locks belong to the parent.

        Raises:
            OfAnotherProcess: this is such a process.
        """
        if self.is_inherited:
            raise OfAnotherProcess(self.path)

    # -- reading ---------------------------------------------------------------

    def _begin_read(self, *, aside: bool = False, small: bool = False) -> Cursor:
        self.check_own()
        began = time.monotonic()
        with self._turn:
            while True:
                cancellation.check()
                if self._writing:
                    self._turn.wait(WATCH_SECONDS)
                elif self._attached is None:
                    with self._minded():
                        self._attach_to_read(self._counted(began))
                elif self._gate.is_shut() or self._attached != version_of(self.path):
                    # A writer wants in, or this is another file by now, or has other contents:
                    # no writer of qmd changes it now, but a file may be copied over it.
                    if self._active:
                        self._turn.wait(WATCH_SECONDS)
                    else:
                        self._detach()
                else:
                    break
            if IS_SPARING.get() and not self._active:
                self._attachment.spare()
            elif not small:
                self._attachment.grow()
            is_spare = self._idle and not aside
            cursor = self._idle.pop() if is_spare else Cursor(self._attachment.connection())
            cursor.memory = self._seen
            self._active += 1
            return cursor

    def _earlier_state(self) -> EarlierState | None:
        """Return the state that the index was left in to the writer who has it; None: attach it."""
        self.check_own()
        with self._turn:
            if self._attached is not None and not self._active and self._gate.is_shut():
                self._detach()
            earlier = self._earlier
            return earlier if earlier and self._gate.writer() == earlier.writer else None

    def _end_read(self, cursor: Cursor, *, aside: bool = False) -> None:
        with self._turn:
            self._active -= 1
            cursor.memory = None  # it may lie idle while others go on
            if self._attachment.is_there and not aside:
                self._idle.append(cursor)
            if not self._active:
                if not self._warm or self._closed or self._gate.is_shut():
                    self._detach()
                elif self._watcher is None:
                    watcher = threading.Thread(
                        target=self._watch, name="qmd-index-watcher", daemon=True
                    )
                    watcher.start()  # it waits for this turn to end
                    self._watcher = watcher
            self._turn.notify_all()
            self._unshed += 1
            if self._seen.stands_for_file and not self._active and self._unshed >= SHED_READS:
                self._unshed = 0
                self._attachment.shed()
                for shed in self._seen.sheds:
                    shed()

    def _watch(self) -> None:
        """Release the file when a writer waits and no read runs here."""
        with self._turn:
            while self._watcher is threading.current_thread():
                if self._attached is not None and not self._active and self._gate.is_shut():
                    self._detach()
                self._asleep.wait(WATCH_SECONDS if self._attached is not None else None)

    def busy_for(self, seconds: float) -> IndexBusy | None:
        """Return the last error of a busy index, if recent and without a success since."""
        when, told = self._busy
        return told if when > max(self._last_in, time.monotonic() - seconds) else None

    @contextmanager
    def _minded(self) -> Iterator[None]:
        """Remember a busy error: a later wait may have to report it."""
        try:
            yield
        except IndexBusy as error:
            self._busy = time.monotonic(), error
            raise

    def _counted(self, began: float) -> float:
        """Compute the start of a wait for other processes.

        What a wait for others of this process took counts if none of them came in, so that they
        are not told one after the other; but `LEAST` seconds are left.
        """
        left = min(self._patience, MIN_WAIT_SECONDS)
        return max(began, self._last_in, time.monotonic() - self._patience + left)

    def _attach_to_read(self, began: float) -> None:
        """Attach for reading; create or migrate the index if necessary."""
        for _ in range(2):
            if self.path.exists() and not is_unfinished(self.path):
                self._gate.enter_to_read(began)
                seen = version_of(self.path) or GONE
                try:
                    with self._attaching():
                        self._attachment.attach_to_read(began)
                    self._attached = seen
                    self._last_in = time.monotonic()
                    if self._of_texts[0] != seen.inode:
                        self._of_texts = seen.inode, ResultCache()
                    self._seen = Memory(seen, self.missed, self._of_texts[1])
                    self._earlier = None
                    self._seen.facts = self._facts_of(seen)
                    self._unshed = SHED_READS
                    self._asleep.notify_all()
                    with translating(self.path):
                        cursor = Cursor(self._attachment.connection(), self._seen)
                        if migrations.is_current(cursor, self.path):
                            return
                except BaseException:
                    self._detach()
                    self._gate.leave()
                    raise
                self._detach()
            self._turn.release()
            try:
                with self._alone():
                    self._transaction(lambda _: None)
            finally:
                self._turn.acquire()
        raise IndexUnreadable(self.path, "it has no tables, and cannot be given any.")

    def _facts_of(self, version: Version) -> SavedFacts | None:
        """Return the facts about an attached version of the file; None: nothing is saved."""
        if not self.is_of_one_command:
            return None
        if self._facts is None or self._facts.version != version:
            from qmd.storage.saved_facts import SavedFacts

            self._facts = SavedFacts(self.path, version)
        return self._facts

    # -- writing ---------------------------------------------------------------

    @contextmanager
    def _in_use(self, leave: Callable[[], None]) -> Iterator[None]:
        """Keep other threads from closing the lock in the meantime."""
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
        """Hold the file alone, among all threads and processes."""
        self.check_own()
        began = time.monotonic()
        with cancellation.holding(self._one_writer), self._minded():
            self._began = self._counted(began)
            with self._turn:
                self._writing = True
            try:
                self._gate.shut(self._began)
                self._drain()
                with self._in_use(self._gate.open):
                    self._gate.enter_to_write(self._began)
                    yield
            finally:
                self._gate.open()  # also if it did not come so far
                with self._turn:
                    self._writing = False
                    self._turn.notify_all()

    def _drain(self) -> None:
        """Wait for the reads of this process and release the file."""
        with self._turn:
            while self._active:
                cancellation.check()
                self._turn.wait(WATCH_SECONDS)
            self._detach()

    def _transaction(self, work: Callable[[Cursor], Result], *, writing: Writing = USUAL) -> Result:
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise IndexNotWritable(self.path, error.strerror or str(error)) from error
        before = extent_of(self.path)
        with self._attaching():
            self._attachment.attach_to_write(self._began, writing=writing, sparing=IS_SPARING.get())
        self._last_in = time.monotonic()
        try:
            with translating(self.path):
                connection = self._attachment.connection()
                cursor = Cursor(connection)
                migrations.migrate(cursor, self.path, last=self._schema)
                connection.begin()
                try:
                    result = work(cursor)
                    connection.commit()
                except BaseException:
                    with suppress(DatabaseError):  # after a fatal error, of no transaction
                        connection.rollback()
                    connection.close()
                    raise
                connection.close()
                try:
                    self._attachment.detach()
                except DatabaseError:
                    self._drop()  # nothing is lost: the next process also reads the log
                else:
                    if writing.is_one_of_many:
                        self._attachment.return_memory()
                return result
        except BaseException:
            # A failed write can leave the engine unusable: begin again with a new one.
            self._drop()
            if before is not None:
                cut_back(self.path, before)
            raise
        finally:
            self._last_in = time.monotonic()

    # -- the file --------------------------------------------------------------

    @contextmanager
    def _attaching(self) -> Iterator[None]:
        """Discard the engine if the file cannot be attached."""
        try:
            yield
        except (IndexUnreadable, IndexNotWritable, NotEnoughMemory):
            self._drop()
            raise

    def _detach(self) -> None:
        """Detach the file and release its lock; does nothing if not attached."""
        if self._attached is not None:
            self._earlier = self._left_to_writer()
            self._attached = None
            self._last_in = time.monotonic()
            self._seen = Memory()
            try:
                for cursor in self._idle:
                    cursor.forget_plans()
                self._attachment.detach()
            except DatabaseError:
                self._drop()  # nothing is lost: it was only read
        self._gate.leave()

    def _left_to_writer(self) -> EarlierState | None:
        """Return what is attached, if that is released to a writer, which has not begun yet."""
        writer = None
        if self._warm and not self._closed:
            with suppress(LockUnusable):  # who takes it is told
                writer = self._gate.writer(SIGNING_TRIES)
        if writer is None or self._attached != version_of(self.path):
            return None
        return EarlierState(self._seen, writer)

    def _drop(self, *, last: bool = False) -> None:
        """Discard the engine with all its cursors, which closes the file.

        Args:
            last: no use of the index follows.
        """
        if last and self._attached is None and self._attachment.leave(self._idle):
            self._idle = []
            return
        for cursor in self._idle:
            cursor.connection.close()
        self._idle.clear()
        self._attached = None
        self._attachment.drop()
