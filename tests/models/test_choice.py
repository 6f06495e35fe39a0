"""Which model does what, and what its vectors depend on."""

from __future__ import annotations

import os

import pytest

from qmd.errors import ModelMissing, UnknownModel
from qmd.models import registry, selection
from qmd.models.encoder import Encoder
from qmd.models.registry import EMBEDDING_GEMMA, MINILM, QWEN3_RERANKER, Model
from qmd.models.remote import RemoteEmbedder
from qmd.settings.environment import Machine
from qmd.settings.schema import Settings


@pytest.fixture
def machine(tmp_path):
    return Machine(hub=tmp_path / "hub")


@pytest.fixture
def file(tmp_path):
    """A model that is long enough to be looked at only here and there."""
    path = tmp_path / "model.gguf"
    path.write_bytes(b"GGUF" + bytes(3_000_000))
    return path


def put_in_hub(machine, model, content=b"GGUF"):
    """As if it had been fetched."""
    _, org, repo, name = model.uri.replace(":", "/").split("/")
    folder = machine.hub / f"models--{org}--{repo}"
    (folder / "refs").mkdir(parents=True)
    (folder / "refs" / "main").write_text("c0ffee")
    file = folder / "snapshots" / "c0ffee" / name
    file.parent.mkdir(parents=True)
    file.write_bytes(content)
    return file


def chosen(role, machine, folder, **models):
    """The name of what is chosen."""
    model = selection.chosen(role, Settings(models=models), machine, folder=folder)
    return model and model.name


# -- which one -----------------------------------------------------------------


def test_the_environment_comes_before_index_yml_and_that_before_the_default(machine, tmp_path):
    assert chosen("embed", machine, tmp_path) == "minilm"
    assert chosen("embed", machine, tmp_path, embed="bge-m3") == "bge-m3"
    machine = machine._replace(chosen={"embed": "nomic-embed"})
    assert chosen("embed", machine, tmp_path, embed="bge-m3") == "nomic-embed"
    assert chosen("rerank", machine, tmp_path, embed="bge-m3") is None


def test_a_preferred_model_is_the_default_once_its_file_is_here(machine, tmp_path):
    assert chosen("rerank", machine, tmp_path) is None
    put_in_hub(machine, EMBEDDING_GEMMA)
    assert chosen("embed", machine, tmp_path) == EMBEDDING_GEMMA.name
    assert chosen("rerank", machine, tmp_path) is None
    put_in_hub(machine, QWEN3_RERANKER)
    assert chosen("rerank", machine, tmp_path) == QWEN3_RERANKER.name
    assert chosen("embed", machine, tmp_path, embed="minilm") == "minilm"


def test_a_relative_path_in_index_yml_begins_at_its_folder_and_in_the_environment_here(
    machine, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    settings = Settings(models={"embed": "models/m.gguf"})
    model = selection.chosen("embed", settings, machine, folder=tmp_path / "config")
    assert model.uri == str(tmp_path / "config" / "models" / "m.gguf")
    machine = machine._replace(chosen={"embed": "models/m.gguf"})
    model = selection.chosen("embed", settings, machine, folder=tmp_path / "config")
    assert model.uri == str(tmp_path / "models" / "m.gguf")


def test_a_name_that_is_none_is_refused(machine, tmp_path):
    with pytest.raises(UnknownModel, match="Unknown model: nonsense"):
        chosen("embed", machine, tmp_path, embed="nonsense")


def test_what_the_environment_says_is_read_by_role(tmp_path):
    from qmd.settings.environment import machine as read

    said = read({"HOME": str(tmp_path), "QMD_EMBED_MODEL": "bge-m3", "QMD_RERANK_MODEL": ""})
    assert dict(said.chosen) == {"embed": "bge-m3"}
    assert said.hub == tmp_path / ".cache" / "huggingface" / "hub"
    assert read({"HF_HOME": "/hf"}).hub.as_posix() == "/hf/hub"
    assert read({"HF_HOME": "/hf", "HF_HUB_CACHE": "/hub"}).hub.as_posix() == "/hub"


# -- where it is ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("uri", "message"),
    [
        ("/gone/m.gguf", "/gone/m.gguf does not exist.\n\nCheck the path"),
        ("hf:o/r/m.gguf", "hf:o/r/m.gguf has not been fetched.\n\nFetch it with 'qmd models pull'"),
        ("hf:o", "'hf:o' cannot be read: it does not name a GGUF file on the hub."),
        ("hf:../../../x.gguf", "'hf:../../../x.gguf' cannot be read"),
    ],
)
def test_a_model_that_is_not_here_is_an_error_that_says_where_it_should_be(machine, uri, message):
    with pytest.raises(ModelMissing) as caught:
        selection.located(Model("m", "embed", uri), machine)
    assert f"The model m is not here: {message}" in str(caught.value)


def test_a_folder_is_no_model(machine, tmp_path):
    with pytest.raises(ModelMissing, match="does not exist"):
        selection.located(Model("m", "embed", str(tmp_path)), machine)


