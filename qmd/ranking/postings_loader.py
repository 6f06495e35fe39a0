"""Loader of postings: maps the sidecar of the index, and makes it in the background.

The first search of a process maps a sidecar that is there. Where there is none, or one that does
not fit, searches do not wait: a thread makes it while statements answer, and stops as soon as a
writer waits. What is mapped fits one state of the index, and is discarded when that changes.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from qmd.errors import IndexNotWritable, JobRunning, QmdError
from qmd.storage import cancellation
from qmd.storage.cancellation import CURRENT, Stop, Stopped
from qmd.storage.cursor import Cursor, DatabaseError
from qmd.storage.file_version import SETTLED_NS, is_settled, version_of

if TYPE_CHECKING:
    from pathlib import Path

    from qmd.ranking.postings import Fit
    from qmd.ranking.postings_reader import MappedSegment
    from qmd.ranking.sidecar_file import Packer, SidecarFile
    from qmd.ranking.sidecar_format import Stamp
    from qmd.storage.database import Database

WORTH = 500_000
"""Occurrences that are read from the tables in the time that one search takes longer without."""

MUCH = 4_000_000
"""Occurrences from which on DuckDB need not keep its pages of them as well."""

LARGE = 20_000_000
"""Occurrences from which on an update makes the sidecar. Below, the first process that holds the
postings makes it in about a second beside its searches; in an update of 7,000,000 occurrences it
takes a tenth of the CPU time."""

BYTES = 4
"""Bytes of a sidecar for each occurrence, at least."""

UNSAVED = 60_000_000
"""Occurrences up to which postings are held by a process that cannot save them for all."""

TRIED = "sidecar"
"""Kind of the stamp of the last sidecar that was compared with the state of the index."""

QUIET_NS = 500_000_000
"""Nanoseconds after a write before a sidecar is made: a process that writes all the time changes
much of it at once. Measured with two such writers and four readers: a search takes a third less
without such loads."""


PAUSE = 3.0
"""Seconds for which a server that begins waits for its first search before it loads postings. Of a
small index, that search is through with the tables before numpy is loaded and a sidecar mapped."""

LEAD = 0.3
"""Seconds that the first search has the processor for itself."""

SMALL = 32_000_000
"""Bytes of a sidecar up to which a first search does without. Those of 10,000 pages have 28 MB."""


class Holder:
    """Loader that has the postings of an index mapped while that pays."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._reader = BackgroundReader(database, "qmd-postings")
        self._missed = 0
        self._price = 1  # searches that reading is worth: at first as little as possible
        self._file: SidecarFile | None = None
        self._known: tuple[Stamp, MappedSegment | None] | None = None
        self._mapping = threading.Lock()

    def missed(self, cursor: Cursor, counts: bool) -> None:
        """Map the sidecar for a search; count the search if that is not possible.

        Several such searches make it worthwhile to read all from the tables.

        Args:
            counts: see `bm25.mapped`.
        """
        if self._reader.is_pausing:
            self._reader.end_pause()
            return
        if self._map(cursor) or not counts:
            return
        self._missed += 1
        if self._missed > self._price and self._is_quiet():
            self.prepare()

    def _is_quiet(self) -> bool:
        """Check that no write has happened just now."""
        version = version_of(self._database.path)
        return version is None or not 0 <= time.time_ns() - version.changed < QUIET_NS

    def prepare(self) -> None:
        """Start loading, unless it is in progress."""
        self._missed = 0
        self._reader.prepare(self._load)

    def prepare_later(self) -> None:
        """Start loading a small sidecar after a pause, in which searches use the tables.

        Where there is none, do nothing: it is made as soon as `prepare` says so.
        """
        try:
            size = os.stat(self._sidecar_path).st_size
        except OSError:  # there is none yet
            return
        if size <= SMALL:
            self._reader.prepare(self._load, pause=PAUSE)

    def settle(self) -> None:
        """Wait for the end of loading, except in the loading thread."""
        self._reader.settle()

    @property
    def is_reader(self) -> bool:
        """True in the loader's own thread, which may close what is no longer needed."""
        return self._reader.is_own_thread

    def close(self) -> None:
        """Stop loading, and wait for its end."""
        self._reader.close()

    # -- the sidecar that is there ------------------------------------------------------

    def _map(self, cursor: Cursor) -> bool:
        """Hold the postings of the sidecar if it fits; return whether some are held."""
        from qmd.ranking import bm25, sidecar_format

        memory = cursor.memory
        if memory is None:
            return False
        with self._mapping:
            if bm25.held(cursor) is not None:
                return True
            stamp = sidecar_format.stamp_at(self._sidecar_path)
            if stamp == sidecar_format.NO_FILE or memory.held.get(TRIED) == stamp:
                return False
            memory.held[TRIED] = stamp
            known = self._sidecar(stamp)
            return known is not None and self._hold(cursor, stamp, known)

    @property
    def _sidecar_path(self) -> Path:
        from qmd.ranking import sidecar_format

        return sidecar_format.sidecar_path(self._database.path, sidecar_format.POSTINGS)

    @property
    def _sidecar_file(self) -> SidecarFile:
        """The file, whose module a process that ends after one search does not load."""
        if self._file is None:
            from qmd.ranking.sidecar_file import SidecarFile
            from qmd.ranking.sidecar_format import POSTINGS

            self._file = SidecarFile(self._database.path, POSTINGS)
        return self._file

    def _sidecar(self, stamp: Stamp, *, checked: Stamp = ()) -> MappedSegment | None:
        """Map the sidecar, once while it is the same file; None if the file is no sidecar.

        Args:
            checked: stamp of a file that was found whole.
        """
        from qmd.ranking import postings_reader

        if self._known is None or self._known[0] != stamp:
            try:
                packed = self._sidecar_file.mapped(checked=checked)
            except OSError as error:
                _note(error)
                packed = None
            is_checked = checked == stamp == self._sidecar_file.stamp()
            self._known = stamp, packed and postings_reader.unpacked(packed, checked=is_checked)
        return self._known[1]

    def _hold(self, cursor: Cursor, stamp: Stamp, known: MappedSegment) -> bool:
        """Hold the postings of a sidecar with what was added since; False if it does not fit."""
        from qmd.ranking import bm25, postings_reader

        memory = cursor.memory
        compared = postings_reader.compared(cursor, known)
        if compared is None and known.added:
            known = known._replace(added=())
            self._known = stamp, known
            compared = postings_reader.compared(cursor, known)
        if memory is None or compared is None or postings_reader.is_much(known, compared):
            return False
        try:
            known, gone = postings_reader.extended(cursor, known, compared)
        except postings_reader.NotWhole:
            memory.missed = None
            return False
        self._known = stamp, known
        postings = postings_reader.inverted(known, gone)
        bm25.hold(cursor, postings)
        memory.stands_for_file |= postings.occurrences > MUCH
        memory.sheds.append(known.release)
        return True

    # -- a new one ----------------------------------------------------------------------

    def renew(self) -> None:
        """Make the sidecar of a large index, if there is none or much has changed.

        This takes a tenth of the time that it takes to index the texts. It is left to others if a
        writer waits. That the sidecar fits is noted with the facts of the index, for commands.

        Raises:
            Stopped: the caller has cancelled.
        """
        self._reader.run(self._renew, sparing=True)
        cancellation.check()

    def note_fit(self) -> None:
        """Note that the sidecar of a large index fits, as `renew` does; no new one is made.

        Raises:
            Stopped: the caller has cancelled.
        """
        from qmd.ranking import sidecar_format

        stamp = sidecar_format.stamp_at(self._sidecar_path)
        if stamp and stamp[2] >= LARGE * BYTES:
            self._reader.run(partial(self._renew, makes=False), sparing=True)
            cancellation.check()

    def _renew(self, cursor: Cursor, *, makes: bool = True) -> None:
        from qmd.ranking.postings import FIT, Fit

        facts = cursor.memory.facts if cursor.memory else None
        if not makes:
            noted = facts.known(FIT, Fit.of) if facts is not None else None
            if facts is None or (noted and noted.stamp == self._sidecar_file.stamp()):
                return
        [(documents, occurrences, _)] = cursor.run("held/size")
        if not documents or occurrences < LARGE:
            return
        fit = self._fit(cursor)
        if fit is None and makes:
            self._made(cursor)
            fit = self._fit(cursor)
        if facts is not None and fit is not None and fit.stamp:
            facts.note(FIT, fit)

    def _fit(self, cursor: Cursor) -> Fit | None:
        """Compare the sidecar with the tables; None if a new one is better.

        That a file is whole, and was noted of an earlier state of the index, is true of this one.
        """
        from qmd.ranking import postings_reader
        from qmd.ranking.postings import FIT, Fit
        from qmd.ranking.sidecar_format import NO_FILE, TIMES

        stamp = self._sidecar_file.stamp()
        changed = max(stamp[-TIMES:], default=0)
        if not is_settled(changed):
            time.sleep(SETTLED_NS / 1e9)
        is_told_apart = is_settled(changed)  # another file would have another stamp
        facts = cursor.memory.facts if cursor.memory else None
        noted = facts and facts.earlier(FIT, Fit.of)
        known = self._sidecar(stamp, checked=noted.stamp if noted else NO_FILE)
        known = known and known._replace(added=())
        compared = known and postings_reader.compared(cursor, known)
        if known is None or compared is None or postings_reader.is_much(known, compared):
            return None
        return Fit(stamp if is_told_apart else NO_FILE, compared.gone.tolist(), compared.since)

    def _load(self, cursor: Cursor) -> None:
        """Hold the postings of the sidecar, or make one that fits."""
        memory = cursor.memory
        [(documents, occurrences, _)] = cursor.run("held/size")
        self._price = 1 + occurrences // WORTH
        if memory is None or self._map(cursor):
            return
        if not documents:
            memory.missed = None
            return
        made = self._made(cursor, unsaved=occurrences <= UNSAVED)
        if made is not None:
            with self._mapping:
                self._hold(cursor, *made)

    def _made(self, cursor: Cursor, *, unsaved: bool = False) -> tuple[Stamp, MappedSegment] | None:
        """Make the sidecar.

        Args:
            unsaved: where no file can be saved, make it for this process alone.

        Returns:
            None if another process is at it, or it cannot be held.

        Raises:
            OSError: no file can be written.
        """
        from qmd.ranking import postings_reader

        def write(packer: Packer) -> None:
            postings_reader.pack(cursor, packer, goes_on=self._reader.check)

        try:
            try:
                packed = self._sidecar_file.save(write)
            except (OSError, IndexNotWritable) as error:
                if not unsaved:
                    raise
                _note(error)
                packed = self._sidecar_file.unsaved(write)
        except JobRunning:
            return None
        except postings_reader.NotWhole:
            if cursor.memory is not None:
                cursor.memory.missed = None
            return None
        known = packed and postings_reader.unpacked(packed)
        # Also if it is in no file: until there is another one.
        stamp = self._sidecar_file.stamp()
        self._known = stamp, known
        return None if known is None else (stamp, known)


