"""Reader–writer lock between processes, on the index file.

DuckDB lets one process write or many read, and fails at once otherwise. Two lock files beside the
index turn that into waiting. The operating system holds the locks, so that they end with their
process and never become stale:

    index.duckdb.lock      writer-intent lock ("door"): held by a writer while it waits and writes
    index.duckdb.readers   reader lock ("room"): shared by all processes that have the file attached

Each holder writes the name of its process into the lock file, for the messages of those who wait.

A reader takes the writer-intent lock for a moment, then the shared reader lock. A writer takes the
writer-intent lock, which holds off new readers, then waits for the reader lock alone. A reader
that stays attached checks the writer-intent lock regularly, and detaches if a writer waits.

A third lock protects the words of the index, which an update relies on for longer than a
transaction:

    index.duckdb.words     shared by updates; held alone by a cleanup that removes words

Source: the turnstile solution of readers and writers without starvation
(Downey, The Little Book of Semaphores, 4.2.5).
"""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar

from qmd import lock_signature as signature
from qmd import safe_open
from qmd.errors import IndexBusy, IndexNotWritable, IndexUnreadable, JobRunning, LockUnusable
from qmd.storage import cancellation

LOCK_POLL_SECONDS = 0.002
"""Seconds between two tries to lock; doubled up to five times while waiting."""

JOB_LOCK_TRIES = 10
"""Tries to take the lock of a job: a mere check of another process holds it for a moment."""

SIGNING_TRIES = 10
"""Tries to read the entry of a writer, which it writes as soon as it has the lock: 20 ms."""

WRITER_PAUSE_SECONDS = 0.02
"""Seconds for which a writer stays away between writes: longer than the longest poll."""

STREAK_SECONDS = 0.05
"""Seconds of writes right after each other before a writer stays away. A command that makes an
index writes three or four times in that time."""

WORDS_TIMEOUT_SECONDS = 60.0
"""Seconds that an update waits for a cleanup that removes words, both for the lock and the
write."""

HEAD, MARK = 12, b"DUCK"
"""Bytes before the mark of a DuckDB database, and the mark.

Source: DuckDB 1.5.5, src/storage/storage_info.cpp: MainHeader, after a checksum of 8 bytes.
"""


def check_kind(index: Path) -> None:
    """Refuse a file that is no database before a lock file is made beside it.

    Where there is one, the file may be attached, and is not opened: see `database`.

    Raises:
        IndexUnreadable: the file is no database.
    """
    try:
        if index.with_name(f"{index.name}.lock").exists() or not index.is_file():
            return
        with index.open("rb") as file:
            head = file.read(HEAD)
    except OSError:
        return  # attaching it will report the error
    if head and head[HEAD - len(MARK) :] != MARK:
        problem = f'The file "{index}" exists, but it is not a valid DuckDB database file!'
        raise IndexUnreadable(index, problem)


class _Lock:
    """A lock on a file that is opened for each use, so that a deleted file is made again."""

    _made: ClassVar[weakref.WeakSet[_Lock]] = weakref.WeakSet()

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor: int | None = None
        self._signature: signature.Signature | None = None
        self._made.add(self)

    def take(self, *, shared: bool) -> bool:
        """Try once to take the lock. Read-only media have no lock and no writer."""
        descriptor = self._open()
        if descriptor is None:
            return True
        try:
            current = (
                safe_open.lock(descriptor, shared=shared)
                and os.fstat(descriptor).st_ino == os.stat(self.path).st_ino
            )
        except FileNotFoundError:
            current = False
        if not current:
            os.close(descriptor)
            return False
        self._descriptor = descriptor
        return True

    def release(self) -> None:
        if self._descriptor is not None:
            if self._signature is not None:
                signature.erase(self._descriptor, self._signature)
                self._signature = None
            safe_open.release(self._descriptor)
            self._descriptor = None

    @classmethod
    def release_inherited(cls) -> None:
        """Close the descriptor in a forked child, which would hold the lock until its end."""
        for lock in list(cls._made):
            lock._signature = None  # it is of the parent, which holds the lock still
            lock.release()

    def sign(self, *, alone: bool = True) -> None:
        """Write the name of this process to the lock file, where it has room."""
        if self._descriptor is not None:
            self._signature = signature.sign(self._descriptor, alone=alone)

    def holder(self) -> str | None:
        """Describe the processes that hold the lock, if they left their names."""
        return signature.holders(self.path)

    def _open(self) -> int | None:
        for flags in (os.O_RDWR | os.O_CREAT, os.O_RDONLY):
            try:
                return safe_open.opened(self.path, flags, 0o666)
            except safe_open.NotRegularFile as error:
                raise LockUnusable(self.path) from error
            except OSError:
                continue
        return None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_Lock.release_inherited)


def _taken(lock: _Lock) -> bool:
    """Try several times to take the lock, and return whether that succeeded."""
    for _ in range(JOB_LOCK_TRIES):
        if lock.take(shared=False):
            return True
        time.sleep(LOCK_POLL_SECONDS)
    return False


@contextmanager
def errand(index: Path, name: str) -> Iterator[None]:
    """Hold the lock of a job that only one process may run for an index.

    Raises:
        JobRunning: another one is at it.
        IndexNotWritable: the folder of the index cannot be made.
        IndexUnreadable: the file is no index.
    """
    check_kind(index)
    lock = _Lock(index.with_name(f"{index.name}.{name}"))
    try:
        index.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise IndexNotWritable(index, error.strerror or str(error)) from error
    if not _taken(lock):
        raise JobRunning(index, job=name, holder=lock.holder())
    lock.sign()
    try:
        yield
    finally:
        lock.release()


