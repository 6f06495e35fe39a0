"""Command lines that are read without typer: the same values, and nothing imported in vain."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from qmd.surfaces.cli import direct
from qmd.surfaces.cli.command_table import COMMANDS
from qmd.version import __version__
from tools import command_table, summaries

WORDS = ["tea", "green tea", "", "-", "7", "1.5", ".5", "+3", "a=b", "hybrid", "scores", "Ä", "1e3"]


def lines():
    """Command lines of derived commands, most of them of options that there are."""

    def of(name):
        flags = st.sampled_from(list(COMMANDS[name][1]))
        words = st.sampled_from(WORDS)
        joined = st.builds("{}={}".format, flags, words)
        wrong = st.sampled_from("-- -x --bogus -n5 --jso --help -cnotes --no-".split())
        part = st.one_of(words, flags, st.tuples(flags, words), joined, wrong)
        parts = st.lists(part, max_size=5)
        return parts.map(lambda found: (name, [word for each in found for word in flat(each)]))

    return st.sampled_from(list(COMMANDS)).flatmap(of)


def flat(part):
    return [part] if isinstance(part, str) else part


def test_the_table_is_that_of_the_declarations():
    assert command_table.TABLE.read_text() == command_table.table(), "run: python -m tools.docs"
    assert summaries.MODULE.read_text() == summaries.module(), "run: python -m tools.docs"


def test_the_commands_of_all_day_are_read_directly():
    asked = {"search", "vsearch", "query", "get", "multi-get", "ls", "status"}
    assert asked <= set(COMMANDS)
    assert direct.given("search", ["green", "-n", "3", "tea", "--json", "-c", "a", "-c=b"]) is None
    found = direct.given("search", ["green", "-n", "3", "tea", "--json", "-c", "a"])
    assert found is not None
    chosen = {key: found[key] for key in ("query", "limit", "as_json", "collection", "min_score")}
    assert chosen == {
        "query": ["green", "tea"],
        "limit": 3,
        "as_json": True,
        "collection": ["a"],
        "min_score": None,
    }


@given(lines())
@example(("search", ["tea", "-n", "-5"]))
@example(("search", ["--", "-tea"]))
@example(("get", []))
@example(("ls", ["notes", "more"]))
def test_values_are_those_of_typer(line):
    name, arguments = line
    found = direct.given(name, arguments)
    if found is not None:
        assert found == command_table.read_by_typer(name, arguments)


def carried_out(*arguments):
    """Run a command in a process of its own: its output, and the modules that it imported."""
    looked = """
import os, sys
end = os._exit
def told(code):
    print(code, *sorted(sys.modules), file=sys.stderr)
    sys.stderr.flush()
    end(code)
os._exit = told
from qmd.__main__ import main
main()
"""
    command = [sys.executable, "-c", looked, *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    code, *loaded = done.stderr.split()
    assert code == "0"
    return done.stdout, set(loaded)


NEEDLESS = set(
    "anyio asyncio dataclasses duckdb hashlib inspect logging numpy pyarrow rich shutil subprocess "
    "typer".split()
)
ROOMS = set("embedding evaluation exchange experiences ingest workers".split())
MODULES = {
    "search tea": "search search_options",
    "get notes/tea.md": "documents search_options",
    "multi-get notes/*.md": "documents search_options",
    "ls notes": "documents search_options",
    "status": "status",
}


@pytest.mark.parametrize("line", MODULES)
def test_a_command_imports_nothing_in_vain(indexed, line):
    _, loaded = carried_out(*line.split())
    assert loaded & NEEDLESS == set()
    rooms = {name.split(".")[1] for name in loaded if name.startswith("qmd.")}
    assert rooms & ROOMS <= ({"embedding"} if line == "status" else set())
    commands = {name.rpartition(".")[2] for name in loaded if name.startswith("qmd.surfaces.cli.")}
    always = {"command_table", "common", "derive", "direct"}
    assert commands == always | set(MODULES[line].split())


@pytest.mark.parametrize("line", ["update", "cleanup", "doctor", "grep tea", "sql select/**/1"])
def test_a_command_that_is_read_directly_does_not_import_typer(indexed, line):
    _, loaded = carried_out(*line.split())
    assert "typer" not in loaded


@pytest.mark.parametrize("word", ["--version", "-V", "version"])
def test_the_version_is_told_before_anything_is_imported(word):
    told, loaded = carried_out(word)
    assert told == f"qmd {__version__}\n"
    own = {name for name in loaded if name.startswith(("qmd", "_duckdb", "typer"))}
    front = {"qmd.forward", "qmd.location"}
    assert own == {"qmd", "qmd.startup", "qmd.version", "qmd.__main__", *front}


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="a device of Linux")
def test_a_version_that_cannot_be_written_is_an_error():
    with open("/dev/full", "w") as full:
        done = subprocess.run([sys.executable, "-m", "qmd", "--version"], stdout=full, stderr=-1)
    assert done.returncode == 1
    assert b"The output cannot be written" in done.stderr
