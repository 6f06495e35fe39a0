"""What `make bench` reckons is right, and its page says what its JSON says."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from bench import corpora, peer, performance
from bench.anchors import Anchor, Anchors
from bench.beside import Row, Table
from bench.growth import Figure, Growth, Operation, exponent
from bench.performance import Measured

SIZES = (1_000, 10_000, 100_000)


def measured(*rows: Row) -> Measured:
    """A run in which all operations grew with the square root of the documents."""
    figures = tuple(Figure(seconds=size**0.5, memory=100.0, cpu=None) for size in SIZES)
    growth = Growth(SIZES, (1.0, 10.0, 100.0), (2.0, 20.0, 400.0), (Operation("index", figures),))
    tables = (Table("notes", 1234, 5.678, rows),)
    return Measured("2025-03-14", 90.0, "A machine", "qmd 1", "tobi/qmd 2", 0.5, tables, growth)


@pytest.mark.parametrize("power", [-0.5, 0, 0.5, 1, 2])
def test_the_exponent_is_that_of_the_law_behind_the_values(power):
    assert exponent(SIZES, [3 * size**power for size in SIZES]) == pytest.approx(power)


def test_the_exponent_has_the_least_squares():
    # Logarithms: -1, 0 and 1 around their middle; and 0, 2 and 1.
    assert exponent(SIZES, [1, 100, 10]) == pytest.approx(((-1) * 0 + 0 * 2 + 1 * 1) / (1 + 0 + 1))


def test_a_ratio_is_ours_by_theirs_and_bold_where_theirs_is_better():
    parts = performance.parts(
        measured(
            Row("index", "s", 2.0, 4.0),
            Row("search", "ms", 6.0, 4.0),
            Row("answers", "requests/s", 300.0, 200.0),
            Row("embed", "kB/s", 1.0, 4.0),
            Row("library", "ms", 1.0),
        )
    )
    assert parts["beside"][-5:] == [
        "| index | s | 2 | 4 | 0.50 |",
        "| search | ms | 6 | 4 | **1.50** |",
        "| answers | requests/s | 300 | 200 | 1.50 |",
        "| embed | kB/s | 1 | 4 | **0.25** |",
        "| library | ms | 1 | – | – |",
    ]


def test_growth_is_told_with_the_exponent_of_all_sizes_and_of_the_last_step():
    lines = performance.parts(measured())["growth"]
    assert "| index | 31.6 | 100 | 316 | 0.50 | 0.50 |" in lines
    assert "| index | 2 | 20 | 400 | 1.15 | 1.30 |" in lines
    assert "| index | 100 | 100 | 100 | 0.00 | 0.00 |" in lines


def test_what_is_written_as_json_is_read_again():
    run = measured(Row("index", "s", 2.0, 4.0), Row("library", "ms", 1.0))
    rounded = replace(run, growth=performance.from_json(performance.as_json(run)).growth)
    assert performance.from_json(performance.as_json(run)) == rounded


def test_tables_beside_libraries_are_read_again_and_older_json_has_none():
    anchor = Anchor("tantivy 1", 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0)
    notes = Anchors("notes", 12, 3.0, "2025-03-14", 0.5, 100, 500, (anchor,), ("lancedb: none",))
    text = performance.as_json(replace(measured(), anchors=(notes,)))
    assert performance.from_json(text).anchors == (notes,)
    older = json.loads(text)
    del older["anchors"]
    assert performance.from_json(json.dumps(older)).anchors == ()


def test_the_page_has_the_tables_beside_libraries():
    anchor = Anchor("tantivy 1", 1.0, 2.0, 3.0, 4567.0, 5.0, 6.0, 0.7654, 8.0, 9.0, 10.0)
    notes = Anchors("notes", 1234, 3.0, "2025-03-14", 0.5, 90, 410, (anchor,), ("lancedb: none",))
    run = replace(measured(), anchors=(notes,))
    lines = performance.page(empty_page(), run).splitlines()
    assert "### Beside libraries, notes: 1,234 files, 3.0 MB" in lines
    [head] = [line for line in lines if line.startswith("| | index, s |")]
    assert "| first 90 questions, p50, ms | p95, ms | 410 more, p50, ms |" in head
    row = "| tantivy 1 | 1 | 2 | 3 | 4,567 | 5 | 6 | 0.765 | 8 | 9 | 10 |"
    assert row in lines
    assert head.count("|") == row.count("|")
    assert "2025-03-14; load before the run: 0.5." in lines
    assert "Not measured: lancedb: none." in lines
    assert "Not measured." in performance.page(empty_page(), measured()).splitlines()


def empty_page() -> str:
    names = performance.parts(measured())
    return "".join(f"<!-- {name} -->\n<!-- end of {name} -->\n" for name in names)


def test_the_page_says_what_the_json_says():
    facts = (performance.DOCS / "performance.json").read_text(encoding="utf-8")
    page = (performance.DOCS / "performance.md").read_text(encoding="utf-8")
    told = performance.page(page, performance.from_json(facts))
    assert page == told, "Run: python -m bench --page"


def test_a_chart_needs_no_peer_and_fetches_nothing():
    for run in (measured(), measured(Row("index", "s", 2.0, 4.0))):
        assert b"<svg" in performance.chart(run)


@pytest.mark.parametrize(
    ("here", "version", "note"),
    [
        ({}, "", "not measured: Node.js and npm are not here"),
        (
            {"node", "npm"},
            "v20.1.0",
            "not measured: it needs Node.js 22 or later, and v20.1.0 is here",
        ),
        ({"node", "npm"}, "v24.1.0", "not measured: it was not to be installed"),
    ],
)
def test_without_a_peer_a_note_says_why(here, version, note, tmp_path, monkeypatch):
    monkeypatch.setattr(peer, "CACHE", tmp_path)
    monkeypatch.setattr(peer.shutil, "which", lambda name: name if name in here else None)
    monkeypatch.setattr(peer, "_printed", lambda command: version)
    assert peer.find(None, install=False) == peer.Peer([], note)


def test_a_small_generated_corpus_begins_a_large_one(tmp_path, monkeypatch):
    monkeypatch.setattr(corpora, "BLOCK", 5)
    monkeypatch.setattr(corpora, "WORDS", 2000)
    corpora.generate(tmp_path / "small", 7)
    corpora.generate(tmp_path / "large", 12)
    small, large = (
        {file.relative_to(root).as_posix(): file.read_bytes() for file in root.rglob("*.md")}
        for root in (tmp_path / "small", tmp_path / "large")
    )
    assert (len(small), len(large)) == (7, 12)
    assert small.items() <= large.items()


def test_generated_words_differ():
    words = [corpora.word(rank) for rank in range(corpora.WORDS // 10)]
    assert len(set(words)) == len(words)


def test_a_question_is_answered_by_a_document(tmp_path):
    corpora.generate(tmp_path, 30)
    files = sorted(tmp_path.rglob("*.md"))
    texts = [file.read_text(encoding="utf-8").lower() for file in files]
    asked = corpora.questions(files)
    assert asked
    for question in asked:
        assert any(all(word in text for word in question.words.split()) for text in texts)


def test_combined_questions_have_no_words_together_twice():
    words = ["ash", "elm", "fir", "oak", "yew"]
    asked = corpora.combined(words, 10)
    assert len({frozenset(each.split()) for each in asked}) == 10
    assert all(len(set(each.split())) == 3 for each in asked)
    assert asked == corpora.combined(words, 10)
    with pytest.raises(ValueError, match="5 words make fewer than 11 questions"):
        corpora.combined(words, 11)