def is_at_work(index: Path, name: str) -> bool:
    """Check that some process runs such a job."""
    path = index.with_name(f"{index.name}.{name}")
    lock = _Lock(path)
    try:
        return path.exists() and not lock.take(shared=True)
    finally:
        lock.release()


@contextmanager
def dictionary(index: Path, *, shared: bool) -> Iterator[bool]:
    """Hold the lock of the word list: shared to keep words known, alone to forget some.

    Args:
        shared: keep words known, so that no process removes any. Else remove some, alone.

    Yields:
        True if the lock is held. A shared lock is waited for.

    Raises:
        IndexBusy: another process removes words, and has not ended in time.
    """
    lock = _Lock(index.with_name(f"{index.name}.words"))
    began = time.monotonic()
    taken = lock.take(shared=shared)
    while shared and not taken:
        cancellation.check()
        waited = time.monotonic() - began
        if waited > WORDS_TIMEOUT_SECONDS:
            raise IndexBusy(index, holder=lock.holder(), waited=waited)
        time.sleep(LOCK_POLL_SECONDS)
        taken = lock.take(shared=shared)
    if taken and not shared:
        lock.sign()
    try:
        yield taken
    finally:
        lock.release()


class FileLock:
    """The two locks of one index in this process: writer intent (door) and readers (room).

    Args:
        index: the index file; the locks stand beside it.
        patience: seconds to wait before giving up.
    """

    def __init__(self, index: Path, *, patience: float = 30.0) -> None:
        self._index = index
        self._patience = patience
        door = index.with_name(index.name + ".lock")
        self._door = _Lock(door)  # held by this process's writer
        self._passage = _Lock(door)  # held by this process's reader while it comes in
        self._glance = _Lock(door)  # held while a process checks the writer-intent lock
        self._looking = threading.Lock()  # both reads and long reads check it
        self._room = _Lock(index.with_name(index.name + ".readers"))
        self._alone = False
        self._last_turn = 0.0
        self._streak = 0.0  # start of the first of the writes right after each other

    def enter_to_read(self, began: float | None = None) -> None:
        """Take the shared reader lock.

        Args:
            began: when the waiting did, by the monotonic clock; now, if it has not.

        Raises:
            IndexBusy: no writer has released the file in time.
            IndexUnreadable: the file is no index.
        """
        check_kind(self._index)
        began = time.monotonic() if began is None else began
        self._wait(self._passage, began, shared=True)
        try:
            self._wait(self._room, began, shared=True)
        finally:
            self._passage.release()
        self._room.sign(alone=False)

    def leave(self) -> None:
        """Release the reader lock."""
        self._room.release()

    def shut(self, began: float | None = None) -> None:
        """Take the writer-intent lock, which holds off new readers and other writers.

        Args:
            began: see `enter_to_read`.

        Raises:
            IndexBusy: another writer has not released the file in time.
            IndexUnreadable: the file is no index.
        """
        check_kind(self._index)
        signature.get_ready()
        now = time.monotonic()
        rest = self._last_turn + WRITER_PAUSE_SECONDS - now
        if rest <= 0:
            self._streak = now
        elif now >= self._streak + STREAK_SECONDS:
            time.sleep(rest)
            self._streak = now + rest
        self._wait(self._door, began, shared=False)
        self._door.sign()

    def enter_to_write(self, began: float | None = None) -> None:
        """Take the reader lock alone. The writer-intent lock must be held.

        Args:
            began: see `enter_to_read`.

        Raises:
            IndexBusy: a reader did not leave in time.
        """
        self._wait(self._room, began, shared=False)
        self._alone = True

    def open(self) -> None:
        """End a write. Readers of this process keep their lock."""
        if self._alone:
            self._alone = False
            self._room.release()
        self._door.release()
        self._last_turn = time.monotonic()

    def is_shut(self) -> bool:
        """Check that a writer of another process holds or wants the file."""
        with self._looking:
            free = self._glance.take(shared=True)
            self._glance.release()
        return not free

    def writer(self, tries: int = 1) -> signature.WriterMark | None:
        """Return the mark of the process that writes or waits to write; None if there is none.

        Args:
            tries: to read it, if the process has not signed yet.
        """
        for _ in range(tries):
            if not self.is_shut():
                break
            if (mark := signature.mark(self._door.path)) is not None:
                return mark
            time.sleep(LOCK_POLL_SECONDS)
        return None

    def holder(self) -> str | None:
        """Describe the process that writes or waits to write."""
        return self._door.holder()

    def _wait(self, lock: _Lock, began: float | None, *, shared: bool) -> None:
        began = time.monotonic() if began is None else began
        pause = LOCK_POLL_SECONDS
        while not lock.take(shared=shared):
            cancellation.check()
            waited = time.monotonic() - began
            if waited > self._patience:
                raise IndexBusy(self._index, holder=lock.holder(), waited=waited)
            # Waiting processes should not all check at the same moment.
            time.sleep(pause * (0.75 + time.monotonic_ns() % 1000 / 2000))
            pause = min(pause * 1.3, 5 * LOCK_POLL_SECONDS)
