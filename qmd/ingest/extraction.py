"""Texts of files that are no text: read in processes of their own, a few at a time.

They are started when the first file needs one, stay for a whole update, and end with it.
"""

from __future__ import annotations

import shutil
import signal
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from qmd import processes
from qmd.ingest.readers import ocr
from qmd.ingest.readers.reading import Reading, Unreadable
from qmd.ingest.readers.tasks import Job, ReadingLimits
from qmd.storage import scratch
from qmd.storage.cancellation import Stopped
from qmd.workers import channel
from qmd.workers.process import OverMemory, OverTime, Process, ProcessEnded, spawned

LIMITS = ReadingLimits()

STARTING = 60.0
"""Seconds that a process has to load what it needs."""

MOST = 8
"""Processes."""

OVERHEAD = 16 << 20
"""Bytes of a message besides the text and the attachments of a file."""

_START = """\
from qmd.ingest.readers.worker import serve
serve()
"""


class _Worker(Process):
    """A process that reads one file at a time."""

    def __init__(self, index: Path) -> None:
        super().__init__(spawned(_START, group=True), group=True)
        self._scratch = scratch.spill_folder(index)
        self._begun = False

    def read(self, job: Job, limits: ReadingLimits) -> Reading:
        """Read a file.

        Raises:
            Unreadable: it cannot be read, or not within its limits.
        """
        try:
            if not self._begun:
                self._begun = self.is_within = True
                self.left = STARTING
                self.reply()
            self.left, self.memory, self.base = limits.seconds, limits.memory, self.resident()
            self.ask("read", (job.task, job.data, job.name, limits, str(self._scratch)))
            reading: Reading = self.reply(most=limits.output + OVERHEAD)[1]
        except OverTime:
            raise Unreadable(f"its reader took more than {limits.seconds:g} seconds") from None
        except OverMemory:
            raise Unreadable(f"needs more than {limits.memory >> 20} MB of memory") from None
        except channel.TooLong:
            raise Unreadable(f"more than {limits.output >> 20} MB of text") from None
        except ProcessEnded as error:
            raise Unreadable(_crashed(error.signal)) from None
        return reading

    def kill(self) -> int | None:
        """Kill the process, and remove what it has put on the disk."""
        by = super().kill()
        shutil.rmtree(self._scratch, ignore_errors=True)
        return by


class Extraction:
    """Reads files in other processes.

    Args:
        index: beside which files may lie for a moment.
    """

    def __init__(self, index: Path, limits: ReadingLimits | None = None) -> None:
        self._index = index
        self._limits = limits
        self._turn = threading.Lock()
        self._idle: list[_Worker] = []
        self._busy: set[_Worker] = set()
        self._stopped = False

    def read(self, jobs: Sequence[Job]) -> list[Reading | Unreadable]:
        """Read files, in their order; one that cannot be read stops no other.

        Raises:
            Stopped: `interrupt` was called.
        """
        with self._turn:
            self._stopped = False
        count = min(len(jobs), processes.cores(), MOST)
        if count <= 1:
            return [self._read(job) for job in jobs]
        with ThreadPoolExecutor(count, thread_name_prefix="qmd-read") as threads:
            return list(threads.map(self._read, jobs))

    def _read(self, job: Job) -> Reading | Unreadable:
        worker = self._take()
        try:
            return worker.read(job, _limits(job, self._limits or LIMITS))
        except Unreadable as error:
            if self._stopped:
                raise Stopped from None
            return error
        except BaseException:
            worker.kill()
            raise
        finally:
            with self._turn:
                self._busy.discard(worker)
                if worker.is_alive and not self._stopped:
                    self._idle.append(worker)
                    worker = None  # type: ignore[assignment]
            if worker is not None:
                worker.kill()

    def _take(self) -> _Worker:
        with self._turn:
            if self._stopped:
                raise Stopped
            worker = self._idle.pop() if self._idle else _Worker(self._index)
            self._busy.add(worker)
            return worker

    def interrupt(self) -> None:
        """End all processes at once, from any thread."""
        with self._turn:
            self._stopped = True
            for worker in self._busy:
                worker.interrupt()
        self.close()

    def close(self) -> None:
        """End idle processes. Others are started when they are needed."""
        with self._turn:
            idle, self._idle = self._idle, []
        for worker in idle:
            worker.kill()


def _limits(job: Job, limits: ReadingLimits) -> ReadingLimits:
    """Add the time to read pages that are pictures."""
    if not job.task.ocr:
        return limits
    return limits._replace(seconds=limits.seconds + ocr.MOST_SECONDS + ocr.PAGE_SECONDS)


def _crashed(by: int | None) -> str:
    if sys.platform == "win32":
        return "its reader ended" if by is None else f"its reader crashed (code {by})"
    if by == signal.SIGKILL:
        return "its reader was killed: there was not enough memory"
    if by == signal.SIGALRM:
        return "its reader did not come to an end"
    return f"its reader crashed (signal {by})" if by else "its reader ended"
