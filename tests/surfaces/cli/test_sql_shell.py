"""The shell of `qmd sql`."""

from __future__ import annotations

import sys

import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from qmd.analytics import lexer
from qmd.surfaces.cli import sql_shell


@pytest.fixture
def typed(qmd, tmp_path, monkeypatch):
    """Types into the shell: what it printed, and what it told on stderr."""
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "tea.md").write_text("# Tea\n\nBrew tea.\n")
    assert qmd("collection", "add", tmp_path / "notes")[0] == 0
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True)

    def run(text, *arguments):
        monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
        monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
        with create_pipe_input() as keys, create_app_session(keys, DummyOutput()):
            keys.send_text(text + "\r.quit\r")
            code, out, err = qmd("sql", *arguments)
        assert code == 0
        return out.partition("\n")[2], err

    return run


def test_a_query_ends_with_a_semicolon_and_may_take_several_lines(typed):
    out, err = typed("select title\rfrom documents -- not yet;\rwhere title <> ';'\r;")
    assert out.splitlines() == ["title", "─────", "Tea"]
    assert err == ""


def test_a_mistake_is_told_and_the_shell_goes_on(typed):
    out, err = typed("selec 1;\rdrop table x;\r\rselect 2 as x;")
    assert out.splitlines()[-1] == "2"
    assert "syntax error" in err
    assert "DROP is no query" in err


def test_searches_options_and_parameters_count_in_the_shell(typed):
    out, _ = typed("select file from bm25($w);", "--csv", "-p", "w=tea")
    assert out == "file\nnotes/tea.md\n"


def test_a_parameter_waits_for_a_query_that_has_it(typed):
    out, err = typed("select 1 as one, '$w' as w;\rselect $W as w;", "--csv", "-p", "w=tea")
    assert out == "one,w\n1,$w\nw\ntea\n"
    assert not err


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("select $a, $Größe, x where y=$ab and $a;", {"a", "größe", "ab"}),
        ("select $1, '$b', \"$c\" -- $d\n", {"1"}),
        ("select 1", set()),
    ],
)
def test_the_parameters_of_a_text_are_told(text, named):
    assert lexer.parameters(text) == named


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (".tables", "bm25(query, n := 100"),
        (".examples", "-- Which documents changed last?"),
        (".help", "Write a query and end it with ;"),
    ],
)
def test_commands_show_what_there_is(typed, command, words):
    out, err = typed(command)
    assert words in out
    assert err == ""


def test_an_unknown_command_names_those_that_there_are(typed):
    assert "There is no .tabels. There are .help, .tables" in typed(".tabels")[1]


def test_the_end_of_input_leaves_the_shell(typed):
    assert typed("select 1 as x;\r\x04") == ("x\n─\n1\n", "")


def test_what_was_asked_is_kept_for_the_next_time(typed, cache):
    typed("select 'a\rb' as x;")
    kept = (cache / "qmd" / "sql-history").read_text()
    assert "+select 'a\n+b' as x;" in kept


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("from docu", "documents"),
        ("from bm", "bm25"),
        ("select FRONT", "frontmatter"),
        ("select doc", "docid"),
        ("select regexp_rep", "regexp_replace"),
        ("sel", "select"),
        (".ta", ".tables"),
    ],
)
def test_names_are_completed(text, wanted):
    found = sql_shell.Words().get_completions(Document(text), CompleteEvent())
    assert wanted in [each.text for each in found]
