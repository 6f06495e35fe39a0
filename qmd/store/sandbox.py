"""A DuckDB of its own for one query of a person: it can read the index, and do nothing else.

What locks an engine down holds for all of it and cannot be undone, so each query has its own,
which is thrown away. In this order:

1. The statement is read (`trees`): it has to be one query, without functions that could do more.
2. The index is attached for reading, views and what searches found are put beside it.
3. Files are shut out, unless they were allowed, and settings are locked.
4. The query runs, within its time and memory, and its answer is kept. If it takes long and
   somebody wants to write, it is stopped, to be asked again of a copy.
5. The index is let go: whoever reads the answer slowly holds up nobody.
"""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import _duckdb

from qmd.errors import IndexFailure, SqlError, SqlTimeout, UsageError
from qmd.store import stopping, trees, workplaces
from qmd.store.cursor import Connection, Cursor, DatabaseError, as_json, connected
from qmd.store.query_answer import Answer
from qmd.store.statements import bare, filled
from qmd.store.views import View, needed, views
from qmd.text.visible import shown

if TYPE_CHECKING:
    from qmd.store.calls import Parameters
    from qmd.store.trees import Request

SPILL = "10GB"
"""What a query may write to disk while it runs, at most."""

GRACE = 5.0
"""Seconds after its time that a query has to stop: most do within milliseconds, but none while
a single function works on a single value."""

UNDISTURBED = 3.0
"""Seconds that a query has before it gives way to somebody who wants to write."""

LOOK = 0.1
"""Seconds between two looks at whether somebody does."""

LONGEST = 2000
"""Characters of an error that are shown."""

_OF_THE_QUERY = tuple(f"{kind} Error: " for kind in ("Parser", "Syntax", "Catalog", "Binder"))
"""Errors that quote the query and names, in lines of DuckDB's own, but no values."""

_PLACE = re.compile(r"\n\nLINE \d+: [^\n]*\n *\^\Z")

LEAST, LEAST_BYTES = "32MB", 32_000_000
"""Memory of the smallest query: with less, DuckDB gets as far as a constant, but not through some
views of a few documents."""

UNCOUNTED = 512 << 20
"""Bytes that an engine takes besides those that it counts: threads, parts of files, plans."""

_SIZE = re.compile(r"(\d+(?:\.\d+)?) *([KMGT])(i?)B", re.I)
_FAR = re.compile(r"File (\S+) requires the extension")
_OF_DISK = "max_temp_directory_size"
"""What DuckDB names if it is the disk that has no more room for a query."""

_LINE = re.compile(r"^LINE (\d+):", re.M)


class Limits(NamedTuple):
    """What a query may use.

    Attributes:
        timeout: seconds.
        memory: as DuckDB writes it; more goes to disk, up to `SPILL`.
        files: whether it may read files.
        overdue: for a process that is there for this query alone. It ends the process: it is
            called if the query has not stopped `GRACE` seconds after its time. The operating
            system bounds the memory of such a process, too.
    """

    timeout: float = 60.0
    memory: str = "1GB"
    files: bool = False
    overdue: Callable[[], None] | None = None


class GaveWay(Exception):
    """A query was stopped, since somebody wants to write. It may be asked again elsewhere."""


class Found(NamedTuple):
    """A document that a search found. Its fields are the columns of `found`."""

    call: int
    rank: int
    score: float
    docid: str
    file: str
    collection: str
    path: str
    title: str
    line: int
    snippet: str


