"""Sandboxed DuckDB for one query of a user: read-only, without file access.

The lockdown of an engine applies to all of it and cannot be undone, so each query has its own
engine, which is discarded. It lives in a separate process with limits (`sandbox_workers`). The
steps:

1. Check the statement (`statement_check`): one query, without dangerous functions.
2. Attach the index for reading; create the views and the tables of search results.
3. Disable file access, unless it is allowed, and lock the settings.
4. Run the query, and keep its result.
5. Detach the index, so that slow reading of the result delays no writer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import _duckdb

from qmd.analytics import statement_check
from qmd.analytics.duckdb_messages import without_advice
from qmd.analytics.query_result import SandboxRows
from qmd.analytics.resolved_links import LINKS, attach_links
from qmd.analytics.views import View, needed, views
from qmd.errors import IndexFailure, SqlError, SqlOutOfMemory, UsageError
from qmd.named_tuple import NamedTuple
from qmd.storage import scratch
from qmd.storage.cursor import Connection, Cursor, DatabaseError, as_json, connected
from qmd.storage.statements import filled, without_header
from qmd.visible import shown

if TYPE_CHECKING:
    from qmd.analytics.heading import Heading
    from qmd.analytics.search_calls import Parameters
    from qmd.analytics.statement_check import CheckedStatement

MAX_SPILL = "10GB"
"""Disk space of a running query, at most."""

MAX_ERROR_LENGTH = 2000
"""Characters of an error that are shown."""

_OF_THE_QUERY = tuple(f"{kind} Error: " for kind in ("Parser", "Syntax", "Catalog", "Binder"))
"""Errors that quote the query and names in DuckDB's lines, but no values."""

_PLACE = re.compile(r"\n\nLINE \d+: [^\n]*\n *\^\Z")

LEAST, LEAST_BYTES = "32MB", 32_000_000
"""Memory of the smallest query: with less, DuckDB can run a constant, but not some views of a few
documents."""

LOOKED_UP = 1000
"""Rows up to which a join looks up the key of each in the index of the other table: the texts of a
few documents are read, and not all texts. DuckDB's own 50 are less than what links need."""

ROW_SHARE = 8
"""Share of its memory that a row of a result may take as text: it is copied while it is written."""

_SIZE = re.compile(r"(\d+(?:\.\d+)?) *([KMGT])(i?)B", re.I)
_FAR = re.compile(r"File (\S+) requires the extension")
_OF_DISK = "max_temp_directory_size"
"""Name in DuckDB's message when the disk space is used up."""

_LINE = re.compile(r"^LINE (\d+):", re.M)


class Limits(NamedTuple):
    """Limits of a query.

    Attributes:
        timeout: seconds.
        memory: as DuckDB writes it; more goes to disk.
        files: whether it may read files.
        disk: what it may write there, as DuckDB writes it.
    """

    timeout: float = 60.0
    memory: str = "1GB"
    files: bool = False
    disk: str = MAX_SPILL

    def check(self) -> None:
        """Refuse limits that make no sense.

        Raises:
            UsageError: they do not.
        """
        if _SIZE.fullmatch(self.memory.strip()) is None:
            raise UsageError(f"'{self.memory}' is no size of memory. Write it as 500MB or 4GB.")
        if memory_of(self) < LEAST_BYTES:
            raise UsageError(
                f"{self.memory} of memory is too little: a query needs at least {LEAST}."
            )
        if memory_of(self) >= 1 << 62:
            raise UsageError(f"{self.memory} of memory is more than there can be.")
        if not self.timeout > 0:
            raise UsageError(f"A query needs some time: {self.timeout:g} seconds are none.")


class Outdated(Exception):
    """The tables of the index need an update by these settings or this version of qmd."""


class SearchRow(NamedTuple):
    """A search result as a row of SQL; its fields are the columns of `found`."""

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


class GatheredTable(NamedTuple):
    """Rows of several indexes, under the name of a view or of a table.

    Attributes:
        columns: names and types.
        parts: rows of each index, as streams of Arrow.
        is_view: the rows are those of a view.
    """

    name: str
    columns: tuple[Heading, ...]
    parts: list[bytes]
    is_view: bool = True


