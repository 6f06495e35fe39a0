"""Names of the processes that hold a lock, in the file of the lock.

Each holder has a place in the file, of a fixed size, and empties it when it lets go. A process
that is killed leaves its name behind: a name counts only while its process runs. The system knows
who runs by number and time of beginning, but only on this machine.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from qmd import processes, safe_open

SIZE = 256
"""Bytes of a place."""

MOST = 64
"""Places. A holder that finds none free is not named."""

NAMED = 3
"""Holders that are named, if there are more."""


class _Entry(NamedTuple):
    """What a holder leaves."""

    process: int
    began: str
    machine: str
    command: str

    @property
    def counts(self) -> bool:
        """Whether it may hold the lock: not if its process has ended."""
        here = self.machine == os.uname().nodename
        return not here or processes.is_running(self.process, self.began)

    @property
    def name(self) -> str:
        """In words."""
        if self.machine == os.uname().nodename:
            return processes.named(self.process, self.command)
        return f"{self.command}, process {self.process} on {self.machine}"


class Signature(NamedTuple):
    """The place of a holder, and what it wrote there."""

    at: int
    text: bytes


def sign(descriptor: int, *, alone: bool) -> Signature | None:
    """Leave the name of this process in the file of a lock that it has just taken.

    Args:
        alone: nobody else holds it, so that what others have left is void.

    Returns:
        What takes it back; None: the file is read-only, or the disk full, or there is no place.
    """
    process = os.getpid()
    began = (processes.state(process) or ("", ""))[1]
    words = [str(process), began or "-", os.uname().nodename, processes.command()]
    text = " ".join(words).encode(errors="replace")[: SIZE - 1].ljust(SIZE - 1) + b"\n"
    try:
        if alone:
            os.ftruncate(descriptor, 0)
        at = 0 if alone else _free(os.pread(descriptor, SIZE * MOST, 0))
        if at is None:
            return None
        os.pwrite(descriptor, text, at)
    except OSError:
        return None  # the lock holds without a name
    return Signature(at, text)


def erase(descriptor: int, signature: Signature) -> None:
    """Take the name back, before the lock is let go."""
    with suppress(OSError):
        if os.pread(descriptor, SIZE, signature.at) == signature.text:
            os.pwrite(descriptor, b" " * (SIZE - 1) + b"\n", signature.at)


def holders(path: Path) -> str | None:
    """The processes that hold a lock, in words; None: none has left its name.

    Args:
        path: of the file of the lock.
    """
    try:
        with os.fdopen(safe_open.opened(path, os.O_RDONLY), "rb") as file:
            data = file.read(SIZE * MOST)
    except OSError:
        return None
    entries = (_read(data[at : at + SIZE]) for at in range(0, len(data), SIZE))
    names = list(dict.fromkeys(each.name for each in entries if each and each.counts))
    if len(names) > NAMED:
        names[NAMED:] = [f"{len(names) - NAMED} more"]
    if len(names) < 2:
        return names[0] if names else None
    return f"{', '.join(names[:-1])} and {names[-1]}"


def _free(data: bytes) -> int | None:
    """Where the first place is that nobody who runs has taken."""
    for at in range(0, SIZE * MOST, SIZE):
        entry = _read(data[at : at + SIZE])
        if entry is None or not entry.counts:
            return at
    return None


def _read(text: bytes) -> _Entry | None:
    """What a holder left. Whoever may write into the folder may have written anything."""
    words = text.decode(errors="replace").strip().split(" ", 3)
    if len(words) < 4 or not words[0].isascii() or not words[0].isdigit() or len(words[0]) > 9:
        return None
    if not all(word.isprintable() for word in words) or int(words[0]) == 0:
        return None
    began = "" if words[1] == "-" else words[1]
    return _Entry(int(words[0]), began, words[2][:64], words[3][: processes.MOST])
