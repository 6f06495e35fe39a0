"""A server in the background: started, found, stopped, and never taken for another process."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import stat
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from qmd.errors import ServerFailure, UsageError
from qmd.surfaces.http import daemon
from qmd.surfaces.http.daemon import Files, Running
from tests.surfaces.service import LONG, Waiting, service, until


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Where is kept what is known of servers."""
    for name in ("QMD_TOKEN", "QMD_ALLOWED_ORIGINS", "QMD_ALLOWED_HOSTS", "QMD_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state" / "qmd"


@pytest.fixture
def command(qmd, folder):
    """Runs a command; what it leaves in the background is ended."""
    yield qmd
    qmd("mcp", "stop")


@pytest.fixture
def files(tmp_path):
    """The files of an index that no server has."""
    (tmp_path / "own").mkdir()
    return Files(tmp_path / "own" / "index.pid", tmp_path / "own" / "index.log")


@pytest.fixture
def stranger():
    """Runs Python in a process that is no server; it says a line when it is ready."""
    started = []

    def run(code):
        process = subprocess.Popen(
            [sys.executable, "-c", f"{code}\nprint(flush=True)\nimport time\ntime.sleep(600)"],
            stdout=subprocess.PIPE,
        )
        started.append(process)
        process.stdout.readline()
        return process

    yield run
    for process in started:
        process.kill()
        process.wait()
        process.stdout.close()


def url_in(text):
    """The first URL of a text."""
    return re.search(r"http://127\.0\.0\.1:\d+", text)[0]


def write(files, process, **more):
    """Write a pid file."""
    record = Running(process, daemon.process_identity(process) or "", "127.0.0.1", 1, time.time())
    files.pid.write_text(json.dumps({**record._asdict(), **more}))


# -- the whole way -------------------------------------------------------------------


def test_a_server_is_started_found_and_stopped(command, folder):
    code, out, err = command("mcp", "--http", "--daemon", "--port", 0)
    assert code == 0, err
    url = url_in(out)
    assert httpx.get(f"{url}/health", timeout=LONG).json()["status"] == "healthy"

    facts = json.loads(command("mcp", "status", "--json")[1])
    assert (facts["running"], facts["healthy"], facts["url"]) == (True, True, url)
    assert os.getsid(facts["pid"]) == facts["pid"]  # the terminal does not end it
    assert command("mcp", "status")[1].startswith(f"A server runs at {url} (process ")
    [pid_file] = folder.glob("*.pid")
    assert stat.S_IMODE(pid_file.stat().st_mode) == 0o600
    assert stat.S_IMODE(Path(facts["log"]).stat().st_mode) == 0o600

    code, out, err = command("mcp", "--http", "--daemon", "--port", 0)
    assert (code, out) == (1, "")
    assert err.startswith(f"A server for this index runs already at {url} (process ")

    code, out, _ = command("mcp", "stop")
    assert (code, out) == (0, f"Stopped the server at {url} (process {facts['pid']}).\n")
    assert not list(folder.glob("*.pid"))
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{url}/health", timeout=LONG)
    assert json.loads(command("mcp", "status", "--json")[1]) == {"running": False}
    assert command("mcp", "stop")[0] == 0


def test_the_token_is_not_to_be_seen_among_processes(command):
    code, out, err = command("mcp", "--http", "--daemon", "--port", 0, "--token", "s3cret")
    assert code == 0, err
    facts = json.loads(command("mcp", "status", "--json")[1])
    assert "s3cret" not in daemon.process_identity(facts["pid"])
    assert "s3cret" not in out + err
    url = f"{facts['url']}/status"
    assert httpx.get(url, timeout=LONG).status_code == 401
    headers = {"authorization": "Bearer s3cret"}
    assert httpx.get(url, headers=headers, timeout=LONG).status_code == 200


def test_of_two_that_are_started_at_once_one_runs(command, folder):
    words = [sys.executable, "-m", "qmd", "mcp", "--http", "--daemon", "--port", "0"]

    def start():
        return subprocess.run(words, capture_output=True, text=True, timeout=3 * LONG, check=False)

    with ThreadPoolExecutor() as pool:
        ended = [future.result() for future in [pool.submit(start), pool.submit(start)]]
    assert sorted(each.returncode for each in ended) == [0, 1], [each.stderr for each in ended]
    [refused] = [each for each in ended if each.returncode]
    assert "runs already at" in refused.stderr
    assert len(list(folder.glob("*.pid"))) == 1


def test_a_server_that_does_not_start_says_why(command, folder):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        code, out, err = command("mcp", "--http", "--daemon", "--port", port)
    assert (code, out) == (1, "")
    assert err.startswith("The server did not start (exit code 1). It said:\n\nAnother program")
    assert not list(folder.glob("*.pid"))


def test_each_index_has_a_server_of_its_own(tmp_path):
    named = {daemon.files_of(tmp_path / name, tmp_path).pid for name in ("a.duckdb", "b.duckdb")}
    other = daemon.files_of(tmp_path / "other" / "a.duckdb", tmp_path).pid
    assert len(named | {other}) == 3


def test_one_index_has_one_server_by_whatever_path_it_is_named(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    paths = [tmp_path / folder / "a.duckdb" for folder in ("real", "link")]
    assert len({daemon.files_of(path, tmp_path) for path in paths}) == 1


@pytest.mark.parametrize("name", ["loop", "é" * 120])
def test_any_name_of_an_index_gives_files(tmp_path, name):
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    files = daemon.files_of(tmp_path / name, tmp_path)
    assert daemon.running(files) is None
    with daemon.signed(files.pid, "127.0.0.1", 1):
        assert daemon.running(files) is not None


# -- processes that are no servers -----------------------------------------------------


def test_a_process_that_has_the_number_of_a_server_is_left_alone(files, stranger):
    process = stranger("")
    write(files, process.pid, identity=f"{daemon.process_identity(process.pid)} earlier")
    assert daemon.running(files) is None
    assert daemon.stop(files) is None
    assert process.poll() is None
    assert not files.pid.exists()


def test_what_a_killed_server_left_behind_is_removed(files, stranger):
    process = stranger("")
    write(files, process.pid)
    assert daemon.running(files) is not None
    process.kill()
    process.wait()
    assert daemon.running(files) is None
    assert daemon.stop(files) is None
    assert not files.pid.exists()


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "1234", '{"process": "x"}', '{"process": 1, "identity": "x"}']
)
def test_a_pid_file_that_says_nothing_is_no_server(files, text):
    files.pid.write_text(text)
    assert daemon.running(files) is None
    assert daemon.stop(files) is None
    assert not files.pid.exists()


