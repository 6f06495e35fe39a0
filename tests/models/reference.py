"""What a BERT makes of texts, computed as its paper says: to compare a runtime with."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import gguf
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]

_erf = np.frompyfunc(math.erf, 1, 1)


def embed(path: Path, token_ids: Sequence[Sequence[int]]) -> Array:
    """The mean of the vectors of a text's tokens, scaled to length 1, for each text.

    Args:
        path: of a BERT in a GGUF file.
        token_ids: of each text, with [CLS] and [SEP].

    Source:
        Devlin et al. 2018, BERT: a transformer's encoder that normalises after each sum, with
        GELU. Reimers and Gurevych 2019, Sentence-BERT: the mean.
    """
    bert = _Bert(path)
    means = np.stack([bert.read(ids).mean(axis=0) for ids in token_ids])
    return means / np.linalg.norm(means, axis=1, keepdims=True)


class _Bert:
    """The weights of a file, and what is done with them."""

    def __init__(self, path: Path) -> None:
        reader = gguf.GGUFReader(path)

        def said(key: str) -> Any:
            return reader.fields[f"bert.{key}"].contents()

        self.layers = said("block_count")
        self.heads = said("attention.head_count")
        self.epsilon = said("attention.layer_norm_epsilon")
        self.weights = {
            tensor.name: gguf.quants.dequantize(tensor.data, tensor.tensor_type)
            for tensor in reader.tensors
        }

    def read(self, ids: Sequence[int]) -> Array:
        """The vector of each token: (tokens, dimensions)."""
        summed = (
            self.weights["token_embd.weight"][list(ids)]
            + self.weights["position_embd.weight"][: len(ids)]
            + self.weights["token_types.weight"][0]
        )
        states = self.normalised("token_embd_norm", summed)
        for layer in range(self.layers):
            block = f"blk.{layer}"
            states = self.normalised(
                f"{block}.attn_output_norm", states + self.attention(block, states)
            )
            inner = gelu(self.linear(f"{block}.ffn_up", states))
            states = self.normalised(
                f"{block}.layer_output_norm", states + self.linear(f"{block}.ffn_down", inner)
            )
        return states

    def attention(self, block: str, states: Array) -> Array:
        """What each token takes from all of them."""
        queries, keys, values = (
            np.stack(np.split(self.linear(f"{block}.attn_{part}", states), self.heads, axis=1))
            for part in "qkv"
        )
        weights = softmax(queries @ keys.transpose(0, 2, 1) / math.sqrt(queries.shape[2]))
        return self.linear(f"{block}.attn_output", np.concatenate(weights @ values, axis=1))

    def linear(self, name: str, states: Array) -> Array:
        """States times a matrix, plus its bias."""
        return states @ self.weights[f"{name}.weight"].T + self.weights[f"{name}.bias"]

    def normalised(self, name: str, states: Array) -> Array:
        """States of mean 0 and variance 1, then scaled and moved."""
        centred = states - states.mean(axis=1, keepdims=True)
        deviation = np.sqrt(states.var(axis=1, keepdims=True) + self.epsilon)
        return centred / deviation * self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"]


def gelu(values: Array) -> Array:
    """Each value times the chance that a normal variable is below it."""
    return values * (1 + _erf(values / math.sqrt(2)).astype(np.float32)) / 2


def softmax(scores: Array) -> Array:
    """Shares that sum to 1 along the last axis."""
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)
