"""What is told of an endpoint that refuses or answers nonsense, and what never is: the key."""

from __future__ import annotations

import pytest

from qmd.errors import ModelFailure, UsageError
from qmd.models.endpoint import Endpoint
from qmd.models.registry import Model
from qmd.models.remote import RemoteEmbedder
from tests.models.remote.fake_endpoint import KEY, KINDS, Answer, ask, embedded, error


@KINDS
@pytest.mark.parametrize("body", ["<html>", "", "[" * 100_000, "null", "[]", "7", '{"data": 7}'])
def test_an_answer_of_another_kind_is_told_of(server, make, kind, body):
    server.answer = lambda path, _: Answer(body)
    with pytest.raises(ModelFailure, match="cannot be used: not what /"):
        ask(make(kind))


@KINDS
def test_an_error_that_is_nested_too_deeply_is_told_of(server, make, kind):
    server.answer = lambda path, _: Answer("[" * 100_000, 400)
    with pytest.raises(ModelFailure, match="answered 400"):
        ask(make(kind))


@KINDS
@pytest.mark.parametrize("status", [401, 403])
def test_a_key_that_is_not_accepted_names_the_variable(server, make, kind, status):
    server.answer = error(status, f"Incorrect API key provided: {KEY}")
    with pytest.raises(ModelFailure, match=rf"does not accept the key \({status}\)") as caught:
        ask(make(kind))
    assert "OPENAI_API_KEY" in str(caught.value)
    assert KEY not in str(caught.value)
    assert len(server.seen) == 1


def test_a_key_with_other_characters_in_it_is_not_shown_either(server, make):
    server.answer = error(400, f"bad key {KEY[:4]}\0{KEY[4:]}")
    with pytest.raises(ModelFailure, match="bad key …") as caught:
        ask(make(RemoteEmbedder))
    assert KEY not in str(caught.value)


def test_a_key_that_is_wanted_names_the_variable(server, make):
    server.answer = error(401, "no key")
    with pytest.raises(ModelFailure, match=r"wants a key \(401\)\n\nSet OPENAI_API_KEY"):
        ask(make(RemoteEmbedder, key=None))


def test_why_access_is_forbidden_is_told(server, make):
    server.answer = error(403, "not in your country")
    with pytest.raises(ModelFailure, match=r"\(403\): not in your country"):
        ask(make(RemoteEmbedder))


@KINDS
def test_what_is_not_found_names_the_model_and_the_address(server, make, kind):
    server.answer = error(404, "The model does not exist")
    with pytest.raises(
        ModelFailure, match=r"has no model pot, .*The model does not exist"
    ) as caught:
        ask(make(kind, name="pot"))
    assert server.base_url in str(caught.value)
    assert len(server.seen) == 1


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({"error": {"message": "first\nsecond"}}, "first"),
        ({"error": "plain"}, "plain"),
        ({"message": "cohere"}, "cohere"),
        ({"detail": "jina"}, "jina"),
        ({"detail": [{"msg": "pydantic"}]}, "pydantic"),
        ({"error": {"message": "\x1b[31mred\x07"}}, "[31mred"),
        ({"error": {"message": "x" * 999}}, "x" * 300),
        ({"error": None}, "I'm a Teapot"),
        ([], "I'm a Teapot"),
        ("just text\nand more", "just text"),
        ("<html>\n<body>", "I'm a Teapot"),
        ("", "I'm a Teapot"),
    ],
)
def test_the_first_line_of_what_the_endpoint_says_is_told(server, make, body, told):
    server.answer = lambda path, _: Answer(body, 418)
    with pytest.raises(ModelFailure) as caught:
        ask(make(RemoteEmbedder))
    assert str(caught.value) == f"{server.base_url} answered 418 for m: {told}"


def test_a_key_in_what_the_endpoint_says_is_not_told(server, make):
    server.answer = error(400, "x" * 295 + KEY)
    with pytest.raises(ModelFailure) as caught:
        ask(make(RemoteEmbedder))
    assert str(caught.value).endswith("x…")
    assert KEY[:3] not in str(caught.value)


def test_the_key_is_in_no_repr(make):
    one = Endpoint("http://localhost", KEY)
    assert repr(one) == "Endpoint('http://localhost', key=…)"
    assert KEY not in f"{one} {one!r}"
    assert repr(Endpoint("http://localhost", None)) == "Endpoint('http://localhost', key=None)"
    model = make(RemoteEmbedder)
    assert KEY not in repr(model) + repr(vars(model))


@pytest.mark.parametrize("key", ["sk-a\nb", "sk-ключ", "sk-\x00"])
def test_a_key_that_cannot_be_sent_is_refused_without_showing_it(make, key):
    with pytest.raises(UsageError, match="OPENAI_API_KEY") as caught:
        make(RemoteEmbedder, key=key)
    assert "sk-" not in str(caught.value)


def test_space_around_the_key_is_dropped(server, make):
    server.answer = embedded
    make(RemoteEmbedder, key=f" {KEY}\n").embed(["tea"])
    assert server.seen[0][2]["Authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize(
    "base_url",
    ["localhost:8080/v1", "", "file:///etc", "ftp://host/v1", "http://", "http://host:port/v1"],
)
def test_an_address_that_is_none_is_refused(make, base_url):
    model = Model("m", "embed", "openai:m")
    with pytest.raises(UsageError, match="OPENAI_BASE_URL"):
        RemoteEmbedder(model, Endpoint(base_url, None))


def test_a_password_in_the_address_is_not_told(server, make):
    server.answer = error(404, "no")
    base_url = server.base_url.replace("//", "//me:hidden@")
    with pytest.raises(ModelFailure) as caught:
        ask(make(RemoteEmbedder, base_url=base_url, key=None))
    assert server.base_url in str(caught.value)
    assert "hidden" not in str(caught.value)
    assert server.seen[0][2]["Authorization"].startswith("Basic ")