class Sandbox:
    """A DuckDB for one query.

    Args:
        index: the index file; not touched before `answer`.

    Raises:
        UsageError: the limits make no sense.
    """

    def __init__(self, index: Path, limits: Limits) -> None:
        size = _SIZE.fullmatch(limits.memory.strip())
        if size is None:
            raise UsageError(f"'{limits.memory}' is no size of memory. Write it as 500MB or 4GB.")
        self._memory = _bytes(size)
        if self._memory < LEAST_BYTES:
            raise UsageError(
                f"{limits.memory} of memory is too little: a query needs at least {LEAST}."
            )
        if self._memory >= 1 << 62:
            raise UsageError(f"{limits.memory} of memory is more than there can be.")
        if not limits.timeout > 0:
            raise UsageError(f"A query needs some time: {limits.timeout:g} seconds are none.")
        workplaces.sweep(index)
        self._index = index
        self._limits = limits
        self._connection: Connection = connected(
            {
                "memory_limit": limits.memory,
                "temp_directory": str(workplaces.spill(index)),
                "autoinstall_known_extensions": "false",
                "autoload_known_extensions": "false",
                "allow_community_extensions": "false",
                "allow_persistent_secrets": "false",
                "python_enable_replacements": "false",
            }
        )
        self._connection.execute(filled("sandbox/bound_disk", most=SPILL))
        self._cursor = Cursor(self._connection)

    def close(self) -> None:
        """Throw it away, with the answer."""
        self._connection.close()

    def read(self, text: str, parameters: Parameters) -> Request:
        """The statement, and the searches that have to be made before it runs.

        Raises:
            SqlError: it is not one query, or would do what a query may not.
        """
        reader = trees.Reader(
            self._cursor,
            functions=frozenset(view.name for view in views() if view.is_macro),
            files=self._limits.files,
            index=self._index,
        )
        with self._enough():
            return reader.request(text, parameters)

    def answer(
        self,
        request: Request,
        parameters: Parameters,
        found: Sequence[Found],
        log: Sequence[str],
        attach: Callable[[Connection], None],
        check: Callable[[Cursor], None],
        wanted: Callable[[], bool] = lambda: False,
    ) -> Answer:
        """Run a statement and keep what it gives. Once only.

        Args:
            found: what the searches of the request found.
            log: lines of the log of searches, if it is read.
            attach: attaches the index.
            check: is given the index first; what it raises is raised, and it may be tried again.
            wanted: whether somebody wants to write to the index; called in another thread.

        Raises:
            SqlError: the query cannot be answered, or not within its limits.
            GaveWay: it was stopped, since it ran for long while somebody wants to write.
        """
        with self._enough():
            attach(self._connection)
            try:
                self._cursor.run("store/use")
                try:
                    check(self._cursor)
                finally:
                    self._cursor.run("sandbox/use")
                self._furnish(request, found, log)
                self._lock()
                stop = stopping.CURRENT.get()
                with stop.over(self._connection) if stop else nullcontext(), self._in_words():
                    self._run(request, parameters, wanted)
            finally:
                self._cursor.run("store/detach")
            return Answer(self._cursor, enough=self._enough, done=self.close)

    def _furnish(self, request: Request, found: Sequence[Found], log: Sequence[str]) -> None:
        """Make the views, and put what searches found where they look for it."""
        for name in ("schema", "calls", "found", "searches"):
            self._cursor.run(f"sandbox/{name}")
        for view in _wanted(request):
            self._connection.execute(view.text)
        if request.calls:
            rows = [
                {
                    "call": number,
                    "search": call.search,
                    "query_text": call.query,
                    "at_most": call.n,
                    "among": call.collection,
                }
                for number, call in enumerate(request.calls)
            ]
            self._cursor.run("sandbox/add_calls", calls=as_json(rows))
            rows = [each._asdict() for each in found]
            self._cursor.run("sandbox/add_found", found=as_json(rows))
        if log:
            self._cursor.run("sandbox/add_searches", lines=as_json(list(log)))

    def _lock(self) -> None:
        if not self._limits.files:
            self._cursor.run("sandbox/shut_out_files")
        self._cursor.run("sandbox/lock")

    def _run(self, request: Request, parameters: Parameters, wanted: Callable[[], bool]) -> None:
        text = bare(f"sandbox/{request.manner}").replace("$query", request.query)
        given = dict(parameters) if isinstance(parameters, Mapping) else list(parameters)
        with self._bounded(), self._within(self._limits.timeout, wanted):
            done = self._connection.execute(text, given or None)
            if request.manner.startswith("explain"):
                plans = [
                    {"explain_key": key, "explain_value": value} for key, value in done.fetchall()
                ]
                self._cursor.run("sandbox/answer_explained", plans=as_json(plans))

    @contextmanager
    def _bounded(self) -> Iterator[None]:
        """Let the system refuse memory that DuckDB does not count: that of one long text, say."""
        used = _address_space()
        if self._limits.overdue is None or used is None:
            yield
            return
        import resource

        before = resource.getrlimit(resource.RLIMIT_AS)
        wanted = used + 2 * self._memory + UNCOUNTED
        if before[0] == resource.RLIM_INFINITY or wanted < before[0]:
            resource.setrlimit(resource.RLIMIT_AS, (wanted, before[1]))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_AS, before)

    @contextmanager
    def _within(self, seconds: float, wanted: Callable[[], bool]) -> Iterator[None]:
        """Stop what runs when its time is up, or when it has had some and somebody waits."""
        done = threading.Event()
        reason: list[Exception] = []
        end = time.monotonic() + seconds

        def watch() -> None:
            pause = min(seconds, UNDISTURBED)
            while not reason:
                if done.wait(pause):
                    return
                left = end - time.monotonic()
                if left <= 0:
                    reason.append(SqlTimeout(seconds))
                elif wanted():
                    reason.append(GaveWay())
                pause = min(left, LOOK)
            # Again and again: what has not begun cannot be stopped.
            while not done.wait(0.05):
                self._connection.interrupt()
                if self._limits.overdue is not None and time.monotonic() > end + GRACE:
                    self._limits.overdue()

        watcher = threading.Thread(target=watch, name="qmd-sql-timeout", daemon=True)
        watcher.start()
        try:
            yield
        except stopping.Interrupted as error:
            if reason:
                raise reason[0] from error
            raise
        finally:
            done.set()
            watcher.join()

    @contextmanager
    def _enough(self) -> Iterator[None]:
        """Say so if there is not enough memory, for the query or for what has to be made for it."""
        try:
            yield
        except (_duckdb.OutOfMemoryException, IndexFailure) as error:
            # An index for which there is not enough of it has not been read, either.
            if isinstance(error, IndexFailure) and not isinstance(
                error.__cause__, _duckdb.OutOfMemoryException
            ):
                raise
            disk = f", and {SPILL} on disk" if _OF_DISK in str(error.__cause__ or error) else ""
            raise SqlError(
                f"The query needs more than {self._limits.memory} of memory{disk}.\n\n"
                "Ask for less, or allow it more with --memory SIZE. In Python: memory=SIZE."
            ) from error

    @contextmanager
    def _in_words(self) -> Iterator[None]:
        """Turn what DuckDB says of a query into what can be told to the person who asked it."""
        try:
            yield
        except stopping.Interrupted:
            raise
        except _duckdb.OutOfMemoryException:
            raise
        except DatabaseError as error:
            if far := _FAR.search(str(error)):
                raise trees.not_here(far[1]) from error
            raise SqlError(_own_lines(_told(str(error)))) from error


