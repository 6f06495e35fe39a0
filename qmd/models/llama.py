"""Models that run in this process, by llama.cpp: they embed, judge and write."""

from __future__ import annotations

import ctypes
import math
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qmd.errors import ModelFailure, ModelUnusable, RuntimeMissing, TextTooLong
from qmd.models.base import Between, nothing
from qmd.models.native import (
    NO_POOLING,
    RANK,
    Context,
    Pool,
    Tokens,
    as_pointer,
    journal,
    library,
    processor_flags,
    uses_gpu,
)
from qmd.models.registry import Model, Pooling, check_file

CPU_BUDGET, GPU_BUDGET = 256, 2048
"""Tokens of one forward pass. On a CPU attention is computed over the whole batch, so that a large
one costs more than it saves. Measured for the CPU only: docs/models.md."""

SEQUENCES = 64
"""Texts of one forward pass, at most."""

LARGE = 1_000_000_000
"""Bytes of a model from which on the cores share one context: each has buffers of its own."""

WRITING_CONTEXT, WRITING_BATCH = 4096, 512
"""Tokens of a conversation, and of one forward pass of it."""

POLL = 0.05
"""Seconds between two looks at whether to go on."""

_POOLING: dict[Pooling, int] = {"mean": 1, "cls": 2, "last": 3}  # llama.h, llama_pooling_type

JUDGE = (
    "<|im_start|>system\nJudge whether the Document meets the requirements based on the Query and "
    'the Instruct provided. Note that the answer can only be "yes" or "no".<|im_end|>\n'
    "<|im_start|>user\n<Instruct>: Given a web search query, retrieve relevant passages that "
    "answer the query\n<Query>: {query}\n<Document>: {document}<|im_end|>\n"
    "<|im_start|>assistant\n<think>\n\n</think>\n\n"
)
"""Prompt of a judge whose file brings none. Source: model card of Qwen3-Reranker."""