class BackgroundReader:
    """Reads of the index that a thread runs besides, one at a time.

    Args:
        name: of the thread.

    Attributes:
        is_pausing: a read is to begin soon.
        failed: the last read could not do what it should.
        stopped: reads that were stopped one after the other, such as by writers.
    """

    def __init__(self, database: Database, name: str) -> None:
        self._database = database
        self._name = name
        self._turn = threading.RLock()  # closing may come in the midst of it: a finalizer
        self._thread: threading.Thread | None = None
        self._stop = Stop()
        self._searched, self._hurry = threading.Event(), threading.Event()
        self.is_pausing = False
        self.failed = False
        self.stopped = 0

    def prepare(self, work: Callable[[Cursor], None], *, pause: float = 0) -> None:
        """Start a read, unless one is in progress.

        Args:
            pause: seconds to wait first; see `end_pause`.
        """
        with self._turn:
            if self._thread is not None:
                return
            self._searched.clear()
            self._hurry.clear()
            self.is_pausing = pause > 0
            given = work, pause
            self._thread = threading.Thread(target=self._run_aside, args=given, name=self._name)
            try:
                self._thread.start()
            except RuntimeError as error:  # there are too many, or the process ends
                self._thread = None
                self.is_pausing = False
                _note(error)

    def end_pause(self) -> None:
        """Begin a read that waits for the first search in a moment, as that has come."""
        self._searched.set()

    def settle(self) -> None:
        """Wait for the end of the read, except in its own thread."""
        with self._turn:
            thread = self._thread
        if thread is not None and thread.ident is not None and not self.is_own_thread:
            self._searched.set()
            self._hurry.set()
            thread.join()

    @property
    def is_own_thread(self) -> bool:
        """True in the thread of the read."""
        return self._thread is threading.current_thread()

    def close(self) -> None:
        """Stop the read, and wait for its end."""
        self._stop.ask()
        self.settle()
        self._stop = Stop()

    def run(self, work: Callable[[Cursor], None], *, sparing: bool = False) -> None:
        """Run a read in this thread. What goes wrong is logged: searches do without it.

        Args:
            sparing: with little memory for DuckDB; see `Database.sparingly`.
        """
        read = partial(self._database.read, work, aside=True)
        try:
            if sparing:
                self._database.sparingly(read)
            else:
                read()
        except Stopped:
            self.stopped += 1
        except (QmdError, DatabaseError, MemoryError, OSError) as error:
            self.failed = not isinstance(error, JobRunning)
            _note(error)
        else:
            self.failed, self.stopped = False, 0

    def check(self) -> None:
        """Stop if a writer waits or the process ends.

        Raises:
            Stopped: a writer waits, or the process ends.
        """
        cancellation.check()
        ends = not threading.main_thread().is_alive()
        if ends or self._database.is_waited_for():
            raise Stopped

    def _run_aside(self, work: Callable[[Cursor], None], pause: float) -> None:
        token = CURRENT.set(self._stop)
        try:
            if pause and self._searched.wait(pause):
                self._hurry.wait(LEAD)
            self.is_pausing = False
            self.run(work)
        finally:
            CURRENT.reset(token)
            self._thread = None


def _note(error: Exception) -> None:
    """Log why a sidecar is not used or made; few processes need the module for it."""
    import logging

    logging.getLogger("qmd.ranking").debug("No sidecar: %s", error)
