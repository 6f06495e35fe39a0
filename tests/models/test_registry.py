"""Models by name, and how each wants its texts."""

from __future__ import annotations

from pathlib import Path

import pytest

from qmd.errors import UnknownModel
from qmd.models.hub.uri import parse_uri
from qmd.models.registry import E5, MINILM, MODELS, ROLES, Model, find, names, role_of

MODEL = Model("m", "embed", "hf:o/r/m.gguf", query="q: {text}", document="t: {title} | d: {text} .")


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_a_model_of_the_list_can_be_found_and_fetched_and_prompts_with_the_text(model):
    assert find(model.name, model.role) == find(model.uri, model.role) == model
    assert role_of(model.name) == role_of(model.uri) == model.role
    assert model in (MINILM, E5) or parse_uri(model.uri)
    assert model.query.count("{text}") == model.document.count("{text}") == 1
    assert model.role != "embed" or (model.dimensions and model.context and model.pooling)


@pytest.mark.parametrize("name", ["arctic-xs", "arctic-s", "bge-small-en"])
def test_a_small_english_model_has_a_prefix_for_questions_alone(name):
    model = find(name, "embed")
    prefix = "Represent this sentence for searching relevant passages: "
    assert (model.as_query("tea"), model.as_document("tea", "Tea")) == (prefix + "tea", "tea")
    assert (model.dimensions, model.context, model.pooling) == (384, 512, "cls")


def test_gte_small_gets_the_bare_text_and_takes_means():
    model = find("gte-small", "embed")
    assert (model.as_query("tea"), model.as_document("tea", "Tea")) == ("tea", "tea")
    assert (model.dimensions, model.context, model.pooling) == (384, 512, "mean")


def test_names_are_unique_and_every_role_has_some():
    assert len({model.name for model in MODELS}) == len(MODELS)
    assert len({model.uri for model in MODELS}) == len(MODELS)
    assert sorted(name for role in ROLES for name in names(role)) == sorted(m.name for m in MODELS)
    assert all(names(role) for role in ROLES)


def test_a_prompt_takes_texts_as_they_are():
    """Also those that look like its own places."""
    assert MODEL.as_query("{title} {text}") == "q: {title} {text}"
    assert MODEL.as_document("of {title}", "Use of {text}") == "t: Use of {text} | d: of {title} ."


def test_a_passage_without_a_title_has_none():
    for title in (None, ""):
        assert MODEL.as_document("tea", title) == "t: none | d: tea ."


def test_a_model_without_prompts_gets_the_bare_text():
    assert (MINILM.as_query("tea"), MINILM.as_document("tea", "Tea")) == ("tea", "tea")


@pytest.mark.parametrize(
    ("wanted", "name", "uri"),
    [
        ("sub/m.gguf", "m.gguf", "/models/sub/m.gguf"),
        ("m.gguf", "m.gguf", "/models/m.gguf"),
        ("/elsewhere/m.gguf", "m.gguf", "/elsewhere/m.gguf"),
        ("~/m.gguf", "m.gguf", "/home/me/m.gguf"),
        ("./file", "file", "/models/file"),
        ("hf:o/r/m.gguf", "hf:o/r/m.gguf", "hf:o/r/m.gguf"),
        ("openai:text-embedding-3-small", "openai:text-embedding-3-small", None),
    ],
)
def test_a_path_or_a_uri_names_a_model_too(monkeypatch, wanted, name, uri):
    monkeypatch.setenv("HOME", "/home/me")
    found = find(wanted, "embed", folder=Path("/models"))
    assert (found.name, found.role, found.uri) == (name, "embed", uri or wanted)
    assert found.is_remote == wanted.startswith("openai:")
    assert found.is_on_hub == wanted.startswith("hf:")


def test_a_relative_path_begins_here_if_nothing_else_is_said(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert find("m.gguf", "embed").uri == str(tmp_path / "m.gguf")


def test_the_home_of_somebody_unknown_is_a_path_that_does_not_exist():
    found = find("~nobody-of-this-name/m.gguf", "embed", folder=Path("/models"))
    assert found.uri == "/models/~nobody-of-this-name/m.gguf"


@pytest.mark.parametrize(
    ("wanted", "role", "message"),
    [
        ("minilmm", "embed", "Unknown model: minilmm. Known: minilm, e5, embeddinggemma,"),
        ("", "embed", "Unknown model: . Known: minilm,"),
        ("qwen3-reranker", "embed", "qwen3-reranker is a model to rerank, not to embed."),
        ("minilm", "rerank", "minilm is a model to embed, not to rerank. Known: qwen3-reranker,"),
    ],
)
def test_a_name_that_is_none_or_of_another_role_is_refused_with_those_there_are(
    wanted, role, message
):
    with pytest.raises(UnknownModel) as caught:
        find(wanted, role)
    assert str(caught.value).startswith(message)
    assert caught.value.known == tuple(names(role))
