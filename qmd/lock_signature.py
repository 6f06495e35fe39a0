"""Names of the processes that hold a lock, in the file of the lock.

Each holder has an entry of fixed size in the file, and removes it when it releases the lock. A
process that is killed leaves its entry behind, so an entry counts only while its process runs.
Processes are identified by number and start time, which holds on this machine only.
"""

from __future__ import annotations

import os
from contextlib import suppress
from functools import cache
from itertools import count
from pathlib import Path

from qmd import processes, safe_open
from qmd.named_tuple import NamedTuple

ENTRY_BYTES = 256
"""Bytes of an entry."""

MAX_ENTRIES = 64
"""Entries of a lock file. A holder that finds none free is not named."""

INDENTS = 64
"""Entries of a process, of which each begins with another number of spaces: so are two told apart
that it has written in the same tick of the file system's clock."""

MAX_NAMED = 3
"""Holders that are named, if there are more."""


_signed = count()


class _Entry(NamedTuple):
    """Entry that one lock holder has written."""

    process: int
    began: str
    machine: str
    command: str

    @property
    def counts(self) -> bool:
        """True if the process of the entry still runs, and so may hold the lock."""
        here = self.machine == processes.machine_name()
        return not here or processes.is_running(self.process, self.began)

    @property
    def name(self) -> str:
        """Name of the holder for messages."""
        if self.machine == processes.machine_name():
            return processes.process_name(self.process, self.command)
        return f"{self.command}, process {self.process} on {self.machine}"


class Signature(NamedTuple):
    """Position and bytes of a holder's entry in the lock file."""

    at: int
    text: bytes


class WriterMark(NamedTuple):
    """Entry of a lock's only holder, and when it was written, in nanoseconds.

    No other holder has both, nor has the same one when it takes the lock again.
    """

    written: int
    text: bytes


@cache
def _own_words(process: int) -> str:
    """Return what an entry of this process has before its command."""
    began = (processes.process_state(process) or ("", ""))[1]
    return " ".join([str(process), began or "-", processes.machine_name()])


def get_ready() -> None:
    """Find out what an entry says, before a lock is taken: then to sign it takes no time."""
    _own_words(os.getpid())
    processes.current_command()


def sign(descriptor: int, *, alone: bool) -> Signature | None:
    """Write the name of this process into a lock file that it has just locked.

    Args:
        alone: no other process holds the lock, so that entries of others are void.

    Returns:
        Signature to take back; None: the file is read-only, the disk full, or no place free.
    """
    try:
        if alone:
            os.ftruncate(descriptor, 0)
        indent = " " * (next(_signed) % INDENTS)
        entry = f"{indent}{_own_words(os.getpid())} {processes.current_command()}"
        text = entry.encode(errors="replace")[: ENTRY_BYTES - 1].ljust(ENTRY_BYTES - 1) + b"\n"
        at = 0 if alone else _free(safe_open.read_at(descriptor, ENTRY_BYTES * MAX_ENTRIES, 0))
        if at is None:
            return None
        safe_open.write_at(descriptor, text, at)
    except OSError:
        return None  # the lock holds without a name
    return Signature(at, text)


def erase(descriptor: int, signature: Signature) -> None:
    """Remove the entry of this process before the lock is released."""
    with suppress(OSError):
        if safe_open.read_at(descriptor, ENTRY_BYTES, signature.at) == signature.text:
            safe_open.write_at(descriptor, b" " * (ENTRY_BYTES - 1) + b"\n", signature.at)


def mark(path: Path) -> WriterMark | None:
    """Return the mark of the process that holds a lock alone; None if it has not signed yet.

    Nor has a process of another machine one: whether that still runs, nothing tells.

    Args:
        path: of the file of the lock, which some process holds.
    """
    try:
        with os.fdopen(safe_open.opened(path, os.O_RDONLY), "rb") as file:
            text = file.read(ENTRY_BYTES)
            written = os.fstat(file.fileno()).st_mtime_ns
    except OSError:
        return None
    entry = _read(text)
    is_here = entry is not None and entry.machine == processes.machine_name()
    return WriterMark(written, text) if is_here and entry and entry.counts else None


def holders(path: Path) -> str | None:
    """Describe the processes that hold a lock; None if there is no valid entry.

    Args:
        path: of the file of the lock.
    """
    try:
        with os.fdopen(safe_open.opened(path, os.O_RDONLY), "rb") as file:
            data = file.read(ENTRY_BYTES * MAX_ENTRIES)
    except OSError:
        return None
    entries = (_read(data[at : at + ENTRY_BYTES]) for at in range(0, len(data), ENTRY_BYTES))
    names = list(dict.fromkeys(each.name for each in entries if each and each.counts))
    if len(names) > MAX_NAMED:
        names[MAX_NAMED:] = [f"{len(names) - MAX_NAMED} more"]
    if len(names) < 2:
        return names[0] if names else None
    return f"{', '.join(names[:-1])} and {names[-1]}"


def _free(data: bytes) -> int | None:
    """Find the first free position: no entry, or that of an ended process."""
    for at in range(0, ENTRY_BYTES * MAX_ENTRIES, ENTRY_BYTES):
        entry = _read(data[at : at + ENTRY_BYTES])
        if entry is None or not entry.counts:
            return at
    return None


def _read(text: bytes) -> _Entry | None:
    """Parse an entry; None if it is malformed.

    Any process that may write to the folder can have written it.
    """
    words = text.decode(errors="replace").strip().split(" ", 3)
    if len(words) < 4 or not words[0].isascii() or not words[0].isdigit() or len(words[0]) > 9:
        return None
    if not all(word.isprintable() for word in words) or int(words[0]) == 0:
        return None
    began = "" if words[1] == "-" else words[1]
    return _Entry(int(words[0]), began, words[2][:64], words[3][: processes.MAX_COMMAND_LENGTH])
