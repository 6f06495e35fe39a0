"""When postings are read into memory: in a process that stays, for searches to come.

Searches do not wait for it: a thread of its own reads while statements answer, and leaves off as
soon as somebody wants to write. What it has read goes with the state of the index that it is of.
"""

from __future__ import annotations

import logging
import threading
import time
from typing import TYPE_CHECKING

from qmd.errors import QmdError
from qmd.storage import cancellation
from qmd.storage.cancellation import CURRENT, Stop, Stopped
from qmd.storage.cursor import Cursor, DatabaseError
from qmd.storage.file_version import version_of

if TYPE_CHECKING:
    from qmd.storage.database import Database

_log = logging.getLogger("qmd.ranking")

MOST = 300_000_000
"""Bytes up to which postings are held."""

OCCURRENCE, WORD, DOCUMENT = 5, 150, 500
"""Bytes that each takes. Measured: a million words take 150 MB, 200,000 documents 100."""

WORTH = 500_000
"""Occurrences that are read in the time that one search takes longer without them."""

MUCH = 4_000_000
"""Occurrences from which on DuckDB need not hold its pages of them as well."""


QUIET_NS = 500_000_000
"""Nanoseconds after a write until postings are read: who writes without a pause makes them useless
as soon as they are there. Measured with two such writers and four readers: a search takes a third
less when nobody reads for nothing."""


class Holder:
    """Has the postings of an index in memory, while it is worth it."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._turn = threading.RLock()  # closing may come in the midst of it: a finalizer
        self._reader: threading.Thread | None = None
        self._stop = Stop()
        self._missed = 0
        self._price = 1  # searches that reading is worth: at first as little as possible

    def missed(self) -> None:
        """Note that a search has had to ask the file; several make it worth to read all."""
        self._missed += 1
        if self._missed > self._price and self._is_quiet():
            self.prepare()

    def _is_quiet(self) -> bool:
        """Whether nobody has written just now."""
        version = version_of(self._database.path)
        return version is None or not 0 <= time.time_ns() - version.changed < QUIET_NS

    def prepare(self) -> None:
        """Begin to read what searches need, unless that is under way."""
        with self._turn:
            if self._reader is not None:
                return
            self._missed = 0
            self._reader = threading.Thread(target=self._read, name="qmd-postings")
            try:
                self._reader.start()
            except RuntimeError as error:  # there are too many, or the process ends
                self._reader = None
                _log.debug("Postings are not held: %s", error)

    def settle(self) -> None:
        """Wait until nothing is being read; who reads does not wait for itself."""
        with self._turn:
            reader = self._reader
        if reader is not None and reader.ident is not None and not self.is_reader:
            reader.join()

    @property
    def is_reader(self) -> bool:
        """Whether this is the thread that reads: what nobody needs any more may be closed in it."""
        return self._reader is threading.current_thread()

    def close(self) -> None:
        """Leave off, and wait for that."""
        self._stop.ask()
        self.settle()
        self._stop = Stop()

    def _read(self) -> None:
        token = CURRENT.set(self._stop)
        try:
            self._database.read(self._hold, aside=True)
        except Stopped:
            pass
        except (QmdError, DatabaseError, MemoryError) as error:
            _log.debug("Postings are not held: %s", error)
        finally:
            CURRENT.reset(token)
            self._reader = None

    def _hold(self, cursor: Cursor) -> None:
        from qmd.ranking import bm25

        memory = cursor.memory
        [(documents, occurrences, words)] = cursor.run("held/size")
        self._price = 1 + occurrences // WORTH
        if memory is None or bm25.held(cursor) is not None:
            return
        size = occurrences * OCCURRENCE + words * WORD + documents * DOCUMENT
        if not documents or size > MOST:
            memory.missed = None
            return
        from qmd.ranking import postings_reader

        try:
            bm25.hold(cursor, postings_reader.read(cursor, goes_on=self._check))
        except postings_reader.NotWhole:
            memory.missed = None
            return
        memory.stands_for_file |= occurrences > MUCH

    def _check(self) -> None:
        """Go on only if nobody wants to write, and the process does not end.

        Raises:
            Stopped: that is so.
        """
        cancellation.check()
        ends = not threading.main_thread().is_alive()
        if ends or self._database.is_waited_for():
            raise Stopped
