"""Words alone find what people judged relevant, where the judged queries are at hand."""

from __future__ import annotations

import pytest

from bench.relevance import DEFAULT, hits, ndcg

pytestmark = pytest.mark.skipif(not DEFAULT.is_dir(), reason="the judged queries are not here")


@pytest.mark.parametrize(("name", "least"), [("cranfield", 0.37), ("medline", 0.695)])
def test_words_alone_rank_relevant_documents_first(name, least):
    assert ndcg(DEFAULT / name)["words"] >= least


def test_questions_find_the_note_that_answers_them():
    found = hits(DEFAULT)
    assert found["easy"] == (6, 6)
    assert found["hard"] == (6, 6)
    assert found["medium"] >= (5, 6)
    assert found["fusion"] >= (5, 6)