class Sandbox:
    """A DuckDB for one query.

    Args:
        index: the index file; not touched before `answer`.
        limits: see `Limits.check`.
        spill: the folder for what does not fit into memory; made when it is needed.
    """

    def __init__(self, index: Path, limits: Limits, spill: Path) -> None:
        scratch.sweep(index)
        self._index = index
        self._limits = limits
        self._spill = spill
        self._connection: Connection = connected(
            {
                "memory_limit": limits.memory,
                "temp_directory": str(spill),
                "autoinstall_known_extensions": "false",
                "autoload_known_extensions": "false",
                "allow_community_extensions": "false",
                "allow_persistent_secrets": "false",
                "python_enable_replacements": "false",
                "dynamic_or_filter_threshold": str(LOOKED_UP),
            }
        )
        self._connection.execute(filled("sandbox/bound_disk", most=limits.disk))
        self._cursor = Cursor(self._connection)

    def close(self) -> None:
        """Discard the sandbox with its result."""
        self._connection.close()
        with suppress(OSError):  # there is none, or another engine's data are in it
            self._spill.rmdir()

    def read(self, text: str, parameters: Parameters) -> CheckedStatement:
        """Parse the statement, and list the searches to make before it runs.

        Raises:
            SqlError: it is not one query, or would do what a query may not.
        """
        reader = statement_check.StatementChecker(
            self._cursor,
            functions=frozenset(view.name for view in views() if view.is_macro),
            files=self._limits.files,
            index=self._index,
        )
        with self._enough():
            return reader.request(text, parameters)

    def answer(
        self,
        request: CheckedStatement,
        parameters: Parameters,
        found: Sequence[SearchRow],
        log: Sequence[str],
        attach: Callable[[Connection], None],
        check: Callable[[Cursor], None],
    ) -> SandboxRows:
        """Run a statement and keep what it gives. Once only.

        Args:
            found: what the searches of the request found.
            log: lines of the log of searches, if it is read.
            attach: attaches the index.
            check: callback with the index; after its error, another try is possible.

        Raises:
            SqlError: the query cannot be answered, or not within its limits.
        """
        with self._enough():
            attach(self._connection)
            try:
                self._cursor.run("store/use")
                try:
                    check(self._cursor)
                finally:
                    self._cursor.run("sandbox/use")
                self._furnish(request, found, log, _wanted(request), keeps=True)
                self._lock()
                with self._in_words():
                    self._run(request, parameters)
            finally:
                self._cursor.run("store/detach")
            return SandboxRows(
                self._cursor, self._told, widest=memory_of(self._limits) // ROW_SHARE
            )

    def merge(
        self,
        request: CheckedStatement,
        parameters: Parameters,
        found: Sequence[SearchRow],
        tables: Sequence[GatheredTable],
        across: Sequence[str] = (),
    ) -> SandboxRows:
        """Run a statement over rows of several indexes and keep what it gives. Once only.

        Args:
            found: what the searches of the request found.
            tables: of the views that it reads, and of tables that others are computed of.
            across: names of these others.

        Raises:
            SqlError: the query cannot be answered, or not within its limits.
        """
        with self._enough():
            if across:
                self._cursor.run("sandbox/attach_gathered")
            for table in tables:
                self._add(table)
            macros = {view.name for view in views() if view.is_macro} & request.names
            wanted = [view for view in views() if view.name in macros.union(across)]
            self._furnish(request, found, (), wanted, keeps=False)
            self._lock()
            with self._in_words():
                self._run(request, parameters)
            return SandboxRows(
                self._cursor, self._told, widest=memory_of(self._limits) // ROW_SHARE
            )

    def _add(self, table: GatheredTable) -> None:
        import pyarrow as pa

        name = f"{'memory' if table.is_view else 'qmd_index'}.main.{identifier(table.name)}"
        columns = ", ".join(f"{identifier(each.name)} {each.kind}" for each in table.columns)
        create = without_header("sandbox/gathered_table").replace("$name", name)
        self._connection.execute(create.replace("$columns", columns))
        insert = without_header("sandbox/add_gathered").replace("$name", name)
        for part in table.parts:
            with self._cursor.staged(gathered=pa.ipc.open_stream(part).read_all()):
                self._connection.execute(insert)

    def _furnish(
        self,
        request: CheckedStatement,
        found: Sequence[SearchRow],
        log: Sequence[str],
        wanted: Sequence[View],
        *,
        keeps: bool,
    ) -> None:
        """Make the views, and put what searches found where they look for it.

        Args:
            keeps: resolved links are kept beside the index.
        """
        for name in ("schema", "calls", "found", "searches"):
            self._cursor.run(f"sandbox/{name}")
        keeps = keeps and _is_read(request, wanted)
        stored = _stored(request, wanted)
        for view in wanted:
            with self._in_words():
                if view.name == LINKS and keeps and self._attach_links(view):
                    self._cursor.run("sandbox/resolved_links")
                else:
                    self._connection.execute(view.table if view.name in stored else view.text)
        if request.calls:
            rows = [
                {
                    "call": number,
                    "search": call.search,
                    "query_text": call.query,
                    "at_most": call.n,
                    "among": list(call.among),
                }
                for number, call in enumerate(request.calls)
            ]
            self._cursor.run("sandbox/add_calls", calls=as_json(rows))
            rows = [each._asdict() for each in found]
            self._cursor.run("sandbox/add_found", found=as_json(rows))
        if log:
            self._cursor.run("sandbox/add_searches", lines=as_json(list(log)))

    def _attach_links(self, links: View) -> bool:
        folder, memory = self._spill / LINKS, memory_of(self._limits)
        return attach_links(self._cursor, links, index=self._index, folder=folder, memory=memory)

    def _lock(self) -> None:
        if not self._limits.files:
            self._cursor.run("sandbox/shut_out_files")
        self._cursor.run("sandbox/lock")

    def _run(self, request: CheckedStatement, parameters: Parameters) -> None:
        text = without_header(f"sandbox/{request.manner}").replace("$query", request.query)
        given = dict(parameters) if isinstance(parameters, Mapping) else list(parameters)
        done = self._connection.execute(text, given or None)
        if request.manner.startswith("explain"):
            plans = [{"explain_key": key, "explain_value": value} for key, value in done.fetchall()]
            self._cursor.run("sandbox/answer_explained", plans=as_json(plans))

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Describe the lack of memory, with DuckDB's details."""
        with self._enough(), self._in_words():
            yield

    @contextmanager
    def _enough(self) -> Iterator[None]:
        """Report a lack of memory, for the query or for its preparation."""
        try:
            yield
        except (_duckdb.OutOfMemoryException, MemoryError, IndexFailure) as error:
            # An index for which there is not enough of it has not been read, either.
            if isinstance(error, IndexFailure) and not isinstance(
                error.__cause__, _duckdb.OutOfMemoryException
            ):
                raise
            of_disk = _OF_DISK in str(error.__cause__ or error)
            disk = self._limits.disk if of_disk else None
            raise SqlOutOfMemory(self._limits.memory, disk=disk) from error

    @contextmanager
    def _in_words(self) -> Iterator[None]:
        """Translate DuckDB's errors of a query for its user."""
        try:
            yield
        except _duckdb.OutOfMemoryException:
            raise
        except DatabaseError as error:
            if far := _FAR.search(str(error)):
                raise statement_check.remote_file_error(far[1]) from error
            raise SqlError(_own_lines(_visible(without_advice(str(error))))) from error


