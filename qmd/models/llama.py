"""Local models through llama.cpp: embedding, reranking, generation."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial

import numpy as np
from numpy.typing import NDArray

from qmd import processes
from qmd.errors import ModelFailure, ModelUnusable, TextTooLong
from qmd.models.cross_encoder import asked, judged, sigmoid
from qmd.models.generation import answer, conversation
from qmd.models.gguf import Weights
from qmd.models.llama_bindings import NO_POOLING, RANK, Pool, Tokens
from qmd.models.passes import Passes
from qmd.models.protocols import Between, nothing
from qmd.models.registry import Model

LARGE = 1_000_000_000
"""Bytes of a model from which on the cores share one context: each context has its own buffers."""


class Llama:
    """A loaded GGUF model that embeds, reranks and generates. Safe to share between threads.

    Args:
        model: whose `uri` is a path.
        limit: tokens of a text at most, where the model would take more: memory grows with it.
        gpu: use one, if the library was built for it.
        workers: forward passes at once; None: one for each core of a small model.
        tiles: whether the processor's matrix tiles may be used, if it has some: `tiles_work`.

    Raises:
        RuntimeMissing: llama-cpp-python is not installed.
        ModelMissing: there is no such file.
        ModelUnusable: it is damaged, or no model that llama.cpp knows.
    """

    def __init__(
        self,
        model: Model,
        *,
        limit: int | None = None,
        gpu: bool = True,
        workers: int | None = None,
        tiles: bool = False,
    ) -> None:
        weights = self._weights = Weights(model, gpu=gpu, tiles=tiles)
        self.model = model
        self._turn = threading.Condition()
        self._users = 0
        self._closed = False
        positions = weights.positions
        self.limit = min(positions, model.context or positions, limit or positions)
        cores = processes.cores()
        workers = 1 if weights.gpu else workers or (cores if weights.size < LARGE else 1)
        threads = 1 if workers > 1 else cores
        passes = partial(Passes, weights, workers=workers, threads=threads)
        self._embedding = passes(weights.pooling, self.limit)
        self._judging = passes(RANK, self._judged_limit)
        self._writing = Pool(partial(conversation, weights, self.limit, threads=threads), 1)

    def close(self) -> None:
        """Release the memory after the last use; contexts first."""
        with self._turn:
            self._closed = True
            self._turn.wait_for(lambda: not self._users)
        for contexts in (self._embedding, self._judging, self._writing):
            contexts.close()
        self._weights.close()

    @contextmanager
    def _in_use(self) -> Iterator[None]:
        """Keep other threads from releasing the memory in the meantime."""
        with self._turn:
            if self._closed:
                raise ModelFailure(f"The model {self.model.name} was closed.")
            self._users += 1
        try:
            yield
        finally:
            with self._turn:
                self._users -= 1
                self._turn.notify_all()

    # -- tokens ----------------------------------------------------------------

    def tokens(self, text: str, *, special: bool = True, markup: bool = False) -> Tokens:
        """Tokenize a text. See `Weights.tokens`."""
        return self._weights.tokens(text, special=special, markup=markup)

    def count(self, texts: Sequence[str]) -> list[int]:
        """Count the tokens of each text, with the special tokens around it."""
        with self._in_use():
            return [len(self.tokens(text)) for text in texts]

    # -- embedding -------------------------------------------------------------

    @property
    def dimensions(self) -> int:
        """Dimensions of the vectors.

        Raises:
            ModelUnusable: it makes none.
        """
        self._check_that_it_embeds()
        return min(self._weights.outputs, self.model.dimensions or self._weights.outputs)

    def embed(self, texts: Sequence[str], *, between: Between = nothing) -> NDArray[np.float32]:
        """Compute a vector of length 1 for each text, in order. See `base.Embedder`."""
        self._check_that_it_embeds()
        if not texts:
            return np.empty((0, self.dimensions), np.float32)
        with self._in_use():
            sequences = [self._checked(self.tokens(text)) for text in texts]
            rows = self._embedding.pooled(sequences, between)[:, : self.dimensions]
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        if not np.isfinite(lengths).all() or not lengths.all():
            raise ModelFailure(f"The model {self.model.name} gave a vector without a direction.")
        return np.ascontiguousarray(rows / lengths, np.float32)

    def _check_that_it_embeds(self) -> None:
        if self._weights.pooling in (NO_POOLING, RANK):
            kind = "a reranker" if self._weights.pooling == RANK else "a model that writes"
            raise ModelUnusable(self.model.name, f"it is {kind}, and makes no vectors of texts.")

    def _checked(self, tokens: Tokens) -> Tokens:
        if len(tokens) > self.limit:
            raise TextTooLong(len(tokens), self.limit)
        if len(tokens):
            return tokens
        return np.array([self._weights.lib.llama_vocab_eos(self._weights.vocab)], np.int32)

    # -- judging ---------------------------------------------------------------

    def score(
        self, query: str, passages: Sequence[str], *, between: Between = nothing
    ) -> list[float]:
        """Score each passage from 0 to 1, in order. See `base.Reranker`.

        A reranker is one of three kinds: a cross-encoder with one output, whose sigmoid is the
        score; a reranker with outputs named yes and no; a generator, whose next token is
        compared with yes and no.
        """
        if not passages:
            return []
        weights = self._weights
        with self._in_use():
            prompts = [
                judged(weights, query, passage, limit=self._judged_limit) for passage in passages
            ]
            if weights.pooling != RANK:
                return asked(weights, self._writing, prompts, between)
            rows = self._judging.pooled(prompts, between)
            outputs = range(rows.shape[1])
            labels = [weights.lib.llama_model_cls_label(weights.pointer, i) for i in outputs]
        if not np.isfinite(rows).all():
            raise ModelFailure(f"The model {self.model.name} gave a score that is no number.")
        if len(labels) == 1:
            return [sigmoid(float(row[0])) for row in rows]
        if b"yes" not in labels:
            raise ModelUnusable(self.model.name, "its outputs are not named yes and no.")
        return [float(value) for value in rows[:, labels.index(b"yes")]]

    @property
    def _judged_limit(self) -> int:
        return min(self.limit, 2048)

    # -- writing ---------------------------------------------------------------

    def generate(
        self,
        prompt: str,
        *,
        grammar: str | None = None,
        tokens: int = 256,
        between: Between = nothing,
    ) -> str:
        """Generate the continuation of a prompt, the likeliest token each time.

        See `base.Generator`.
        """
        with self._in_use():
            return answer(
                self._weights,
                self._writing,
                prompt,
                limit=self.limit,
                grammar=grammar,
                tokens=tokens,
                between=between,
            )
