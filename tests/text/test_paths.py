"""Names of documents: virtual paths, ranges, URIs."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qmd.text import paths
from qmd.text.paths import (
    Range,
    VirtualPath,
    decoded,
    normalise,
    of_index,
    parse_virtual,
    split_range,
    uri,
)
from qmd.wording import on_one_line

ODD = "notes/a b & [c] (1)/#2 100% _%_ ?é茶🍵.md"


@pytest.mark.parametrize(
    "name", ["qmd://c/p.md", "//c/p.md", "///c/p.md", "qmd:////c/p.md", "QMD://c/p.md", " //c/p.md"]
)
def test_all_spellings_of_a_virtual_path_become_one(name):
    assert normalise(name) == "qmd://c/p.md"


@pytest.mark.parametrize("name", ["c/p.md", "/abs/p.md", "~/p.md", "#abc123", "qmd:c/p", "p:1"])
def test_a_name_that_is_no_virtual_path_stays_as_it_is(name):
    assert normalise(name) == name
    assert parse_virtual(name) is None


def test_a_virtual_path_has_a_collection_a_path_and_perhaps_an_index():
    assert parse_virtual("qmd://c/a/b.md") == VirtualPath("c", "a/b.md")
    assert parse_virtual("qmd://c/b.md?index=my%20work") == VirtualPath("c", "b.md", "my work")
    assert parse_virtual("qmd://c/b.md?x=1&index=work") == VirtualPath("c", "b.md", "work")
    assert parse_virtual("qmd://c/b.md?index=") == VirtualPath("c", "b.md")
    assert parse_virtual("//c") == VirtualPath("c", "")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("qmd://c/b.md?index=my%20work", ("qmd://c/b.md", "my work")),
        ("//c/b.md?index=work:12:40", ("//c/b.md:12:40", "work")),
        ("qmd://c/b.md?x=1&index=work&y=2", ("qmd://c/b.md", "work")),
        ("qmd://c/b.md?index=", ("qmd://c/b.md", None)),
        ("qmd://c/why?.md", ("qmd://c/why?.md", None)),
        ("c/b.md?index=work", ("c/b.md?index=work", None)),
    ],
)
def test_a_virtual_path_may_say_of_which_index_it_is(name, expected):
    assert of_index(name) == expected


@pytest.mark.parametrize("name", ["qmd://", "qmd:///", "//", "qmd://?index=work"])
def test_a_virtual_path_without_a_collection_is_none(name):
    assert parse_virtual(name) is None


def test_percent_signs_of_a_virtual_path_stay():
    assert parse_virtual("qmd://c/100%25.md") == VirtualPath("c", "100%25.md")


def test_a_uri_encodes_all_but_the_slashes():
    assert uri("my notes", "a b/100%#?.md") == "qmd://my%20notes/a%20b/100%25%23%3F.md"


def test_an_encoded_slash_is_a_slash():
    assert decoded("notes%2Ftea%20time.md") == "notes/tea time.md"
    assert decoded("notes/tea.md") == "notes/tea.md"


@given(st.text(min_size=1).filter(lambda name: "/" not in name), st.text(min_size=1))
@settings(deadline=None)
def test_a_uri_leads_back_to_the_document(collection, path):
    made = uri(collection, path)
    assert made.isascii()
    found = parse_virtual(made)
    assert (decoded(found.collection), decoded(found.path)) == (collection, path)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("notes/tea.md", Range("notes/tea.md")),
        ("notes/tea.md:120", Range("notes/tea.md", 120)),
        ("notes/tea.md:120:40", Range("notes/tea.md", 120, 40)),
        (" notes/tea.md:0 ", Range("notes/tea.md", 0)),
        ("#abc123:120:40", Range("#abc123", 120, 40)),
        ("qmd://notes/tea.md:7", Range("qmd://notes/tea.md", 7)),
        ("qmd://notes/tea.md", Range("qmd://notes/tea.md")),
        ("a:1:2:3", Range("a:1", 2, 3)),
        ("notes/tea.md:120-159", Range("notes/tea.md", 120, 40)),
        ("notes/tea.md:9-7", Range("notes/tea.md", 7, 3)),
        ("tea.md#L5", Range("tea.md", 5)),
        ("tea.md#L5-L9", Range("tea.md", 5, 5)),
        ("tea.md#Lime", Range("tea.md#Lime")),
        ("10:30 tea.md", Range("10:30 tea.md")),
        ("tea.md:-3", Range("tea.md:-3")),
        ("tea.md:", Range("tea.md:")),
        (":12", Range(":12")),
        (ODD, Range(ODD)),
        (f"{ODD}:3", Range(ODD, 3)),
    ],
)
def test_a_range_is_what_follows_the_last_colons(name, expected):
    assert split_range(name) == expected


def test_a_name_with_a_line_break_has_a_range_too():
    assert split_range("two\nlines.md:12") == Range("two\nlines.md", 12)


def test_a_number_beyond_all_lines_is_no_crash():
    assert split_range("tea.md:" + "9" * 5000).name.startswith("tea.md")


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_a_name_on_one_line_is_the_name_or_decodes_to_it(name):
    shown = on_one_line(name)
    assert len(shown.splitlines()) <= 1
    assert shown == name or decoded(shown) == name


@given(
    st.lists(st.sampled_from([*"/.\\\n\0:aC ", "..", "//", "é", "tea.md"]), max_size=8).map("".join)
)
def test_a_path_that_looks_usual_is_below_its_folder(path):
    is_outside = re.search(paths.OUTSIDE, path) is not None
    assert paths.is_below(path) != is_outside
