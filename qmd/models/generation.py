"""Greedy text generation with chat template and grammar."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from qmd.errors import ModelFailure, TextTooLong
from qmd.models.gguf import Weights
from qmd.models.llama_bindings import InferenceContext, Pool, journal
from qmd.models.protocols import Between

WRITING_CONTEXT, WRITING_BATCH = 4096, 512
"""Tokens of a conversation, and of one forward pass of it."""


def conversation(weights: Weights, limit: int, *, threads: int) -> InferenceContext:
    """Make a context for a conversation.

    Args:
        limit: tokens of it at most, if fewer than usual.
    """
    parameters = weights.lib.llama_context_default_params()
    parameters.n_ctx = min(WRITING_CONTEXT, limit)
    parameters.n_batch = parameters.n_ubatch = min(WRITING_BATCH, parameters.n_ctx)
    parameters.n_seq_max = 1
    parameters.n_threads = parameters.n_threads_batch = threads
    parameters.no_perf = True
    return weights.context(parameters)


def answer(
    weights: Weights,
    contexts: Pool,
    prompt: str,
    *,
    limit: int,
    grammar: str | None,
    tokens: int,
    between: Between,
) -> str:
    """Generate the continuation of a prompt, the likeliest token each time. See `base.Generator`.

    Args:
        limit: tokens of the conversation at most, if fewer than usual.
    """
    asked = weights.tokens(_as_chat(weights, prompt), markup=True)
    room = min(WRITING_CONTEXT, limit)
    if len(asked) >= room:
        raise TextTooLong(len(asked), room - 1)
    sampler = _sampler(weights, grammar)
    context = contexts.take()
    try:
        context.forget()
        context.read(asked, between)
        written = b""
        for _ in range(min(tokens, room - len(asked))):
            token = context.sample(sampler)
            if weights.lib.llama_vocab_is_eog(weights.vocab, token):
                break
            written += _piece(weights, token)
            context.read(np.array([token], np.int32), between)
        return written.decode("utf-8", "replace")
    finally:
        contexts.give(context)
        weights.lib.llama_sampler_free(sampler)


def _as_chat(weights: Weights, prompt: str) -> str:
    """Format the prompt by the model's chat template, if it has one."""
    lib = weights.lib
    template = lib.llama_model_chat_template(weights.pointer, None)
    if not template:
        return prompt
    message = lib.llama_chat_message(role=b"user", content=prompt.encode())
    messages = (lib.llama_chat_message * 1)(message)
    room = 2 * len(prompt.encode()) + 1024
    text = ctypes.create_string_buffer(room)
    count = lib.llama_chat_apply_template(template, messages, 1, True, text, room)
    return text.raw[:count].decode("utf-8", "replace") if 0 <= count <= room else prompt


def _sampler(weights: Weights, grammar: str | None) -> Any:
    lib = weights.lib
    chain = lib.llama_sampler_chain_init(lib.llama_sampler_chain_default_params())
    if grammar is not None:
        journal.problem = ""
        rules = lib.llama_sampler_init_grammar(weights.vocab, grammar.encode(), b"root")
        if not rules:
            lib.llama_sampler_free(chain)
            raise ModelFailure(f"The grammar cannot be read: {journal.problem}")
        lib.llama_sampler_chain_add(chain, rules)
    lib.llama_sampler_chain_add(chain, lib.llama_sampler_init_greedy())
    return chain


def _piece(weights: Weights, token: int) -> bytes:
    """Return the bytes of a token."""
    room = ctypes.create_string_buffer(256)
    count = weights.lib.llama_token_to_piece(weights.vocab, token, room, len(room), 0, False)
    return room.raw[: max(count, 0)]
