"""Tables of rows in columns."""

from __future__ import annotations

from qmd.surfaces.formats import table


def test_columns_are_as_wide_as_their_widest_cells_on_a_terminal():
    rows = [("1", "tea", "日本"), ("20", "a", "x"), ("3", "", "grün")]
    assert table(rows, right=frozenset({0})) == " 1  tea  日本\n20  a    x\n 3       grün\n"


def test_a_cell_is_escaped_and_shortened_beside_others_that_are_not():
    long = "x" * 5000
    [first, second] = table([("a\nb", "tea"), ("c", long)]).splitlines()
    assert first == r"a\nb  tea"
    assert second.startswith("c     xxx")
    assert "characters …]" in second
    assert len(second) < len(long)


def test_a_table_without_rows_is_empty():
    assert table([]) == ""