def _wanted(request: CheckedStatement) -> list[View]:
    """List the views that a statement reads: to create all takes longer than most queries.

    All, if it may list the views, or if an error has to name them.
    """
    known = {view.name for view in views()}
    if request.manner == "answer_shown" or not request.names <= known | request.own:
        return list(views())
    names = needed(request.names)
    return [view for view in views() if view.name in names]


def _is_read(request: CheckedStatement, wanted: Sequence[View]) -> bool:
    """Check that the rows of the views are read, not only their columns or their plans."""
    return request.manner == "answer" and len(wanted) < len(views())


def _stored(request: CheckedStatement, wanted: Sequence[View]) -> set[str]:
    """Name the views that are computed before the query, because other views read them."""
    if not _is_read(request, wanted):
        return set()
    read = {name for view in wanted for name in view.needs}
    return {view.name for view in wanted if view.is_stored and view.name in read}


def identifier(name: str) -> str:
    """Write a name of a table or a column."""
    return '"' + name.replace('"', '""') + '"'


def vocabulary() -> list[str]:
    """List the functions and keywords that a query may use."""
    connection = connected()
    try:
        return [name for (name,) in Cursor(connection).run("sandbox/functions")]
    finally:
        connection.close()


def _visible(problem: str) -> str:
    """Reduce DuckDB's message to one line and the position where it may quote documents."""
    if problem.startswith(_OF_THE_QUERY):
        return problem
    place = _PLACE.search(problem)
    end = place.start() if place else len(problem)
    return shown(problem[:end], most=MAX_ERROR_LENGTH) + problem[end:]


def _own_lines(problem: str) -> str:
    """Correct the line numbers in DuckDB's message: one line precedes the user's query."""
    return _LINE.sub(lambda found: f"LINE {int(found[1]) - 1}:", problem)


def memory_of(limits: Limits) -> int:
    """Parse the memory limit of a query to bytes: to DuckDB, KB are 1000 and KiB are 1024."""
    size = _SIZE.fullmatch(limits.memory.strip())
    assert size is not None
    step = 1024 if size[3] else 1000
    return int(float(size[1]) * step ** ("KMGT".index(size[2].upper()) + 1))
