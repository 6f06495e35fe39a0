"""Characters that act on a terminal or hide are written out."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qmd.text.visible import hidden, one_line, shown, visible

DECEIVING = {"Cc", "Cf", "Cs", "Zl", "Zp"}


@given(st.text(st.characters(categories=["Cc", "Cf", "Cs", "Zl", "Zp", "L", "P", "S", "Zs"])))
def test_no_text_keeps_a_character_that_deceives(text):
    for mark in one_line(text):
        assert unicodedata.category(mark) not in DECEIVING or mark in "\u06dd\u070f\u08e2" or (
            "\u0600" <= mark <= "\u0605"
        )  # fmt: skip
    left = {mark for mark in visible(text) if unicodedata.category(mark) == "Cc"}
    assert left <= {"\n", "\t"}


@given(st.text())
def test_a_text_that_is_visible_stays_as_it_is(text):
    assert visible(visible(text)) == visible(text)
    assert visible(one_line(text)) == one_line(text)


@given(st.text(), st.text())
def test_two_commands_never_look_alike_unless_one_is_said_to_have_escapes(one, other):
    if one != other and one_line(one) == one_line(other):
        assert (one_line(one) == one) != (one_line(other) == other)


@pytest.mark.parametrize(
    ("text", "on_one_line"),
    [
        ("plain", "plain"),
        ("a\\nb", "a\\nb"),
        ("a\nb\\c", "a\\nb\\\\c"),
        ("\x1b[2K\r", "\\x1b[2K\\r"),
        ("\x9b\x7f\u202e", "\\x9b\\x7f\\u202e"),
        ("\U000e0041", "\\U000e0041"),
        ("\u3164", "\\u3164"),
        ("日本語 é \u00a0", "日本語 é \u00a0"),
        ("👩\u200d💻", "👩\\u200d💻"),
    ],
)
def test_a_value_is_on_one_line(text, on_one_line):
    assert one_line(text) == on_one_line


def test_a_document_keeps_its_lines_and_the_joiners_of_its_spelling():
    for text in ("a\n\tb\n", "می\u200cخواهم", "👩\u200d💻 👁\ufe0f\u200d🗨\ufe0f", "क्\u200dष"):
        assert visible(text) == text
    assert visible("a\r\nb\rc") == "a\nb\\rc"
    assert visible("pay\u200dpal \u200d") == "pay\\u200dpal \\u200d"


def test_a_long_value_is_cut_with_how_much_is_left_out():
    assert shown("x" * 300) == "x" * 300
    assert shown("a" * 867 + "b" * 867) == "a" * 140 + "[… 1455 characters …]" + "b" * 139


def test_hidden_characters_are_those_that_are_written_out():
    assert hidden("a\x1bb\u202e\n", but="\n") == "\x1b\u202e"
