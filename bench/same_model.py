"""The embedded model as a GGUF file, which is what other tools read. Needs `gguf` and `onnx`."""

from __future__ import annotations

from pathlib import Path

import gguf
import numpy as np
import onnx
from gguf import GGMLQuantizationType, PoolingType, TokenType
from numpy.typing import NDArray

from qmd.models.registry import EMBEDDED

LAYERS, HEADS, WIDTH, INNER, POSITIONS = 6, 12, 384, 1536, 512

NAMES = {
    "query": "attn_q",
    "key": "attn_k",
    "value": "attn_v",
    "attended": "attn_output",
    "inner": "ffn_up",
    "outer": "ffn_down",
}
"""Matrices of a layer: as they are called here, and in a GGUF file."""

NORMS = {"attended": "attn_output_norm", "outer": "layer_output_norm"}

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def write(path: Path) -> None:
    """Write the embedded model as a GGUF file, its matrices in 8 bits (Q8_0)."""
    graph = onnx.load(EMBEDDED / "processor.onnx").graph
    stored = {each.name: onnx.numpy_helper.to_array(each) for each in graph.initializer}
    writer = gguf.GGUFWriter(path, "bert")
    _describe(writer)
    _add_vocabulary(writer)

    def add(name: str, array: NDArray[np.generic], *, rounded: bool = False) -> None:
        if rounded:
            kind = GGMLQuantizationType.Q8_0
            writer.add_tensor(name, gguf.quants.quantize(array, kind), raw_dtype=kind)
        else:
            writer.add_tensor(name, np.ascontiguousarray(array, np.float32))

    def add_norm(name: str, inside: str) -> None:
        add(f"{name}.weight", stored[f"{inside}.scale"])
        add(f"{name}.bias", stored[f"{inside}.shift"])

    add("token_embd.weight", stored["words"] * stored["words.scales"], rounded=True)
    add("position_embd.weight", stored["positions"])
    add("token_types.weight", np.zeros((2, WIDTH)))  # part of the positions
    add_norm("token_embd_norm", "embedded")
    for number in range(LAYERS):
        block = f"blk.{number}"
        for ours, theirs in NAMES.items():
            matrix = (stored[f"{number}.{ours}"] * stored[f"{number}.{ours}.scales"]).T
            add(f"{block}.{theirs}.weight", matrix, rounded=True)
            add(f"{block}.{theirs}.bias", stored[f"{number}.{ours}.bias"])
        for ours, theirs in NORMS.items():
            add_norm(f"{block}.{theirs}", f"{number}.{ours}")
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _describe(writer: gguf.GGUFWriter) -> None:
    writer.add_type(gguf.GGUFType.MODEL)
    writer.add_name("all-MiniLM-L6-v2")
    writer.add_license("apache-2.0")
    writer.add_block_count(LAYERS)
    writer.add_context_length(POSITIONS)
    writer.add_embedding_length(WIDTH)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_layer_norm_eps(1e-12)
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_Q8_0)
    writer.add_causal_attention(False)
    writer.add_pooling_type(PoolingType.MEAN)


def _add_vocabulary(writer: gguf.GGUFWriter) -> None:
    """Add the word pieces as llama.cpp reads them: with a mark where a word begins."""
    words = (EMBEDDED / "vocabulary.txt").read_text(encoding="utf-8").rstrip("\n").split("\n")
    writer.add_token_type_count(2)
    writer.add_tokenizer_model("bert")
    writer.add_tokenizer_pre("jina-v2-en")  # as llama.cpp's converter says
    writer.add_token_list([_marked(word) for word in words])
    writer.add_token_types(
        [TokenType.CONTROL if word in SPECIAL else TokenType.NORMAL for word in words]
    )
    writer.add_unk_token_id(words.index("[UNK]"))
    writer.add_sep_token_id(words.index("[SEP]"))
    writer.add_pad_token_id(words.index("[PAD]"))
    writer.add_mask_token_id(words.index("[MASK]"))
    writer.add_uint32("tokenizer.ggml.cls_token_id", words.index("[CLS]"))
    writer.add_bos_token_id(words.index("[CLS]"))


def _marked(piece: str) -> str:
    """Mark a piece with ▁ if a word begins with it; strip the ## of others."""
    if piece.startswith("[") and piece.endswith("]"):
        return piece
    return piece[2:] if piece.startswith("##") else f"▁{piece}"
