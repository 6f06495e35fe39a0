"""Lock of a destination: two builds do not write to one folder or prefix at the same time.

In a folder it is a lock of the system on a file, which ends with its process. In an object store it
is a ticket, an object that the builder renews. A ticket that was not renewed for ten minutes is
void, and so is an earlier one of the same cache folder, which one build uses at a time.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from secrets import token_hex
from typing import Any

from qmd import processes, safe_open
from qmd.cluster.store import filesystem, is_url, reaching
from qmd.errors import BuildRunning, BuildTakenOver, JobRunning
from qmd.storage.file_lock import errand

RENEW_SECONDS = 60.0
"""Seconds between two renewals of a ticket."""

VOID_SECONDS = 600.0
"""Seconds without a renewal after which a ticket is void."""

_LOCK = "cluster.build"
"""File of the lock in a folder."""

_LARGEST = 10_000
"""Bytes of a ticket that are read."""


@contextmanager
def holding(to: str, folder: Path) -> Iterator[Callable[[], None]]:
    """Hold the destination of a build.

    Args:
        to: the destination, a folder or a URL.
        folder: where the build is made, which is the cache folder of a URL.

    Yields:
        A check that it is still held, for the moment before the build is published.

    Raises:
        BuildRunning: another build writes there.
        IndexNotWritable: the folder cannot be made.
        ClusterFailure: the store cannot be reached.
    """
    with ExitStack() as held:
        try:
            held.enter_context(errand(folder / "cluster", "build"))
        except JobRunning as error:
            since = datetime.fromtimestamp((folder / _LOCK).stat().st_mtime, UTC)
            raise BuildRunning(to, holder=error.holder, since=since) from error
        if not is_url(to):
            yield lambda: None
            return
        ticket = _Ticket(to, _owner(folder))
        held.enter_context(ticket.taken())
        yield ticket.check


def _owner(folder: Path) -> str:
    """Return the name of a cache folder, which it keeps."""
    file = folder / f"{_LOCK}.owner"
    with suppress(FileNotFoundError):
        found = file.read_text("utf-8")
        if found.isalnum():
            return found
    made = token_hex(8)
    safe_open.atomic_replace(file, lambda out: out.write(made), mode=0o600)
    return made


class _Ticket:
    """Object `locks/OWNER-TOKEN.json` in the destination of a build.

    A builder writes its own, and then lists all: of two at the same time, each that lists after the
    other has written sees it. So at most one goes on. Times are those of the store.
    """

    def __init__(self, url: str, owner: str) -> None:
        self._url = url
        self._owner = owner
        self._system, prefix = filesystem(url)
        self._folder = f"{prefix}/locks"
        self._path = f"{self._folder}/{owner}-{token_hex(8)}.json"
        self._since = datetime.now(UTC)
        self._ended = threading.Event()

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Hold the destination, and renew the ticket meanwhile."""
        from pyarrow import ArrowException

        with reaching(self._url):
            self._system.create_dir(self._folder)
            self._write()
        try:
            with reaching(self._url):
                self._refuse_others()
            renewal = threading.Thread(target=self._renew, daemon=True, name="qmd build lock")
            renewal.start()
            try:
                yield
            finally:
                self._ended.set()
                renewal.join()
        finally:
            # Without the store, the ticket stays and becomes void by itself.
            with suppress(ArrowException, OSError):
                self._system.delete_file(self._path)

    def check(self) -> None:
        """Check that the ticket is still there.

        Raises:
            BuildTakenOver: it is not.
        """
        with reaching(self._url):
            if not self._is_there():
                raise BuildTakenOver(self._url)

    def _write(self) -> None:
        facts = {
            "holder": f"{processes.current_command()}, process {os.getpid()} on "
            f"{processes.machine_name()}",
            "since": self._since.isoformat(timespec="seconds"),
        }
        with self._system.open_output_stream(self._path) as stream:
            stream.write(json.dumps(facts).encode())

    def _is_there(self) -> bool:
        from pyarrow import fs

        found: bool = self._system.get_file_info(self._path).type == fs.FileType.File
        return found

    def _refuse_others(self) -> None:
        """Remove void tickets.

        Raises:
            BuildRunning: there is another one.
        """
        from pyarrow import fs

        found = self._system.get_file_info(fs.FileSelector(self._folder))
        tickets = {each.path: each for each in found if each.type == fs.FileType.File}
        now = tickets[self._path].mtime
        for path, each in tickets.items():
            if path == self._path:
                continue
            is_ours = PurePosixPath(path).name.partition("-")[0] == self._owner
            if is_ours or (now - each.mtime).total_seconds() > VOID_SECONDS:
                self._system.delete_file(path)
            else:
                raise BuildRunning(self._url, **self._told(path))

    def _told(self, path: str) -> dict[str, Any]:
        """Read who holds another ticket."""
        try:
            with self._system.open_input_stream(path) as stream:
                facts = json.loads(stream.read(_LARGEST))
            return {
                "holder": str(facts["holder"]),
                "since": datetime.fromisoformat(facts["since"]),
            }
        except (FileNotFoundError, ValueError, KeyError, TypeError):
            return {"holder": None, "since": None}  # it has ended just now, or others wrote it

    def _renew(self) -> None:
        from pyarrow import ArrowException

        while not self._ended.wait(RENEW_SECONDS):
            # A store that cannot be reached now may be later; `check` tells if it was too late.
            with suppress(ArrowException, OSError):
                if not self._is_there():
                    return
                self._write()
