"""The page for SQL, as it comes over HTTP."""

from __future__ import annotations

import csv
import io
from urllib.parse import urlencode

import pyarrow.parquet as pq
import pytest

from qmd.analytics.views import examples, views
from qmd.surfaces.http.app import Options
from qmd.surfaces.page import sql_page
from qmd.surfaces.tools.dispatch import Toolbox
from tests.surfaces.service import service

HTML = {"accept": "text/html"}
OWN = {**HTML, "sec-fetch-site": "same-origin", "sec-fetch-mode": "navigate"}
LINKED = {**HTML, "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
TEA = "select file, size from documents where file = 'notes/tea.md'"


def ran(pages, query, headers=OWN, **more):
    return pages.get("/sql?" + urlencode({"query": query, "run": "1", **more}), headers=headers)


def rows(pages, query, form, headers=OWN):
    given = {"query": query, "run": "1", "form": form}
    return pages.get("/sql/rows?" + urlencode(given), headers=headers)


def test_the_page_lists_views_and_examples(pages):
    answer = pages.get("/sql", headers=HTML)
    assert answer.status_code == 200
    for view in views():
        assert f"<code>{view.call.partition('(')[0]}" in answer.text
    assert answer.text.count('<li><a href="/sql?query=') == len(examples())
    assert "It may take 8 seconds and 500MB of memory" in answer.text


def test_a_query_shows_its_rows(pages, kept):
    answer = ran(pages, TEA)
    assert ">notes/tea.md</td>" in answer.text
    assert f'class="number">{(kept.root / "tea.md").stat().st_size}</td>' in answer.text
    assert "<strong>1</strong> row" in answer.text


def test_each_example_runs(pages):
    for each in examples():
        if "$" not in each.query:
            answer = ran(pages, each.query)
            assert 'class="told"' in answer.text or "qmd embed" in answer.text, each.name


def test_few_rows_become_bars(pages):
    answer = ran(pages, "from (values ('tea', 8), ('<i>', 2), ('none', 0)) as t(drink, cups)")
    assert '<rect width="100.0" height="10"/>' in answer.text
    assert '<rect width="25.0" height="10"/>' in answer.text
    assert '<th scope="row" dir="auto">&lt;i&gt;</th>' in answer.text


@pytest.mark.parametrize(
    "values",
    ["('a', 1)", "('a', -1), ('b', 2)", "(1, 2), (3, 4)", "('a', 'nan'::double), ('b', 1)"],
)
def test_no_bars_where_they_would_say_nothing(pages, values):
    answer = ran(pages, f"from (values {values}) as t(x, y)")
    assert "<rect" not in answer.text
    assert 'class="rows"' in answer.text


@pytest.mark.parametrize(
    "query",
    [
        "drop table documents",
        "select * from read_csv('/etc/passwd')",
        "copy documents to '/tmp/documents.csv'",
        "select nonsense",
        "attach '/tmp/x.duckdb'",
    ],
)
def test_what_the_sandbox_refuses_is_told(pages, query):
    answer = ran(pages, query)
    assert answer.status_code == 200
    assert 'role="alert"' in answer.text
    assert 'class="rows"' not in answer.text
    assert rows(pages, query, "csv").status_code == 400


def test_queries_end_at_the_limits(pages, monkeypatch):
    monkeypatch.setattr(sql_page, "LIMITS", sql_page.LIMITS._replace(timeout=0.5))
    answer = ran(pages, "select count(*) from range(1000000) a, range(1000000) b")
    assert "0.5 seconds" in answer.text
    assert 'role="alert"' in answer.text


def test_cells_and_queries_are_text(pages):
    query = "select '<script>x</script>' || chr(8238) as \"<b>\", '</textarea><script>y' as z"
    text = ran(pages, query).text
    assert "<script>x" not in text
    assert "<script>y" not in text
    assert "<b>" not in text
    assert "&lt;script&gt;x&lt;/script&gt;" in text
    assert "\u202e" not in text


def test_many_rows_and_wide_cells_are_cut(pages):
    answer = ran(pages, "select repeat('x', 5000) as wide from range(1000)")
    assert "<strong>1,000</strong> rows, of which 500 are shown" in answer.text
    assert "x" * 2000 + "…" in answer.text
    assert "x" * 2001 not in answer.text


def test_a_link_from_elsewhere_only_shows_the_query(pages):
    answer = ran(pages, TEA, LINKED)
    assert TEA.replace("'", "&#39;") in answer.text
    assert 'class="rows"' not in answer.text
    assert "Press Run" in answer.text
    led = rows(pages, TEA, "csv", LINKED)
    assert led.status_code == 303
    assert led.headers["location"].startswith("/sql?query=")


def test_all_rows_come_as_files(pages):
    query = "select i, 'n' || i as name, '=1+1' as formula from range(1200) t(i)"
    answer = rows(pages, query, "csv")
    assert answer.headers["content-disposition"] == 'attachment; filename="rows.csv"'
    found = list(csv.DictReader(io.StringIO(answer.text)))
    assert len(found) == 1200
    assert found[7] == {"i": "7", "name": "n7", "formula": "'=1+1"}
    table = pq.read_table(io.BytesIO(rows(pages, query, "parquet").content))
    assert table.num_rows == 1200
    assert table.column_names == ["i", "name", "formula"]
    assert rows(pages, query, "json").json()[1] == {"i": 1, "name": "n1", "formula": "=1+1"}
    assert rows(pages, query, "exe").status_code == 404


def test_a_file_larger_than_memory_waits_on_the_disk(pages):
    answer = rows(pages, "select repeat('x', 1000) as wide from range(9000)", "csv")
    assert len(answer.content) == len("wide\n") + 9000 * 1001


def test_the_page_needs_a_login(kept):
    with service(Toolbox(kept.engine), Options(token="secret")) as made:
        for path in ("/sql", "/sql/rows?query=select+1&run=1"):
            answer = made.get(path, headers=HTML, follow_redirects=False)
            assert answer.status_code == 303
            assert answer.headers["location"].startswith("/login?next=")
        assert made.get("/sql/rows?query=select+1&run=1").status_code == 401
