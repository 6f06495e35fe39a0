"""What people judged relevant is found, where the judged queries are at hand."""

from __future__ import annotations

import pytest

from bench.relevance import DEFAULT, both, hits, ndcg

pytestmark = pytest.mark.skipif(not DEFAULT.is_dir(), reason="the judged queries are not here")


@pytest.mark.parametrize(
    ("name", "alone", "fused"), [("cranfield", 0.46, 0.475), ("medline", 0.94, 0.98)]
)
def test_words_rank_relevant_documents_first_and_with_meaning_better(name, alone, fused):
    """A third of the questions, among the documents that are judged for them."""
    found = ndcg(DEFAULT / name, vectors=True, every=3)
    assert found["words"] >= alone
    assert found["both"] >= fused
    assert found["both"] >= max(found["words"], found["meaning"]) - 0.005


def test_words_find_the_note_that_answers_a_question():
    found = hits(DEFAULT)
    assert found["easy"] == (6, 6)
    assert found["hard"] == (6, 6)
    assert found["medium"] >= (5, 6)
    assert found["fusion"] >= (5, 6)


def test_words_and_meaning_find_the_note_that_answers_a_question():
    assert hits(DEFAULT, both) == dict.fromkeys(("easy", "medium", "hard", "fusion"), (6, 6))
