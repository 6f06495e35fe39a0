"""C bindings of llama.cpp; the only module that imports llama-cpp-python.

The bindings are used rather than the package's `Llama` class: that class redirects stdout while it
loads, drops the last separator of a text that was cut, and switches flash attention off.

llama.cpp ends the whole process where other libraries raise: for a batch of more tokens than its
context, a text of more tokens than the model has positions, a batch size that is not a multiple of
the number of sequences. The calling modules check their input for these cases.
"""

from __future__ import annotations

import ctypes
import logging
import os
import platform
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qmd.errors import ModelFailure
from qmd.models.protocols import Between
from qmd.models.registry import Model

Tokens = NDArray[np.int32]

UNSPECIFIED, NO_POOLING, RANK = -1, 0, 4  # llama.h, llama_pooling_type

_LEVELS = {1: logging.DEBUG, 2: logging.INFO, 3: logging.WARNING, 4: logging.ERROR}
_CONTINUED = 5  # ggml.h, ggml_log_level

_log = logging.getLogger("qmd.llama")
_log.addHandler(logging.NullHandler())  # errors carry the relevant message


class Journal:
    """Log of llama.cpp, with the first error kept as the reason for a message."""

    def __init__(self) -> None:
        self.problem = ""
        self._level = logging.DEBUG

    def write(self, level: int, text: bytes, _: object) -> None:
        """Log a line of llama.cpp, and keep the first error."""
        if level != _CONTINUED:
            self._level = _LEVELS.get(level, logging.DEBUG)
        line = text.decode("utf-8", "replace").strip()
        if line and self._level >= logging.ERROR:
            self.problem = self.problem or line
        if line and _log.isEnabledFor(self._level):
            _log.log(self._level, "%s", line)


journal = Journal()


@cache
def library() -> Any:
    """Load and configure the C bindings.

    Raises:
        ModuleNotFoundError: the package is not installed.
    """
    # Its threads wait for one another by spinning: on a busy machine that takes ten times as
    # long as sleeping. It is read when the library is loaded.
    os.environ.setdefault("GOMP_SPINCOUNT", "2000")
    # Else an abort starts a debugger that prints on stdout, which may be a protocol.
    os.environ.setdefault("GGML_NO_BACKTRACE", "1")
    from llama_cpp import llama_cpp

    callback = llama_cpp.llama_log_callback(journal.write)
    llama_cpp.llama_log_set(callback, ctypes.c_void_p(0))
    llama_cpp.qmd_log_callback = callback  # type: ignore[attr-defined]  # must outlive the library
    llama_cpp.llama_backend_init()
    return llama_cpp


def uses_gpu() -> bool:
    """Check that the library was built for a GPU."""
    return bool(library().llama_supports_gpu_offload())


class InferenceContext:
    """Inference context, for one thread at a time."""

    def __init__(self, lib: Any, pointer: Any, tokens: int, sequences: int, outputs: int) -> None:
        self.outputs = outputs
        self._lib = lib
        self._pointer = pointer
        self._memory = lib.llama_get_memory(pointer)
        self._room = tokens
        self._sequences = sequences
        self._read = 0
        # llama_batch is a record of pointers into these.
        self._token = np.zeros(tokens, np.int32)
        self._position = np.zeros(tokens, np.int32)
        self._one = np.ones(tokens, np.int32)
        self._number = np.arange(sequences, dtype=np.int32)
        self._sequence = np.zeros(tokens + 1, np.uint64)
        self._wanted = np.ones(tokens, np.int8)
        self._batch = lib.llama_batch(
            0,
            as_pointer(self._token),
            None,
            as_pointer(self._position),
            as_pointer(self._one),
            self._sequence.ctypes.data_as(ctypes.POINTER(ctypes.POINTER(ctypes.c_int32))),
            self._wanted.ctypes.data_as(ctypes.POINTER(ctypes.c_int8)),
        )

    def pooled(self, sequences: Sequence[Tokens]) -> NDArray[np.float32]:
        """Run one forward pass and return a row of outputs for each sequence."""
        lib = self._lib
        at = 0
        assert len(sequences) <= self._sequences
        assert sum(map(len, sequences)) <= self._room
        for number, tokens in enumerate(sequences):
            end = at + len(tokens)
            self._token[at:end] = tokens
            self._position[at:end] = np.arange(len(tokens))
            self._sequence[at:end] = self._number[number:].ctypes.data
            at = end
        self._wanted[:at] = 1
        self._batch.n_tokens = at
        if self._memory:
            lib.llama_memory_clear(self._memory, False)
            code = lib.llama_decode(self._pointer, self._batch)
        else:
            code = lib.llama_encode(self._pointer, self._batch)
        check_code(code)
        rows = np.empty((len(sequences), self.outputs), np.float32)
        for number in range(len(sequences)):
            row = lib.llama_get_embeddings_seq(self._pointer, number)
            if not row:
                raise ModelFailure("The model gave no vector for a text.")
            rows[number] = np.ctypeslib.as_array(row, (self.outputs,))
        return rows

    def forget(self) -> None:
        """Clear the context for a new text."""
        self._lib.llama_memory_clear(self._memory, False)
        self._read = 0

    def rewind(self, tokens: int) -> None:
        """Drop all tokens after the first `tokens`."""
        if tokens < self._read:
            self._lib.llama_memory_seq_rm(self._memory, 0, tokens, -1)
            self._read = tokens

    def read(self, tokens: Tokens, between: Between) -> NDArray[np.float32]:
        """Read further tokens.

        Returns:
            The logit of each token of the vocabulary to be the next: a view, good until the
            next pass.
        """
        lib = self._lib
        for start in range(0, len(tokens), self._room):
            between()
            part = tokens[start : start + self._room]
            count = len(part)
            self._token[:count] = part
            self._position[:count] = np.arange(self._read, self._read + count)
            self._sequence[:count] = self._number.ctypes.data
            self._wanted[:count] = 0
            self._wanted[count - 1] = 1
            self._batch.n_tokens = count
            check_code(lib.llama_decode(self._pointer, self._batch))
            self._read += count
        vocabulary = lib.llama_vocab_n_tokens(
            lib.llama_model_get_vocab(lib.llama_get_model(self._pointer))
        )
        return np.ctypeslib.as_array(lib.llama_get_logits_ith(self._pointer, -1), (vocabulary,))

    def sample(self, sampler: Any) -> int:
        """Sample the next token."""
        return int(self._lib.llama_sampler_sample(sampler, self._pointer, -1))

    def close(self) -> None:
        """Release the memory."""
        self._lib.llama_free(self._pointer)


