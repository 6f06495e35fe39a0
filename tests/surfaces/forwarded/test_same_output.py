"""A command prints the same through a server and by itself, byte for byte."""

from __future__ import annotations

import os
import shlex
import subprocess

import pytest

from tests.surfaces.forwarded.fronts import of_sockets

COMMANDS = """
search tea
search tea --json -n 1
search grün --csv
search tea --md --full
search tea --xml --full-path
search tea --files
search nothinglikeit
search 'tea"'
search tea -c nope
search tea --sonce 2020
search
search evil
vector-search tea
vsearch tea
query tea
query tea --mode hybrid --explain
get tea.md
get ./work/plan.md:2:3 --line-numbers
get tea.md nope.md
get tee.md
get evil.md
multi-get '*.md,work/*.md' --json
multi-get 'nope/*'
ls
ls .
ls notes/work --json
ls nope
status
status --json
sql 'from documents select file order by file'
sql 'select file from documents order by file' --csv
sql 'selec'
sql
sql 'select file from documents order by file' --format arrow
sql 'select $a' -p a=1 --json
""".strip().splitlines()


@pytest.fixture(scope="module")
def server(fronts):
    with fronts.server():
        yield fronts


@pytest.mark.parametrize("line", COMMANDS)
def test_in_pipes(server, line):
    words = shlex.split(line)
    before = len(server.codes)
    through = server.call(*words)
    assert server.codes[before:] == [through.code]
    assert through == server.alone(*words)


@of_sockets
@pytest.mark.parametrize("line", [each for each in COMMANDS if each != "sql"][::3])
def test_at_a_terminal(server, line):
    words = shlex.split(line)
    before = len(server.codes)
    through = server.at_terminal(*words)
    assert server.codes[before:] == [through.code]
    assert through == server.at_terminal("--no-server", *words)


@pytest.mark.parametrize("line", ["get tea.md nope.md", "search tea", "sql 'from documents'"])
def test_in_one_pipe_for_both_streams(server, line):
    words = shlex.split(line)
    assert server.call(*words, merged=True) == server.alone(*words, merged=True)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-16"])
def test_in_another_encoding(server, encoding):
    environ = {**server.environ, "PYTHONIOENCODING": encoding}
    through = server.call("get", "tea.md", env=environ)
    assert server.codes[-1] == 0
    assert through == server.alone("get", "tea.md", env=environ)


def test_with_the_query_on_stdin(server):
    through = server.call("search", "-", stdin=b"green\r\ntea\n")
    assert server.codes[-1] == 0
    assert through == server.alone("search", "-", stdin=b"green\r\ntea\n")
    assert b"tea.md" in through.out


def test_with_stdin_that_is_no_text(server):
    through = server.call("search", "-", stdin=b"\xff\xfe")
    assert through.code == server.codes[-1] == 1
    assert through == server.alone("search", "-", stdin=b"\xff\xfe")


@of_sockets
def test_with_the_width_that_a_terminal_has_now(server):
    query = "select file, title, '…' || repeat('wide ', 40) as more from documents order by file"
    widths = {}
    for columns in (50, 120):
        through = server.at_terminal("sql", query, columns=columns)
        assert through == server.at_terminal("--no-server", "sql", query, columns=columns)
        widths[columns] = max(map(len, through.out.decode().splitlines()))
    assert widths[50] < widths[120]


@of_sockets
def test_without_colour_where_the_caller_wants_none(server):
    environ = {**server.environ, "NO_COLOR": "1"}
    through = server.at_terminal("search", "tea", env=environ)
    assert server.codes[-1] == 0
    assert b"\x1b" not in through.out
    assert b"\x1b" in server.at_terminal("search", "tea").out


def test_where_the_reader_ends_early(server):
    for words in (["get", "long.md"], ["--no-server", "get", "long.md"]):
        reading, writing = os.pipe()
        os.close(reading)
        done = subprocess.run(
            server.words(*words),
            stdout=writing,
            stderr=subprocess.PIPE,
            env=server.environ,
            cwd=server.folder,
            check=False,
        )
        os.close(writing)
        assert (done.returncode, done.stderr) == (0, b"")


@of_sockets
def test_where_the_disk_is_full(server):
    ends = []
    for words in (["get", "long.md"], ["--no-server", "get", "long.md"]):
        with open("/dev/full", "wb") as full:
            done = subprocess.run(
                server.words(*words),
                stdout=full,
                stderr=subprocess.PIPE,
                env=server.environ,
                cwd=server.folder,
                check=False,
            )
        ends.append((done.returncode, done.stderr))
    assert ends[0] == ends[1] == (1, b"The output cannot be written: No space left on device.\n")
