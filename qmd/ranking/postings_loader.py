"""Loader of postings into memory, in the background of a long-running process.

Searches do not wait for it: its own thread loads while statements answer, and stops as soon as a
writer waits. The loaded postings are discarded when the index changes.
"""

from __future__ import annotations

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

MOST = 300_000_000
"""Bytes up to which postings are held in memory."""

OCCURRENCE, WORD, DOCUMENT = 5, 150, 500
"""Bytes of an occurrence, a word and a document.

Measured: a million words take 150 MB, 200,000 documents 100.
"""

WORTH = 500_000
"""Occurrences that are loaded in the time that one search takes longer without them."""

MUCH = 4_000_000
"""Occurrences from which on DuckDB need not keep its pages of them as well."""


QUIET_NS = 500_000_000
"""Nanoseconds after a write before postings are loaded: a process that writes all the time makes
them useless at once. Measured with two such writers and four readers: a search takes a third less
without such loads."""


class Holder:
    """Loader that keeps the postings of an index in memory while that pays."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._turn = threading.RLock()  # closing may come in the midst of it: a finalizer
        self._reader: threading.Thread | None = None
        self._stop = Stop()
        self._missed = 0
        self._price = 1  # searches that reading is worth: at first as little as possible

    def missed(self) -> None:
        """Count a search without postings in memory; several make loading worthwhile."""
        self._missed += 1
        if self._missed > self._price and self._is_quiet():
            self.prepare()

    def _is_quiet(self) -> bool:
        """Check that no write has happened just now."""
        version = version_of(self._database.path)
        return version is None or not 0 <= time.time_ns() - version.changed < QUIET_NS

    def prepare(self) -> None:
        """Start loading, unless it is in progress."""
        with self._turn:
            if self._reader is not None:
                return
            self._missed = 0
            self._reader = threading.Thread(target=self._read, name="qmd-postings")
            try:
                self._reader.start()
            except RuntimeError as error:  # there are too many, or the process ends
                self._reader = None
                _note(error)

    def settle(self) -> None:
        """Wait for the end of loading, except in the loading thread."""
        with self._turn:
            reader = self._reader
        if reader is not None and reader.ident is not None and not self.is_reader:
            reader.join()

    @property
    def is_reader(self) -> bool:
        """True in the loader's own thread, which may close what is no longer needed."""
        return self._reader is threading.current_thread()

    def close(self) -> None:
        """Stop loading, and wait for its end."""
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
            _note(error)
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
        """Stop if a writer waits or the process ends.

        Raises:
            Stopped: that is so.
        """
        cancellation.check()
        ends = not threading.main_thread().is_alive()
        if ends or self._database.is_waited_for():
            raise Stopped


def _note(error: Exception) -> None:
    """Log why postings are not held; few processes need the module for it."""
    import logging

    logging.getLogger("qmd.ranking").debug("Postings are not held: %s", error)