class Pool:
    """Pool of contexts, each made on demand and used by one thread at a time."""

    def __init__(self, make: Callable[[], InferenceContext], most: int) -> None:
        self._make = make
        self._free = threading.Semaphore(most)
        self._turn = threading.Lock()
        self._idle: list[InferenceContext] = []

    def take(self) -> InferenceContext:
        """Take a free context, or wait for one."""
        self._free.acquire()
        try:
            with self._turn:
                return self._idle.pop() if self._idle else self._make()
        except BaseException:
            self._free.release()
            raise

    def give(self, context: InferenceContext) -> None:
        """Return a context to the pool."""
        with self._turn:
            self._idle.append(context)
        self._free.release()

    def close(self) -> None:
        """Release the memory of all contexts."""
        with self._turn:
            for context in self._idle:
                context.close()
            self._idle.clear()


TRIAL = """
import sys
from qmd.models import llama, registry
role, uri = sys.argv[1:]
model = llama.Llama(registry.Model("trial", role, uri), limit=512, workers=1, tiles=True)
{
    "embed": lambda: model.embed(["tea"]),
    "rerank": lambda: model.score("tea", ["tea"]),
    "generate": lambda: model.generate("tea", tokens=1),
}[role]()
"""


def tiles_work(notes: Path, model: Model) -> bool:
    """Check that weights may be laid out for the processor's matrix tiles (AMX).

    They more than double the speed of 8-bit models, but a tile instruction ends the process if
    the library was compiled by GCC up to 12 without our flags (ggml-org/llama.cpp, pull request
    26954), or if the system does not let it. So it is tried once, in a process of its own.

    Args:
        notes: folder in which the outcome is kept for the next time.
        model: to try it with; its `uri` is a path.
    """
    if "amx_tile" not in processor_flags():
        return False
    try:
        info = (Path(library().__file__).parent / "lib" / "libggml-cpu.so").stat()
    except OSError:
        return False
    kept = notes / f"tiles-{info.st_size}-{info.st_mtime_ns}-{platform.release()}"
    if not kept.exists():
        import subprocess
        import sys

        outcome = subprocess.run(
            [sys.executable, "-c", TRIAL, model.role, model.uri],
            check=False,
            capture_output=True,
            stdin=subprocess.DEVNULL,
        )
        with suppress(OSError):  # where nothing can be kept, it is tried each time
            notes.mkdir(mode=0o700, parents=True, exist_ok=True)
            for old in notes.glob("tiles-*"):
                old.unlink(missing_ok=True)
            kept.write_text("yes" if outcome.returncode == 0 else "no")
        return outcome.returncode == 0
    return kept.read_text() == "yes"


def processor_flags() -> frozenset[str]:
    """Read the processor's feature flags; empty where the system does not tell."""
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return frozenset()
    return frozenset(text.partition("flags")[2].partition("\n")[0].split())


def check_code(code: int) -> None:
    """Raise an error for a return code of llama.cpp other than 0."""
    if code:
        problem, journal.problem = journal.problem, ""
        raise ModelFailure(
            f"The model stopped with code {code}: {problem or 'no reason was given'}"
        )


def as_pointer(array: NDArray[np.int32]) -> Any:
    """Return the address of an array for C."""
    return array.ctypes.data_as(ctypes.POINTER(ctypes.c_int32))
