"""Search results on a terminal: few lines, folded at words around the match."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qmd.ranking.matcher import Matcher
from qmd.surfaces import on_screen
from qmd.text.display_width import columns_of, cut_before, cut_to, folded_rows
from tests.surfaces.screens.seeing import PLAIN, seen, written

LONG = (
    "Water is boiled in a kettle and left to cool because leaves that are scalded give a bitter "
    "drink which few people like, and then green tea is steeped at seventy degrees in a warmed pot "
    "of porcelain or glass, never in one of iron, as connoisseurs in all countries have said."
)
MIXED = st.text(alphabet=st.sampled_from("ab c-é 茶道。\u0301"), max_size=60)


def blocks(text):
    return [block.split("\n") for block in re.split(r"\n\s*\n", text.strip())]


@pytest.mark.parametrize("columns", [40, 80, 200])
@pytest.mark.parametrize("environ", [(), PLAIN], ids=["xterm", "dumb"])
def test_a_result_takes_six_lines_at_most_and_no_word_is_broken(project, columns, environ):
    folder = project(
        "collections:\n  docs:\n    path: docs\n    context:\n      /: Notes about hot drinks\n"
    )
    lines = [f"Line {n} of a note about tea" for n in range(20)]
    written(folder / "docs" / "long.md", f"---\ntags: [tea]\n---\n# Brewing\n\n{LONG}\n\n{LONG}\n")
    written(folder / "docs" / "short.md", "\n\n".join(["# Notes", *lines]))
    written(
        folder / "docs" / ("deep/" * 30) / "name.md", "# " + "Title of tea " * 30 + f"\n\n{LONG}"
    )
    seen("update", environ=PLAIN)
    found = seen("search", "green tea degrees", columns=columns, environ=environ)
    assert found.code == 0
    shown = blocks(found.text)
    assert len(shown) == 4
    words = set(re.findall(r"\w+", f"Brewing {LONG}"))
    for block in shown:
        assert len(block) <= 6
        assert all(columns_of(line) <= columns for line in block)
    [long] = [block for block in shown if "docs/long.md:6" in block[0]]
    assert {"green", "tea", "degrees"} <= set(re.findall(r"\w+", " ".join(long[2:])))
    assert set(re.findall(r"[A-Za-z]+", " ".join(long[2:]))) <= words


def test_rows_are_cut_around_the_words_that_were_looked_for():
    match = Matcher({"degrees": "degrees", "pot": "pot"})
    found = on_screen.rows(
        f"1: # Brewing\n2: \n3: {LONG}\n4: end", match.found_in, columns=50, most=3
    )
    assert [row.number for row in found] == ["3: ", "   ", "   "]
    assert (found[0].text[0], found[-1].text[-1]) == ("…", "…")
    text = " ".join(row.text for row in found).strip("…")
    assert text in LONG
    assert {"degrees", "pot"} <= set(text.split())


def test_rows_begin_with_the_line_that_matches_if_it_is_short():
    match = Matcher({"pot": "pot"})
    found = on_screen.rows("9: a\n10: b\n11: pot\n12: c\n13: d", match.found_in, columns=50, most=2)
    assert found == [("11: ", "pot"), ("12: ", "c")]
    assert on_screen.rows("1: a\n2: b", None, columns=50, most=1) == [("1: ", "a")]


def test_wide_characters_take_two_columns_and_a_line_may_end_after_each():
    assert folded_rows("茶道の本", 5) == ["茶道", "の本"]
    assert folded_rows("tea 茶道", 6) == ["tea 茶", "道"]
    assert folded_rows("녹차를 마신다", 8) == ["녹차를", "마신다"]
    assert folded_rows("   tea", 4) == ["tea"]
    assert (cut_to("茶道の本", 6), cut_to("茶道", 4)) == ("茶道…", "茶道")
    assert (cut_before("notes/tea.md", 7), cut_before("tea.md", 6)) == ("…tea.md", "tea.md")


@given(MIXED, st.integers(2, 30))
def test_a_folded_text_has_all_its_characters_and_fits(text, width):
    rows = folded_rows(text, width)
    assert all(columns_of(row) <= width for row in rows)
    assert "".join("".join(rows).split()) == "".join(text.split())


@given(MIXED, st.integers(2, 30))
def test_words_that_fit_are_not_broken(text, width):
    words = re.findall(r"[abc\-é\u0301]+", text)
    if all(columns_of(word) <= width for word in words):
        assert re.findall(r"[abc\-é\u0301]+", " ".join(folded_rows(text, width))) == words
