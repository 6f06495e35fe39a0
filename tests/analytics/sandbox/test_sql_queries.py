"""What a query may look like, what it gives, and how its mistakes are told."""

from __future__ import annotations

from contextlib import closing

import pytest

from qmd.analytics import sandbox
from qmd.analytics.sandbox import Limits, Sandbox
from qmd.analytics.views import needed
from qmd.errors import QmdError, SqlError, SqlTimeout
from qmd.operations.sql import sql
from qmd.storage import scratch
from qmd.storage.statements import data_folder
from tests.analytics.sandbox.querying import rows_of


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        ("select title from documents order by title;", [("Coffee",), ("Tea",)]),
        ("from documents select title where title = 'Tea' -- to the end", [("Tea",)]),
        ("values (1, null)", [("1", None)]),
        ("with a as (select 1 as x) select x from a", [("1",)]),
        ('with "a.b" as (select 1 as x) select x from "a.b"', [("1",)]),
        ("(select 1) union all (select 2) order by 1 desc", [("2",), ("1",)]),
        ("select 1 as a, 2 as a", [("1", "2")]),
        ("select column_name from (describe documents) limit 1", [("docid",)]),
        ("select ';' -- ;", [(";",)]),
        ("from range(2)", [("0",), ("1",)]),
        ("select unnest([1, 2])", [("1",), ("2",)]),
        (
            "select term from postings where file = 'notes/tea.md' and title_frequency > 0",
            [("tea",)],
        ),
        ("select value from frontmatter order by position", [("green",), ("hot",)]),
        ("select count(*) from qmd_index.documents", [("2",)]),
        ("select count(*) > 5 from information_schema.tables", [("true",)]),
    ],
)
def test_a_query_gives_its_rows(query, rows, answered):
    assert answered(query) == rows


@pytest.mark.parametrize("query", ["describe documents", "summarize documents", "show tables"])
def test_what_there_is_can_be_described(query, answered):
    assert len(answered(query)) > 5


@pytest.mark.parametrize("query", ["explain from documents", "EXPLAIN ANALYZE from documents"])
def test_a_plan_can_be_seen(query, answered):
    [(_, plan)] = answered(query)
    assert "content" in plan
    assert "sandbox" not in plan


@pytest.mark.parametrize(
    "blank", ["\u3000", "\ufeff", " \u2003\n", "explain \u3000", "\u3000 -- a\n"]
)
def test_spaces_of_other_scripts_are_no_query(blank, answered):
    with pytest.raises(SqlError, match="There is no query"):
        answered(blank)


def test_spaces_of_other_scripts_around_a_query_are_spaces(answered):
    assert answered("select\u30001;\u3000") == [("1",)]


def test_a_mistake_is_told_with_its_place_in_the_query(answered):
    with pytest.raises(SqlError) as wrong:
        answered("select title,\n  foo\nfrom documents")
    assert "LINE 2:   foo" in str(wrong.value)
    with pytest.raises(SqlError, match="LINE 1: selec 1"):
        answered("selec 1")
    with pytest.raises(SqlError, match="There is no query"):
        answered(" ; -- nothing\n")
    with pytest.raises(SqlError, match=r"nested too deeply|depth limit"):
        answered("select " + "+".join(["1"] * 2000))
    with pytest.raises(SqlError, match="Name the values that become columns"):
        answered("pivot frontmatter on key")


@pytest.mark.parametrize("before", ["", "x", "xx"])
def test_a_word_without_end_is_no_query(answered, before):
    # DuckDB quotes only the first 8 KB of it, and they may end within a character.
    with pytest.raises(SqlError, match=r"syntax error|thousands of letters"):
        answered(before + "日" * 5000)


def test_parameters_are_given_by_name_or_in_order(answered):
    assert answered("select title from documents where file = $f", {"f": "notes/tea.md"}) == [
        ("Tea",)
    ]
    assert answered("select ? + ?", [1, 2]) == [("3",)]
    assert answered("select ?", {1: 2}) == [("2",)]
    assert answered("select $F + $f", {"f": 1}) == [("2",)]
    assert answered("select path from bm25($Words)", {"wordS": "tea"}) == [("tea.md",)]


