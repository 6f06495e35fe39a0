"""Models small enough for a test to make: llama.cpp loads them in milliseconds.

Each number in them is drawn from the hash of its tensor's name, or follows from a list of words
here: the same bytes come out everywhere. Needs `gguf`.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import shake_128
from itertools import pairwise
from math import prod
from pathlib import Path

import gguf
import numpy as np
from gguf import LlamaFileType, PoolingType, TokenType
from numpy.typing import NDArray

Array = NDArray[np.float32]

WIDTH, HIDDEN, HEADS, LAYERS = 64, 128, 4, 2

# -- models that read ----------------------------------------------------------

POSITIONS = 512

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")

SYNONYMS = [
    line.split()
    for line in """
    car automobile vehicle
    doctor physician medic
    begin start commence
    money cash funds
    bug defect fault
    fast quick rapid
    password credential passphrase
    cat kitten feline
    dog puppy hound
    happy glad cheerful
    house home dwelling
    meal dinner supper
    holiday vacation trip
    invoice bill receipt
    boat ship vessel
    forest woods grove
    """.strip().splitlines()
]
"""Words that mean the same: their vectors point nearly the same way."""

WORDS = """
    tea coffee water river lake sea rain snow storm wind sun moon tree garden flower bird fish horse
    bread butter soup salt kitchen table chair door window wall roof lamp paint wood stone iron
    book page letter word note story song music film picture paper pen school lesson teacher team
    meeting plan budget price cost tax contract office desk clock hour day week month year
    engine wheel brake road bridge train station flight airport map city village market shop
    computer server database network memory disk file code function test error release backup
    light heavy small large old new red green blue white black hot cold loud quiet deep high low
""".split()
"""Words that mean something else than any other."""

FILLERS = """
    a an and are as at be by can do for from has have how i in is it its my of on or our that the
    their this to was we what when where which who why will with you your