def _wanted(request: Request) -> list[View]:
    """The views that a statement reads: to make all takes longer than most queries.

    All, if it may look at what there is, or if a mistake is to be told with the names there are.
    """
    known = {view.name for view in views()}
    if request.manner == "answer_shown" or not request.names <= known | request.own:
        return list(views())
    names = needed(request.names)
    return [view for view in views() if view.name in names]


def vocabulary() -> list[str]:
    """Functions and keywords that a query may have."""
    connection = connected()
    try:
        return [name for (name,) in Cursor(connection).run("sandbox/functions")]
    finally:
        connection.close()


def _told(problem: str) -> str:
    """What DuckDB says. Where it may quote values of documents, that is one line and the place."""
    if problem.startswith(_OF_THE_QUERY):
        return problem
    place = _PLACE.search(problem)
    end = place.start() if place else len(problem)
    return shown(problem[:end], most=LONGEST) + problem[end:]


def _own_lines(problem: str) -> str:
    """What DuckDB says, with lines counted in the text of the query: one stands before it."""
    return _LINE.sub(lambda found: f"LINE {int(found[1]) - 1}:", problem)


def _bytes(size: re.Match[str]) -> int:
    """A size as DuckDB writes it: KB are 1000, KiB are 1024."""
    step = 1024 if size[3] else 1000
    return int(float(size[1]) * step ** ("KMGT".index(size[2].upper()) + 1))


def _address_space() -> int | None:
    """Bytes that this process has mapped; None where the system does not tell."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except OSError:
        return None
    return pages * os.sysconf("SC_PAGE_SIZE")
