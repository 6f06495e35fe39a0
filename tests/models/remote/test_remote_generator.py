"""Text of an endpoint."""

from __future__ import annotations

import pytest

from qmd.errors import ModelFailure
from qmd.models.remote import RemoteGenerator
from tests.models.remote.fake_endpoint import Answer, error, written


def test_a_prompt_is_answered(server, make):
    server.answer = written("green tea")
    assert make(RemoteGenerator).generate("tea", tokens=9) == "green tea"
    [(path, body, _)] = server.seen
    assert path == "/v1/chat/completions"
    assert body == {
        "model": "m",
        "messages": [{"role": "user", "content": "tea"}],
        "max_tokens": 9,
        "temperature": 0,
    }


def test_halves_of_surrogate_pairs_are_replaced(server, make):
    server.answer = written("tea \udbdb \U0001f375")
    assert make(RemoteGenerator).generate("tea") == "tea \ufffd \U0001f375"


def test_a_grammar_is_passed_on(server, make):
    server.answer = written("tea")
    make(RemoteGenerator).generate("tea", grammar='root ::= "tea"')
    assert server.bodies[0]["grammar"] == 'root ::= "tea"'


@pytest.mark.parametrize(
    "refusal",
    [
        error(400, "Unrecognized request argument supplied: grammar"),
        lambda path, body: Answer(
            {"detail": [{"loc": ["body", "grammar"], "msg": "Extra inputs are not permitted"}]}, 422
        ),
    ],
)
def test_a_grammar_that_is_refused_is_left_out_from_then_on(server, make, refusal):
    server.answer = lambda path, body: (refusal if "grammar" in body else written("tea"))(
        path, body
    )
    model = make(RemoteGenerator)
    assert model.generate("tea", grammar="root") == "tea"
    assert model.generate("tea", grammar="root") == "tea"
    assert ["grammar" in body for body in server.bodies] == [True, False, False]
    assert ["temperature" in body for body in server.bodies] == [True, True, True]


def test_a_model_that_thinks_gets_what_it_takes(server, make):
    def thinking(path, body):
        if "max_tokens" in body:
            return error(
                400,
                "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
                "'max_completion_tokens' instead.",
            )(path, body)
        if "temperature" in body:
            return error(400, "Unsupported value: 'temperature' does not support 0.")(path, body)
        return written("tea")(path, body)

    server.answer = thinking
    assert make(RemoteGenerator).generate("tea", tokens=9) == "tea"
    assert server.bodies[-1] == {
        "model": "m",
        "messages": [{"role": "user", "content": "tea"}],
        "max_completion_tokens": 9,
    }


def test_another_refusal_is_told_of(server, make):
    server.answer = error(400, "Your prompt has no taste.\nNone at all.")
    with pytest.raises(ModelFailure) as caught:
        make(RemoteGenerator).generate("tea")
    assert str(caught.value) == f"{server.base_url} answered 400 for m: Your prompt has no taste."
    assert len(server.seen) == 1


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (written(None), "it has no text"),
        (written("", finish_reason="length"), "used up before the text began"),
        (lambda path, body: Answer({"choices": []}), "not what /chat/completions answers"),
    ],
)
def test_no_text_is_told_of(server, make, answer, told):
    server.answer = answer
    with pytest.raises(ModelFailure, match=told):
        make(RemoteGenerator).generate("tea")
