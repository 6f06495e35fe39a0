"""Further passages of documents that answer: which are taken, and in which order."""

from __future__ import annotations

import json

from qmd.ranking.fusion import Ranked
from qmd.ranking.passages import with_passages
from qmd.types import Nearest


def passage(document, score, position):
    return Nearest(document, score, position, 10, 1)


def ranked(document, near=None):
    return Ranked(document, 0.9 - document / 10, near, True, {"fused": document})


class Asked:
    """Stands in for the search of the nearest passages."""

    def __init__(self, *hits):
        self.hits, self.given = hits, None

    def __call__(self, cursor, **given):
        self.given = given
        return list(self.hits)


def shown(documents, hits, per_file):
    """(document, position, found by words) of each passage."""
    found = with_passages(None, documents, Asked(*hits), similarity=float, per_file=per_file)
    return [(each.document_id, each.near and each.near.position, each.by_words) for each in found]


def test_each_document_is_followed_by_its_other_passages():
    documents = [ranked(1, passage(1, 0.8, 0)), ranked(2)]
    hits = [
        passage(1, 0.8, 0),  # is shown already
        passage(2, 0.7, 50),
        passage(1, 0.6, 20),
        passage(2, 0.5, 10),
        passage(1, 0.3, 30),
    ]
    assert shown(documents, hits, 3) == [
        (1, 0, True),
        (1, 20, False),
        (1, 30, False),
        (2, None, True),
        (2, 50, False),
        (2, 10, False),
    ]
    assert shown(documents, hits, 2) == [
        (1, 0, True),
        (1, 20, False),
        (2, None, True),
        (2, 50, False),
    ]


def test_passages_that_have_little_to_do_with_the_question_are_left_out():
    hits = [passage(1, 0.3, 20), passage(1, 0.299, 30), passage(1, -0.5, 40)]
    assert shown([ranked(1)], hits, 5) == [(1, None, True), (1, 20, False)]


def test_a_further_passage_has_the_score_of_its_document():
    [first, second] = with_passages(
        None, [ranked(3)], Asked(passage(3, 0.8, 20)), similarity=float, per_file=2
    )
    assert second == first._replace(near=passage(3, 0.8, 20), by_words=False)
    assert second.score == first.score


def test_only_passages_of_these_documents_are_asked_for_and_as_many_as_may_be_shown():
    asked = Asked()
    with_passages(None, [ranked(7), ranked(5)], asked, similarity=float, per_file=3)
    given = asked.given
    assert json.loads(given.pop("documents")) == [7, 5]
    assert given == {"limit": 6, "per_file": 3}
