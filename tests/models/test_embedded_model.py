"""The model that needs no download: its files, and what it makes of texts."""

from __future__ import annotations

import json
import shutil
import threading
from hashlib import sha256
from pathlib import Path

import numpy as np
import onnx
import pytest

from qmd.errors import (
    ModelFailure,
    ModelUnusable,
    NotEnoughMemory,
    RuntimeMissing,
    TextTooLong,
)
from qmd.models import encoder
from qmd.models.encoder import BUDGET, Encoder, Graph
from qmd.models.registry import EMBEDDED, EMBEDDED_DIGEST, MINILM

FILES = ("device.onnx", "processor.onnx", "vocabulary.txt", "weights.bin")

KNOWN = json.loads(Path(__file__).with_name("minilm.json").read_text(encoding="utf-8"))
"""Texts with their tokens, and the vectors that the published weights give in 32 bits."""

TEXTS = list(KNOWN)

CLOSE = 0.99
"""Cosine of a vector in 8 bits and the one in 32."""


@pytest.fixture(scope="module")
def model():
    return Encoder(workers=2)


@pytest.fixture
def copy(tmp_path):
    """The model with files of its own, which a test may spoil."""
    shutil.copytree(EMBEDDED, tmp_path / "minilm")
    return MINILM._replace(uri=str(tmp_path / "minilm"))


