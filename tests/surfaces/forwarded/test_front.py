"""The front, when a server is another one, ends, or does not answer as it should."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from qmd import forward
from tests.surfaces.forwarded.fronts import of_sockets, until


def frame(kind: bytes, content: bytes = b"") -> bytes:
    return kind + len(content).to_bytes(4, "big") + content


ALIVE = frame(forward.ALIVE)


@pytest.mark.parametrize(
    "answers",
    [
        b"",
        ALIVE,
        frame(forward.DECLINED),
        ALIVE + frame(forward.DECLINED),
        frame(b"?", b"x"),
        b"o" + (1 << 30).to_bytes(4, "big") + b"x" * 100,
        frame(forward.EXIT, b"many"),
        frame(forward.EXIT, b"-1"),
        frame(forward.EXIT, b"9" * 30),
        frame(forward.STDOUT, b"half")[:-2],
        b"HTTP/1.1 400 Bad Request\r\n\r\n",
    ],
    ids="ends ends-later declines declines-later unknown endless code below above cut http".split(),
)
def test_a_command_runs_by_itself_if_nothing_was_printed(fronts, impostor, answers):
    server = impostor(answers)
    done = fronts.call("get", "tea.md")
    assert server.requests
    assert done == fronts.alone("get", "tea.md")
    assert done.code == 0


@pytest.mark.parametrize("last", [b"", frame(forward.DECLINED), b"o" + b"\xff" * 4])
def test_a_command_says_so_if_a_part_was_printed(fronts, impostor, last):
    impostor(ALIVE + frame(forward.STDOUT, b"# Te") + last)
    done = fronts.call("get", "tea.md")
    assert (done.code, done.out) == (forward.INCOMPLETE, b"# Te")
    assert done.err.startswith(b"The server ended before the command was done: ")


def test_what_a_server_sends_is_written_and_its_code_is_that_of_the_command(fronts, impostor):
    impostor(
        frame(forward.STDOUT, b"one\n")
        + frame(forward.STDERR, b"two\n")
        + ALIVE
        + frame(forward.STDOUT, b"x" * forward.MAX_FRAME)
        + frame(forward.EXIT, b"7")
    )
    assert fronts.call("ls") == (7, b"one\n" + b"x" * forward.MAX_FRAME, b"two\n")


def test_stdin_that_a_server_had_is_still_there_for_the_command(fronts, impostor):
    impostor(ALIVE + frame(forward.STDIN))
    done = fronts.call("search", "-", stdin=b"green tea")
    assert done == fronts.alone("search", "-", stdin=b"green tea")
    assert b"tea.md" in done.out


def test_stdin_that_is_too_long_is_left_to_the_command(fronts):
    with fronts.server():
        text = b"tea" + b" " * forward.MAX_STDIN
        assert fronts.call("search", "-", stdin=text) == fronts.alone("search", "-", stdin=text)


HASTY = """
import sys
from qmd import forward
forward.SIGN_SECONDS = 0.05
from qmd.__main__ import main
main()
"""


def test_a_server_that_stands_still_is_given_up(fronts, impostor):
    server = impostor(None)
    done = subprocess.run(
        [sys.executable, "-c", HASTY, "get", "tea.md"],
        capture_output=True,
        env=fronts.environ,
        cwd=fronts.folder / "notes",
        check=False,
    )
    assert server.requests
    assert (done.returncode, done.stdout, done.stderr) == fronts.alone("get", "tea.md")


@of_sockets
def test_a_full_queue_of_connections_is_no_reason_to_wait(fronts):
    import socket

    Path(fronts.socket).parent.mkdir(mode=0o700, exist_ok=True)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(fronts.socket)
        listener.listen(0)
        waiting = []
        while True:
            link = socket.socket(socket.AF_UNIX)
            link.setblocking(False)
            waiting.append(link)
            try:
                link.connect(fronts.socket)
            except BlockingIOError:
                break
        assert fronts.call("get", "tea.md").code == 0
        for link in waiting:
            link.close()
    Path(fronts.socket).unlink()


@of_sockets
def test_a_socket_that_was_left_behind_is_no_server(fronts):
    import socket

    Path(fronts.socket).parent.mkdir(mode=0o700, exist_ok=True)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(fronts.socket)
    assert fronts.call("get", "tea.md").code == 0
    fronts.codes.clear()
    with fronts.server():
        assert fronts.call("get", "tea.md").code == 0
        assert fronts.codes == [0]
    assert not Path(fronts.socket).exists()


@pytest.mark.skipif(
    sys.platform == "win32" or os.geteuid() != 0, reason="only root gives files to another user"
)
def test_the_endpoint_of_another_user_is_not_asked(fronts, impostor):
    server = impostor(frame(forward.EXIT, b"7"))
    os.chown(server.path, 12345, 12345)
    assert fronts.call("get", "tea.md").code == 0
    assert not server.requests


@of_sockets
@pytest.mark.parametrize("mode", [0o755, 0o720])
def test_a_socket_in_a_folder_that_others_may_enter_is_not_asked(fronts, impostor, mode):
    server = impostor(frame(forward.EXIT, b"7"))
    folder = Path(server.path).parent
    folder.chmod(mode)
    try:
        assert fronts.call("get", "tea.md").code == 0
        assert not server.requests
        fronts.codes.clear()
    finally:
        folder.chmod(0o700)


@of_sockets
def test_a_process_of_another_user_is_not_believed(monkeypatch, fronts, impostor):
    server = impostor(frame(forward.EXIT, b"7"))
    link = forward._connected(server.path)
    assert link is not None
    link.close()
    monkeypatch.setattr(forward, "user_of", lambda _: os.geteuid() + 1)
    assert forward._connected(server.path) is None


@pytest.mark.parametrize(
    "words", [["--no-server", "ls"], ["ls", "--no-server"], ["ls", "notes", "--no-server"]]
)
def test_an_option_keeps_a_command_from_servers(fronts, impostor, words):
    server = impostor(frame(forward.EXIT, b"7"))
    assert fronts.call(*words).code == 0
    assert not server.requests


def test_a_variable_keeps_commands_from_servers(fronts, impostor):
    server = impostor(frame(forward.EXIT, b"7"))
    assert fronts.call("ls", env={**fronts.environ, "QMD_NO_SERVER": "1"}).code == 0
    assert not server.requests
    assert fronts.call("ls", env={**fronts.environ, "QMD_NO_SERVER": "0"}).code == 7


def test_a_word_after_two_dashes_is_no_option(fronts, impostor):
    impostor(frame(forward.EXIT, b"7"))
    assert fronts.call("search", "--", "--no-server").code == 7


@of_sockets
def test_ctrl_c_ends_a_command_and_is_told_to_the_server(fronts, impostor):
    import signal

    server = impostor(None)
    process = fronts.begun(
        "get",
        "tea.md",
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    until(lambda: server.requests)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate()
    assert (process.returncode, out, err) == (130, b"", b"Interrupted.\n")
    until(lambda: server._kept)
    assert server._kept[0].recv(1) == b""


def test_the_front_loads_no_module_that_the_interpreter_has_not_loaded():
    code = """
import sys
before = set(sys.modules)
from qmd import forward
forward.call(["search", "x"])
print(*sorted(set(sys.modules) - before))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {"qmd", "qmd.forward", "qmd.location", "qmd.version"}
    if sys.platform == "win32":
        loaded |= {"qmd.pipe", "ctypes", "ctypes._endian", "ctypes.wintypes", "_ctypes"}
        loaded |= {"struct", "_struct", "types"}
    assert set(done.stdout.split()) <= loaded


@pytest.mark.parametrize(
    "words",
    [
        ["search", "--index", "a", "x"],
        ["--index=a", "search", "x"],
        ["search", "x", "--no-server", "--index", "a"],
    ],
)
def test_the_name_of_the_index_is_found_anywhere(words):
    assert forward.hoisted(words) == ["--index", "a", "search", "x"]


@pytest.mark.parametrize("words", [["search", "--index"], ["search", "--", "--index", "a"], []])
def test_what_names_no_index_stays(words):
    assert forward.hoisted(words) == words
