"""Process that reads files for another one: the other end of `ingest.extraction`.

A file may make a library hang, crash or take all memory: then this process ends, and nothing else.
"""

from __future__ import annotations

import shlex
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path

from qmd.ingest.readers.reading import EmbeddedFile, Reading, Unreadable
from qmd.ingest.readers.tasks import ReadingLimits, Task
from qmd.workers import serving

GRACE = 5.0
"""Seconds after its time is up when the system ends this process, if nothing else has."""

UNTOUCHED = 512 << 20
"""Bytes that may be mapped besides the memory of a file: libraries map more than they use."""

MOST_ATTACHMENTS = 2000

_DECLARING = ("html", "bookmarks", "opml")
_UNTOLD = "org restructuredtext asciidoc mediawiki latex subtitles transcript canvas notebook"
_TEXTS = frozenset((*_DECLARING, *_UNTOLD.split()))
"""Readers of text that may be in any encoding."""


def serve() -> None:
    """Read files; never returns."""
    serving.serve(_Session, group=True)


class _Session:
    """Answers requests."""

    def __init__(self, _: int) -> None:
        self._bound = False

    def read(
        self, task: Task, data: bytes, name: str, limits: ReadingLimits, scratch: str
    ) -> Reading:
        """Read a file.

        Args:
            scratch: folder for files, which is made when it is needed.

        Raises:
            Unreadable: it cannot be read, or not within the limits.
        """
        if not self._bound:
            serving.bound_memory(limits.memory + UNTOUCHED)
            self._bound = True
        _end_after(limits.seconds + GRACE)
        try:
            if task.folder is None:
                read = _loaded(task.reader)
                if task.ocr:
                    from qmd.ingest.readers.ocr import Tesseract

                    read = partial(read, ocr=Tesseract(task.ocr))
                return _remarked(_bounded(read(data, name), limits), task.reader, data)
            return _bounded(_converted(task, data, name, limits, Path(scratch)), limits)
        except Unreadable as error:
            raise Unreadable(_line(str(error))) from None
        except MemoryError:
            raise Unreadable(f"needs more than {limits.memory >> 20} MB of memory") from None
        except RecursionError:
            raise Unreadable("nested too deeply") from None
        except Exception as error:  # of a library, which may raise anything
            raise Unreadable(_line(f"damaged: {type(error).__name__}: {error}")) from None
        finally:
            _end_after(0)


def _end_after(seconds: float) -> None:
    """Have the system end this process after a time, where it can; 0: never."""
    if sys.platform != "win32":
        signal.setitimer(signal.ITIMER_REAL, seconds)


def _remarked(reading: Reading, reader: str, data: bytes) -> Reading:
    """Say in which encoding a text was, if its format does not say it."""
    if reading.remark or reader not in _TEXTS:
        return reading
    from qmd.ingest.readers import charsets

    found = charsets.with_encoding(data, declared=reader in _DECLARING)
    return reading if found.is_declared else replace(reading, remark=found.remark)


def _loaded(reader: str) -> Callable[..., Reading]:
    module, _, function = reader.partition(":")
    if not function:
        read: Callable[..., Reading] = import_module(f"qmd.ingest.readers.{module}").read
        return read
    found = import_module(module)
    for part in function.split("."):
        found = getattr(found, part)
    return found  # type: ignore[return-value]


def _converted(task: Task, data: bytes, name: str, limits: ReadingLimits, scratch: Path) -> Reading:
    """Run a command of the user, which writes Markdown."""
    scratch.mkdir(mode=0o700, exist_ok=True)
    file, said = scratch / f"in-{name}", scratch / "stderr"
    file.write_bytes(data)
    try:
        command = task.reader.replace("{path}", _quoted(str(file)))
        with said.open("wb") as errors:
            process = subprocess.Popen(
                command,
                shell=True,
                cwd=task.folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
            )
            assert process.stdout is not None
            found = process.stdout.read(limits.output + 1)
            if len(found) > limits.output:
                process.kill()
                raise _too_long(limits)
            code = process.wait()
        if code:
            why = _line(said.read_bytes()[:2000].decode(errors="replace"))
            raise Unreadable(f"its converter failed (exit code {code})" + (why and f": {why}"))
        return Reading(found.decode("utf-8-sig", "replace"))
    finally:
        file.unlink(missing_ok=True)
        said.unlink(missing_ok=True)


def _quoted(path: str) -> str:
    """Quote a path for the shell that runs the command."""
    return subprocess.list2cmdline([path]) if sys.platform == "win32" else shlex.quote(path)


def _bounded(reading: Reading, limits: ReadingLimits) -> Reading:
    """Refuse a reading that is too long, and what no text may have in it."""
    if not isinstance(reading, Reading):
        raise Unreadable(f"its reader gave a {type(reading).__name__}, and no Reading")
    text = reading.text.encode("utf-8", "replace").decode()
    size = len(text) + sum(len(each.data) for each in reading.attachments)
    if size > limits.output or len(reading.attachments) > MOST_ATTACHMENTS:
        raise _too_long(limits)
    return Reading(
        text.replace("\0", " "),
        reading.title,
        reading.date,
        reading.author,
        reading.language,
        dict(reading.metadata),
        list(reading.links),
        list(reading.places),
        [EmbeddedFile(str(each.name), bytes(each.data)) for each in reading.attachments],
        reading.remark,
    )


def _too_long(limits: ReadingLimits) -> Unreadable:
    return Unreadable(f"more than {limits.output >> 20} MB of text")


def _line(text: str) -> str:
    """Shorten a text to its first line."""
    lines = text.strip().splitlines()
    return lines[0].strip()[:200] if lines else ""
