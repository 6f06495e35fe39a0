"""Files read in other processes, which hang, crash and take too much."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import closing

import pytest

from qmd import processes
from qmd.ingest import extraction
from qmd.ingest.extraction import Extraction
from qmd.ingest.readers.reading import Reading, Unreadable
from qmd.ingest.readers.tasks import Job, ReadingLimits, Task
from qmd.storage.cancellation import Stopped
from qmd.text import kinds
from tests.ingest import reading

LIMITS = ReadingLimits(seconds=2.0, memory=100 << 20, output=1 << 20)


@pytest.fixture
def extracted(tmp_path, monkeypatch):
    reading.install(tmp_path, monkeypatch)
    with closing(Extraction(tmp_path / "index.duckdb", LIMITS)) as made:
        yield made
    kinds.by_suffix.cache_clear()


def job(function: str, text: str = "text") -> Job:
    return Job(Task("oddreaders 1.0", f"oddreaders:{function}"), text.encode(), f"a.{function}")


def converting(command: str, folder) -> Job:
    return Job(Task("converter 1", command, str(folder)), b"text", "a b'c.foo")


@pytest.mark.parametrize(
    ("function", "problem"),
    [
        ("hang", "its reader took more than 2 seconds"),
        ("crash", "its reader crashed (signal 11)"),
        ("bomb", "needs more than 100 MB of memory"),
        ("flood", "more than 1 MB of text"),
        ("fail", "damaged: LookupError: no such"),
        ("odd", "its reader gave a str, and no Reading"),
        ("nothing", "damaged: AttributeError: module 'oddreaders' has no attribute 'nothing'"),
    ],
)
def test_a_reader_that_fails_gives_one_line_and_stops_no_other(extracted, function, problem):
    before, failed, after = extracted.read([job("echo", "one"), job(function), job("echo", "two")])
    assert isinstance(failed, Unreadable)
    assert str(failed) == problem
    texts = [each.text for each in (before, after) if isinstance(each, Reading)]
    assert texts == ["read by a package: one", "read by a package: two"]


def test_one_process_reads_one_file_after_the_other_until_it_is_closed(extracted):
    extracted.read([job("echo")])
    [worker] = extracted._idle
    extracted.read([job("echo")])
    assert extracted._idle == [worker]
    number = worker._process.pid
    extracted.close()
    with pytest.raises(ProcessLookupError):
        os.kill(number, 0)


def test_no_process_is_started_before_there_is_a_file(tmp_path):
    made = Extraction(tmp_path / "index.duckdb")
    assert made.read([]) == []
    assert made._idle == []


def test_whoever_interrupts_waits_for_no_file(extracted, monkeypatch):
    monkeypatch.setattr(extraction._Worker, "waited", lambda *_: extracted.interrupt())
    with pytest.raises(Stopped):
        extracted.read([job("hang")])
    monkeypatch.undo()
    reading_of = Task("text 1", "text")
    [found] = extracted.read([Job(reading_of, b"caf\xe9", "a.txt")])
    assert found.text == "café"


def test_a_command_gets_the_file_and_writes_markdown(extracted, tmp_path):
    [found] = extracted.read([converting("cat {path} && pwd && basename {path}", tmp_path)])
    assert found.text == f"text{tmp_path}\nin-a b'c.foo\n"


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        ("echo broken >&2; false {path}", "its converter failed (exit code 1): broken"),
        ("sleep 1000; cat {path}", "its reader took more than 2 seconds"),
        ("yes {path}", "more than 1 MB of text"),
    ],
)
def test_a_command_that_fails_is_told_and_ended(extracted, tmp_path, command, problem):
    [failed] = extracted.read([converting(command, tmp_path)])
    assert str(failed) == problem


def test_what_a_command_has_started_ends_with_its_time(extracted, tmp_path):
    note = tmp_path / "number"
    extracted.read([converting(f"sleep 1000 & echo $! > {note}; wait; : {{path}}", tmp_path)])
    assert has_ended(int(note.read_text()))
    assert not list(tmp_path.glob("*.spill-*"))


def test_a_process_ends_with_the_one_that_has_started_it(tmp_path):
    note = tmp_path / "number"
    code = f"""
import os
from pathlib import Path
from qmd import processes
from qmd.ingest import extraction
from qmd.ingest.readers.tasks import Job, Task
class Worker(extraction._Worker):
    def ask(self, name, given):
        super().ask(name, given)
        Path({str(note)!r}).write_text(str(self._process.pid))
        os.kill(os.getpid(), 9)
extraction._Worker = Worker
made = extraction.Extraction(Path({str(tmp_path / "index.duckdb")!r}))
made.read([Job(Task("converter 1", "sleep 1000; : {{path}}", "/"), b"text", "a.foo")])
"""
    done = subprocess.run([sys.executable, "-c", code], check=False)
    assert done.returncode == -signal.SIGKILL
    assert has_ended(int(note.read_text()))


def has_ended(process: int) -> bool:
    """Wait for a process to end that is none of ours."""
    end = time.monotonic() + 60
    while processes.is_running(process) and time.monotonic() < end:
        os.sched_yield()
    return not processes.is_running(process)
