"""Answers are sequences, tables and data frames, and are shown as tables."""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser

import pytest

import qmd
from qmd.errors import extras
from qmd.reports import Report
from qmd.types import Result


def test_results_are_a_sequence_an_arrow_table_and_a_data_frame(kb):
    hits = kb.search("tea")
    assert len(hits) == len(hits[:5]) == 2
    assert hits[-1] in hits
    table = hits.arrow()
    assert table.column_names == list(Result._fields)
    assert table["file"].to_pylist() == [hit.file for hit in hits]
    assert table.schema.field("score").type == "double"
    assert hits.polars()["title"].to_list() == [hit.title for hit in hits]


def test_an_empty_answer_has_the_same_columns_and_types(kb):
    assert kb.search("absent").arrow().schema == kb.search("tea").arrow().schema
    assert kb.search("absent").polars().schema == kb.search("tea").polars().schema


def test_duckdb_takes_an_answer_as_it_is(kb):
    import duckdb

    hits = kb.search("tea")
    with duckdb.connect() as other:
        assert other.register("hits", hits).sql("select count(*) from hits").fetchall() == [(2,)]


def test_all_rows_are_tables(kb):
    kb.add_context("/", "All")
    made = [kb.documents(), kb.collections(), kb.contexts(), kb.multi_get("*.md"), kb.update()]
    assert [each.arrow().num_rows for each in made] == [3, 1, 1, 2, 1]
    assert made[0].arrow().schema.field("date").type == "timestamp[us]"


def test_what_arrow_has_no_type_for_is_json():
    skipped = Report("notes", "*", skipped=[("a.md", "permission denied")])
    table = qmd.Rows(Report, [skipped]).arrow()
    assert table["skipped"].to_pylist() == ['[["a.md", "permission denied"]]']


def test_without_polars_the_error_names_the_extra(kb, monkeypatch):
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(qmd.UsageError, match=re.escape(extras.command("polars"))):
        kb.documents().polars()


def test_a_notebook_shows_a_table_whatever_a_note_says(kb):
    html = kb.search("cups")._repr_html_()
    assert "<b>" not in html
    assert "&lt;b&gt;tea&lt;/b&gt; &amp; cups" in html
    opened = []
    parser = HTMLParser()
    parser.handle_starttag = lambda tag, attributes: opened.append(tag)
    parser.feed(html)
    assert opened.count("table") == 1


def test_a_prompt_shows_a_table_whose_columns_stand_below_each_other(kb):
    head, names, *rows = repr(kb.documents()).splitlines()
    assert head == "<Rows: 3 rows>"
    at = names.index("collection")
    assert rows[0][at:].startswith("notes ")
    japanese = next(row for row in rows if "温泉" in row)
    wide = len("有馬温泉の茶") + len("茶")  # of these, each takes the room of two
    assert japanese[at - wide :].startswith("notes ")


def test_many_rows_are_shown_in_part():
    rows = qmd.Rows(qmd.Context, [qmd.Context("notes", f"{n}", "x") for n in range(25)])
    assert repr(rows).splitlines()[-1] == "… 5 more"
    assert "<p>… 5 more</p>" in rows._repr_html_()
    assert "<Rows: 0 rows>\ncollection  prefix  body" in repr(rows[:0])


def test_a_part_of_a_table_may_be_empty(kb):
    table = kb.sql("select range as a from range(5)")
    assert [row["a"] for row in table[1:4:2]] == [1, 3]
    assert [row["a"] for row in table[::-1]][:2] == [4, 3]
    for empty in (table[:0], table[5:9], kb.sql("select 1 as a where false")[:3]):
        assert (len(empty), empty.columns) == (0, ("a",))


def test_a_time_that_python_has_not_got_is_shown_as_text(kb):
    for value in ("'infinity'::timestamp", "'20000-01-01'::date"):
        table = kb.sql(f"select {value} as t, 1 as a")
        assert table[0]["a"] == 1
        assert isinstance(table[0]["t"], str)
        assert "t" in repr(table)
