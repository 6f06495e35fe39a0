"""Help in plain words, of each command and from `qmd help`."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from qmd.surfaces.cli import ALIASES, COMMANDS, GROUPS, PANELS
from qmd.version import __version__
from tools.commands import help_of, sections


@pytest.fixture(scope="module")
def pages() -> list[str]:
    """The help of each command."""
    return list(sections())


def test_no_help_has_words_of_the_library(pages):
    jargon = r"<\w+( range)?>|\bx[<>]=|<=x|\{\w+\}|--\w+ +TEXT|INTEGER|Show this message"
    for page in pages:
        assert not re.search(jargon, page), page


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("query", "--per-file N Passages of one document at most. [1 or more] [default: 1]"),
        ("search", "also with --all). [0 to 1]"),
        ("mcp", "--port N Port of the HTTP server (8181; of 'qmd server': 18765). [0 to 65535]"),
        ("bench", "--queries N So many of the queries, by chance. [1 or more]"),
        ("query", "--fusion scores|rrf How"),
        ("collection add", "--name NAME Its name"),
    ],
)
def test_values_bounds_and_defaults_are_told_in_plain_words(command, told):
    text = re.sub(r"[│─╭╮╰╯]", " ", help_of(*command.split()))
    assert told in " ".join(text.split())


@pytest.mark.parametrize(
    ("command", "usage"),
    [
        ("search", "QUERY..."),
        ("collection add", "PATH"),
        ("map", "[FILE]"),
        ("models pull", "[NAMES...]"),
        ("update", "[NAME]..."),
    ],
)
def test_a_required_argument_is_marked_and_an_optional_one_is_in_brackets(command, usage):
    text = help_of(*command.split())
    assert f"Usage: qmd {command} [OPTIONS] {usage}\n" in text
    assert ("[required]" in text) == (not usage.startswith("["))


def test_a_number_out_of_bounds_is_refused_in_the_words_of_the_help(qmd):
    code, _, err = qmd("mcp", "--http", "--port", 70000)
    assert (code, "it takes 0 to 65535, not 70000." in err) == (1, True)
    code, _, err = qmd("bench", "x.json", "--queries", 0)
    assert (code, "it takes 1 or more, not 0." in err) == (1, True)


def test_each_command_is_in_one_part_of_the_help():
    placed = [name for names in PANELS.values() for name in names.split()]
    assert sorted(placed) == sorted([*COMMANDS, *GROUPS])


@pytest.mark.parametrize(
    "path", ["", "search", "collection", "collection add", "mcp stop", "version", "help", *ALIASES]
)
def test_help_shows_what_the_option_shows(qmd, path):
    assert qmd("help", *path.split()) == qmd(*path.split(), "--help")
    assert qmd("help", *path.split())[0] == 0


def test_the_version_is_a_command_and_an_option(qmd):
    for given in (["version"], ["--version"], ["-V"]):
        assert qmd(*given) == (0, f"qmd {__version__}\n", "")


def test_a_search_loads_nothing_that_only_help_needs(indexed):
    looked = (
        "import sys; from qmd.surfaces.cli import run; run(['search', 'tea']); "
        "print(sorted(name for name in sys.modules "
        "if name in {'rich', 'qmd.surfaces.cli.help_page', 'qmd.surfaces.cli.help', "
        "'qmd.surfaces.cli.guesses'}))"
    )
    done = subprocess.run([sys.executable, "-c", looked], capture_output=True, text=True)
    assert (done.stderr, done.stdout.splitlines()[-1]) == ("", "[]")
