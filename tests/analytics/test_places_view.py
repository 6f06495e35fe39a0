"""The view of places: pages, slides, sheets, moments."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest

from qmd.text.places import LETTERS
from tests.ingest.readers.samples import SAMPLES


@pytest.fixture
def ask(qmd, tmp_path):
    folder = tmp_path / "notes"
    folder.mkdir()
    for kind in ("pdf", "pptx", "xlsx", "vtt", "ipynb"):
        (folder / f"a.{kind}").write_bytes(SAMPLES[kind].data)
    (folder / "b.md").write_text("# No places\n")
    assert qmd("collection", "add", folder)[0] == 0

    def ask(sql):
        code, out, err = qmd("sql", sql, "--json")
        assert code == 0, err
        return json.loads(out)

    return ask


def test_a_place_has_the_lines_that_get_gives(ask, qmd):
    rows = ask("from places order by file, number")
    assert {row["kind"] for row in rows} >= {"page", "slide", "sheet", "second", "cell"}
    assert {row["kind"] for row in rows} <= set(LETTERS)
    assert "notes/b.md" not in {row["file"] for row in rows}
    pages = [row for row in rows if row["kind"] == "page"]
    assert [row["number"] for row in pages] == list(range(1, len(pages) + 1))
    assert pages[-1]["last_line"] is None
    for row, after in pairwise(pages):
        assert row["last_line"] == after["first_line"] - 1
    for row in pages:
        place = qmd("get", f"notes/a.pdf:p{row['label']}", "--json")[1]
        passage = json.loads(place)
        body = passage["body"] if isinstance(passage, dict) else passage[0]["body"]
        text = ask("select body from documents where file = 'notes/a.pdf'")[0]["body"]
        expected = text.split("\n")[row["first_line"] - 1 : row["last_line"]]
        assert body.strip() == "\n".join(expected).strip()


def test_every_kind_of_place_has_its_name():
    from qmd.analytics.views import views

    [view] = [each for each in views() if each.name == "places"]
    for kind, letter in LETTERS.items():
        assert f"when '{letter}' then '{kind}'" in view.text
