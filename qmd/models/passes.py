"""Forward passes of llama.cpp: texts of any length, several passes at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from qmd.models import batching
from qmd.models.gguf import Weights
from qmd.models.llama_bindings import InferenceContext, Pool, Tokens
from qmd.models.protocols import Between

CPU_BUDGET, GPU_BUDGET = 256, 2048
"""Tokens of one forward pass. On a CPU attention is computed over the whole batch, so that a large
one costs more than it saves. Measured for the CPU only: docs/models.md."""

SEQUENCES = 64
"""Texts of one forward pass, at most."""


class Passes:
    """Forward passes of whole texts, each of which gives one row of outputs.

    Args:
        pooling: how the outputs of tokens become one. Source: llama.h, llama_pooling_type.
        limit: tokens of a text, at most.
        workers: passes at once.
        threads: of each.
    """

    def __init__(
        self, weights: Weights, pooling: int, limit: int, *, workers: int, threads: int
    ) -> None:
        self._weights = weights
        self._pooling = pooling
        self._workers = workers
        self._threads = threads
        self._budget = GPU_BUDGET if weights.gpu else CPU_BUDGET
        self._tokens = max(self._budget, limit)
        self._pool = Pool(self._context, workers)

    def close(self) -> None:
        """Give the memory of their contexts back."""
        self._pool.close()

    def pooled(self, sequences: Sequence[Tokens], between: Between) -> NDArray[np.float32]:
        """Run all sequences, several at once, and return their outputs in order."""
        first = self._pool.take()
        rows = np.empty((len(sequences), first.outputs), np.float32)
        self._pool.give(first)

        def run(batch: list[int]) -> None:
            context = self._pool.take()
            try:
                rows[batch] = context.pooled([sequences[number] for number in batch])
            finally:
                self._pool.give(context)

        lengths = [len(sequence) for sequence in sequences]
        batches = batching.packed_batches(lengths, self._budget, most=SEQUENCES)
        batching.run_batches(run, batches, self._workers, between)
        return rows

    def _context(self) -> InferenceContext:
        """Make a context whose passes take whole sequences."""
        lib = self._weights.lib
        parameters = lib.llama_context_default_params()
        room = -(-self._tokens // SEQUENCES) * SEQUENCES
        parameters.n_ctx = parameters.n_batch = parameters.n_ubatch = room
        parameters.n_seq_max = SEQUENCES
        parameters.n_threads = parameters.n_threads_batch = self._threads
        parameters.embeddings = True
        parameters.pooling_type = self._pooling
        parameters.flash_attn_type = (
            lib.LLAMA_FLASH_ATTN_TYPE_AUTO
            if self._weights.gpu
            else lib.LLAMA_FLASH_ATTN_TYPE_ENABLED
        )
        parameters.kv_unified = True
        parameters.no_perf = True
        return self._weights.context(parameters)