def expected():
    rows = np.array([known["vector"] for known in KNOWN.values()], np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def cosines(made):
    return (made * expected()).sum(axis=1)


# -- files ----------------------------------------------------------------------


def test_the_embedded_model_is_the_files_that_the_digest_names():
    together = b"".join((EMBEDDED / name).read_bytes() for name in FILES)
    assert sha256(together).hexdigest() == EMBEDDED_DIGEST
    assert len(together) == MINILM.size


def test_no_sum_of_two_products_is_cut_off_in_16_bits():
    """Processors without VNNI add two products of a weight and a number from 0 to 255 so."""
    graph = onnx.load(EMBEDDED / "processor.onnx").graph
    multiplied = {node.input[1] for node in graph.node if node.op_type == "MatMulIntegerToFloat"}
    matrices = [
        onnx.numpy_helper.to_array(each) for each in graph.initializer if each.name in multiplied
    ]
    assert len(matrices) == 6 * 6
    assert max(2 * 255 * int(abs(each.astype(int)).max()) for each in matrices) < 2**15


@pytest.mark.parametrize("name", ["processor.onnx", "vocabulary.txt", "weights.bin"])
def test_a_missing_file_is_an_error_that_says_what_to_do(copy, name):
    Path(copy.uri, name).unlink()
    with pytest.raises(ModelUnusable, match=r"(?s)minilm cannot be used.*Install qmd again"):
        Encoder(copy)


def test_a_file_that_is_cut_off_is_an_error(copy):
    for name in ("processor.onnx", "weights.bin"):
        file = Path(copy.uri, name)
        whole = file.read_bytes()
        file.write_bytes(whole[: len(whole) // 2])
        with pytest.raises(ModelUnusable, match="minilm cannot be used"):
            Encoder(copy)
        file.write_bytes(whole)
    assert Encoder(copy).embed(["tea"]).shape == (1, 384)


def test_without_onnxruntime_the_way_to_install_it_is_told(monkeypatch):
    def missing():
        raise ModuleNotFoundError("onnxruntime")

    monkeypatch.setattr(encoder, "load_onnxruntime", missing)
    with pytest.raises(
        RuntimeMissing, match=r"(?s)needs onnxruntime, which is not.*Install it with: "
    ):
        Encoder()


def test_too_little_memory_for_onnxruntime_is_told_as_such(monkeypatch):
    def refused():
        raise ImportError("onnxruntime.so: failed to map segment from shared object")

    monkeypatch.setattr(encoder, "load_onnxruntime", refused)
    with pytest.raises(NotEnoughMemory, match="ulimit -v"):
        Encoder()


# -- vectors --------------------------------------------------------------------


def test_vectors_are_close_to_those_of_the_published_weights(model):
    assert (cosines(model.embed(TEXTS)) >= CLOSE).all()


def test_tokens_are_those_of_the_published_tokenizer(model):
    assert model.count(TEXTS) == [len(known["tokens"]) for known in KNOWN.values()]
    assert [model.pieces.tokens(t) for t in TEXTS] == [k["tokens"] for k in KNOWN.values()]


def test_the_graph_for_gpus_makes_the_same_vectors():
    graph = Graph(MINILM, "CPUExecutionProvider")
    graph_of_devices = OnProcessor(MINILM)
    sequences = [np.array(known["tokens"], np.int32) for known in KNOWN.values()]
    made = graph_of_devices.vectors(sequences)
    assert (cosines(made) >= CLOSE).all()
    alone = np.concatenate([graph.vectors([sequence]) for sequence in sequences])
    assert ((made * alone).sum(axis=1) >= CLOSE).all()


def test_a_vector_is_the_same_in_every_batch(model):
    texts = [f"{text} {'and so on ' * n}" for n in range(4) for text in TEXTS[:6]]
    texts += [f"number {n}" for n in range(BUDGET)]
    together = model.embed(texts)
    alone = np.concatenate([model.embed([text]) for text in texts])
    assert np.array_equal(together, alone)
    assert np.array_equal(model.embed(texts[::-1])[::-1], alone)


def test_what_fills_up_a_batch_changes_nothing(model):
    graph = Graph(MINILM)
    short, long = np.array([101, 5572, 102], np.int32), np.arange(1000, 1200, dtype=np.int32)
    assert graph.vectors([short, long])[0] == pytest.approx(graph.vectors([short])[0], abs=1e-5)


def test_vectors_have_length_one_and_no_texts_give_none(model):
    lengths = np.linalg.norm(model.embed([*TEXTS, ""]), axis=1)
    assert lengths == pytest.approx(np.ones(len(TEXTS) + 1), abs=1e-5)
    assert model.embed([]).shape == (0, 384)


def test_a_text_of_exactly_the_limit_is_taken_and_a_longer_one_refused(model):
    assert model.count(["word " * 254]) == [256]
    assert model.embed(["word " * 254]).shape == (1, 384)
    with pytest.raises(TextTooLong) as caught:
        model.embed(["tea", "word " * 255])
    assert (caught.value.tokens, caught.value.limit) == (257, 256)
    with pytest.raises(TextTooLong):
        Encoder(limit=10).embed(["word " * 9])


def test_several_threads_share_a_model(model):
    alone = model.embed(TEXTS)
    made = []
    threads = [threading.Thread(target=lambda: made.append(model.embed(TEXTS))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [np.array_equal(each, alone) for each in made] == [True] * 4


def test_what_is_raised_between_two_passes_ends_the_work_and_leaves_the_model_usable(model):
    seen = []

    def stop():
        seen.append(1)
        if len(seen) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        model.embed([f"{n} {'word ' * 200}" for n in range(50)], between=stop)
    assert model.embed(["tea"]).shape == (1, 384)


def test_a_model_that_was_closed_says_so(copy):
    made = Encoder(copy)
    made.close()
    with pytest.raises(ModelFailure, match="minilm was closed"):
        made.embed(["tea"])


# -- GPUs -----------------------------------------------------------------------


OTHER = "AzureExecutionProvider"
"""It is in every build, and leaves all to the processor."""


class OnProcessor(Graph):
    """The graph for GPUs, computed by the processor."""

    def __init__(self, model, provider=OTHER):
        super().__init__(model, provider)
        self.texts = []

    def vectors(self, sequences):
        self.texts.append(len(sequences))
        return super().vectors(sequences)


class Broken(OnProcessor):
    def vectors(self, sequences):
        self.texts.append(len(sequences))
        raise ModelFailure("out of memory")


MUCH = 1024
"""Tokens from which on these tests use a GPU, and half of what they give it at once."""


def many():
    return [f"{text[:60]} {n}" for n in range(MUCH // 30) for text in TEXTS]


@pytest.fixture
def on_gpu(monkeypatch):
    """Makes encoders whose GPU is a class of this module."""
    original = encoder.Graph

    def made(kind):
        graphs = []

        def graph(model, provider=encoder.PROCESSOR):
            if provider == encoder.PROCESSOR:
                return original(model)
            graphs.append(kind(model, provider))
            return graphs[-1]

        monkeypatch.setattr(encoder, "Graph", graph)
        monkeypatch.setattr(encoder, "WORTHWHILE", MUCH)
        monkeypatch.setattr(encoder, "DEVICE_BUDGET", 2 * MUCH)
        asked = []
        return Encoder(device=lambda: asked.append(1) or OTHER), graphs, asked

    return made


def test_a_gpu_does_much_at_once_and_the_processor_a_question(on_gpu):
    model, graphs, asked = on_gpu(OnProcessor)
    model.embed(TEXTS)
    assert (graphs, asked) == ([], [])
    made = model.embed(many())
    assert (cosines(model.embed(TEXTS)) >= CLOSE).all()
    [graph] = graphs
    assert sum(graph.texts) == len(many())
    assert 1 < len(graph.texts) <= sum(model.count(many())) / MUCH + 1
    assert ((made * Encoder().embed(many())).sum(axis=1) >= 0.98).all()
    model.embed(many())
    assert (len(graphs), asked) == (1, [1])


def test_when_a_gpu_fails_the_processor_goes_on(on_gpu, caplog):
    model, graphs, _ = on_gpu(Broken)
    assert np.array_equal(model.embed(many()), Encoder().embed(many()))
    model.embed(many())
    assert (len(graphs), len(graphs[0].texts)) == (1, 1)
    assert f"{OTHER} failed, the processor goes on" in caplog.text
