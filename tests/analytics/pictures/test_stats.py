"""Facts about all documents, as a user meets them."""

from __future__ import annotations

import json

import pytest

from qmd.analytics import charts
from qmd.analytics.report import gather


def test_documents_are_counted_by_the_month_of_their_date(many):
    found = gather(many.engine, ["notes"])
    assert [(f"{each.month:%Y-%m}", each.documents) for each in found.months] == [
        ("2024-01", 1), ("2025-03", 2),
    ]  # fmt: skip
    assert sum(each.documents for each in gather(many.engine).months) == 4


ODD = {"first.md": "0001-01-01", "last.md": "9999-12-31", "now.md": "2025-03-14"}


def test_years_have_four_digits(qmd, tmp_path):
    for name, day in ODD.items():
        (tmp_path / "notes" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "notes" / name).write_text(f"---\ndate: {day}\n---\n# {name}\n")
    qmd("collection", "add", tmp_path / "notes")
    report = qmd("stats")[1]
    assert "0001-01-01 to 9999-12-31" in report
    assert "0001-01 to 9999-12" in report
    assert "\n  0001  1  " in report
    months = json.loads(qmd("stats", "--json")[1])["months"]
    assert [each["month"] for each in months] == ["0001-01", "2025-03", "9999-12"]


def test_a_document_from_far_off_makes_no_chart_larger(library, tmp_path):
    def drawn():
        library.update()
        charts.draw(gather(library.engine), tmp_path / "x.svg", title="x")
        return (tmp_path / "x.svg").read_text()

    for number in range(3):
        library.write(f"{number}.md", f"---\ndate: 20{number}0-03-14\n---\n# Tea {number}\n")
    before = drawn()
    for name, day in ODD.items():
        library.write(name, f"---\ndate: {day}\n---\n# {name}\n")
    after = drawn()
    assert "(2 documents from far off left out)" in after
    assert "left out" not in before
    assert len(after) < 1.2 * len(before)


def test_sizes_go_in_steps_of_one_two_and_five(many):
    sizes = [file.stat().st_size for file in many.folder.glob("*/*.md")]
    for each in gather(many.engine).sizes:
        assert each.documents == sum(each.at_least <= size < each.below for size in sizes)
        assert str(each.at_least).rstrip("0") in ("1", "2", "5")
    assert sum(each.documents for each in gather(many.engine).sizes) == 4


@pytest.mark.parametrize(
    ("size", "step"),
    [(1, (1, 2)), (9, (5, 10)), (10, (10, 20)), (999, (500, 1000)),
     (1000, (1000, 2000)), (4999, (2000, 5000))],
)  # fmt: skip
def test_a_file_is_in_the_step_that_holds_its_size(library, size, step):
    library.write("x.md", "x" * size)
    library.update()
    [found] = gather(library.engine).sizes
    assert (found.at_least, found.below) == step


def test_terms_are_counted_without_words_that_say_nothing(many):
    terms = {each.term: each for each in gather(many.engine).terms}
    assert (terms["gauge"].documents, terms["gauge"].occurrences) == (2, 203)
    assert terms.keys().isdisjoint({"the", "and", "2024", "茶"})
    assert gather(many.engine).terms[0].term == "gauge"


def test_the_longest_documents_come_first(many):
    longest = gather(many.engine, longest=2).longest
    assert [each.file for each in longest] == ["notes/pool.md", "notes/tea.md"]


def test_stats_are_a_table_for_people_and_json_for_programs(drawn):
    code, out, err = drawn("stats")
    assert (code, err) == (0, "")
    assert "Documents  2 (" in out
    assert "From       2024-01-02 to 2025-03-14" in out
    assert "  2024-01  1  ██████████████████████████████\n" in out
    facts = json.loads(drawn("stats", "--json", "-c", "$tea茶")[1])
    assert list(facts) == [
        "documents", "bytes", "first", "last", "medianBytes", "largestBytes", "months", "sizes",
        "collections", "terms", "longest",
    ]  # fmt: skip
    assert facts["months"] == [
        {"month": "2025-03", "collection": "$tea茶", "documents": 1, "bytes": facts["bytes"]}
    ]


def test_one_of_something_is_told_as_one(qmd, tmp_path):
    root = tmp_path / "notes"
    root.mkdir()
    (root / "tea.md").write_text("# Kettle\n\nKettle, gauge.\n")
    assert qmd("collection", "add", root)[0] == 0
    lines = [line.split() for line in qmd("stats")[1].splitlines()]
    assert ["kettle", "3", "times", "in", "1", "document"] in lines
    assert ["gauge", "1", "time", "in", "1", "document"] in lines


def test_stats_of_years_are_told_by_year(many, capsys):
    from qmd.surfaces.cli.statistics import _report

    many.write("older.md", "---\ndate: 1999-12-31\n---\n# Older\n")
    many.update()
    assert "By year\n  1999  1  ███" in _report(gather(many.engine))


def test_stats_of_nothing_say_how_to_begin(qmd):
    assert qmd("stats") == (0, "No documents yet. Add some with 'qmd collection add PATH'.\n", "")
    assert json.loads(qmd("stats", "--json")[1])["documents"] == 0


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["stats", "x.svg"], "x.svg would be a picture: qmd stats --plot x.svg"),
        (["stats", "--plot", "x.pdf"], "A picture is a file ending in .svg or .png, not x.pdf."),
        (["stats", "--plot", "no/x.svg"], "no/x.svg cannot be written: there is no folder no."),
        (["stats", "-c", "nots"], "Collection not found: nots. Known: $pool茶, $tea茶."),
        (["map", "x.png"], "A picture is a file ending in .html or .svg, not x.png."),
        (["map", "-c", "nots"], "Collection not found: nots. Known: $pool茶, $tea茶."),
        (["map"], "Vector index not found. Run 'qmd embed' first to create embeddings."),
    ],
)
def test_what_cannot_be_drawn_is_refused_with_the_reason(drawn, arguments, problem):
    code, out, err = drawn(*arguments)
    assert (code, out) == (1, "")
    assert problem in err
