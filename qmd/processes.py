"""Names and states of processes: `qmd update`, `python program.py`."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

if sys.platform == "win32":
    from qmd import windows

MAX_COMMAND_LENGTH = 60
"""Characters of a command that is named."""

_VALUED = ("-W", "-X")
"""Options of Python, before the program, that take a value of their own."""

leave_open = False
"""True if the process ends without taking anything down: then closing an engine is in vain."""

_own: str | None = None


def cores() -> int:
    """Count the cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def name_process(*words: str) -> None:
    """Record the command that this process runs, without its options and their values."""
    global _own
    _own = " ".join(words)[:MAX_COMMAND_LENGTH]


def current_command() -> str:
    """Return the command that this process runs."""
    if _own is not None:
        return _own
    # A worker of `multiprocessing` has the program of its parent in `argv`.
    worker = "--multiprocessing-fork" in sys.orig_argv
    return short_command([sys.executable, *sys.argv] if worker else sys.orig_argv)


def short_command(arguments: Sequence[str]) -> str:
    """Shorten a command line to its interpreter and program, without arguments."""
    program = Path(arguments[0]).name.removesuffix(".exe") if arguments else "python"
    if not program.startswith("python"):
        return _printable(program)
    words, rest = ["python"], iter(arguments[1:])
    for word in rest:
        if word in _VALUED:
            next(rest, None)
        elif word == "-c":
            words.append(word)
            break
        elif word == "-m":
            words += [word, next(rest, "")]
            break
        elif word == "-" or not word.startswith("-"):
            words.append(Path(word).name)
            break
    if words[-1] == "qmd":
        verb = next(rest, "-")
        words = ["qmd"] if verb.startswith("-") else ["qmd", verb]
    return _printable(" ".join(words))


def _printable(text: str) -> str:
    return "".join(mark if mark.isprintable() else "?" for mark in text)[:MAX_COMMAND_LENGTH]


def process_state(process: int) -> tuple[str, str] | None:
    """Return the state letter and start time of a process, or None if the system hides them.

    Source: proc(5), /proc/pid/stat. Windows tells the time only.
    """
    if sys.platform == "win32":
        try:
            started = windows.process_began(process)
        except PermissionError:
            return None
        return None if started is None else ("R", started)
    try:
        fields = Path(f"/proc/{process}/stat").read_bytes().rpartition(b")")[2].split()
        return fields[0].decode(), fields[19].decode()
    except (OSError, IndexError, ValueError):
        return None


def is_running(process: int, began: str = "") -> bool:
    """Check that a process runs.

    Args:
        began: when, as `state` says; another one may have got its number since.
    """
    if sys.platform == "win32":
        try:
            started = windows.process_began(process)
        except PermissionError:
            return True  # it is of another user
        return started is not None and began in ("", started)
    try:
        os.kill(process, 0)
    except PermissionError:
        pass  # it is of another user
    except (OSError, OverflowError):
        return False
    found = process_state(process)
    return found is None or (found[0] not in "ZX" and began in ("", found[1]))


def machine_name() -> str:
    """Return the name of this machine in its network, without spaces."""
    if sys.platform == "win32":
        return os.environ.get("COMPUTERNAME", "localhost").replace(" ", "-")
    return os.uname().nodename


def command_of(process: int) -> str | None:
    """Return the command that another process runs, or None if the system hides it."""
    if sys.platform == "win32":
        program = windows.program_of(process)
        return None if program is None else short_command([program])
    try:
        line = Path(f"/proc/{process}/cmdline").read_bytes().decode(errors="replace")
    except OSError:
        return None
    return short_command(line.rstrip("\0").split("\0")) or None


def lockers(file: os.stat_result) -> list[int]:
    """List the processes that lock a file; empty where the system does not tell.

    Source: proc(5), /proc/locks.
    """
    if sys.platform == "win32":
        return []
    try:
        lines = Path("/proc/locks").read_text().splitlines()
    except OSError:
        return []
    place = f"{os.major(file.st_dev):02x}:{os.minor(file.st_dev):02x}:{file.st_ino}"
    words = [line.split() for line in lines if "->" not in line]
    return [int(each[4]) for each in words if each[5] == place and int(each[4]) > 0]


def process_name(process: int, text: str) -> str:
    """Format a process for messages: `qmd update, process 13630`.

    Args:
        text: its command.
    """
    found = process_state(process)
    suspended = found is not None and found[0] in "Tt"
    mine = process == os.getpid()
    note = " (suspended)" if suspended else " (this process)" if mine else ""
    return f"{text}, process {process}{note}"
