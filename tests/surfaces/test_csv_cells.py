"""Cells of CSV: a spreadsheet shows texts as texts, and numbers stay numbers."""

from __future__ import annotations

import csv
import io

import pytest

from qmd.surfaces import formats, render
from qmd.surfaces.formats import Format
from qmd.surfaces.render_documents import documents_as
from qmd.types import Passage, Result

FORMULAS = [
    "=1+1", "+1+1", "-1+1", "@SUM(1)", "=", "-", "- an item", "+49 30 1234", "-5%", "-1,000",
    "\t=1", "\tx", "\r=1", "\rx", "\n=1", "\r\nx", "\0=1", " =1", "\u00a0=1", "\u3000+x",
    "\ufeff=1", "\u200b@x", "\u202e-x", "\uff1d1", "\uff0b1", "\uff0d1", "\uff201", "\ufe661",
    "\u207b1", "\u2212x", "-\u0665", "-5\n", "--5", "-1e", "-.", "-1.2.3", "-inf", "-0x10",
]  # fmt: skip
KEPT = [
    "", "x", "5", "-5", "+4.2e3", "-.5", "-5.", "+1E-7", "1+1", "a=1", " ", " x", "'=1",
    "#abc123", '"=1"', "(-1)", "日本", "e-mail@example.org", "\u2013 an item",
]  # fmt: skip


def read(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline="")))


@pytest.mark.parametrize("text", FORMULAS)
def test_a_text_that_begins_as_a_formula_gets_an_apostrophe(text):
    assert formats.defused(text) == f"'{text}"
    written = formats.as_csv([text, "b"], [["x", text], [text, 1]])
    assert read(written) == [[f"'{text}", "b"], ["x", f"'{text}"], [f"'{text}", "1"]]


@pytest.mark.parametrize("text", KEPT)
def test_a_text_that_is_no_formula_stays_as_it_is(text):
    assert read(formats.as_csv([text, "b"], [["x", text]])) == [[text, "b"], ["x", text]]


@pytest.mark.parametrize("text", [*FORMULAS, *KEPT])
def test_raw_csv_has_every_text_as_it_is(text):
    written = formats.as_csv([text, "b"], [["x", text]], raw_csv=True)
    assert read(written) == [[text, "b"], ["x", text]]


def test_numbers_of_python_and_what_is_missing_stay_as_they_are():
    row = [-5, -0.5, float("-inf"), None, True]
    assert formats.as_csv(list("abcde"), [row]) == "a,b,c,d,e\n-5,-0.5,-inf,,True\n"


def test_a_text_that_is_defused_twice_has_one_apostrophe():
    for text in FORMULAS:
        once = formats.defused(text)
        assert formats.defused(once) == once


def test_a_long_text_of_digits_or_blanks_takes_one_pass():
    for text in ("-" + "1" * 1_000_000 + "x", " " * 1_000_000 + "=", "-1e" + "1" * 1_000_000 + "x"):
        assert formats.defused(text) == f"'{text}"


HOSTILE = "=cmd|'/C calc'!A0"


def result(**others: str | None) -> Result:
    return Result("#abc123", -0.5, "=n/a.md", 3, HOSTILE, "@SUM(1)", "+1\n=2", "")._replace(
        **others
    )


@pytest.mark.parametrize("body", [None, "-1-1\n"])
def test_cells_of_search_results_are_defused(body):
    found = [result(body=body)]
    text = body or "+1\n=2"
    _, row = read(render.results(found, Format.CSV, names=lambda name: f"\t{name}"))
    assert row == [
        "#abc123", "-0.5000", "'\t=n/a.md", f"'{HOSTILE}", "'@SUM(1)", "3", f"'{text}"
    ]  # fmt: skip
    _, row = read(render.results(found, Format.CSV, raw_csv=True))
    assert row == ["#abc123", "-0.5000", "=n/a.md", HOSTILE, "@SUM(1)", "3", text]
    assert render.results(found, Format.FILES) == "#abc123,-0.50,'=n/a.md,\"'@SUM(1)\"\n"
    raw = render.results(found, Format.FILES, raw_csv=True)
    assert raw == '#abc123,-0.50,=n/a.md,"@SUM(1)"\n'


def test_cells_of_documents_are_defused():
    found = [
        Passage("#abc123", "=n/a.md", HOSTILE, "@SUM(1)", "", 1, 1, "-1-1\n"),
        Passage.missing("=1+1", "=2 is not found."),
    ]
    assert read(documents_as(found, Format.CSV))[1:] == [
        ["#abc123", "'=n/a.md", f"'{HOSTILE}", "'@SUM(1)", "false", "", "'-1-1\n"],
        ["", "'=1+1", "", "", "true", "'=2 is not found.", ""],
    ]
    assert read(documents_as(found, Format.CSV, raw_csv=True))[1:] == [
        ["#abc123", "=n/a.md", HOSTILE, "@SUM(1)", "false", "", "-1-1\n"],
        ["", "=1+1", "", "", "true", "=2 is not found.", ""],
    ]
    assert documents_as(found, Format.FILES) == (
        '#abc123,\'=n/a.md,"\'@SUM(1)"\n,\'=1+1,"",[SKIPPED: =2 is not found.]\n'
    )
    assert documents_as(found, Format.FILES, raw_csv=True) == (
        '#abc123,=n/a.md,"@SUM(1)"\n,=1+1,"",[SKIPPED: =2 is not found.]\n'
    )


def test_other_formats_have_texts_as_they_are():
    for form in (Format.JSON, Format.XML, Format.MD, Format.CLI):
        kept = render.results([result(title="=1+1")], form)
        assert "=1+1" in kept
        assert "'=1+1" not in kept