@pytest.mark.parametrize(
    ("query", "parameters", "problem"),
    [
        ("select $F", {}, "There is no value for $F."),
        ("select ? + ?", [1], "There is no value for $2."),
        ("explain select $f", {"g": 1}, "There is no value for $f."),
        ("select $f", {"f": 1, "G": 2}, "The query has no $G."),
        ("from range(?)", [1, 2], "The query has no $2."),
        ("select '$f' -- $f", {"f": 1}, "The query has no $f."),
    ],
)
def test_each_parameter_has_a_value_and_each_value_a_parameter(
    answered, query, parameters, problem
):
    with pytest.raises(SqlError) as refused:
        answered(query, parameters)
    assert str(refused.value).startswith(problem + "\n\n")


@pytest.mark.parametrize(
    ("query", "made"),
    [
        ("select 1", []),
        ("from range(3), qmd_index.content, qmd_index.main.documents", []),
        ("from Documents join (summarize memory.tags) on true", ["documents", "tags"]),
        ("with t as (from tags) from t, T as u", ["tags"]),
        ("with tags as (from tags) select (select count(*) from tags)", ["tags"]),
        ("from broken_links", ["links", "broken_links"]),
        ("from bm25('tea') where exists (from orphans)", ["bm25", "orphans"]),
        ("explain from tags", ["tags"]),
        ("show tables", None),
        ("describe tags", None),
        ("select count(*) from (show tables)", None),
        ("select view_name from duckdb_views()", None),
        ("select count(*) from information_schema.tables", None),
        ("select count(*) from sqlite_master", None),
    ],
)
def test_views_are_made_that_a_query_may_look_at(query, made, answered, shared):
    answered(query)
    index = shared.engine.place.database
    with closing(Sandbox(index, Limits(), scratch.spill_folder(index))) as box:
        names = [view.name for view in sandbox._wanted(box.read(query, ()))]
    if made is None:
        assert len(names) == len(list((data_folder("sql") / "views").glob("*.sql")))
    else:
        assert set(names) >= set(made)
        assert set(names) == needed(made)


@pytest.mark.parametrize(
    ("query", "stored"),
    [
        ("from broken_links", {"links"}),
        ("select file from orphans union select file from broken_links", {"links"}),
        ("from links where file = 'notes/tea.md'", set()),
        ("from documents", set()),
        ("explain from orphans", set()),
        ("describe orphans", set()),
        ("select (select count(*) from orphans), view_name from duckdb_views()", set()),
    ],
)
def test_links_are_computed_once_for_views_that_read_them(query, stored, answered, shared):
    answered(query)
    index = shared.engine.place.database
    with closing(Sandbox(index, Limits(), scratch.spill_folder(index))) as box:
        request = box.read(query, ())
    assert sandbox._stored(request, sandbox._wanted(request)) == stored


def test_an_unknown_view_is_told_with_those_that_are_like_it(answered):
    with pytest.raises(SqlError, match='Did you mean "documents"'):
        answered("from documentz")


def test_the_first_query_of_all_finds_an_empty_index(library):
    assert list(sql(library.engine, "select count(*) as n from documents")) == [{"n": 0}]


def test_a_query_sees_settings_that_were_edited_by_hand(filled):
    filled.configure("papers")
    rows = rows_of(filled, "select collection from collections order by collection")
    assert [name for (name,) in rows if name != "experiences"] == ["notes", "papers"]


def test_an_answer_can_be_an_arrow_table_of_any_types(library):
    table = sql(
        library.engine,
        "select 1 as a, 'x' as b, [1.5] as c, {'d': null} as d, now() as e, uuid() as f, "
        "'{}'::json as g, '\\x01'::blob as h, date 'infinity' as i",
    ).arrow()
    assert table.num_rows == 1
    assert table["a"].to_pylist() == [1]
    assert table["c"].to_pylist() == [[1.5]]


def test_errors_of_sql_are_errors_of_qmd():
    assert issubclass(SqlTimeout, SqlError)
    assert issubclass(SqlError, QmdError)
