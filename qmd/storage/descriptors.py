"""Open files that a process needs to write to an index."""

from __future__ import annotations

import sys
from pathlib import Path

from qmd.errors import TooFewDescriptors

NEEDED = 32
"""File descriptors of a process that writes.

An embedding, the most demanding of the commands, was seen to need 16. DuckDB ends the process
(SIGABRT) if it can open no file while it commits.
"""


def ensure_descriptors(index: Path) -> None:
    """Raise the soft limit of open files to `NEEDED` where it is lower.

    Args:
        index: named in the error.

    Raises:
        TooFewDescriptors: the hard limit does not permit it.
    """
    if sys.platform == "win32":
        return  # there is no limit that a process could reach with these
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft >= NEEDED or soft == resource.RLIM_INFINITY:
        return
    if hard < NEEDED and hard != resource.RLIM_INFINITY:
        raise TooFewDescriptors(index, permitted=hard, needed=NEEDED)
    resource.setrlimit(resource.RLIMIT_NOFILE, (NEEDED, hard))