def test_a_model_is_located_where_its_file_is_and_an_endpoint_nowhere(machine, file):
    fetched = put_in_hub(machine, EMBEDDING_GEMMA)
    assert selection.located(EMBEDDING_GEMMA, machine).uri == str(fetched)
    assert selection.located(MINILM, machine) == MINILM
    remote = Model("openai:e", "embed", "openai:e")
    assert selection.located(remote, machine) == remote
    assert isinstance(selection.embedder(remote, machine, limit=100), RemoteEmbedder)


# -- what vectors depend on ----------------------------------------------------


def fingerprint(machine, model, **settings):
    return selection.space(model, Settings(**settings), machine).fingerprint


def test_a_fingerprint_depends_on_all_that_a_vector_does(machine, file):
    model = Model("m", "embed", str(file))
    seen = {
        fingerprint(machine, model),
        fingerprint(machine, model._replace(query="q: {text}")),
        fingerprint(machine, model._replace(document="d: {text}")),
        fingerprint(machine, model._replace(pooling="cls")),
        fingerprint(machine, model._replace(dimensions=64)),
        fingerprint(machine, model, chunk_tokens=500),
        fingerprint(machine, model, chunk_overlap=0.2),
        fingerprint(machine, model, chunk_strategy="plain"),
    }
    assert len(seen) == 8


def test_a_fingerprint_changes_with_any_part_of_a_file_and_with_its_length(machine, file):
    model = Model("m", "embed", str(file))
    content = bytearray(file.read_bytes())
    seen = {fingerprint(machine, model)}
    for at in (10, len(content) // 2, len(content) - 1):
        changed = bytearray(content)
        changed[at : at + selection.SAMPLE * 4] = b"x" * len(
            changed[at : at + selection.SAMPLE * 4]
        )
        file.write_bytes(changed)
        seen.add(fingerprint(machine, model))
    file.write_bytes(content + b"\0")
    seen.add(fingerprint(machine, model))
    assert len(seen) == 5


@pytest.mark.parametrize("size", [4, 65_536, 65_540, 500_000])
def test_a_short_file_is_looked_at_as_a_whole(machine, tmp_path, size):
    file = tmp_path / "short.gguf"
    model = Model("m", "embed", str(file))
    file.write_bytes(b"GGUF" + bytes(size))
    seen = {fingerprint(machine, model)}
    for at in (0, size // 3, size - 1):
        content = bytearray(size)
        content[at] = 1
        file.write_bytes(b"GGUF" + content)
        seen.add(fingerprint(machine, model))
    assert len(seen) == 4


def test_a_fingerprint_does_not_depend_on_when_or_where_a_file_is(machine, file, tmp_path):
    model = Model("m", "embed", str(file))
    before = fingerprint(machine, model)
    os.utime(file, (0, 0))
    assert fingerprint(machine, model) == before
    moved = file.rename(tmp_path / "moved.gguf")
    assert fingerprint(machine, model._replace(name="moved", uri=str(moved))) == before
    content = moved.read_bytes()
    here = put_in_hub(machine, EMBEDDING_GEMMA, content)
    from_hub = fingerprint(machine, EMBEDDING_GEMMA)
    assert fingerprint(machine, EMBEDDING_GEMMA._replace(uri=str(here))) == from_hub


def test_a_fingerprint_of_an_endpoint_depends_on_its_address_and_the_name(machine):
    one, two = (Model(uri, "embed", uri) for uri in ("openai:a", "openai:b"))
    other = machine._replace(endpoint="http://localhost:8080/v1")
    seen = {fingerprint(m, model) for m in (machine, other) for model in (one, two)}
    assert len(seen) == 4
    assert fingerprint(machine._replace(key="other", gpu=False), one) in seen


def test_chunks_have_no_more_tokens_than_the_model_takes(machine):
    assert selection.space(MINILM, Settings(), machine).tokens == 256
    assert selection.space(MINILM, Settings(chunk_tokens=100), machine).tokens == 100
    assert fingerprint(machine, MINILM, chunk_tokens=256) == fingerprint(machine, MINILM)


def test_vectors_of_the_embedded_model_are_still_those_of_its_gguf_file(machine):
    before = "690f363691376beb14fd63bfe3cf79db"
    assert fingerprint(machine, MINILM) == before
    assert fingerprint(machine._replace(gpu=False), MINILM) == before


def test_the_embedded_model_runs_on_onnxruntime_and_asks_for_a_gpu_only_where_it_may(
    machine, tmp_path, monkeypatch
):
    asked = []
    monkeypatch.setattr("qmd.models.devices.worthwhile", asked.append)
    notes = tmp_path / "notes"
    for gpu, kept in ((True, notes), (False, notes), (True, None)):
        made = selection.embedder(MINILM, machine._replace(gpu=gpu, notes=kept), limit=100)
        assert isinstance(made, Encoder)
        assert made.limit == 100
        assert made._find_device() is None
    assert asked == [notes]


def test_a_model_is_run_by_what_can_read_it(tmp_path):
    assert registry.runtime(MINILM) == "onnxruntime"
    assert registry.runtime(EMBEDDING_GEMMA) == "llama-cpp-python"
    assert registry.can_run(MINILM)
    assert registry.can_run(Model("far", "embed", "openai:far"))
