"""GPUs that onnxruntime was built for, and whether one is worth using."""

from __future__ import annotations

import platform
import time
from contextlib import suppress
from pathlib import Path

from qmd import processes
from qmd.models import encoder
from qmd.models.registry import MINILM

PROVIDERS = ("CUDAExecutionProvider", "DmlExecutionProvider", "CoreMLExecutionProvider")
"""What onnxruntime may have been built for besides the processor, the fastest first."""

TEXTS, TOKENS = 64, 128
"""Of the trial: about what stands between two commits of `qmd embed`."""

CLOSE = 0.98
"""Cosine of two vectors of one text that still count as equal: only the processor rounds."""

PATIENCE = 60
"""Seconds of the trial at most."""

TRIAL = """
import sys
from qmd.models import devices
sys.exit(not devices.pays(sys.argv[1]))
"""


def worthwhile(notes: Path) -> str | None:
    """Name the provider of a GPU that is faster than the processor, or none.

    Each is tried once, in a process of its own, which a driver may end.

    Args:
        notes: folder in which the outcome is kept for the next time.
    """
    library = encoder.load_onnxruntime()
    available = library.get_available_providers()
    for provider in PROVIDERS:
        if provider in available:
            version = f"{library.__version__}-{platform.release()}"
            if _tried(provider, notes / f"gpu-{provider}-{version}"):
                return provider
    return None


def _tried(provider: str, kept: Path) -> bool:
    with suppress(OSError):
        return kept.read_text(encoding="utf-8") == "yes"
    import subprocess
    import sys

    try:
        trial = subprocess.run(
            [sys.executable, "-c", TRIAL, provider],
            check=False,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=PATIENCE,
        )
        works = trial.returncode == 0
    except subprocess.TimeoutExpired:
        works = False
    with suppress(OSError):  # where nothing can be kept, it is tried each time
        kept.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        for old in kept.parent.glob(f"gpu-{provider}-*"):
            old.unlink(missing_ok=True)
        kept.write_text("yes" if works else "no", encoding="utf-8")
    return works


def pays(provider: str) -> bool:
    """Check that a provider computes the same vectors as the processor, and faster."""
    import numpy as np

    texts = [
        np.arange(1000 + start, 1000 + start + TOKENS, dtype=np.int32) for start in range(TEXTS)
    ]
    device, processor = encoder.Graph(MINILM, provider), encoder.Graph(MINILM)
    few = texts[: max(1, encoder.BUDGET // TOKENS)]
    if ((device.vectors(few) * processor.vectors(few)).sum(axis=1) < CLOSE).any():
        return False
    device.vectors(texts)
    began = time.perf_counter()
    device.vectors(texts)
    theirs = time.perf_counter() - began
    began = time.perf_counter()
    processor.vectors(few)
    ours = (time.perf_counter() - began) * len(texts) / len(few) / processes.cores()
    return theirs < ours
