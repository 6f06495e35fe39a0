"""Lines that answer nothing: shortcuts leave the verdict on each line as it is."""

from __future__ import annotations

import string

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from qmd.ranking import poor_lines

PIECES = (
    *("[", "]", "(", ")", "](", "][", "]]", "[[", "]:", "://", "http://a.b", "<https://c.d>", ":"),
    *(" ", "\t", "\u00a0", "tea", "green", "1", "-", "- ", "!", "![a](b)", "[a]: /b", "\x1c", "é"),
)
links = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)
words = st.lists(
    st.sampled_from((" ", "\t", "a" * 39, "b" * 79, "c" * 80, "1" * 30, "tea", "é" * 41, "://")),
    max_size=9,
).map("".join)


def is_only_links(line):
    """The verdict without a shortcut."""
    rest = poor_lines._LINKS.sub("", line)
    if "](" in rest:
        rest = poor_lines._LINKS.sub("", rest)
    return len(rest) < len(line) and not poor_lines._LETTER.search(rest)


def may_have_data(text):
    """The verdict without a shortcut."""
    parts = text.split()
    if len(text) < poor_lines.LINE_RUN:
        return False
    if len(parts) == 1:
        return "://" not in text and text.isascii()
    if max(map(len, parts), default=0) >= poor_lines.LONGEST_RUN:
        return True
    return len(text) >= poor_lines.STRETCH and (
        len(parts) < len(text) / poor_lines.DENSE
        or sum(map(text.count, string.digits)) > len(text) / 4
    )


@given(links)
@example("see [a](b) and more")
@example("- [a](b), [c](d)")
@example("tea http://a.b")
@example("tea:[a](b)")
@example("abc[[x]]://foo](bar")
def test_a_line_is_only_links_if_no_letter_is_left_without_them(line):
    assert poor_lines._is_only_links(line) == is_only_links(line)


@given(words)
@example(" " * 20 + "a" * 45 + " " * 20)
@example("a" * 39 + "\t" + "b" * 79)
@example("tea " + "c" * 80)
@example("tea " * 120)
@example("12 " * 150)
@example(" " * 90)
def test_a_line_may_have_data_by_its_length_and_its_longest_word(text):
    assert poor_lines._may_have_data(text) == may_have_data(text)


CODE = (
    *("import", "from", "using", "use", "pub use", "mod", "pub mod", "extern crate", "package"),
    *("#include", "# include", "#pragma", "#!", "# ", "const", "let", "var", "static", "as"),
    *("require", "require_once", "'use strict'", '"use strict"', "<?php", "= require('tea')"),
    *(" ", "\t", "\x1c", "\u00a0", "tea", ".", "::", ";", "{tea}", "'", '"', "(", "*", "#", "If"),
)
code = st.lists(st.sampled_from(CODE), max_size=6).map("".join)
spaced = st.lists(st.sampled_from(CODE), max_size=6).map(" ".join)


@given(code | spaced)
@example("  from tea import cup")
@example("\t#  pragma once")
@example("mod tea;")
@example("pub mod tea;")
@example("extern crate tea")
@example("package tea")
@example("const tea = require(")
@example("let tea = require(")
@example("var tea = require(")
@example('require_once ("tea')
@example("using tea;")
@example("import tea")
@example("#!/bin/sh")
@example("\x1cuse tea::cup;")
def test_every_import_begins_like_one(line):
    if poor_lines._IMPORT.match(line):
        assert poor_lines._may_import(line)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("- [Tea](tea.md) · [Cup](cup.md)", True),
        ("- [Tea](tea.md): how it is made", False),
        ("https://example.org/tea", True),
        ("More at https://example.org/tea", False),
    ],
)
def test_links_with_words_beside_them_say_something(line, expected):
    assert poor_lines.is_poor(line, lambda word: None) is expected


@given(words)
def test_a_long_word_is_found_from_blank_to_blank(text):
    is_there = poor_lines._LONG_WORD.search(text) is not None
    assert poor_lines._has_long_word(text) == is_there