class Llama:
    """A GGUF file, loaded once: embeds, judges, writes. Safe to share between threads.

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
        check_file(model)
        try:
            lib = self._lib = library()
        except ModuleNotFoundError as error:
            raise RuntimeMissing(model.name) from error
        except (ImportError, OSError, RuntimeError) as error:  # built for another system
            raise RuntimeMissing(model.name, f"cannot be loaded ({error})") from error
        self.model = model
        self._turn = threading.Condition()
        self._users = 0
        self._closed = False
        self._pointer: Any = None
        self._gpu = gpu and uses_gpu()
        parameters = lib.llama_model_default_params()
        parameters.n_gpu_layers = -1 if self._gpu else 0
        parameters.use_extra_bufts = tiles or "amx_tile" not in processor_flags()
        journal.problem = ""
        self._pointer = lib.llama_model_load_from_file(model.uri.encode(), parameters)
        if not self._pointer:
            raise ModelUnusable(model.name, journal.problem or f"{model.uri} cannot be loaded")
        self._vocab = lib.llama_model_get_vocab(self._pointer)
        self._outputs = int(lib.llama_model_n_embd_out(self._pointer))
        positions = int(lib.llama_model_n_ctx_train(self._pointer))
        self.limit = min(positions, model.context or positions, limit or positions)
        cores = _cores()
        small = lib.llama_model_size(self._pointer) < LARGE
        self._workers = 1 if self._gpu else workers or (cores if small else 1)
        self._threads = 1 if self._workers > 1 else cores
        self._budget = GPU_BUDGET if self._gpu else CPU_BUDGET
        self._embedding = Pool(self._embedding_context, self._workers)
        self._judging = Pool(self._judging_context, self._workers)
        self._writing = Pool(self._writing_context, 1)
        self._pooling = self._declared_pooling()

    def close(self) -> None:
        """Give the memory back, once nobody uses it any more; contexts first."""
        with self._turn:
            self._closed = True
            self._turn.wait_for(lambda: not self._users)
        for pool in (self._embedding, self._judging, self._writing):
            pool.close()
        if self._pointer:
            self._lib.llama_model_free(self._pointer)
            self._pointer = None

    @contextmanager
    def _in_use(self) -> Iterator[None]:
        """Keep another thread from giving the memory back meanwhile."""
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
        """The tokens of a text.

        Args:
            special: with those that the model wants around a text.
            markup: whether text such as `<|im_end|>` is a token of its own: not where the text
                is somebody's document.
        """
        data = text.encode("utf-8", "replace")
        room = len(data) + 8
        while True:
            found = np.empty(room, np.int32)
            count = self._lib.llama_tokenize(
                self._vocab, data, len(data), as_pointer(found), room, special, markup
            )
            if count >= 0:
                return found[:count].copy()
            room = -count

    def count(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, with those around it."""
        with self._in_use():
            return [len(self.tokens(text)) for text in texts]

    # -- embedding -------------------------------------------------------------

    @property
    def dimensions(self) -> int:
        """Of its vectors.

        Raises:
            ModelUnusable: it makes none.
        """
        self._check_that_it_embeds()
        return min(self._outputs, self.model.dimensions or self._outputs)

    def embed(self, texts: Sequence[str], *, between: Between = nothing) -> NDArray[np.float32]:
        """A vector of length 1 for each text, in order. See `base.Embedder`."""
        self._check_that_it_embeds()
        if not texts:
            return np.empty((0, self.dimensions), np.float32)
        with self._in_use():
            sequences = [self._checked(self.tokens(text)) for text in texts]
            rows = self._pooled(self._embedding, sequences, between)[:, : self.dimensions]
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        if not np.isfinite(lengths).all() or not lengths.all():
            raise ModelFailure(f"The model {self.model.name} gave a vector without a direction.")
        return np.ascontiguousarray(rows / lengths, np.float32)

    def _check_that_it_embeds(self) -> None:
        if self._pooling in (NO_POOLING, RANK):
            kind = "a reranker" if self._pooling == RANK else "a model that writes"
            raise ModelUnusable(self.model.name, f"it is {kind}, and makes no vectors of texts.")

    def _checked(self, tokens: Tokens) -> Tokens:
        if len(tokens) > self.limit:
            raise TextTooLong(len(tokens), self.limit)
        if len(tokens):
            return tokens
        return np.array([self._lib.llama_vocab_eos(self._vocab)], np.int32)

    def _declared_pooling(self) -> int:
        """How the vectors of tokens become one: as the registry says, else the file."""
        if self.model.pooling is not None:
            return _POOLING[self.model.pooling]
        architecture = self._said("general.architecture") or ""
        said = self._said(f"{architecture}.pooling_type")
        return NO_POOLING if said is None else int(said)

    def _said(self, key: str) -> str | None:
        """What the file says of itself."""
        room = ctypes.create_string_buffer(1 << 14)
        count = self._lib.llama_model_meta_val_str(self._pointer, key.encode(), room, len(room))
        return room.value.decode("utf-8", "replace") if count >= 0 else None

    def _embedding_context(self) -> Context:
        return self._context(self._pooling, max(self._budget, self.limit), SEQUENCES)

    def _context(self, pooling: int, tokens: int, sequences: int) -> Context:
        """A context whose passes take whole sequences."""
        lib = self._lib
        parameters = lib.llama_context_default_params()
        room = -(-tokens // sequences) * sequences
        parameters.n_ctx = parameters.n_batch = parameters.n_ubatch = room
        parameters.n_seq_max = sequences
        parameters.n_threads = parameters.n_threads_batch = self._threads
        parameters.embeddings = True
        parameters.pooling_type = pooling
        parameters.flash_attn_type = (
            lib.LLAMA_FLASH_ATTN_TYPE_AUTO if self._gpu else lib.LLAMA_FLASH_ATTN_TYPE_ENABLED
        )
        parameters.kv_unified = True
        parameters.no_perf = True
        return self._made(parameters)

    def _made(self, parameters: Any) -> Context:
        journal.problem = ""
        pointer = self._lib.llama_init_from_model(self._pointer, parameters)
        if not pointer:
            raise ModelUnusable(
                self.model.name, journal.problem or "it gives no context to run it in."
            )
        outputs = (
            self._lib.llama_model_n_cls_out(self._pointer)
            if parameters.pooling_type == RANK
            else self._lib.llama_model_n_embd_out(self._pointer)
        )
        return Context(self._lib, pointer, parameters.n_batch, parameters.n_seq_max, outputs)

    def _pooled(
        self, pool: Pool, sequences: Sequence[Tokens], between: Between
    ) -> NDArray[np.float32]:
        """What the model makes of each sequence, in order: several at once, on all workers."""
        first = pool.take()
        rows = np.empty((len(sequences), first.outputs), np.float32)
        pool.give(first)

        def run(batch: list[int]) -> None:
            context = pool.take()
            try:
                rows[batch] = context.pooled([sequences[number] for number in batch])
            finally:
                pool.give(context)

        batches = _packed([len(sequence) for sequence in sequences], self._budget)
        if self._workers == 1 or len(batches) == 1:
            for batch in batches:
                between()
                run(batch)
        else:
            _spread(run, batches, self._workers, between)
        return rows

    # -- judging ---------------------------------------------------------------

    def score(
        self, query: str, passages: Sequence[str], *, between: Between = nothing
    ) -> list[float]:
        """0 to 1 for each passage, in order. See `base.Reranker`.

        A reranker is one of three kinds: a cross-encoder with one output, whose sigmoid is the
        score; a judge with outputs named yes and no; a model that writes, whose next token is
        compared with yes and no.
        """
        if not passages:
            return []
        with self._in_use():
            prompts = [self._judged(query, passage) for passage in passages]
            if self._pooling != RANK:
                return self._asked(prompts, between)
            rows = self._pooled(self._judging, prompts, between)
            outputs = range(rows.shape[1])
            labels = [self._lib.llama_model_cls_label(self._pointer, i) for i in outputs]
        if not np.isfinite(rows).all():
            raise ModelFailure(f"The model {self.model.name} gave a score that is no number.")
        if len(labels) == 1:
            return [_sigmoid(float(row[0])) for row in rows]
        if b"yes" not in labels:
            raise ModelUnusable(self.model.name, "its outputs are not named yes and no.")
        return [float(value) for value in rows[:, labels.index(b"yes")]]

    def _judging_context(self) -> Context:
        return self._context(RANK, max(self._budget, self._judged_limit), SEQUENCES)

    @property
    def _judged_limit(self) -> int:
        return min(self.limit, 2048)

    def _judged(self, query: str, passage: str) -> Tokens:
        """A query and a passage as one sequence; the passage is cut where it has to be."""
        lib = self._lib
        template = self._said("tokenizer.chat_template.rerank")
        if template is None and self._pooling != RANK:
            template = JUDGE
        words = self.tokens(passage, special=False)
        if template is None:
            bos = self._marks(lib.llama_vocab_bos, lib.llama_vocab_get_add_bos)
            sep = [lib.llama_vocab_sep(self._vocab)]
            sep = sep if sep[0] >= 0 else [lib.llama_vocab_eos(self._vocab)]
            head = [*bos, *self.tokens(query, special=False), *sep]
            tail = sep
        else:
            before, _, rest = template.partition("{query}")
            middle, _, after = rest.partition("{document}")
            head = [
                *self.tokens(before, markup=True),
                *self.tokens(query, special=False),
                *self.tokens(middle, special=False, markup=True),
            ]
            tail = list(self.tokens(after, special=False, markup=True))
        room = self._judged_limit - len(head) - len(tail)
        if room < 1:
            raise TextTooLong(len(head) + len(tail) + 1, self._judged_limit)
        return np.array([*head, *words[:room], *tail], np.int32)

    def _marks(self, mark: Callable[[Any], int], wanted: Callable[[Any], bool]) -> list[int]:
        return [mark(self._vocab)] if wanted(self._vocab) else []

    def _asked(self, prompts: Sequence[Tokens], between: Between) -> list[float]:
        """How much more likely than no a model that writes finds yes.

        What all prompts begin with, the task and the query, is read once.
        """
        yes, no = (int(self.tokens(word, special=False)[0]) for word in ("yes", "no"))
        shared = _shared(prompts)
        context = self._writing.take()
        try:
            context.forget()
            if shared:
                context.read(prompts[0][:shared], between)
            scores = []
            for prompt in prompts:
                context.rewind(shared)
                logits = context.read(prompt[shared:], between)
                scores.append(_sigmoid(float(logits[yes] - logits[no])))
            return scores
        finally:
            self._writing.give(context)

    # -- writing ---------------------------------------------------------------

    def generate(
        self,
        prompt: str,
        *,
        grammar: str | None = None,
        tokens: int = 256,
        between: Between = nothing,
    ) -> str:
        """What follows the prompt, the likeliest token each time. See `base.Generator`."""
        with self._in_use():
            asked = self.tokens(self._as_chat(prompt), markup=True)
            room = min(WRITING_CONTEXT, self.limit)
            if len(asked) >= room:
                raise TextTooLong(len(asked), room - 1)
            sampler = self._sampler(grammar)
            context = self._writing.take()
            try:
                context.forget()
                context.read(asked, between)
                written = b""
                for _ in range(min(tokens, room - len(asked))):
                    token = context.sample(sampler)
                    if self._lib.llama_vocab_is_eog(self._vocab, token):
                        break
                    written += self._piece(token)
                    context.read(np.array([token], np.int32), between)
                return written.decode("utf-8", "replace")
            finally:
                self._writing.give(context)
                self._lib.llama_sampler_free(sampler)

    def _as_chat(self, prompt: str) -> str:
        """The prompt in the model's own chat format; as it is, if it has none."""
        lib = self._lib
        template = lib.llama_model_chat_template(self._pointer, None)
        if not template:
            return prompt
        message = lib.llama_chat_message(role=b"user", content=prompt.encode())
        messages = (lib.llama_chat_message * 1)(message)
        room = 2 * len(prompt.encode()) + 1024
        text = ctypes.create_string_buffer(room)
        count = lib.llama_chat_apply_template(template, messages, 1, True, text, room)
        return text.raw[:count].decode("utf-8", "replace") if 0 <= count <= room else prompt

    def _sampler(self, grammar: str | None) -> Any:
        lib = self._lib
        chain = lib.llama_sampler_chain_init(lib.llama_sampler_chain_default_params())
        if grammar is not None:
            journal.problem = ""
            rules = lib.llama_sampler_init_grammar(self._vocab, grammar.encode(), b"root")
            if not rules:
                lib.llama_sampler_free(chain)
                raise ModelFailure(f"The grammar cannot be read: {journal.problem}")
            lib.llama_sampler_chain_add(chain, rules)
        lib.llama_sampler_chain_add(chain, lib.llama_sampler_init_greedy())
        return chain

    def _piece(self, token: int) -> bytes:
        """The bytes that a token stands for."""
        room = ctypes.create_string_buffer(256)
        count = self._lib.llama_token_to_piece(self._vocab, token, room, len(room), 0, False)
        return room.raw[: max(count, 0)]

    def _writing_context(self) -> Context:
        parameters = self._lib.llama_context_default_params()
        parameters.n_ctx = min(WRITING_CONTEXT, self.limit)
        parameters.n_batch = parameters.n_ubatch = min(WRITING_BATCH, parameters.n_ctx)
        parameters.n_seq_max = 1
        parameters.n_threads = parameters.n_threads_batch = self._threads
        parameters.no_perf = True
        return self._made(parameters)


def _packed(lengths: Sequence[int], budget: int) -> list[list[int]]:
    """Numbers of texts, in batches of at most `budget` tokens: the longest first.

    A text of more tokens is a batch of its own.
    """
    batches: list[list[int]] = []
    size = budget + 1
    for number in sorted(range(len(lengths)), key=lambda n: -lengths[n]):
        if size + lengths[number] > budget or len(batches[-1]) >= SEQUENCES:
            batches.append([])
            size = 0
        batches[-1].append(number)
        size += lengths[number]
    return batches


def _spread(
    run: Callable[[list[int]], None], batches: list[list[int]], workers: int, between: Between
) -> None:
    """Run each batch, several at once; looks between whether to go on."""
    waiting: Iterator[list[int]] = iter(batches)
    with ThreadPoolExecutor(workers, thread_name_prefix="qmd-model") as pool:
        running = {pool.submit(run, batch) for batch in islice(waiting, workers)}
        while running:
            done, running = wait(running, POLL, return_when="FIRST_COMPLETED")
            between()
            for future in done:
                future.result()
                if (batch := next(waiting, None)) is not None:
                    running.add(pool.submit(run, batch))


def _shared(prompts: Sequence[Tokens]) -> int:
    """Tokens that all prompts begin with; fewer than the shortest has."""
    least = min(len(prompt) for prompt in prompts) - 1
    same = np.ones(least, bool)
    for prompt in prompts[1:]:
        same &= prompt[:least] == prompts[0][:least]
    return int(same.argmin()) if not same.all() else least


def _sigmoid(value: float) -> float:
    return 1 / (1 + math.exp(-value)) if value > -700 else 0.0


def _cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
