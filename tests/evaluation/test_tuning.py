"""Weights for somebody's own documents: proposed by what was judged or read, never set."""

from __future__ import annotations

import json
from datetime import datetime, timedelta

import anyio
import pytest

from qmd.errors import ConfigError, UsageError
from qmd.evaluation import fixtures
from qmd.evaluation.index_under_test import Bench
from qmd.evaluation.opened_results import from_log
from qmd.evaluation.significance import p_value
from qmd.evaluation.tuning import FEWEST, chosen_share, tune
from qmd.operations.documents import get
from qmd.operations.search import search
from qmd.operations.semantic_search import query
from qmd.operations.sql import sql
from qmd.ranking import scale

COUNT = 2 * FEWEST


# -- chance -----------------------------------------------------------------------


def test_the_same_figures_differ_by_chance_and_many_better_ones_do_not():
    figures = [0.2, 0.5, 0.9, 0.4] * 5
    assert p_value(figures, figures) == 1.0
    assert p_value([each + 0.05 for each in figures], figures) < 0.001
    assert p_value([1.0, 0.0], [0.0, 1.0]) == 1.0
    assert p_value([], []) == 1.0


def test_p_is_that_of_all_assignments_of_a_few_queries():
    ours, theirs = [0.9, 0.8, 0.7, 0.6, 0.9], [0.1, 0.2, 0.3, 0.4, 0.1]
    assert p_value(ours, theirs) == pytest.approx(2 / 2**5, abs=0.01)  # all signs alike
    assert p_value(theirs, ours) == p_value(ours, theirs)


# -- choosing ---------------------------------------------------------------------


def test_a_share_that_is_better_throughout_is_proposed():
    tuned = chosen_share({0.25: [0.9] * COUNT, 0.45: [0.5] * COUNT, 0.65: [0.4] * COUNT}, 0.45)
    assert (tuned.best, tuned.now, tuned.is_proposed) == (0.25, 0.45, True)
    assert (tuned.before, tuned.after) == (pytest.approx(0.5), pytest.approx(0.9))
    assert tuned.p < 0.01


def test_a_share_that_one_query_makes_the_best_is_not_proposed():
    lucky = [1.0, *[0.5] * (COUNT - 1)]
    tuned = chosen_share({0.25: lucky, 0.45: [0.5] * COUNT}, 0.45)
    assert tuned.best == 0.25
    assert tuned.after == tuned.before  # without that query, both are alike
    assert not tuned.is_proposed


def test_few_queries_propose_nothing_and_equal_shares_leave_the_one_in_use():
    few = chosen_share({0.25: [0.9] * 8, 0.45: [0.5] * 8}, 0.45)
    assert (few.best, few.is_proposed) == (0.25, False)
    same = chosen_share({share: [0.7] * COUNT for share in (0.15, 0.45, 0.85)}, 0.45)
    assert (same.best, same.is_proposed, same.p) == (0.45, False, 1.0)


# -- the log ----------------------------------------------------------------------

BEGAN = datetime(2026, 3, 1, 12)


def searched(minute, text, *found):
    at = (BEGAN + timedelta(minutes=minute)).isoformat()
    return json.dumps({"searched_at": at, "verb": "search", "query": text, "found": found})


def opened(minute, file):
    at = (BEGAN + timedelta(minutes=minute)).isoformat()
    return json.dumps({"opened_at": at, "file": file})


def test_what_was_read_counts_for_the_last_search_that_found_it():
    fixture = from_log(
        [
            searched(0, "tea", "n/tea.md", "n/cup.md"),
            searched(1, "green tea", "n/tea.md"),
            opened(2, "n/tea.md"),
            opened(3, "n/cup.md"),
            opened(4, "n/other.md"),
            searched(50, "tea", "n/pot.md", "n/tea.md"),
            opened(51, "n/pot.md"),
            opened(200, "n/tea.md"),
            "{}",
            "[]",
            '{"opened_at": "soon", "file": 1}',
            "cut o",
        ]
    )
    assert {each.text: dict(each.judged) for each in fixture.questions} == {
        "green tea": {"n/tea.md": 1},
        "tea": {"n/cup.md": 1, "n/pot.md": 1},
    }


@pytest.mark.parametrize("lines", [[], [searched(0, "tea", "n/tea.md")], [opened(0, "n/tea.md")]])
def test_a_log_in_which_nothing_was_read_after_a_search_is_refused(lines):
    with pytest.raises(UsageError, match="has no search whose result was read"):
        from_log(lines)


@pytest.fixture
def notes(library):
    library.write("tea.md", "# Tea\n\nA cup of tea.")
    library.write("cake.md", "# Cake\n\nA piece of cake with tea.")
    library.update()
    return library


def test_a_document_that_is_read_is_noted_beside_the_searches(notes):
    search(notes.engine, "tea")
    get(notes.engine, "cake.md")
    [question] = from_log(notes.engine.log.lines()).questions
    assert (question.text, dict(question.judged)) == ("tea", {"notes/cake.md": 1})
    rows = sql(notes.engine, "select verb, query from searches").arrow().to_pylist()
    assert rows == [{"verb": "search", "query": "tea"}]


def test_nothing_is_noted_without_a_log(library):
    library.configure(more="query_log: false")
    library.write("tea.md", "# Tea")
    library.update()
    get(library.engine, "tea.md")
    assert library.engine.log.lines() == []


# -- the share in use ---------------------------------------------------------------


def weights(library):
    [first, *_] = anyio.run(lambda: query(library.engine, "cup of tea", explain=True))
    return [each["weight"] for each in first.explain["lists"]]


def test_index_yml_sets_the_share_of_keywords(notes):
    notes.embed()
    assert weights(notes) == [scale.WORDS, pytest.approx(1 - scale.WORDS)]
    notes.configure(more="ranking:\n  keywords: 0.7")
    assert weights(notes) == [0.7, pytest.approx(0.3)]
    notes.configure()
    assert weights(notes) == [scale.WORDS, pytest.approx(1 - scale.WORDS)]


@pytest.mark.parametrize("value", ["0", "1", "-0.2", "7", "yes", "'0.5'", "[0.5]"])
def test_a_share_that_is_none_is_refused_with_its_line(notes, value):
    notes.configure(more=f"ranking:\n  keywords: {value}")
    with pytest.raises(ConfigError, match=r"index\.yml:2: 'keywords' has to be a number between"):
        search(notes.engine, "tea")


def test_an_unknown_weight_is_refused(notes):
    notes.configure(more="ranking:\n  words: 0.5")
    with pytest.raises(ConfigError, match="unknown key 'words' in ranking"):
        search(notes.engine, "tea")


def test_shares_are_tried_on_an_index_that_stays_as_it_is(notes, tmp_path):
    notes.embed()
    file = tmp_path / "judged.json"
    rows = [{"query": "cup of tea", "expected_files": ["tea.md"]}] * 2
    file.write_text(json.dumps({"queries": rows}), encoding="utf-8")
    before = (notes.folder / "index.yml").read_bytes()
    tuned = tune(Bench(notes.engine, fixtures.read(file)), lambda _: lambda done, of: None)
    assert tuned.now == scale.WORDS
    assert set(tuned.means) > {0.15, scale.WORDS, 0.85}
    assert not tuned.is_proposed
    assert (notes.folder / "index.yml").read_bytes() == before
    assert notes.engine.keyword_share() == scale.WORDS
