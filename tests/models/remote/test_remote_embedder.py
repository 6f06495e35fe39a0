"""Vectors of an endpoint: what it is asked, and what of its answers is believed."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qmd.errors import ModelFailure, TextTooLong
from qmd.models import remote
from qmd.models.remote import RemoteEmbedder
from tests.models.remote.fake_endpoint import (
    KEY,
    Answer,
    embedded,
    error,
    one_after_another,
    unit,
    vector,
    with_vectors,
)


def test_vectors_come_in_the_order_of_the_texts_and_with_length_1(server, make):
    server.answer = embedded
    rows = make(RemoteEmbedder).embed(["tea", "a pot", ""])
    assert rows.dtype == np.float32
    np.testing.assert_allclose(rows, [unit("tea"), unit("a pot"), unit("")], rtol=1e-6)


def test_what_is_asked_is_openais_protocol(server, make):
    server.answer = embedded
    make(RemoteEmbedder, name="org/model").embed(["tea"])
    [(path, body, headers)] = server.seen
    assert path == "/v1/embeddings"
    assert body == {"model": "org/model", "input": ["tea"], "encoding_format": "float"}
    assert headers["Authorization"] == f"Bearer {KEY}"
    assert headers["Content-Type"] == "application/json"


def test_without_a_key_none_is_sent(server, make):
    server.answer = embedded
    make(RemoteEmbedder, key=None).embed(["tea"])
    assert "Authorization" not in server.seen[0][2]


def test_a_slash_after_the_address_changes_nothing(server, make):
    server.answer = embedded
    make(RemoteEmbedder, base_url=server.base_url + "/").embed(["tea"])
    assert server.seen[0][0] == "/v1/embeddings"


def test_a_request_has_at_most_64_texts(server, make):
    server.answer = embedded
    texts = ["x" * at for at in range(150)]
    rows = make(RemoteEmbedder).embed(texts)
    assert [len(body["input"]) for body in server.bodies] == [64, 64, 22]
    np.testing.assert_allclose(rows, [unit(text) for text in texts], rtol=1e-6)


def test_a_request_has_at_most_8000_tokens_unless_one_text_has_more(server, make):
    server.answer = embedded
    texts = ["x" * 3 * tokens for tokens in (4000, 4000, 1, 8100, 1)]
    rows = make(RemoteEmbedder).embed(texts)
    assert [len(body["input"]) for body in server.bodies] == [2, 1, 1, 1]
    np.testing.assert_allclose(rows, [unit(text) for text in texts], rtol=1e-6)


@given(st.lists(st.integers(0, 5000), min_size=1, max_size=200), st.integers(1, 64))
def test_every_text_is_in_one_request(tokens, at_once):
    start, sizes = 0, []
    while start < len(tokens):
        end = remote._end_of_request(tokens, start, at_once)
        assert start < end <= start + at_once
        assert end == start + 1 or sum(tokens[start:end]) <= remote.REQUEST_TOKENS
        sizes.append(end - start)
        start = end
    assert sum(sizes) == len(tokens)


def test_no_texts_are_no_vectors_and_no_request(server, make):
    assert make(RemoteEmbedder, dimensions=2).embed([]).shape == (0, 2)
    assert not server.seen


def test_tokens_are_a_third_of_the_bytes(make):
    assert make(RemoteEmbedder).count(["", "tea", "teas", "茶"]) == [0, 1, 2, 1]


def test_dimensions_are_those_of_the_registry(server, make):
    assert make(RemoteEmbedder, dimensions=384).dimensions == 384
    assert not server.seen


def test_dimensions_are_known_after_the_first_vectors(server, make):
    server.answer = embedded
    model = make(RemoteEmbedder)
    assert model.dimensions is None
    model.embed(["tea"])
    assert model.dimensions == 2
    assert len(server.seen) == 1


def test_the_limit_is_that_of_the_registry_or_8192(make):
    assert make(RemoteEmbedder, context=512).limit == 512
    assert make(RemoteEmbedder).limit == 8192


def test_a_text_over_the_limit_is_refused_before_it_is_sent(server, make):
    with pytest.raises(TextTooLong) as caught:
        make(RemoteEmbedder, context=10).embed(["tea", "x" * 31])
    assert (caught.value.tokens, caught.value.limit) == (11, 10)
    assert not server.seen


@pytest.mark.parametrize(
    ("vectors", "told"),
    [
        ([[1, 2]], "1 vectors for 2 texts"),
        ([[1, 2]] * 3, "3 vectors for 2 texts"),
        ([[1, 2], [1, 2, 3]], "a vector of 3 numbers, where 2 were expected"),
        ([[1, 2], [1, math.nan]], "not finite"),
        ([[1, 2], [1, math.inf]], "not finite"),
        ([[1, 2], [1, None]], "not finite"),
        ([[1, 2], [1, 1e300]], "not finite"),
        ([[1, 2], [0, 0]], "nothing but zeros"),
        ([[], []], "nothing but zeros"),
        ([[1, 2], [1, 10**400]], "not what /embeddings answers"),
        ([[1, 2], [1, [2]]], "not what /embeddings answers"),
        ([[1, 2], "AACAPw=="], "where 2 were expected"),
        ([1, 2], "not what /embeddings answers"),
    ],
)
def test_vectors_that_are_none_are_told_of(server, make, vectors, told):
    server.answer = with_vectors(*vectors)
    with pytest.raises(ModelFailure) as caught:
        make(RemoteEmbedder).embed(["tea", "pot"])
    assert told in str(caught.value)
    assert "OPENAI_BASE_URL" in str(caught.value)


def test_vectors_of_another_dimension_than_before_are_told_of(server, make):
    server.answer = one_after_another(embedded, with_vectors([1, 2, 3]))
    model = make(RemoteEmbedder)
    model.embed(["tea"])
    with pytest.raises(ModelFailure, match="of 3 numbers, where 2 were expected"):
        model.embed(["tea"])


def test_vectors_of_another_dimension_than_the_models_are_told_of(server, make):
    server.answer = embedded
    with pytest.raises(ModelFailure, match="of 2 numbers, where 384 were expected"):
        make(RemoteEmbedder, dimensions=384).embed(["tea"])


def test_an_order_that_cannot_be_told_is_told_of(server, make):
    items = [{"index": 1, "embedding": [1, 2]}, {"index": 1, "embedding": [1, 2]}]
    server.answer = lambda path, body: Answer({"data": items})
    with pytest.raises(ModelFailure, match="not one of the vectors for each text"):
        make(RemoteEmbedder).embed(["tea", "pot"])


def test_vectors_without_an_index_are_taken_in_order(server, make):
    items = [{"embedding": vector("tea")}, {"embedding": vector("a pot")}]
    server.answer = lambda path, body: Answer({"data": items})
    rows = make(RemoteEmbedder).embed(["tea", "a pot"])
    np.testing.assert_allclose(rows, [unit("tea"), unit("a pot")], rtol=1e-6)


def test_an_endpoint_that_takes_fewer_texts_gets_fewer(server, make):
    def picky(path, body):
        many = len(body["input"])
        if many > 10:
            return Answer({"error": f"batch size {many} > maximum allowed batch size 10"}, 422)
        return embedded(path, body)

    server.answer = picky
    model = make(RemoteEmbedder)
    texts = ["x" * at for at in range(70)]
    np.testing.assert_allclose(model.embed(texts), [unit(text) for text in texts], rtol=1e-6)
    sizes = [len(body["input"]) for body in server.bodies]
    assert sizes == [64, 32, 16, *[8] * 8, 6]
    model.embed(texts)
    assert max(len(body["input"]) for body in server.bodies[len(sizes) :]) == 8


@pytest.mark.parametrize(
    ("status", "message", "tokens", "limit"),
    [
        (
            500,
            "input (992 tokens) is too large to process. increase the physical batch size "
            "(current batch size: 512)",
            992,
            512,
        ),
        (
            400,
            "This model's maximum context length is 8192 tokens, however you requested 10000 "
            "tokens (10000 in your prompt; 0 for the completion). Please reduce your prompt.",
            10000,
            8192,
        ),
        (413, "`inputs` must have less than 512 tokens. Given: 600", 600, 512),
    ],
)
def test_a_text_that_the_endpoint_finds_too_long_is_told_in_numbers(
    server, make, status, message, tokens, limit
):
    def answer(path, body):
        too_long = error(status, message)(path, body)
        return too_long if "long" in body["input"] else embedded(path, body)

    server.answer = answer
    model = make(RemoteEmbedder)
    with pytest.raises(TextTooLong) as caught:
        model.embed(["tea", "pot", "long", "cup"])
    assert (caught.value.tokens, caught.value.limit) == (tokens, limit)
    assert not make.slept
    server.seen.clear()
    model.embed(["tea"] * 64)
    assert len(server.seen) == 1


def test_a_text_that_is_too_long_without_numbers_is_told_in_the_endpoints_words(server, make):
    server.answer = error(400, "Invalid 'input': maximum input length is 8192 tokens.")
    with pytest.raises(ModelFailure, match="answered 400 for m: Invalid 'input': maximum input"):
        make(RemoteEmbedder).embed(["tea"])
