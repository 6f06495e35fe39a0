"""A server of commands, whatever its fronts are like."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest

from qmd import forward
from qmd.surfaces.forwarded import listener as listening
from qmd.surfaces.forwarded.listener import CodeFingerprint
from tests.surfaces.forwarded.fronts import LONG, connected, of_sockets, until

if sys.platform != "win32":
    from qmd.surfaces.forwarded import sockets


def request(fronts, *words, code=None, folder=None, **environ) -> bytes:
    """Write a request as a front does."""
    code = code or (forward.__version__, sys.prefix, forward.PACKAGE)
    fields = [
        forward.PROTOCOL,
        *code,
        str(folder or fronts.folder / "notes"),
        "000",
        "0 0 4096",
        "utf-8 utf-8 utf-8 strict",
        "00",
        str(len(words)),
        *words,
        *(f"{name}={value}" for name, value in {**fronts.environ, **environ}.items()),
    ]
    content = "\0".join(fields).encode()
    return len(content).to_bytes(4, "big") + content


def answered(fronts, sent: bytes) -> list[tuple[bytes, bytes]]:
    """Frames that come back, without signs of life."""
    found = []
    with connected(fronts) as link, suppress(ConnectionError):
        link.sendall(sent)
        for each in forward._frames(link):
            if each[0] != forward.ALIVE:
                found.append(each)
            if sys.platform == "win32" and each[0] in (forward.EXIT, forward.DECLINED):
                break  # a pipe tells no end of one side
    return found


def listens(fronts) -> bool:
    try:
        with connected(fronts):
            return True
    except OSError:
        return False


DECLINED = [(forward.DECLINED, b"")]


def test_a_command_is_carried_out(served):
    assert answered(served, request(served, "ls"))[-1] == (forward.EXIT, b"0")


@pytest.mark.parametrize("part", [0, 1, 2])
def test_a_front_of_other_code_is_declined(served, part):
    code = [forward.__version__, sys.prefix, forward.PACKAGE]
    code[part] += "x"
    assert answered(served, request(served, "ls", code=code)) == DECLINED
    assert served.codes == []


def test_code_that_was_changed_is_noticed(tmp_path, monkeypatch):
    file = tmp_path / "module.py"
    file.write_text("a = 1\n")
    monkeypatch.setattr(forward, "PACKAGE", str(tmp_path))
    code = CodeFingerprint()
    assert code.is_current()
    file.write_text("a = 12\n")
    assert not code.is_current()


def test_a_server_whose_code_was_changed_declines(served, monkeypatch):
    monkeypatch.setattr(CodeFingerprint, "is_current", lambda _: False)
    assert answered(served, request(served, "ls")) == DECLINED


@pytest.mark.parametrize(
    "environ",
    [
        {"QMD_EMBED_MODEL": "other"},
        {"HF_HUB_OFFLINE": "1"},
        {"QMD_FORCE_CPU": "1"},
    ],
)
def test_a_caller_with_other_models_is_declined(served, environ):
    assert answered(served, request(served, "search", "tea", **environ)) == DECLINED


@pytest.mark.parametrize(
    "environ",
    [
        {"TZ": "Asia/Tokyo"},
        {"HTTPS_PROXY": "http://127.0.0.1:1"},
        {"QMD_DEBUG": "1"},
        {"INDEX_PATH": "/tmp/other.duckdb"},
        {"QMD_CONFIG_DIR": "/tmp/other"},
        {"QMD_CONFIG_DIR": "config"},
        {"HOME": "/nowhere"},
        {"QMD_TRUST_LOCAL_CONFIG": "1"},
    ],
)
def test_a_caller_with_other_settings_or_approvals_is_declined(served, environ):
    assert answered(served, request(served, "ls", **environ)) == DECLINED
    assert served.codes == []


def test_another_index_is_declined(served):
    assert answered(served, request(served, "--index", "other", "ls")) == DECLINED


def test_a_relative_path_of_the_index_begins_at_the_folder_of_the_caller(served):
    environ = {**served.environ, "INDEX_PATH": "../index.duckdb"}
    assert served.call("ls", env=environ).code == 0
    assert served.codes == []  # it is spelled another way: the settings might be others
    environ = {**served.environ, "INDEX_PATH": "index.duckdb"}
    assert served.call("ls", env=environ, cwd=served.folder).code == 0
    assert served.codes == [0]


@pytest.mark.parametrize(
    "words",
    [
        ["update"], ["collection", "list"], ["cleanup"], ["--version"], ["ls", "--help"],
        ["sql", "from documents", "-o", "x.csv"], ["sql", "-f", "x.sql"], ["nope"], ["help"], [],
        ["search", "tea", "--fresh"], ["search", "tea", "--yes"], ["query", "tea", "--fresh"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_what_is_not_marked_in_its_declaration_is_declined(served, words):
    assert answered(served, request(served, *words)) == DECLINED
    assert not (served.folder / "x.csv").exists()


def test_settings_switch_it_off_at_once(served):
    config = served.folder / "config" / "index.yml"
    before = config.read_text()
    try:
        config.write_text(before + "server: false\n")
        assert served.call("ls").code == 0
        assert served.codes == []
    finally:
        config.write_text(before)
    assert served.call("ls").code == 0
    assert served.codes == [0]


def test_what_another_process_has_just_indexed_is_found(served):
    note = served.folder / "notes" / "fresh.md"
    assert b"fresh.md" not in served.call("search", "brandnew").out
    note.write_text("# Brandnew\n")
    try:
        assert served.call("update").code == 0
        assert b"fresh.md" in served.call("search", "brandnew").out
        assert served.codes == [0, None, 0]
    finally:
        note.unlink()
        served.call("update")


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"\0\0\0\0",
        b"\xff\xff\xff\xff",
        b"GET / HTTP/1.1\r\n\r\n",
        b"\0\0\0\5hello",
        (1 << 17).to_bytes(4, "big") + b"\xff" * (1 << 17),
        (4).to_bytes(4, "big") + b"abcde",
    ],
)
def test_what_is_no_request_ends_the_connection(served, sent):
    with connected(served) as link:
        link.sendall(sent)
        if sys.platform != "win32":
            link.shutdown(socket.SHUT_WR)
        kinds = set()
        with suppress(OSError):
            kinds = {kind for kind, _ in forward._frames(link)}
    assert kinds <= {forward.DECLINED, forward.ALIVE}
    assert served.call("ls").code == 0
    assert served.codes == [0]


@pytest.mark.parametrize(
    "change",
    [
        lambda fields: fields[:9],
        lambda fields: [*fields[:9], "9999", *fields[10:]],
        lambda fields: [*fields[:9], "-1", *fields[10:]],
        lambda fields: [*fields[:6], "a b c", *fields[7:]],
        lambda fields: [*fields[:7], "nope nope nope strict", *fields[8:]],
        lambda fields: [*fields[:5], "0", *fields[6:]],
        lambda fields: [*fields, "no value"],
        lambda fields: [*fields[:4], "relative", *fields[5:]],
    ],
)
def test_a_request_with_a_fault_is_declined(served, change):
    fields = request(served, "ls")[4:].split(b"\0")
    content = b"\0".join(
        each if isinstance(each, bytes) else each.encode() for each in change(fields)
    )
    assert answered(served, len(content).to_bytes(4, "big") + content) == DECLINED


def test_a_request_that_never_ends_is_cut_off(served, monkeypatch):
    monkeypatch.setattr("qmd.surfaces.forwarded.session.REQUEST_SECONDS", 1.0)
    with served.server(), connected(served) as link:
        link.sendall(request(served, "ls")[:50])
        assert served.call("ls").code == 0
        try:
            assert link.recv(1) == b""  # after REQUEST_SECONDS
        except OSError:
            assert sys.platform == "win32"


def test_data_that_no_command_asked_for_ends_the_connection(served):
    with connected(served) as link:
        link.sendall(request(served, "sql", "select count(*) from range(100_000_000_000)"))
        link.sendall(b"more")
        with suppress(OSError):
            assert {kind for kind, _ in forward._frames(link)} <= {forward.ALIVE}
    assert served.call("ls").code == 0


@contextmanager
def unread(fronts, server, count) -> Iterator[list[socket.socket]]:
    """So many fronts that do not read what they asked for, so that their commands wait."""
    with ExitStack() as links:
        made = [links.enter_context(connected(fronts)) for _ in range(count)]
        for link in made:
            link.sendall(request(fronts, "get", "long.md"))
        # A server that is at work for them may be slower than a front that waits for a sign.
        until(lambda: sum(each.is_waiting for each in list(server._sessions.values())) == count)
        yield made


def test_a_front_that_does_not_read_holds_up_no_other_command(fronts):
    count = listening.MOST_RUNNING + 2
    with fronts.server() as server, unread(fronts, server, count) as stuck:
        assert fronts.call("get", "tea.md").code == 0
        assert fronts.codes == [0]
        for link in stuck:  # their buffers are full, and now they are read
            frames = list(forward._frames(link))
            text = b"".join(content for kind, content in frames if kind == forward.STDOUT)
            assert text.count(b"Water, sugar and time.") == 40_000
            assert frames[-1] == (forward.EXIT, b"0")


def test_a_command_does_not_wait_for_fronts_that_hold_up_all_threads(fronts, monkeypatch):
    monkeypatch.setattr(listening, "MOST_THREADS", 2)
    with fronts.server() as server, unread(fronts, server, 2):
        assert fronts.call("get", "tea.md").code == 0
        assert fronts.codes == []  # the caller ran it


def test_a_command_ends_when_its_front_does(served):
    with connected(served) as link:
        link.sendall(request(served, "sql", "select count(*) from range(100_000_000_000_000)"))
        kind, _ = next(forward._frames(link))
        assert kind == forward.ALIVE
    until(lambda: served.codes != [])
    assert served.call("ls").code == 0


def test_commands_at_the_same_time_have_each_a_console_of_its_own(served):
    lines = [["get", "tea.md"], ["search", "tea", "--json"], ["ls", "work"], ["get", "nope"]]
    folders = [served.folder / "notes", served.folder]
    wanted = {
        (number, folder): served.alone(*words, cwd=folder)
        for number, words in enumerate(lines)
        for folder in folders
    }
    found = []

    def call(number, folder):
        found.append(((number, folder), served.call(*lines[number], cwd=folder)))

    threads = [threading.Thread(target=call, args=key) for key in wanted for _ in range(3)]
    for each in threads:
        each.start()
    for each in threads:
        each.join(LONG)
    assert len(found) == len(threads) == len(served.codes)
    assert all(done == wanted[key] for key, done in found)


@of_sockets
def test_of_two_servers_the_second_takes_over_when_the_first_ends(fronts):
    with fronts.server():
        with fronts.server() as second:
            assert not second.endpoint.is_listening
            first_number = Path(fronts.socket).stat().st_ino
        assert Path(fronts.socket).stat().st_ino == first_number
    first = fronts.server()
    first.__enter__()
    with fronts.server() as second:
        first.__exit__(None, None, None)
        until(lambda: second.endpoint.is_listening)
        fronts.codes.clear()
        assert fronts.call("ls").code == 0
        assert fronts.codes == [0]
    assert not Path(fronts.socket).exists()


@of_sockets
def test_a_server_that_ends_leaves_no_file(fronts):
    folder = Path(fronts.socket).parent
    with fronts.server():
        assert {each.name for each in folder.iterdir()} >= {Path(fronts.socket).name}
    assert not list(folder.glob(f"{Path(fronts.socket).name}*"))


@of_sockets
def test_a_server_removes_what_killed_ones_have_left_and_nothing_that_is_held(fronts):
    folder = Path(fronts.socket).parent
    with fronts.server():
        left, held = folder / "left.sock", folder / "held.sock"
        for each in (left, held):
            each.touch()
            each.with_name(f"{each.name}.lock").touch()
        lock = sockets._locked(f"{held}.lock")
        try:
            sockets._remove_left_over(folder)
            assert not left.exists()
            assert not left.with_name("left.sock.lock").exists()
            assert held.exists()
            assert held.with_name("held.sock.lock").exists()
            assert Path(fronts.socket).exists()
            assert Path(f"{fronts.socket}.lock").exists()
        finally:
            os.close(lock)
        sockets._remove_left_over(folder)
        assert not held.exists()


@of_sockets
def test_a_lock_that_its_last_holder_removed_is_no_lock(tmp_path, monkeypatch):
    path = tmp_path / "a.sock.lock"
    path.touch()
    flock = sockets.fcntl.flock

    def late(number, how):
        path.unlink()
        path.touch()
        flock(number, how)

    monkeypatch.setattr(sockets.fcntl, "flock", late)
    with pytest.raises(FileNotFoundError):
        sockets._locked(str(path))


@of_sockets
def test_a_socket_that_was_removed_is_made_again(served):
    Path(served.socket).unlink()
    until(Path(served.socket).exists)
    assert served.call("ls").code == 0
    assert served.codes == [0]


@of_sockets
def test_the_socket_is_for_its_user_alone(served):
    assert Path(served.socket).stat().st_mode & 0o777 == 0o600
    assert Path(served.socket).parent.stat().st_mode & 0o777 == 0o700


@of_sockets
def test_a_process_of_another_user_is_not_answered(served, monkeypatch):
    monkeypatch.setattr(forward, "user_of", lambda _: os.geteuid() + 1)
    assert answered(served, request(served, "ls")) == []
    assert served.codes == []


@of_sockets
def test_no_socket_is_made_in_a_folder_that_others_may_enter(fronts):
    folder = Path(fronts.socket).parent
    folder.chmod(0o755)
    try:
        with fronts.server():
            assert not Path(fronts.socket).exists()
    finally:
        folder.chmod(0o700)


SERVERS = [
    ["watch"],
    ["mcp"],
    ["mcp", "--http", "--port", "0"],
    ["server", "--transport", "http", "--port", "0"],
]


@pytest.mark.parametrize("words", SERVERS, ids=" ".join)
def test_each_process_that_stays_carries_commands_out(fronts, words):
    process = fronts.begun(*words)
    try:
        until(lambda: listens(fronts))
        assert answered(fronts, request(fronts, "ls"))[-1] == (forward.EXIT, b"0")
        process.kill()  # it leaves its socket behind
        process.wait()
        assert fronts.call("ls").code == 0
    finally:
        process.kill()
        process.communicate()


def test_a_server_that_ends_leaves_its_commands_to_their_callers(fronts):
    server = fronts.begun("watch")
    try:
        until(lambda: listens(fronts))
        command = subprocess.Popen(
            fronts.words("sql", "select sum(range) as sum from range(300_000_000)"),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=fronts.environ,
            cwd=fronts.folder,
        )
        server.kill()
        out, err = command.communicate()
        assert (command.returncode, err) == (0, b"")
        assert b"44999999850000000" in out
    finally:
        server.kill()
        server.communicate()


def test_an_index_serves_once_commands_of_others_are_carried_out(library):
    with listening.listening(library.engine, lambda *_: 0):
        assert library.engine.database.serves
