"""Who holds an index is named as people know it, and only while it runs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from qmd import lock_signature as signature
from qmd import processes
from qmd.errors import IndexBusy, JobRunning
from qmd.storage import file_lock as gates
from qmd.storage.file_lock import FileLock, dictionary, errand

LONG = 20

PROGRAM = """
import sys
from pathlib import Path
from qmd.storage.file_lock import FileLock, dictionary, errand

def hold(index, *verbs):
    gate = FileLock(Path(index))
    kept = []
    for verb in verbs:
        if verb == "words":
            kept.append(dictionary(Path(index), shared=False))
            kept[-1].__enter__()
        elif hasattr(gate, verb):
            getattr(gate, verb)()
        else:
            kept.append(errand(Path(index), verb))
            kept[-1].__enter__()
    print("in", flush=True)
    sys.stdin.readline()
    gate.leave()
    gate.open()
    print("out", flush=True)
    sys.stdin.read()

if __name__ == "__main__":
    hold(*sys.argv[1:])
"""

QMD = """
import sys
from program import hold
from qmd.surfaces.cli import direct
index, verbs = sys.argv[1], sys.argv[2].split()
sys.argv = ["qmd", *sys.argv[3:]]
direct.command = lambda _: lambda: hold(index, *verbs)
from qmd.__main__ import main
main()
"""


class Holder:
    """A process that holds something of an index."""

    def __init__(self, folder: Path, arguments: list[str]) -> None:
        self.process = subprocess.Popen(
            [sys.executable, *arguments],
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": f"{folder}:{Path.cwd()}", "QMD_NO_SERVER": "1"},
        )
        self.pid = self.process.pid
        assert self.process.stdout.readline() == "in\n"

    def let_go(self) -> None:
        """Release it all, and stay."""
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == "out\n"

    def end(self) -> None:
        """Kill the process."""
        self.process.kill()
        self.process.communicate()


@pytest.fixture
def holder(tmp_path):
    """Starts programs that hold what is named."""
    (tmp_path / "program.py").write_text(PROGRAM)
    started = []

    def start(*verbs, qmd=None):
        index = str(tmp_path / "index.duckdb")
        program = ["program.py", index, *verbs]
        if qmd is not None:
            program = ["-c", QMD, index, " ".join(verbs), *qmd]
        started.append(Holder(tmp_path, program))
        return started[-1]

    yield start
    for each in started:
        each.end()


@pytest.fixture
def index(tmp_path):
    """Where the index would be."""
    return tmp_path / "index.duckdb"


def busy(index, *verbs):
    """The process that keeps a use out."""
    gate = FileLock(index, patience=0.02)

    def use():
        for verb in verbs:
            getattr(gate, verb)()

    with pytest.raises(IndexBusy) as caught:
        use()
    gate.open()
    assert str(caught.value.holder or "another process") in str(caught.value)
    return caught.value.holder


READ, WRITE = ("enter_to_read",), ("shut", "enter_to_write")


@pytest.mark.parametrize("held", [("shut",), WRITE])
@pytest.mark.parametrize("wanted", [READ, WRITE])
def test_a_writer_is_named_to_readers_and_writers(holder, index, held, wanted):
    process = holder(*held)
    assert busy(index, *wanted) == f"python program.py, process {process.pid}"


def test_all_readers_that_keep_a_writer_out_are_named_and_many_counted(holder, index):
    names = [f"python program.py, process {holder(*READ).pid}" for _ in range(2)]
    assert busy(index, *WRITE) == " and ".join(names)
    for _ in range(3):
        holder(*READ)
    assert busy(index, *WRITE).startswith(", ".join(names))
    assert busy(index, *WRITE).endswith(" and 2 more")


@pytest.mark.parametrize(
    ("arguments", "command"),
    [
        (["update"], "qmd update"),
        (["update", "-c", "secret"], "qmd update"),
        (["--index", "work", "embed", "--force"], "qmd embed"),
        (["collection", "add", "/secret", "--index", "work"], "qmd collection add"),
        (["mcp"], "qmd mcp"),
        (["mcp", "--http"], "qmd mcp"),
        (["watch"], "qmd watch"),
        (["search", "a secret"], "qmd search"),
        (["server", "--port", "0"], "qmd server"),
    ],
)
def test_a_command_is_named_without_what_it_is_given(holder, index, arguments, command):
    process = holder(*WRITE, qmd=arguments)
    assert busy(index, *READ) == f"{command}, process {process.pid}"


@pytest.mark.parametrize("name", ["embed", "export", "import", "cleanup"])
def test_the_process_of_a_job_is_named(holder, index, name):
    process = holder(name)
    with pytest.raises(JobRunning) as caught, errand(index, name):
        pass
    assert str(caught.value).startswith(
        f"Another {name} of {index} is running: python program.py, process {process.pid}."
    )


def test_an_update_does_not_wait_for_ever_for_a_cleanup_that_stands_still(
    holder, index, monkeypatch
):
    process = holder("words")
    os.kill(process.pid, signal.SIGSTOP)
    monkeypatch.setattr(gates, "WORDS_TIMEOUT_SECONDS", 0.02)
    with pytest.raises(IndexBusy) as caught, dictionary(index, shared=True):
        pass
    assert caught.value.holder == f"python program.py, process {process.pid} (suspended)"


@pytest.mark.parametrize(("held", "wanted"), [(WRITE, READ), (READ, WRITE)])
def test_who_is_killed_is_named_no_more(holder, index, held, wanted):
    process = holder(*held)
    process.end()
    for verb in wanted:
        getattr(FileLock(index, patience=LONG), verb)()
    left = index.with_name(f"index.duckdb.{'lock' if held == WRITE else 'readers'}")
    if held == READ:
        assert str(process.pid) in left.read_text()
    assert str(process.pid) not in (signature.holders(left) or "")


@pytest.mark.parametrize(("held", "name"), [(WRITE, "lock"), (READ, "readers")])
def test_who_lets_go_and_stays_is_named_no_more(holder, index, held, name):
    process = holder(*held)
    process.let_go()
    assert process.process.poll() is None
    assert signature.holders(index.with_name(f"index.duckdb.{name}")) is None


def test_a_process_that_got_the_number_of_a_dead_one_is_not_named(index):
    lock = index.with_name("index.duckdb.lock")
    host = os.uname().nodename
    for began, named in (("1", False), (processes.process_state(os.getpid())[1], True)):
        lock.write_text(f"{os.getpid()} {began} {host} qmd update\n")
        assert (signature.holders(lock) is not None) is named


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"\0" * 4096,
        b"process 123",
        b"-1 - here qmd update",
        b"0 - here qmd update",
        b"99999999999999999999 - here qmd update",
        b"\xff\xfe 1 2 3",
        b"1 - here \x1b[31mqmd",
        "¹ - here qmd".encode(),
    ],
)
def test_what_others_wrote_into_a_lock_names_nobody(index, text):
    lock = index.with_name("index.duckdb.lock")
    lock.write_bytes(text)
    assert signature.holders(lock) is None


def test_a_holder_on_another_machine_is_named_with_it(index):
    lock = index.with_name("index.duckdb.lock")
    lock.write_text("7 1 elsewhere qmd update\n")
    assert signature.holders(lock) == "qmd update, process 7 on elsewhere"


def test_places_of_dead_readers_are_used_again_and_those_of_live_ones_are_kept(holder, index):
    readers = index.with_name("index.duckdb.readers")
    first, second = holder(*READ), holder(*READ)
    first.end()
    third = holder(*READ)
    assert readers.stat().st_size == 2 * signature.ENTRY_BYTES
    assert busy(index, *WRITE) == " and ".join(
        f"python program.py, process {each.pid}" for each in (third, second)
    )


def test_a_forked_child_does_not_take_the_name_of_its_parent_back(index):
    gate = FileLock(index)
    gate.shut()
    child = os.fork()
    if not child:
        os._exit(0)
    os.waitpid(child, 0)
    assert f"process {os.getpid()} " in (gate.holder() or "")
    gate.open()


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        (["/usr/bin/python3.11", "/home/me/program.py", "--password", "x"], "python program.py"),
        (["python3", "-u", "-X", "dev", "-W", "error", "-m", "http.server", "80"],
         "python -m http.server"),
        (["python", "-c", "import secret"], "python -c"),
        (["python"], "python"),
        (["python", "-"], "python -"),
        (["python", "/x/bin/qmd", "update", "-c", "notes"], "qmd update"),
        (["python", "-m", "qmd", "--index", "x"], "qmd"),
        (["/usr/bin/duckdb", "index.duckdb"], "duckdb"),
        (["evil\x1b[31m\n"], "evil?[31m?"),
        ([], "python"),
    ],
)  # fmt: skip
def test_a_command_line_in_short(arguments, name):
    assert processes.short_command(arguments) == name
