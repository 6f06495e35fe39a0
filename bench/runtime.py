"""The embedded model beside llama.cpp with the same weights, and beside onnxruntime alone.

    python -m bench.runtime FOLDER [--rounds N]

Prints, for texts of several lengths cut from the Markdown of FOLDER, tokens for a second of
processor time and for a second: of llama.cpp (Q8_0), of qmd, and of the bare graph that is handed
one text after another. Tokens are counted once, and qmd's time has their counting in it. All take
turns in one run.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from bench import same_model
from qmd.models.encoder import Encoder, Graph
from qmd.models.llama import Llama
from qmd.models.registry import MINILM, Model

LENGTHS = (50, 200, 250)
"""Tokens of a text, about."""

TOKENS = 8_000
"""Of all texts of a length."""

LETTERS = 3.0
"""Of a token, at least: texts are cut shorter than the model takes."""


def main() -> None:
    """Measure, and print a line for each length."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    prose = "\n".join(
        file.read_text(encoding="utf-8", errors="replace")
        for file in sorted(options.folder.rglob("*.md"))
    )
    with tempfile.TemporaryDirectory() as name:
        file = Path(name, "minilm.gguf")
        same_model.write(file)
        llama = Llama(Model("gguf", "embed", str(file), context=MINILM.context))
        qmd, graph = Encoder(), Graph(MINILM)
        for length in LENGTHS:
            texts = cut(prose, length, qmd)
            counted = qmd.count(texts)
            sequences = [np.array(qmd.pieces.tokens(text), np.int32) for text in texts]
            ways: dict[str, Callable[[], object]] = {
                "llama.cpp": lambda texts=texts: llama.embed(texts),
                "qmd": lambda texts=texts: qmd.embed(texts),
                "graph": lambda given=sequences: [graph.vectors([each]) for each in given],
            }
            rates = measured(ways, sum(counted), options.rounds)
            per_text = sum(counted) / len(counted)
            shown = ", ".join(
                f"{way} {cpu:,.0f} ({wall:,.0f})" for way, (cpu, wall) in rates.items()
            )
            print(
                f"{per_text:3.0f} tokens a text; tokens/s of CPU (of time): {shown}; "
                f"{rates['qmd'][0] / rates['llama.cpp'][0]:.1f} × llama.cpp, "
                f"{rates['qmd'][0] / rates['graph'][0]:.0%} of the graph",
                flush=True,
            )


def cut(prose: str, length: int, encoder: Encoder) -> list[str]:
    """Cut texts of about so many tokens out of prose, as many as are measured."""
    size = int(length * LETTERS)
    texts = (prose[at : at + size] for at in range(0, len(prose), size))
    fit = [text for text in texts if text.strip() and encoder.count([text])[0] <= encoder.limit]
    return fit[: max(1, TOKENS // length)]


def measured(
    ways: dict[str, Callable[[], object]], tokens: int, rounds: int
) -> dict[str, tuple[float, float]]:
    """Measure tokens for a second of processor time, and for a second, of each way: medians."""
    taken: dict[str, list[tuple[float, float]]] = {way: [] for way in ways}
    for _ in range(rounds):
        for way, work in ways.items():
            cpu, wall = time.process_time(), time.perf_counter()
            work()
            taken[way].append((time.process_time() - cpu, time.perf_counter() - wall))
    return {
        way: (
            tokens / statistics.median(cpu for cpu, _ in times),
            tokens / statistics.median(wall for _, wall in times),
        )
        for way, times in taken.items()
    }


if __name__ == "__main__":
    main()