""".split()

ENDINGS = "ed er es ing ly s".split()

QUIET = 0.1
"""Length of the vector of a piece that says little, where that of a word is 1."""

EPSILON = 16.0
"""Variance that each normalisation takes for granted: far above that of any vector here, so that
it leaves alone which are long and which are short."""


def embedder(path: Path) -> None:
    """A BERT whose vector of a text is, above all, the mean of what its words mean."""
    _bert(path, "tiny-embedder", PoolingType.MEAN, {})


def ranker(path: Path) -> None:
    """A BERT that gives a query and a passage one score. It means nothing."""
    head = _linear("cls", WIDTH, WIDTH, size=0.3) | _linear("cls.output", 1, WIDTH, size=2.0)
    _bert(path, "tiny-ranker", PoolingType.RANK, head)


def _bert(path: Path, name: str, pooling: PoolingType, head: Mapping[str, Array]) -> None:
    vectors = _meanings()
    writer = _writer(path, "bert", name, POSITIONS)
    writer.add_layer_norm_eps(EPSILON)
    writer.add_causal_attention(False)
    writer.add_pooling_type(pooling)
    writer.add_token_type_count(2)
    _add_pieces(writer, list(vectors))
    tensors = {
        "token_embd.weight": np.stack(list(vectors.values())),
        "position_embd.weight": _numbers("position_embd", POSITIONS, WIDTH, size=0.02),
        "token_types.weight": _numbers("token_types", 2, WIDTH, size=0.02),
        **_norm("token_embd_norm"),
    }
    for layer in range(LAYERS):
        block = f"blk.{layer}"
        for part in ("attn_q", "attn_k", "attn_v", "attn_output"):
            tensors |= _linear(f"{block}.{part}", WIDTH, WIDTH)
        tensors |= _linear(f"{block}.ffn_up", HIDDEN, WIDTH)
        tensors |= _linear(f"{block}.ffn_down", WIDTH, HIDDEN)
        tensors |= _norm(f"{block}.attn_output_norm") | _norm(f"{block}.layer_output_norm")
    _write(writer, tensors | head)


def _meanings() -> dict[str, Array]:
    """The word pieces of the vocabulary, each with its vector."""
    letters = [chr(code) for code in range(33, 127) if not chr(code).isupper()]
    inner = [f"##{piece}" for piece in (*filter(str.isalnum, letters), *ENDINGS)]
    quiet = [*SPECIAL, *letters, *inner, *(word for word in FILLERS if len(word) > 1)]
    vectors = {piece: _direction(piece) * np.float32(QUIET) for piece in quiet}
    vectors |= {word: _direction(word) for word in WORDS}
    for group in SYNONYMS:
        shared = _direction(" ".join(group))
        vectors |= {word: shared + _direction(word) * np.float32(0.3) for word in group}
    return vectors


def _direction(name: str) -> Array:
    return _numbers(f"token_embd {name}", WIDTH)


def _add_pieces(writer: gguf.GGUFWriter, pieces: list[str]) -> None:
    """The vocabulary as llama.cpp reads it: ▁ where a word begins, nothing where it goes on."""
    marked = [
        piece if piece in SPECIAL else piece[2:] if piece.startswith("##") else f"▁{piece}"
        for piece in pieces
    ]
    kinds = [TokenType.CONTROL if piece in SPECIAL else TokenType.NORMAL for piece in pieces]
    writer.add_tokenizer_model("bert")
    writer.add_token_list(marked)
    writer.add_token_types(kinds)
    writer.add_pad_token_id(pieces.index("[PAD]"))
    writer.add_unk_token_id(pieces.index("[UNK]"))
    writer.add_bos_token_id(pieces.index("[CLS]"))
    writer.add_sep_token_id(pieces.index("[SEP]"))
    writer.add_mask_token_id(pieces.index("[MASK]"))


# -- models that write ---------------------------------------------------------

CONTEXT = 2048

SENTENCE = ("The", "▁river", "▁is", "▁high", "▁today", ".")
"""Pieces of what the generator says when it may say what it likes."""

SPELLED = ("yes", "no", "lex", "vec", "hyde", *(piece.strip("▁") for piece in SENTENCE))
"""Words that are one token; all else is spelled."""

NEWLINE = "<0x0A>"

FOLLOWS = {
    **dict(pairwise(SENTENCE)),
    NEWLINE: SENTENCE[0],
    ":": "▁",
    "▁": SENTENCE[0],
    SENTENCE[-1]: "</s>",
}
"""What the generator likes to say after a token."""

ENDS = ("</s>", NEWLINE, '"', "}", "]", ")")
"""What it says after any other token, the first that the grammar allows: so that it ends soon."""

CHATML = (
    "{% for message in messages %}"
    "<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)

RERANK = (
    "<|im_start|>user\n<Query>: {query}\n<Document>: {document}<|im_end|>\n<|im_start|>assistant\n"
)


def generator(path: Path) -> None:
    """A llama that says `SENTENCE`, or what comes nearest to it under a grammar."""
    tokens = _tokens()
    writer = _writer(path, "llama", "tiny-generator", CONTEXT)
    _add_tokens(writer, tokens)
    writer.add_add_bos_token(True)
    writer.add_chat_template(CHATML)
    tensors = _decoder("llama", tokens, size=0.05)
    vectors = tensors["token_embd.weight"]
    # The last number of each vector is the same: what it is multiplied by is said after any token.
    vectors[:, -1] = 1
    numbered = {token: number for number, token in enumerate(tokens)}
    wanted = _numbers("output", len(tokens), WIDTH, size=0.1)
    # Rather a whole word than its letters, and rather these than their bytes.
    wanted[:, -1] = [0 if token.startswith("<0x") else len(token) for token in tokens]
    for token, following in FOLLOWS.items():
        wanted[numbered[following]] += vectors[numbered[token]]
    for place, token in enumerate(ENDS):
        wanted[numbered[token], -1] = 32 - 2 * place
    _write(writer, tensors | {"output.weight": wanted})


def judge(path: Path) -> None:
    """A Qwen3 that answers yes or no to a query and a passage. It means nothing."""
    tokens = _tokens()
    writer = _writer(path, "qwen3", "tiny-judge", CONTEXT)
    _add_tokens(writer, tokens)
    writer.add_add_bos_token(False)
    writer.add_pooling_type(PoolingType.RANK)
    writer.add_classifier_output_labels(["yes", "no"])
    writer.add_chat_template([{"name": "rerank", "template": RERANK}])
    head = {"cls.output.weight": _numbers("cls.output", 2, WIDTH)}
    _write(writer, _decoder("qwen3", tokens, size=0.2) | head)


def _decoder(architecture: str, tokens: list[str], *, size: float) -> dict[str, Array]:
    ones = np.ones(WIDTH, np.float32)
    tensors = {
        "token_embd.weight": _numbers("token_embd", len(tokens), WIDTH),
        "output_norm.weight": ones,
    }
    shapes = {
        **dict.fromkeys(("attn_q", "attn_k", "attn_v", "attn_output"), (WIDTH, WIDTH)),
        **dict.fromkeys(("ffn_gate", "ffn_up"), (HIDDEN, WIDTH)),
        "ffn_down": (WIDTH, HIDDEN),
    }
    for layer in range(LAYERS):
        block = f"blk.{layer}"
        for part, shape in shapes.items():
            name = f"{block}.{part}"
            tensors[f"{name}.weight"] = _numbers(name, *shape, size=size)
        tensors |= {f"{block}.attn_norm.weight": ones, f"{block}.ffn_norm.weight": ones}
        if architecture == "qwen3":
            for part in ("attn_q_norm", "attn_k_norm"):
                tensors[f"{block}.{part}.weight"] = ones[: WIDTH // HEADS]
    return tensors


def _tokens() -> list[str]:
    """Those that control, every byte, every ASCII character, and words with all they begin with.

    The last because the tokeniser grows a word by joining two tokens that make a third.
    """
    pieces = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256))]
    pieces += ["<|im_start|>", "<|im_end|>", "▁", *map(chr, range(33, 127))]
    for word in SPELLED:
        for end in range(1, len(word) + 1):
            pieces += [word[:end], f"▁{word[:end]}"]
    return list(dict.fromkeys(pieces))


def _add_tokens(writer: gguf.GGUFWriter, tokens: list[str]) -> None:
    kinds = dict.fromkeys(tokens, TokenType.NORMAL)
    kinds |= {token: TokenType.BYTE for token in tokens if token.startswith("<0x")}
    kinds |= dict.fromkeys(("<s>", "</s>", "<|im_start|>", "<|im_end|>"), TokenType.CONTROL)
    kinds |= {"<unk>": TokenType.UNKNOWN}
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_tokenizer_model("llama")
    writer.add_token_list(tokens)
    writer.add_token_scores([float(len(token)) for token in tokens])
    writer.add_token_types(list(kinds.values()))
    writer.add_unk_token_id(tokens.index("<unk>"))
    writer.add_bos_token_id(tokens.index("<s>"))
    writer.add_eos_token_id(tokens.index("</s>"))
    writer.add_add_space_prefix(False)


# -- both ----------------------------------------------------------------------


def _numbers(name: str, *shape: int, size: float = 1.7320508) -> Array:
    """Numbers from -`size` to `size` that the name alone decides; by default of variance 1."""
    drawn = np.frombuffer(shake_128(name.encode()).digest(2 * prod(shape)), "<i2")
    return drawn.reshape(shape).astype(np.float32) / np.float32(2**15) * np.float32(size)


def _linear(name: str, rows: int, columns: int, *, size: float = 0.1) -> dict[str, Array]:
    return {
        f"{name}.weight": _numbers(f"{name}.weight", rows, columns, size=size),
        f"{name}.bias": _numbers(f"{name}.bias", rows, size=0.02),
    }


def _norm(name: str) -> dict[str, Array]:
    gain = np.float32(1) + _numbers(f"{name}.weight", WIDTH, size=0.1)
    return {
        f"{name}.weight": gain * np.float32(EPSILON**0.5),
        f"{name}.bias": _numbers(f"{name}.bias", WIDTH, size=0.02),
    }


def _writer(path: Path, architecture: str, name: str, context: int) -> gguf.GGUFWriter:
    writer = gguf.GGUFWriter(path, architecture)
    writer.add_name(name)
    writer.add_file_type(LlamaFileType.ALL_F32)
    writer.add_block_count(LAYERS)
    writer.add_context_length(context)
    writer.add_embedding_length(WIDTH)
    writer.add_feed_forward_length(HIDDEN)
    writer.add_head_count(HEADS)
    return writer


def _write(writer: gguf.GGUFWriter, tensors: Mapping[str, Array]) -> None:
    for name, tensor in tensors.items():
        writer.add_tensor(name, tensor)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
