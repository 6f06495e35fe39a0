"""Examples of pages: each is run by a test, and each command in a text is one that there is."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer
from ruamel.yaml import YAML

from qmd.evaluation import fixtures
from qmd.settings import config
from qmd.settings.environment import Place
from qmd.settings.schema import Settings
from qmd.surfaces.cli import ALIASES, COMMANDS, GROUPS, app
from tests import test_readme
from tests.sessions import blocks

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(
    page
    for page in (
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        ROOT / "SECURITY.md",
        *DOCS.rglob("*.md"),
    )
    if page.name != "commands.md"  # written by the commands themselves
)

ELSEWHERE = {
    ("README.md", "python"): "tests/test_readme.py",
    ("README.md", "text"): "tests/test_readme.py",
    ("python.md", "python"): "tests/test_python_page.py",
    ("sql.md", "sql"): "tests/analytics/test_examples.py",
    ("README.md", "sql"): "tests/analytics/test_examples.py",
    ("bench.md", "json"): "below",
}
"""Blocks that other tests run, by page and kind."""

CHECKED = {"yaml", "sh"}
"""Kinds that tests below read on every page."""

NOT_RUN = {
    ("export.md", "python"): "needs pandas, Polars and Spark",
    ("export.md", "sql"): "reads an export of a reader's own notes",
    ("server.md", "ini"): "a unit of systemd",
}


def test_every_block_of_a_page_is_run_or_says_why_not():
    kinds = {
        (page.name, block.kind)
        for page in PAGES
        for block in blocks(page)
        if block.kind not in CHECKED and not (block.kind == "console" and page in test_readme.PAGES)
    }
    assert kinds - ELSEWHERE.keys() - NOT_RUN.keys() == set()


def test_what_is_not_run_is_still_there():
    kinds = {(page.name, block.kind) for page in PAGES for block in blocks(page)}
    assert NOT_RUN.keys() <= kinds


def place(folder: Path) -> Place:
    return Place(
        "index",
        folder / "index.yml",
        folder / "index.duckdb",
        None,
        folder / "trusted.json",
        False,
        folder,
    )


SETTINGS = [
    pytest.param(block.text, id=f"{page.stem}, line {block.line}")
    for page in PAGES
    for block in blocks(page)
    if block.kind == "yaml"
]


@pytest.mark.parametrize("text", SETTINGS)
def test_settings_on_a_page_are_read(text, tmp_path):
    assert config.understood(YAML(typ="safe").load(text), place(tmp_path)) != Settings()


def test_judged_queries_on_the_page_are_read(tmp_path):
    (block,) = (each for each in blocks(DOCS / "bench.md") if each.kind == "json")
    file = tmp_path / "questions.json"
    file.write_text(block.text, encoding="utf-8")
    assert len(fixtures.read(file).questions) == 2


# -- commands in texts -----------------------------------------------------------------------

_INLINE = re.compile(r"`(qmd [^`]+)`")
_LINE = re.compile(r"^(?:    |\$ )(?:[^`|\n]* \| )?(qmd [^\n]+(?<!\\))$", re.M)
_END = {"|", ">", ">>", "<", "&&", ";", "…", "..."}


def named(page: Path) -> Iterator[list[str]]:
    """The words of each command that a page names, up to a pipe."""
    text = page.read_text(encoding="utf-8")
    inline = (" ".join(found.split()) for found in _INLINE.findall(text))
    scripts = "\n".join(each.text for each in blocks(page) if each.kind == "sh")
    lines = re.findall(r"^qmd [^\n]+", scripts, re.M)
    for command in (*inline, *lines, *_LINE.findall(text)):
        try:
            words = shlex.split(command, comments=True)
        except ValueError:  # a quotation goes on in the next line: a session, which is run
            continue
        ends = [number for number, word in enumerate(words) if word in _END]
        yield words[1 : min(ends, default=len(words))]


@cache
def built(name: str) -> Any:
    root: Any = typer.main.get_command(app.application([name]))
    return root


def problem(words: list[str]) -> str:
    """Say why no command is meant by these words; empty if one is."""
    options = {flag for each in built("status").params for flag in each.opts}
    options |= {"--help", "-h", "--index", "--engine", "--no-server"}
    words = [word for word in words if not word.isupper()]
    while words and words[0].startswith("-"):
        takes = words[0] in ("--index", "--engine")
        if words[0].partition("=")[0] not in options:
            return f"{words[0]} is no option of qmd"
        words = words[1 + takes :]
    if not words:
        return ""
    name = words[0]
    if name in ("help", "version"):
        return ""
    if name not in {*COMMANDS, *GROUPS, *ALIASES}:
        return f"{name} is no command"
    command = built(name).commands[name]
    rest = words[1:]
    while rest and hasattr(command, "commands"):
        if rest[0].startswith("-") or rest[0] not in command.commands:
            break
        command, rest = command.commands[rest[0]], rest[1:]
    options |= {flag for each in command.params for flag in (*each.opts, *each.secondary_opts)}
    for word in rest:
        if word == "--":
            break
        flag = word.partition("=")[0]
        if re.fullmatch(r"--[a-z][a-z-]*|-[a-zA-Z]", flag) and flag not in options:
            return f"{flag} is no option of {name}"
    return ""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_command_on_a_page_is_one_that_there_is(page):
    wrong = [(" ".join(words), why) for words in named(page) if (why := problem(words))]
    assert wrong == []


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("qmd serach tea", "serach is no command"),
        ("qmd search tea --no-such", "--no-such is no option of search"),
        ("qmd collection add notes --no-such", "--no-such is no option of collection"),
        ("qmd --no-such status", "--no-such is no option of qmd"),
    ],
)
def test_a_command_that_there_is_not_is_found_out(command, why):
    assert problem(command.split()[1:]) == why


def test_pages_name_many_commands():
    assert sum(len(list(named(page))) for page in PAGES) > 300
