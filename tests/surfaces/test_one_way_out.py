"""All output for people passes through qmd/surfaces/terminal.py."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import qmd

SOURCE = Path(qmd.__file__).parent

CALLS = {
    "print", "input", "breakpoint", "getpass.getpass", "getpass", "Styled",
    "PromptSession", "prompt", "Console", "Progress", "StreamHandler", "basicConfig",
    "os.write", "os.writev", "os.fdopen", "open",
    "echo", "secho", "echo_via_pager", "confirm", "progressbar", "typer.clear", "click.clear",
    "print_exc", "print_exception", "print_stack", "print_tb", "showwarning",
}  # fmt: skip
"""Functions and classes that write to a terminal, or could, by the end of their names."""

HARMLESS = {"isatty", "flush", "fileno"}
"""Methods of a standard stream that write nothing."""

ALLOWED = {
    ("surfaces/console.py", "sys.stdout"): "gives a command its console",
    ("surfaces/console.py", "sys.stderr"): "gives a command its console",
    ("surfaces/console.py", "Console"): "has no escape sequences of its own",
    ("surfaces/terminal.py", "sys.stderr"): "it is the one way out",
    ("surfaces/terminal.py", "Styled"): "made of parts that are visible",
    ("surfaces/cli/common.py", "confirm"): "its question passes through shown()",
    ("surfaces/cli/progress.py", "Console"): "gets names that passed through shown()",
    ("surfaces/cli/progress.py", "Progress"): "gets names that passed through shown()",
    ("surfaces/cli/server_process.py", "basicConfig"): "with a handler that writes there",
    ("surfaces/cli/sql_shell.py", "PromptSession"): "its prompts are constants",
    ("surfaces/cli/sql_shell.py", "prompt"): "its prompts are constants",
    ("forward.py", "sys.stdout"): "tells a server how characters are encoded",
    ("forward.py", "sys.stderr"): "tells a server how characters are encoded",
    ("startup.py", "sys.stderr"): "before anything is loaded; a constant",
    ("startup.py", "sys.stdout"): "sets how characters are encoded",
    ("__main__.py", "os.write"): "a constant, before anything is loaded",
    ("windows.py", "sys.stderr"): "sets how characters are encoded",
    ("windows.py", "sys.stdout"): "sets how characters are encoded",
    ("startup.py", "os.write"): "a constant, where there is no memory for more",
    ("startup.py", "getattr(sys)"): "looks which streams are closed",
}
"""What each file may use all the same, and why."""

OF_FILES = {"os.write", "os.fdopen", "open"}
"""Calls that write to a terminal only if they are given the number of a standard stream."""


def ways_out(text: str) -> Iterator[tuple[int, str]]:
    """Lines of a module that write to a terminal, or could, and what they use."""
    tree = ast.parse(text)
    harmless = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr in HARMLESS
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "sys":
            for each in node.names:
                if each.name.strip("_") in ("stdout", "stderr"):
                    yield node.lineno, f"sys.{each.name}"
        elif isinstance(node, ast.Attribute) and node.attr.strip("_") in ("stdout", "stderr"):
            if _dotted(node.value) == "sys" and id(node) not in harmless:
                yield node.lineno, f"sys.{node.attr}"
        elif isinstance(node, ast.Constant) and node.value in ("/dev/tty", "/dev/stderr"):
            yield node.lineno, node.value
        elif isinstance(node, ast.Call):
            name = _dotted(node.func)
            if name == "getattr" and _dotted(node.args[0]) == "sys":
                yield node.lineno, "getattr(sys)"
            for known in CALLS & {name, name.rpartition(".")[2]}:
                if known not in OF_FILES or _is_standard(node):
                    yield node.lineno, known


def _dotted(node: ast.expr) -> str:
    """Name what is called; `?` stands for an expression before the first dot."""
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else "?"


def _is_standard(call: ast.Call) -> bool:
    return bool(call.args) and ast.unparse(call.args[0]) in ("1", "2")


@cache
def found() -> dict[tuple[str, str], list[int]]:
    ways: dict[tuple[str, str], list[int]] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        for line, way in ways_out(path.read_text(encoding="utf-8")):
            ways.setdefault((path.relative_to(SOURCE).as_posix(), way), []).append(line)
    return ways


def test_nothing_is_written_for_people_but_by_the_one_function():
    assert {place: lines for place, lines in found().items() if place not in ALLOWED} == {}


OF_PROCESS = (
    r"sys\.(stdin|stdout|stderr)|os\.environ|os\.getcwd|Path\.cwd|get_terminal_size"
    r"|os\.path\.abspath|\.absolute\("
)
"""Streams, environment and folder of the process, which may be a server."""

NOT_FORWARDED = {
    "exchange.py", "server_process.py", "serve.py", "skill.py", "progress.py", "update.py",
    "embed.py", "upkeep.py", "sql_shell.py", "trust.py", "server_options.py", "service.py",
    "put.py", "cluster.py",
}  # fmt: skip
"""Modules of commands that no server carries out."""


def test_what_a_server_may_carry_out_uses_its_console_alone():
    folder = SOURCE / "surfaces" / "cli"
    uses = {
        path.name: re.findall(OF_PROCESS, path.read_text(encoding="utf-8"))
        for path in sorted(folder.glob("*.py"))
        if path.name not in NOT_FORWARDED
    }
    assert {name: found for name, found in uses.items() if found} == {}


def test_nothing_is_allowed_that_no_file_needs():
    needed = found()
    assert [place for place in ALLOWED if place not in needed] == []


@pytest.mark.parametrize(
    "line",
    [
        "print('x')",
        "input('x')",
        "sys.stdout.write('x')",
        "sys.stderr.writelines(['x'])",
        "sys.__stderr__.write('x')",
        "sys.stdout.buffer.write(b'x')",
        "out = sys.stdout",
        "from sys import stderr",
        "getattr(sys, name).write('x')",
        "typer.echo('x')",
        "click.secho('x')",
        "typer.confirm('x')",
        "Console(stderr=True)",
        "rich.progress.Progress()",
        "logging.StreamHandler()",
        "logging.basicConfig()",
        "getpass.getpass()",
        "traceback.print_exc()",
        "os.write(2, b'x')",
        "open('/dev/tty', 'w')",
        "terminal.Styled('x')",
    ],
)
def test_each_way_out_is_seen(line):
    assert list(ways_out(f"import sys\n{line}\n"))


@pytest.mark.parametrize("line", ["sys.stdout.isatty()", "sys.stderr.flush()", "say('x')"])
def test_what_writes_nothing_is_no_way_out(line):
    assert not list(ways_out(f"{line}\n"))
