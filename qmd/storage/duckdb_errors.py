"""Translation of DuckDB errors about the file into qmd errors."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import _duckdb

from qmd import processes
from qmd.errors import IndexFailure, IndexNotWritable, IndexOutOfReach, IndexUnreadable
from qmd.storage.cursor import DatabaseError
from qmd.storage.file_version import wal_path

_OF_THE_FILE = (
    _duckdb.IOException,
    _duckdb.FatalException,
    _duckdb.InternalException,
    _duckdb.SerializationException,
)
_UNWRITABLE = (
    "no space left",
    "permission denied",
    "read-only",
    "could not write",
    "disk quota",
    "cannot open file",
)


@contextmanager
def translating(path: Path) -> Iterator[None]:
    """Translate errors about the file, but not about a statement.

    Raises:
        KeyboardInterrupt: Ctrl-C has ended a statement.
    """
    try:
        yield
    except RuntimeError as error:
        if is_interrupt(error):
            raise KeyboardInterrupt from error
        raise
    except DatabaseError as error:
        failure = translate(path, error)
        if failure is None:
            raise
        raise failure from error


def is_interrupt(error: BaseException) -> bool:
    """Return whether Ctrl-C has ended a statement, of which DuckDB makes an error of its own."""
    return type(error) is RuntimeError and str(error) == "Query interrupted"


def translate(path: Path, error: DatabaseError) -> IndexFailure | None:
    """Translate a DuckDB error about the file; None for any other error."""
    from qmd.errors.shortage import shortage_of

    if shortage := shortage_of(error):
        return shortage
    # Of a fatal error, the first line says only what became of the engine.
    problem = str(error).rpartition("Original error: ")[2].splitlines()[0].strip()
    plain = problem.split(": ", 1)[-1]
    if _is_out_of_reach(path):
        return IndexOutOfReach(path, plain)
    if any(words in problem.lower() for words in _UNWRITABLE):
        return IndexNotWritable(path, plain)
    if "WAL does not match" in problem:
        log = wal_path(path).name
        return IndexUnreadable(
            path,
            f"{log} beside it is of another index, whose place it has taken.",
            mend=f"Move {log} away: what it has was never in this index.",
        )
    return IndexUnreadable(path, plain) if isinstance(error, _OF_THE_FILE) else None


def _is_out_of_reach(path: Path) -> bool:
    """Check that the file may exist where this user must not look or read."""
    try:
        os.stat(path)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return not os.access(path, os.R_OK)


def lock_holder(problem: str) -> str | None:
    """Extract the lock holder, `duckdb, process 123`, from DuckDB's message."""
    found = re.search(r"held in (.+?) \(PID (\d+)\)", problem)
    if found is None:
        return None
    process = int(found[2])
    text = processes.command_of(process) or processes.short_command([found[1]])
    return processes.process_name(process, text)
