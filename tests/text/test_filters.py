"""Conditions on the frontmatter."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qmd.errors import UsageError
from qmd.text.filters import parse_filter
from qmd.types import Condition

OPERATORS = ["=", "!=", "~", "<", "<=", ">", ">="]
KEY = st.text("abkandé_-9", min_size=1, max_size=8)
VALUE = st.text("ab and=<>!~é.", max_size=12)


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("gap", ["", " ", "  "])
def test_each_operator_is_read_with_and_without_blanks(operator, gap):
    assert parse_filter(f"year{gap}{operator}{gap}2024") == (
        Condition('$."year"', operator, "2024"),
    )


def test_comparisons_are_joined_by_and():
    assert parse_filter('status = "open" and tags = urgent AND year>=2024') == (
        Condition('$."status"', "=", "open", quoted=True),
        Condition('$."tags"', "=", "urgent"),
        Condition('$."year"', ">=", "2024"),
    )


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a = 'it is \"open\"'", 'it is "open"'),
        ('a = "it\'s"', "it's"),
        ('a = " x and b = 1 "', " x and b = 1 "),
        ('a = ""', ""),
        ("a = sand", "sand"),
        ("a = band ", "band"),
        ("a = 2024-01-02", "2024-01-02"),
        ("a = x,y/z", "x,y/z"),
        ("a = '茶'", "茶"),
    ],
)
def test_a_value_is_a_word_or_stands_in_quotes(text, value):
    quoted = text[4] in "\"'"
    assert parse_filter(text) == (Condition('$."a"', "=", value, quoted=quoted),)


def test_a_key_with_dots_leads_into_a_mapping():
    assert parse_filter("author.name = Ada")[0].path == '$."author"."name"'


def test_a_key_in_quotes_may_have_blanks():
    assert parse_filter('"due date" < 2024')[0].path == '$."due date"'
    assert parse_filter("größe-2 = 1")[0].path == '$."größe-2"'


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("status", "status"),
        ("= open", "= open"),
        ("a = b c", "a = b c"),
        ("a = b and", "a = b and"),
        ("a = b or c = d", "a = b or c = d"),
        ("a = 1 and b", "b"),
        ('a = "open', 'a = "open'),
        ("a = b; drop table x", "a = b; drop table x"),
    ],
)
def test_a_filter_that_cannot_be_read_says_from_where(text, place):
    with pytest.raises(UsageError) as refused:
        parse_filter(text)
    assert str(refused.value).startswith(f"The filter cannot be read from '{place}' on.")
    assert "operators are = != ~ < <= > >=." in str(refused.value)


@pytest.mark.parametrize("text", ["a = brand b = 1", "a = sandy or b = 1", "a = x band b = 1"])
def test_an_and_inside_a_word_joins_nothing(text):
    with pytest.raises(UsageError):
        parse_filter(text)


@pytest.mark.parametrize("text", ["a == 1", "a ==1", "a=>5", "a =< 5", "a =<5"])
def test_an_unknown_operator_is_refused_however_it_is_spaced(text):
    with pytest.raises(UsageError):
        parse_filter(text)


@pytest.mark.parametrize("text", ["a..b = 1", ".a = 1", "a. = 1", ". = 1", '"a..b" = 1', '"." = 1'])
def test_a_key_with_nothing_between_its_dots_is_refused(text):
    with pytest.raises(UsageError):
        parse_filter(text)


@pytest.mark.parametrize("text", ["", " ", "\n"])
def test_an_empty_filter_is_refused(text):
    with pytest.raises(UsageError):
        parse_filter(text)


@given(st.lists(st.tuples(KEY, st.sampled_from(OPERATORS), VALUE), min_size=1, max_size=4))
def test_what_is_written_in_quotes_is_read_as_it_was_meant(wanted):
    text = " and ".join(f'"{key}" {operator} "{value}"' for key, operator, value in wanted)
    assert parse_filter(text) == tuple(
        Condition(f'$."{key}"', operator, value, quoted=True) for key, operator, value in wanted
    )
