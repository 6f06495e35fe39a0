"""GGUF file in memory: tokenizer, metadata, inference contexts."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from qmd.errors import ModelUnusable, RuntimeMissing
from qmd.errors.shortage import shortage_of
from qmd.models.llama_bindings import (
    NO_POOLING,
    RANK,
    InferenceContext,
    Tokens,
    as_pointer,
    journal,
    library,
    processor_flags,
    uses_gpu,
)
from qmd.models.registry import Model, Pooling, check_gguf

_POOLING: dict[Pooling, int] = {"mean": 1, "cls": 2, "last": 3}  # llama.h, llama_pooling_type


class Weights:
    """A loaded GGUF file.

    Args:
        model: whose `uri` is a path.
        gpu: use one, if the library was built for it.
        tiles: whether the processor's matrix tiles may be used, if it has some: `tiles_work`.

    Attributes:
        lib: the C bindings.
        gpu: whether one is used.
        pooling: how the vectors of tokens become one. Source: llama.h, llama_pooling_type.
        outputs: numbers of a vector.
        positions: tokens of a text at most.
        size: bytes.

    Raises:
        RuntimeMissing: llama-cpp-python is not installed.
        ModelMissing: there is no such file.
        ModelUnusable: it is damaged, or no model that llama.cpp knows.
    """

    def __init__(self, model: Model, *, gpu: bool, tiles: bool) -> None:
        check_gguf(model)
        try:
            lib = self.lib = library()
        except ModuleNotFoundError as error:
            raise RuntimeMissing(model.name) from error
        except (ImportError, OSError, RuntimeError) as error:  # built for another system
            if shortage := shortage_of(error):
                raise shortage from error
            raise RuntimeMissing(model.name, f"cannot be loaded ({error})") from error
        self.model = model
        self.pointer: Any = None
        self.gpu = gpu and uses_gpu()
        parameters = lib.llama_model_default_params()
        parameters.n_gpu_layers = -1 if self.gpu else 0
        parameters.use_extra_bufts = tiles or "amx_tile" not in processor_flags()
        journal.problem = ""
        self.pointer = lib.llama_model_load_from_file(model.uri.encode(), parameters)
        if not self.pointer:
            raise ModelUnusable(model.name, journal.problem or f"{model.uri} cannot be loaded")
        self.vocab = lib.llama_model_get_vocab(self.pointer)
        self.outputs = int(lib.llama_model_n_embd_out(self.pointer))
        self.positions = int(lib.llama_model_n_ctx_train(self.pointer))
        self.size = int(lib.llama_model_size(self.pointer))
        self.pooling = self._declared_pooling()

    def close(self) -> None:
        """Release the memory of the contexts, then of the file."""
        if self.pointer:
            self.lib.llama_model_free(self.pointer)
            self.pointer = None

    def tokens(self, text: str, *, special: bool = True, markup: bool = False) -> Tokens:
        """Tokenize a text.

        Args:
            special: with those that the model wants around a text.
            markup: whether text such as `<|im_end|>` is a token of its own; False for the text of
                a document.
        """
        data = text.encode("utf-8", "replace")
        room = len(data) + 8
        while True:
            found = np.empty(room, np.int32)
            count = self.lib.llama_tokenize(
                self.vocab, data, len(data), as_pointer(found), room, special, markup
            )
            if count >= 0:
                return found[:count].copy()
            room = -count

    def said(self, key: str) -> str | None:
        """Return a metadata value of the file."""
        room = ctypes.create_string_buffer(1 << 14)
        count = self.lib.llama_model_meta_val_str(self.pointer, key.encode(), room, len(room))
        return room.value.decode("utf-8", "replace") if count >= 0 else None

    def context(self, parameters: Any) -> InferenceContext:
        """Make an inference context."""
        journal.problem = ""
        pointer = self.lib.llama_init_from_model(self.pointer, parameters)
        if not pointer:
            raise ModelUnusable(
                self.model.name, journal.problem or "it gives no context to run it in."
            )
        outputs = (
            self.lib.llama_model_n_cls_out(self.pointer)
            if parameters.pooling_type == RANK
            else self.lib.llama_model_n_embd_out(self.pointer)
        )
        return InferenceContext(
            self.lib, pointer, parameters.n_batch, parameters.n_seq_max, outputs
        )

    def _declared_pooling(self) -> int:
        """Return the pooling of token vectors: as the registry says, else the file."""
        if self.model.pooling is not None:
            return _POOLING[self.model.pooling]
        architecture = self.said("general.architecture") or ""
        said = self.said(f"{architecture}.pooling_type")
        return NO_POOLING if said is None else int(said)
