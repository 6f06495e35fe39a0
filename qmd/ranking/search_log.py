"""Search log: one JSON line for each search or opened document, in a file beside the index.

The log is not in the index itself, where searches would have to wait for writers, and writers for
searches. Any number of processes append, each line with one system call. A large file becomes the
older of two and replaces the previous one, so that the log is bounded.

    index.duckdb.searches.jsonl
    index.duckdb.searches.1.jsonl    the older one
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from contextvars import ContextVar
from datetime import UTC, datetime
from pathlib import Path

from qmd import safe_open
from qmd.named_tuple import NamedTuple
from qmd.storage.cursor import Cursor

SETTING = "query_log"

WANTED: ContextVar[bool] = ContextVar("WANTED", default=True)
"""False: a search of this context is not logged, as of a page that searches at each key."""

LARGEST = 8 << 20
"""Bytes of a file: about 20,000 searches."""

LONGEST = 2000
"""Characters of a query in the log."""

MOST = 100
"""Results of a search in the log."""


class LoggedSearch(NamedTuple):
    """A search in progress.

    Attributes:
        verb: search, vsearch or query.
        collections: that it looks into; None: those that searches look into by default.
        at: when it began, in seconds since 1970.
        began: the same, of a clock that is never set.
    """

    verb: str
    query: str
    collections: tuple[str, ...] | None
    limit: int
    at: float
    began: float


def begin(verb: str, query: str, collections: tuple[str, ...] | None, limit: int) -> LoggedSearch:
    """Start the log entry of a search."""
    return LoggedSearch(verb, query, collections, limit, time.time(), time.perf_counter())


class Log:
    """The search log of one index.

    Args:
        index: the index file.
    """

    def __init__(self, index: Path) -> None:
        self._file = index.with_name(f"{index.name}.searches.jsonl")
        self._older = index.with_name(f"{index.name}.searches.1.jsonl")

    @property
    def files(self) -> tuple[Path, Path]:
        """The older file and the current one, whether they exist or not."""
        return self._older, self._file

    def add(self, search: LoggedSearch, found: Sequence[str]) -> None:
        """Append a search. A failure to write does not affect the search.

        Args:
            found: files, best first.
        """
        line = {
            "searched_at": datetime.fromtimestamp(search.at, UTC).isoformat(
                timespec="milliseconds"
            )[:-6],
            "verb": search.verb,
            "query": search.query[:LONGEST],
            "collections": search.collections,
            "at_most": search.limit,
            "milliseconds": round((time.perf_counter() - search.began) * 1000, 2),
            "results": len(found),
            "found": found[:MOST],
        }
        self._add(line)

    def opened(self, file: str) -> None:
        """Append that a document was read: after a search, a sign that it was the right one.

        Args:
            file: `collection/path`.
        """
        now = datetime.now(UTC).isoformat(timespec="milliseconds")[:-6]
        self._add({"opened_at": now, "file": file})

    def _add(self, line: Mapping[str, object]) -> None:
        data = json.dumps(line, separators=(",", ":")).encode() + b"\n"
        with suppress(OSError):  # a read-only folder, or a full disk
            self._append(data)

    def _append(self, data: bytes) -> None:
        descriptor = safe_open.opened(self._file, os.O_RDWR | os.O_APPEND | os.O_CREAT)
        try:
            size = os.fstat(descriptor).st_size
            if size and safe_open.read_at(descriptor, 1, size - 1) != b"\n":
                # A full disk has cut the last line; or another process is writing it, and an empty
                # line stands between the two.
                data = b"\n" + data
            os.write(descriptor, data)
            if size + len(data) > LARGEST:
                self._put_away(descriptor)
        finally:
            os.close(descriptor)

    def _put_away(self, descriptor: int) -> None:
        """Make the file the older one, unless another process has just done that."""
        safe_open.lock(descriptor, wait=True)
        if os.fstat(descriptor).st_ino == self._file.stat().st_ino:
            self._file.replace(self._older)

    def lines(self) -> list[str]:
        """Read all lines, the oldest first. The last one may be cut off."""
        found: list[str] = []
        for file in self.files:
            with suppress(OSError), os.fdopen(safe_open.opened(file, os.O_RDONLY), "rb") as opened:
                found += filter(None, opened.read().decode(errors="replace").splitlines())
        return found


def is_kept(cursor: Cursor) -> bool:
    """Check that searches are logged, as index.yml says."""
    return cursor.fact("log", lambda: not cursor.run("store/setting", name=SETTING), bool)


def keep(cursor: Cursor, *, on: bool) -> None:
    """Switch the logging of searches on or off."""
    cursor.run("store/forget_setting", name=SETTING)
    if not on:
        cursor.run("store/set_setting", name=SETTING, value="off")
