"""Weights of an encoder as the graphs of `encoder` read them: 8 bits a number, in one file.

published arrays ─▸ 8 bits, with a scale for each output ─▸ places in weights.bin
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

LARGEST = 64
"""Of a weight in 8 bits. Processors without VNNI add two products in 16 bits: two of 64 * 255 have
room there, two of 127 * 255 have not, and would be cut off."""

PAGE = 4096
"""Each array begins at a multiple of it: it is mapped into memory, not read."""

ROWS = 1 << 13
"""Rows of a matrix that are in floating point at once."""

Array = NDArray[Any]


class MatrixRows(Protocol):
    """A matrix that gives some of its rows: an array, or one that is unpacked on demand."""

    def __len__(self) -> int: ...

    def __getitem__(self, rows: slice, /) -> Array: ...


def converted(published: Mapping[str, Any], *, layers: int) -> Iterator[tuple[str, Array]]:
    """Yield the arrays of a BERT by the names that the graphs have for them.

    Args:
        published: by the names of the model's makers, without `bert.`.
    """
    yield from _quantised("words", published["embeddings.word_embeddings.weight"], along_rows=True)
    # Each text is of the first type.
    types = published["embeddings.token_type_embeddings.weight"]
    yield "positions", published["embeddings.position_embeddings.weight"] + types[0]
    yield from _pair("embedded", published, "embeddings.LayerNorm")
    for number in range(layers):
        layer = f"encoder.layer.{number}"
        for name, inside in (
            ("query", "attention.self.query"),
            ("key", "attention.self.key"),
            ("value", "attention.self.value"),
            ("attended", "attention.output.dense"),
            ("inner", "intermediate.dense"),
            ("outer", "output.dense"),
        ):
            yield from _quantised(f"{number}.{name}", published[f"{layer}.{inside}.weight"])
            yield f"{number}.{name}.bias", published[f"{layer}.{inside}.bias"]
        yield from _pair(f"{number}.attended", published, f"{layer}.attention.output.LayerNorm")
        yield from _pair(f"{number}.outer", published, f"{layer}.output.LayerNorm")


def padding(length: int) -> bytes:
    """Return the bytes between a file of a length and the next array."""
    return bytes(-length % PAGE)


def _pair(name: str, published: Mapping[str, Any], inside: str) -> Iterator[tuple[str, Array]]:
    """Yield what a normalisation multiplies by and adds."""
    yield f"{name}.scale", published[f"{inside}.weight"]
    yield f"{name}.shift", published[f"{inside}.bias"]


def _quantised(
    name: str, matrix: MatrixRows, *, along_rows: bool = False
) -> Iterator[tuple[str, Array]]:
    """Yield a matrix of one row for each output in 8 bits, and the scale of each row.

    Args:
        along_rows: as it is, for a table; else turned, as a product needs it.
    """
    parts = []
    for start in range(0, len(matrix), ROWS):
        rows = matrix[start : start + ROWS]
        scales = (np.abs(rows).max(axis=1) / (127 if along_rows else LARGEST)).astype(np.float32)
        parts.append((np.rint(rows / scales[:, None]).astype(np.int8), scales))
    numbers = np.concatenate([part for part, _ in parts])
    scales = np.concatenate([part for _, part in parts])
    yield name, numbers if along_rows else numbers.T
    yield f"{name}.scales", scales[:, None] if along_rows else scales
