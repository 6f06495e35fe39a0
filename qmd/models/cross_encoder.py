"""Cross-encoder reranking: prompts and scores."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from qmd.errors import TextTooLong
from qmd.models.gguf import Weights
from qmd.models.llama_bindings import RANK, Pool, Tokens
from qmd.models.protocols import Between

JUDGE = (
    "<|im_start|>system\nJudge whether the Document meets the requirements based on the Query and "
    'the Instruct provided. Note that the answer can only be "yes" or "no".<|im_end|>\n'
    "<|im_start|>user\n<Instruct>: Given a web search query, retrieve relevant passages that "
    "answer the query\n<Query>: {query}\n<Document>: {document}<|im_end|>\n"
    "<|im_start|>assistant\n<think>\n\n</think>\n\n"
)
"""Prompt of a reranker whose file has none. Source: model card of Qwen3-Reranker."""


def judged(weights: Weights, query: str, passage: str, *, limit: int) -> Tokens:
    """Encode a query and a passage as one sequence, with the passage cut to the limit.

    Args:
        limit: tokens of the sequence, at most.

    Raises:
        TextTooLong: the query leaves no room for a passage.
    """
    lib = weights.lib
    template = weights.said("tokenizer.chat_template.rerank")
    if template is None and weights.pooling != RANK:
        template = JUDGE
    words = weights.tokens(passage, special=False)
    if template is None:
        bos = _marks(weights, lib.llama_vocab_bos, lib.llama_vocab_get_add_bos)
        sep = [lib.llama_vocab_sep(weights.vocab)]
        sep = sep if sep[0] >= 0 else [lib.llama_vocab_eos(weights.vocab)]
        head = [*bos, *weights.tokens(query, special=False), *sep]
        tail = sep
    else:
        before, _, rest = template.partition("{query}")
        middle, _, after = rest.partition("{document}")
        head = [
            *weights.tokens(before, markup=True),
            *weights.tokens(query, special=False),
            *weights.tokens(middle, special=False, markup=True),
        ]
        tail = list(weights.tokens(after, special=False, markup=True))
    room = limit - len(head) - len(tail)
    if room < 1:
        raise TextTooLong(len(head) + len(tail) + 1, limit)
    return np.array([*head, *words[:room], *tail], np.int32)


def asked(
    weights: Weights, contexts: Pool, prompts: Sequence[Tokens], between: Between
) -> list[float]:
    """Compute the log-odds of yes over no, as a generative model answers.

    What all prompts begin with, the task and the query, is read once.
    """
    yes, no = (int(weights.tokens(word, special=False)[0]) for word in ("yes", "no"))
    shared = _shared(prompts)
    context = contexts.take()
    try:
        context.forget()
        if shared:
            context.read(prompts[0][:shared], between)
        scores = []
        for prompt in prompts:
            context.rewind(shared)
            logits = context.read(prompt[shared:], between)
            scores.append(sigmoid(float(logits[yes] - logits[no])))
        return scores
    finally:
        contexts.give(context)


def sigmoid(value: float) -> float:
    """Map a logit to the range 0 to 1."""
    return 1 / (1 + math.exp(-value)) if value > -700 else 0.0


def _marks(
    weights: Weights, mark: Callable[[Any], int], wanted: Callable[[Any], bool]
) -> list[int]:
    return [mark(weights.vocab)] if wanted(weights.vocab) else []


def _shared(prompts: Sequence[Tokens]) -> int:
    """Count the common leading tokens of all prompts, fewer than the shortest has."""
    least = min(len(prompt) for prompt in prompts) - 1
    same = np.ones(least, bool)
    for prompt in prompts[1:]:
        same &= prompt[:least] == prompts[0][:least]
    return int(same.argmin()) if not same.all() else least