@pytest.mark.parametrize(
    ("words", "taken"),
    [
        ("status", "state"), ("stop", "state"), ("--http --daemon", "state"),
        ("status", "state/qmd"), ("stop", "state/qmd"), ("--http --daemon", "state/qmd"),
    ],
)  # fmt: skip
def test_a_place_that_is_no_folder_is_told_in_words(command, tmp_path, words, taken):
    (tmp_path / taken).parent.mkdir(exist_ok=True)
    (tmp_path / taken).write_text("")
    code, out, err = command("mcp", *words.split())
    assert (code, out) == (1, "")
    assert "Not a directory." in err or "File exists." in err
    assert err.endswith(
        f"What qmd knows of servers is kept in {tmp_path}/state/qmd; XDG_STATE_HOME names another "
        "place.\n"
    )


@pytest.mark.parametrize("kind", ["pid", "log"])
def test_a_folder_in_the_place_of_a_file_is_told_in_words(files, kind):
    taken = getattr(files, kind)
    taken.mkdir()
    uses = [lambda: daemon.start(files, ["true"], os.environ)]
    if kind == "pid":
        uses += [lambda: daemon.running(files), lambda: daemon.stop(files)]
        uses += [lambda: daemon.signed(taken, "127.0.0.1", 1).__enter__()]
    for use in uses:
        with pytest.raises(UsageError, match=rf"^{taken}: Is a directory\."):
            use()
    assert list(files.pid.parent.iterdir()) == [taken]


def test_numbers_that_mean_many_processes_are_never_one(files, monkeypatch):
    monkeypatch.setattr(daemon, "process_identity", lambda process: "the same")
    for number in (-1, 0, 1):
        write(files, number)
        assert daemon.running(files) is None
    write(files, 2)
    assert daemon.running(files) is not None


def test_a_server_that_does_not_end_is_told_of_and_not_killed(files, stranger, monkeypatch):
    monkeypatch.setattr(daemon, "TO_STOP", 0.1)
    process = stranger("import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)")
    write(files, process.pid)
    with pytest.raises(ServerFailure, match=f"process {process.pid}. does not end"):
        daemon.stop(files)
    assert process.poll() is None
    assert files.pid.exists()


def test_what_never_answers_is_ended_and_told_of(files, monkeypatch):
    monkeypatch.setattr(daemon, "TO_START", 0.1)
    words = [sys.executable, "-c", "import time; time.sleep(600)"]
    with pytest.raises(ServerFailure, match="did not answer within 0 seconds"):
        daemon.start(files, words, dict(os.environ))


def test_a_process_has_one_identity_and_no_other_process_has_it(stranger):
    one = stranger("")
    time.sleep(2 / os.sysconf("SC_CLK_TCK"))  # the clock that tells when a process started
    other = stranger("")
    assert daemon.process_identity(one.pid) == daemon.process_identity(one.pid)
    assert daemon.process_identity(one.pid) != daemon.process_identity(other.pid)
    one.kill()
    one.wait()
    assert daemon.process_identity(one.pid) is None


def test_the_pid_file_of_a_later_server_stays(files):
    with daemon.signed(files.pid, "127.0.0.1", 1):
        write(files, os.getppid())
    assert files.pid.exists()


def test_a_signed_server_is_known_as_long_as_it_runs(files):
    with daemon.signed(files.pid, "127.0.0.1", 8181):
        found = daemon.running(files)
        assert (found.process, found.url) == (os.getpid(), "http://127.0.0.1:8181")
        assert stat.S_IMODE(files.pid.stat().st_mode) == 0o600
    assert not files.pid.exists()


# -- ports that are taken --------------------------------------------------------------


def test_a_port_that_qmd_has_is_told_from_one_that_another_program_has(command):
    with service(Waiting()) as server:
        code, _, err = command("mcp", "--http", "--port", server.port)
        assert code == 1
        assert err.startswith(f"qmd answers at {server.url} already.")
    with socket.create_server(("127.0.0.1", 0)) as other, ThreadPoolExecutor() as pool:
        port = other.getsockname()[1]
        asked = pool.submit(command, "mcp", "--http", "--port", port)
        link, _ = other.accept()
        link.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
        code, _, err = asked.result(LONG)
        link.close()
    assert code == 1
    assert err.startswith(f"Another program listens at http://127.0.0.1:{port}.")


def test_a_server_that_is_killed_by_hand_takes_its_pid_file_along(command, folder):
    command("mcp", "--http", "--daemon", "--port", 0)
    process = json.loads(command("mcp", "status", "--json")[1])["pid"]
    os.kill(process, signal.SIGTERM)

    until(lambda: daemon.process_identity(process) is None)
    assert not list(folder.glob("*.pid"))
