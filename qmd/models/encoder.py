"""The packaged models, by onnxruntime. Nothing else imports that library.

    texts ─▸ pieces of words ─▸ batches of one length ─▸ a core each ─▸ vectors

A vector depends on its text alone: numbers are rounded with a scale for each token, and what is
batched together has the same length. So the same text has the same vector, bit for bit, in every
batch.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qmd import processes
from qmd.errors import ModelFailure, ModelUnusable, RuntimeMissing, TextTooLong
from qmd.errors.shortage import shortage_of
from qmd.models import batching
from qmd.models.protocols import Between, nothing
from qmd.models.registry import MINILM, Model
from qmd.models.unigram import Unigram
from qmd.models.wordpiece import WordPiece

PROCESSOR = "CPUExecutionProvider"

BUDGET, DEVICE_BUDGET = 512, 16_384
"""Tokens of one forward pass. On a processor more gain nothing and take memory."""

WORTHWHILE = 8_192
"""Tokens that are given together from which on a GPU is used: it takes seconds to get ready."""

Vectors = NDArray[np.float32]

_log = logging.getLogger("qmd.onnxruntime")
_log.addHandler(logging.NullHandler())


@cache
def load_onnxruntime() -> Any:
    """Load onnxruntime, and keep it from sending anything anywhere.

    Raises:
        ImportError: it is not installed, or made for another system.
    """
    import onnxruntime

    onnxruntime.disable_telemetry_events()
    onnxruntime.set_default_logger_severity(4)  # an error is raised as well
    return onnxruntime


class Encoder:
    """Turns texts into vectors. Safe to share between threads.

    Args:
        model: whose `uri` is the folder of its files.
        limit: tokens of a text, where the model would take more.
        device: gives the name of the GPU provider to use, if one is worth it; asked once, when
            there is much to do.
        workers: forward passes at once; None: one for each core.

    Attributes:
        dimensions: of its vectors.
        pieces: what cuts texts into tokens.

    Raises:
        RuntimeMissing: onnxruntime is not installed.
        ModelUnusable: a file of the model is damaged or missing.
    """

    def __init__(
        self,
        model: Model = MINILM,
        *,
        limit: int | None = None,
        device: Callable[[], str | None] = lambda: None,
        workers: int | None = None,
    ) -> None:
        assert model.dimensions is not None
        assert model.context is not None
        self.model = model
        self.dimensions: int = model.dimensions
        self.limit: int = min(model.context, limit or model.context)
        self._workers = workers or processes.cores()
        self._processor: Graph | None = Graph(model)
        self._device: Graph | None = None
        self._find_device = device
        self._turn = Lock()
        try:
            self.pieces = _pieces(model)
        except (OSError, ValueError, KeyError) as error:
            raise _damaged(model, error) from error

    def close(self) -> None:
        """Give the memory back, once those that use it have their answers."""
        self._processor = self._device = None

    def count(self, texts: Sequence[str]) -> list[int]:
        """Count the tokens of each text, with the two around it."""
        return [len(self.pieces.tokens(text)) for text in texts]

    def embed(self, texts: Sequence[str], *, between: Between = nothing) -> Vectors:
        """Give a vector of length 1 for each text, in order. See `protocols.Embedder`."""
        sequences = [np.array(self.pieces.tokens(text), np.int32) for text in texts]
        lengths = [len(sequence) for sequence in sequences]
        longest = max(lengths, default=0)
        if longest > self.limit:
            raise TextTooLong(longest, self.limit)
        rows = np.empty((len(sequences), self.dimensions), np.float32)
        device = self._ready_device(sum(lengths))
        if device is not None:
            try:
                self._fill(rows, sequences, device, between)
            except ModelFailure as error:
                _log.warning("%s failed, the processor goes on: %s", device.provider, error)
                self._device, self._find_device = None, lambda: None
            else:
                return self._checked(rows)
        processor = self._processor
        if processor is None:
            raise ModelFailure(f"The model {self.model.name} was closed.")
        self._fill(rows, sequences, processor, between)
        return self._checked(rows)

    def _fill(
        self, rows: Vectors, sequences: list[NDArray[np.int32]], graph: Graph, between: Between
    ) -> None:
        """Put the vector of each text in its row."""

        def run(batch: list[int]) -> None:
            rows[batch] = graph.vectors([sequences[number] for number in batch])

        lengths = [len(sequence) for sequence in sequences]
        alone = graph.provider == PROCESSOR
        budget = BUDGET if alone else DEVICE_BUDGET
        batches = batching.packed_batches(lengths, budget, alike=alone, filled=True)
        batching.run_batches(run, batches, self._workers if alone else 1, between)

    def _checked(self, rows: Vectors) -> Vectors:
        if not np.isfinite(rows).all():
            raise ModelFailure(f"The model {self.model.name} gave a vector without a direction.")
        return rows

    def _ready_device(self, tokens: int) -> Graph | None:
        """Give the graph on a GPU, if there is one and so many tokens are worth it."""
        if tokens < WORTHWHILE or self._processor is None:
            return None
        with self._turn:
            find, self._find_device = self._find_device, lambda: None
            name = find()
            if name is not None:
                try:
                    self._device = Graph(self.model, name)
                except ModelUnusable as error:
                    _log.warning("%s cannot be used: %s", name, error)
            return self._device


class Graph:
    """A graph of the model, loaded for one kind of processor.

    Raises:
        RuntimeMissing, ModelUnusable: as for `Encoder`.
    """

    def __init__(self, model: Model, provider: str = PROCESSOR) -> None:
        try:
            onnxruntime = load_onnxruntime()
        except (ImportError, OSError) as error:
            if shortage := shortage_of(error):
                raise shortage from error
            missing = isinstance(error, ModuleNotFoundError)
            problem = "is not installed" if missing else f"cannot be loaded ({error})"
            raise RuntimeMissing(model.name, problem, library="onnxruntime") from error
        self.provider = provider
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.enable_mem_pattern = False  # it keeps one for each length of a text
        # Weights become floating point once, when the graph is loaded, not in each pass.
        options.add_session_config_entry("session.disable_quant_qdq", "1")
        file = Path(model.uri, "processor.onnx" if provider == PROCESSOR else "device.onnx")
        providers = [provider] if provider == PROCESSOR else [provider, PROCESSOR]
        try:
            self._session = onnxruntime.InferenceSession(
                file,
                options,
                providers=providers,
                enable_fallback=0,  # it would print on stdout that it takes another provider
            )
        except Exception as error:  # those of onnxruntime have no other class in common
            raise _damaged(model, error) from error
        self._model = model
        self._alone = nullcontext() if provider == PROCESSOR else Lock()

    def vectors(self, sequences: Sequence[NDArray[np.int32]]) -> Vectors:
        """Make the vectors of texts in one forward pass.

        Raises:
            ModelFailure: onnxruntime could not do it.
        """
        lengths = np.array([len(sequence) for sequence in sequences], np.int32)
        tokens = np.zeros((len(sequences), lengths.max()), np.int32)
        for row, sequence in zip(tokens, sequences, strict=True):
            row[: len(sequence)] = sequence
        given = {"tokens": tokens, "lengths": lengths}
        try:
            with self._alone:  # not each GPU provider takes two at once
                [made] = self._session.run(None, given)
        except Exception as error:
            raise ModelFailure(f"The model {self._model.name} stopped: {error}") from error
        vectors: Vectors = made
        return vectors


def _pieces(model: Model) -> WordPiece | Unigram:
    """Load what cuts texts into the tokens of a model."""
    words = Path(model.uri, "vocabulary.txt").read_text(encoding="utf-8").rstrip("\n").split("\n")
    if model.pieces == "unigram":
        return Unigram(words, np.fromfile(Path(model.uri, "scores.bin"), "<f4").tolist())
    return WordPiece(words)


def _damaged(model: Model, error: Exception) -> ModelUnusable:
    reason = str(error).strip().split("\n")[0]
    return ModelUnusable(model.name, reason, mend="Install qmd again")
