"""Scores of an endpoint."""

from __future__ import annotations

import math

import pytest

from qmd.errors import ModelFailure
from qmd.models import endpoint
from qmd.models.remote import RemoteReranker
from tests.models.remote.fake_endpoint import Answer, error, one_after_another, with_scores


def test_scores_come_in_the_order_of_the_passages(server, make):
    items = [{"index": 1, "relevance_score": 0.9}, {"index": 0, "relevance_score": 0.25}]
    server.answer = lambda path, body: Answer({"results": items})
    assert make(RemoteReranker).score("tea", ["pot", "cup"]) == [0.25, 0.9]
    [(path, body, _)] = server.seen
    assert path == "/v1/rerank"
    assert body == {"model": "m", "query": "tea", "documents": ["pot", "cup"], "top_n": 2}


def test_logits_go_through_a_sigmoid_all_of_them(server, make):
    server.answer = with_scores(-3.0, 0.5, 900)
    scores = make(RemoteReranker).score("tea", ["a", "b", "c"])
    assert scores == pytest.approx([1 / (1 + math.exp(3)), 1 / (1 + math.exp(-0.5)), 1])
    assert all(0 <= score <= 1 for score in scores)


def test_who_gave_logits_once_gives_logits(server, make):
    server.answer = one_after_another(with_scores(0.5), with_scores(-3.0), with_scores(0.5))
    model = make(RemoteReranker)
    scores = [model.score("tea", ["pot"])[0] for _ in range(3)]
    assert scores == pytest.approx([0.5, 1 / (1 + math.exp(3)), 1 / (1 + math.exp(-0.5))])


def test_no_passages_are_no_scores_and_no_request(server, make):
    assert make(RemoteReranker).score("tea", []) == []
    assert not server.seen


def test_a_passage_that_is_too_long_is_cut_between_characters(server, make):
    server.answer = with_scores(0.5, 0.5)
    make(RemoteReranker, context=102).score("tea", ["é" * 1000, "pot"])
    assert server.bodies[0]["documents"] == ["é" * 151, "pot"]  # 303 bytes are no whole number


def test_passages_that_the_endpoint_finds_too_long_are_cut_further(server, make):
    def short_only(path, body):
        longest = max(map(len, body["documents"]))
        if longest > 1000:
            return error(500, "input (900 tokens) is too large to process.")(path, body)
        return with_scores(*[0.5] * len(body["documents"]))(path, body)

    server.answer = short_only
    model = make(RemoteReranker)
    assert model.score("tea", ["x" * 3000, "pot"]) == [0.5, 0.5]
    assert [len(body["documents"][0]) for body in server.bodies] == [3000, 1500, 750]
    model.score("tea", ["x" * 3000])
    assert len(server.bodies[-1]["documents"][0]) == 750
    assert not make.slept


def test_a_reranker_for_which_everything_is_too_long_is_told_of(server, make):
    server.answer = error(400, "too long")
    with pytest.raises(ModelFailure, match="too long"):
        make(RemoteReranker).score("tea", ["x" * 3000])
    assert len(server.bodies[-1]["documents"][0]) == 3 * endpoint.SHORTEST


@pytest.mark.parametrize(
    ("scores", "told"),
    [
        ([0.5], "1 scores for 2 texts"),
        ([0.5, math.nan], "not finite"),
        ([0.5, None], "not what /rerank answers"),
        ([0.5, "much"], "not what /rerank answers"),
    ],
)
def test_scores_that_are_none_are_told_of(server, make, scores, told):
    server.answer = with_scores(*scores)
    with pytest.raises(ModelFailure, match=told):
        make(RemoteReranker).score("tea", ["pot", "cup"])
