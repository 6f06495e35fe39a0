"""Too little memory, as Python, DuckDB and the loader of libraries report it."""

from __future__ import annotations

import errno
import re
from collections.abc import Iterator

from qmd.errors.index import NotEnoughMemory

_SIGNS = re.compile(
    r"Out of Memory|bad[ _]alloc|allocate (?:block|memory)|Allocation failure|failed to map segment"
    r"|can't start new thread",
    re.I,
)
_OF_DUCKDB = frozenset(
    f"{name}Exception"
    for name in "OutOfMemory Fatal Internal IO Serialization Transaction Connection".split()
)
"""Errors of DuckDB in which no text of a user stands."""


def shortage_of(error: BaseException) -> NotEnoughMemory | None:
    """Return the error for too little memory if that led to an error; None for any other."""
    for each in causes(error):
        if isinstance(each, NotEnoughMemory):
            return each
        if isinstance(each, MemoryError) or getattr(each, "errno", None) == errno.ENOMEM:
            return NotEnoughMemory()
        kind = type(each)
        of_duckdb = kind.__module__ == "_duckdb" and kind.__name__ in _OF_DUCKDB
        of_python = kind in (ImportError, OSError, RuntimeError)
        if (of_duckdb or of_python) and _SIGNS.search(str(each)):
            return NotEnoughMemory(of_threads="thread" in str(each) and of_python)
    return None


def causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and those that led to it, each once.

    Without memory, Python raises one error several times, so that it may have led to itself.
    """
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__
