"""Resource use of running processes, from /proc of Linux; NaN elsewhere."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

NOBODY_SAYS = float("nan")


def processor_seconds(process: int) -> float:
    """Return the processor time of a process."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return NOBODY_SAYS
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def peak(process: int | None = None) -> float:
    """Megabytes of memory that a process had at most; None: this one.

    What it had before its program was loaded does not count.
    """
    try:
        status = Path(f"/proc/{process or 'self'}/status").read_text(encoding="ascii")
    except OSError:
        return NOBODY_SAYS
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def family(process: int) -> Iterator[int]:
    """Yield a process and its descendants."""
    yield process
    for each in Path(f"/proc/{process}/task").glob("*/children"):
        for child in each.read_text(encoding="ascii").split():
            yield from family(int(child))


def pss(process: int | None = None) -> float:
    """Megabytes of memory of a process, with its part of what it shares; None: this one."""
    try:
        rollup = Path(f"/proc/{process or 'self'}/smaps_rollup").read_text(encoding="ascii")
    except OSError:
        return NOBODY_SAYS
    return int(rollup.partition("\nPss:")[2].split()[0]) / 1024


def family_pss(process: int) -> float:
    """Return the megabytes of a process and its descendants: of shared ones each has a part."""
    return sum(map(pss, family(process)))
