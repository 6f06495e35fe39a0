"""Lines that are cut: which characters of them are shown, written out."""

from __future__ import annotations

import pytest

from qmd.ranking.matcher import Matcher
from qmd.ranking.snippets import cut, snippet, whole_lines

TEA = Matcher({"tea": "tea"})

LINE = "0123456789abcdefghij tea KLMNOPQRSTUVWXYZ"
"""41 characters, with the match at 21."""


@pytest.mark.parametrize(
    ("length", "expected"),
    [
        (8, "…j tea KL…"),  # from 21 - 8 // 4 = 19, to 27
        (12, "…ij tea KLMNO…"),  # from 18 to 30
        (20, "…ghij tea KLMNOPQRSTU…"),  # from 16 to 36
        (24, "…fghij tea KLMNOPQRSTUVWX…"),  # from 15 to 39
        (28, "…defghij tea KLMNOPQRSTUVWXYZ"),  # from 41 - 28 = 13: nothing follows
        (40, "…123456789abcdefghij tea KLMNOPQRSTUVWXYZ"),
        (41, LINE),
        (99, LINE),
    ],
)
def test_a_quarter_of_the_length_stands_before_the_first_match(length, expected):
    assert cut(LINE, TEA, length) == expected


@pytest.mark.parametrize(
    ("line", "length", "expected"),
    [
        ("tea and much more", 7, "tea and…"),
        ("a tea and much more", 8, "a tea an…"),  # 2 - 8 // 4 = 0
        ("of tea and much more", 8, "…f tea an…"),
        ("no match in here", 8, "no match…"),
        ("steam, then tea and more", 8, "…n tea an…"),
        ("one two tea", 5, "…o tea"),  # 11 - 5 = 6
        ("x tea y tea", 6, "…tea y…"),  # from 1: the blank is taken off
    ],
)
def test_a_cut_begins_at_the_beginning_where_the_match_does(line, length, expected):
    assert cut(line, TEA, length) == expected


def test_a_line_with_a_match_in_the_middle_of_a_run_is_cut_there():
    line = "0123456789/a,b,c;steam:tea/0123456789"  # the match at 23
    assert cut(line, TEA, 12) == "…am:tea/01234…"
    han = "一二三四五六七八九十日本語文字列"
    assert cut(han, Matcher({"日本": "日本"}), 8) == "…九十日本語文字列"  # from 10 - 2 to 16


def test_a_snippet_of_one_line_is_cut_only_if_it_is_longer_than_the_window():
    assert snippet(LINE, TEA, length=41).lines == (LINE,)
    assert snippet(LINE, TEA, length=40).lines == ("…123456789abcdefghij tea KLMNOPQRSTUVWXYZ",)
    assert snippet(f"{LINE}\r", TEA, length=41).lines == (LINE,)


BODY = "first line\nsecond line\nthird line"
"""Lines from 0, 11 and 23 on, up to 10, 22 and 33."""


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        (14, 16, "second line"),
        (11, 22, "second line"),
        (11, 23, "second line\nthird line"),
        (10, 12, "first line\nsecond line"),
        (0, 1, "first line"),
        (25, 26, "third line"),
        (5, 30, BODY),
    ],
)
def test_the_lines_that_a_part_cuts_are_shown_as_a_whole(start, end, expected):
    assert whole_lines(BODY, start, end) == expected


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        (15, 18, "second line"),  # 4 characters before it, and 4 behind
        (16, 18, "d line"),  # 5 before it
        (15, 17, "second"),  # 5 behind it
        (16, 17, "d"),
        (27, 28, "third line"),  # 4 before it, and 5 behind, where the text ends
        (28, 29, " line"),
        (26, 27, "thir"),
        (5, 6, "first line"),  # 5 before it, where the text begins
        (6, 7, "line"),
    ],
)
def test_of_long_lines_nothing_is_added(start, end, expected):
    assert whole_lines(BODY, start, end, most=5) == expected


def test_300_characters_are_added_on_either_side_and_no_more():
    body = "\n" + "a" * 299 + "<>" + "b" * 299 + "\n"
    assert whole_lines(body, 300, 302) == "a" * 299 + "<>" + "b" * 299
    body = "\n" + "a" * 300 + "<>" + "b" * 300 + "\n"
    assert whole_lines(body, 301, 303) == "<>"


def test_of_windows_with_as_many_words_that_with_more_matching_lines_is_shown():
    body = "\n".join(["tea one", "x" * 90, "tea two", "tea three", "x" * 90, "tea four"])
    found = snippet(body, TEA, length=20)
    assert (found.line, found.lines) == (3, ("tea two", "tea three"))


def test_nothing_before_an_empty_line_is_nothing():
    assert whole_lines("\nabc", 0, 0) == ""


@pytest.mark.parametrize(
    ("length", "expected"),
    [
        (3, ("tea",)),
        (8, ("tea",)),
        (9, ("tea", "dddd")),  # a line is as long as its letters and a break: 4 + 5
        (10, ("tea", "dddd")),
        (11, ("tea", "dddd", "e")),
        (13, ("tea", "dddd", "e")),
        (14, ("cccc", "tea", "dddd")),
        (16, ("cccc", "tea", "dddd", "e")),
        (18, ("cccc", "tea", "dddd", "e")),
        (19, ("bb", "cccc", "tea", "dddd", "e")),
        (20, ("bb", "cccc", "tea", "dddd", "e")),
        (21, ("a", "bb", "cccc", "tea", "dddd", "e")),
    ],
)
def test_lines_are_added_after_and_before_while_they_fit(length, expected):
    assert snippet("a\nbb\ncccc\ntea\ndddd\ne", TEA, length=length).lines == expected


def test_as_many_characters_choose_the_window_as_are_shown_or_less():
    body = "\n".join(["tea", "x" * 16, "pot cup", "x" * 40, "tea", "pot"])
    match = Matcher({"tea": "tea", "pot": "pot", "cup": "cup"})
    assert snippet(body, match, length=8).line == 3
    assert snippet(body, match, length=7).line == 3
    assert snippet(body, match, length=29).line == 1  # 4 + 17 + 8
    assert snippet(body, match, length=28).line == 3
    assert snippet(body, match, length=29, choice=28).line == 3
    assert snippet(body, match, length=28, choice=29).line == 3


@pytest.mark.parametrize(
    ("wanted", "line", "place"),
    [
        ("c++", "C++ is old", 0),
        ("c++", "abc++ is none, C++ is", 15),
        ("c++", "abc++ is none", None),
        (".net", "ASP.NET", 3),
        ("e-mail", "an e-mail", 3),
        ("e-mail", "the-mail", None),
    ],
)
def test_a_word_with_marks_begins_where_no_other_word_goes_on(wanted, line, place):
    matcher = Matcher({wanted: wanted})
    assert matcher.first_text(line) == place
    assert matcher.found_in(line) == (set() if place is None else {wanted})
