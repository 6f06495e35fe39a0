"""A server in the background, one for an index.

What is known of it is kept in a folder of the user on this machine, not beside the index: an
index may be read-only, or shared with machines on which that process is another. The pid file is
written by the server itself, once it listens.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from qmd import processes, safe_open
from qmd.errors import AlreadyServed, ServerFailure, UsageError
from qmd.named_tuple import NamedTuple
from qmd.surfaces.http import listener

TO_START, TO_STOP = 30.0, 10.0
"""Seconds that are waited for."""

POLL = 0.05
"""Seconds between two looks."""

LONGEST_STEM = 40
"""Characters of the name of an index in those of its files."""

DETACHED = 0
"""Flags of a process that outlives its console, where there are such."""

if sys.platform == "win32":
    DETACHED = subprocess.CREATE_NO_WINDOW | subprocess.CREATE_NEW_PROCESS_GROUP

SHOWN = 12
"""Last lines of a log, if a server does not start."""


class Files(NamedTuple):
    """The files of the server of an index: pid file and log."""

    pid: Path
    log: Path


def files_of(database: Path, state: Path) -> Files:
    """Return the files for an index.

    Args:
        state: folder for what is known of servers.
    """
    path = Path(os.path.realpath(database))  # a loop of links has one, too
    stem = f"{path.stem[:LONGEST_STEM]}-{hashlib.sha256(os.fsencode(path)).hexdigest()[:12]}"
    return Files(state / f"{stem}.pid", state / f"{stem}.log")


@contextmanager
def _usable(folder: Path) -> Iterator[None]:
    """Convert refusals of the system to errors, around uses of files of a folder.

    Raises:
        UsageError: something else is in the way, or it may not be read or written.
    """
    try:
        yield
    except OSError as error:
        raise UsageError(
            f"{error.filename2 or error.filename or folder}: {error.strerror}.\n\n"
            f"What qmd knows of servers is kept in {folder}; XDG_STATE_HOME names another place."
        ) from error


class Running(NamedTuple):
    """A server.

    Attributes:
        process: its number.
        identity: what the system says of the process.
        began: seconds since 1970.
    """

    process: int
    identity: str
    host: str
    port: int
    began: float

    @property
    def url(self) -> str:
        """URL of the server."""
        return listener.url_of(self.host, self.port)


def process_identity(process: int) -> str | None:
    """Identify a process, as its number may be reused; None if it has ended.

    That is when it started, and its command line.
    """
    if sys.platform == "win32":
        state = processes.process_state(process)
        return state and f"{state[1]} {processes.command_of(process)}"
    if Path("/proc/self/stat").exists():
        try:
            boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
            facts = Path(f"/proc/{process}/stat").read_bytes()
            command = Path(f"/proc/{process}/cmdline").read_bytes()
        except OSError:
            return None
        # The name, in parentheses, may have any bytes. Field 22 is the start. Source: proc(5).
        started = facts.rpartition(b")")[2].split()[22 - 3].decode()
        words = command.replace(b"\0", b" ").decode(errors="replace").strip()
        return f"{boot} {started} {words}" if words else None
    told = subprocess.run(
        ["/bin/ps", "-ww", "-o", "lstart=,command=", "-p", str(process)],
        env={"LC_ALL": "C", "TZ": "UTC"},
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    return told.stdout.strip() or None


def running(files: Files) -> Running | None:
    """Find the server in the background, if one runs.

    Raises:
        UsageError: its files cannot be read.
    """
    with _usable(files.pid.parent):
        found = _read(files.pid)
    if found is None or process_identity(found.process) != found.identity:
        return None
    return found


def _read(path: Path) -> Running | None:
    """Read a pid file; None if it is missing or invalid."""
    try:
        facts = json.loads(path.read_text(encoding="utf-8"))
        found = Running(
            int(facts["process"]),
            str(facts["identity"]),
            str(facts["host"]),
            int(facts["port"]),
            float(facts["began"]),
        )
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return None
    return found if found.process > 1 else None


@contextmanager
def signed(path: Path, host: str, port: int) -> Iterator[None]:
    """Be known as the server of an index, by its pid file.

    Raises:
        UsageError: it cannot be written.
    """
    process = os.getpid()
    me = Running(process, process_identity(process) or "", host, port, time.time())
    draft = path.with_name(f"{path.name}.{process}")
    with _usable(path.parent):
        try:
            draft.unlink(missing_ok=True)
            handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump(me._asdict(), file)
            draft.replace(path)
        except OSError:
            with suppress(OSError):
                draft.unlink()
            raise
    try:
        yield
    finally:
        with suppress(OSError):
            if _read(path) == me:
                path.unlink()


def start(files: Files, command: Sequence[str], environ: Mapping[str, str]) -> Running:
    """Start a server in the background, and wait until it answers.

    Args:
        command: which writes the pid file.

    Raises:
        AlreadyServed: one runs.
        ServerFailure: it did not start; with what it said.
        UsageError: its files cannot be written.
    """
    folder = files.pid.parent
    with _usable(folder):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    with _alone(folder):
        found = running(files)
        if found is not None:
            raise AlreadyServed(found.url, found.process)
        with _usable(folder):
            files.pid.unlink(missing_ok=True)
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | safe_open.UNFOLLOWED
            log = os.open(files.log, flags, 0o600)
        try:
            process = subprocess.Popen(
                command,
                env=environ,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                creationflags=DETACHED,
            )
        finally:
            os.close(log)
        try:
            found = _answering(files, process)
        except BaseException:
            process.kill()
            process.wait()
            raise
        process.returncode = 0  # it is left to itself
        return found


def _answering(files: Files, process: subprocess.Popen[bytes]) -> Running:
    """Wait until the server answers, and return it."""
    until = time.monotonic() + TO_START
    while time.monotonic() < until:
        if process.poll() is not None:
            raise ServerFailure(
                f"The server did not start (exit code {process.returncode}). "
                f"It said:\n\n{_end(files.log)}"
            )
        found = _read(files.pid)
        its_own = found is not None and found.process == process.pid
        if found is not None and its_own and listener.health(found.host, found.port):
            return found
        time.sleep(POLL)
    raise ServerFailure(
        f"The server did not answer within {TO_START:.0f} seconds, and was ended. "
        f"It said:\n\n{_end(files.log)}"
    )


def _end(log: Path) -> str:
    """Read the last lines of a log."""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()[-SHOWN:]
    return "\n".join(lines) or "(nothing)"


def stop(files: Files) -> Running | None:
    """End the server in the background; None if there is none. What one left behind is removed.

    Raises:
        ServerFailure: it does not end.
        UsageError: its files cannot be read or removed.
    """
    found = running(files)
    if found is None:
        if files.pid.exists():
            with _alone(files.pid.parent), _usable(files.pid.parent):  # no other starts now
                if running(files) is None:
                    files.pid.unlink(missing_ok=True)
        return None
    with suppress(ProcessLookupError):
        os.kill(found.process, signal.SIGTERM)
    until = time.monotonic() + TO_STOP
    while process_identity(found.process) == found.identity:
        if time.monotonic() > until:
            kill = "taskkill /f /pid" if sys.platform == "win32" else "kill -9"
            raise ServerFailure(
                f"The server (process {found.process}) does not end; {TO_STOP:.0f} seconds have "
                f"passed.\n\nIts log is {files.log}. '{kill} {found.process}' ends it in any case."
            )
        time.sleep(POLL)
    return found


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Wait for others who start a server."""
    with _usable(folder):
        handle = safe_open.opened_folder(folder, wait=True)
    assert handle is not None
    try:
        yield
    finally:
        safe_open.release(handle)
