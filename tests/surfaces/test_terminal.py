"""Our own styling reaches a terminal; that of others does not."""

from __future__ import annotations

import io
import logging
import sys

import pytest

from qmd.surfaces import terminal
from qmd.surfaces.cli import progress, server_process


def test_our_styling_is_put_around_what_was_made_visible():
    painted = terminal.paint("a\033[2J", "31")
    assert painted == "\033[31ma\\x1b[2J\033[0m"
    assert terminal.joined_styled("\t", [painted, "\033[0m"]) == f"{painted}\t\\x1b[0m"
    assert terminal.ended(painted) == f"{painted}\n"


def test_a_text_that_looks_like_our_styling_is_none():
    stream = io.StringIO()
    for text in ("\033[31mred\033[0m", str(terminal.paint("red", "31")) + ""):
        terminal.write(text, stream)
    assert stream.getvalue() == r"\x1b[31mred\x1b[0m" * 2


@pytest.mark.parametrize(
    "target", ["https://a/\033\\\033[2J", "https://a/\a", "https://a/ b", "https://ä/", "x\n"]
)
def test_a_target_that_could_end_a_link_makes_none(target):
    assert terminal.link("a", "https://a/b%20c") == "\033]8;;https://a/b%20c\033\\a\033]8;;\033\\"
    assert terminal.link("a", target) == "a"


def test_words_that_match_are_painted_and_the_text_around_them_is_visible():
    marked = terminal.paint_matches("tea\033[2J pot", lambda word: word == "tea", "1")
    assert marked == "\033[1mtea\033[0m\\x1b[2J pot"


def test_a_word_is_painted_with_the_marks_of_its_letters():
    marked = terminal.paint_matches("हिन्दी भाषा, भाष", lambda word: word == "भाषा", "1")
    assert marked == "हिन्दी \033[1mभाषा\033[0m, भाष"


def test_whatever_is_written_to_a_guarded_stream_is_visible(monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    terminal.guard_errors()
    terminal.guard_errors()
    print("a\033[2J", file=sys.stderr)
    sys.stderr.writelines(["b\r", terminal.paint("c", "2")])
    assert stream.getvalue() == "a\\x1b[2J\nb\\r\033[2mc\033[0m"
    assert terminal.unguarded_errors() is stream


def test_the_name_of_a_task_gives_no_orders_and_is_no_markup(monkeypatch):
    stream = io.StringIO()
    stream.isatty = lambda: True
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "200")
    with progress.bars() as of:
        of("Indexing [red]odd\033]0;theirs\a\u202e")(1, 2)
    assert r"Indexing [red]odd\x1b]0;theirs\x07\u202e" in stream.getvalue()
    assert not {"\a", "\u202e"} & set(stream.getvalue())


def test_a_record_of_the_log_is_one_line(monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    root = logging.RootLogger(logging.WARNING)
    monkeypatch.setattr(logging, "root", root)
    server_process._log(debug=False)
    root.warning("read %s", "a\033[2J\n2026-01-01 ERROR forged\u202e")
    [line] = stream.getvalue().splitlines()
    assert line.endswith(r"WARNING root: read a\x1b[2J\n2026-01-01 ERROR forged\u202e")
