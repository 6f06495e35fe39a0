"""Updates with the compiled modules and in plain Python.

    python -m bench.compiled [--rounds 3]

Two thousand documents are generated and indexed; then some of them change, as many as have so many
bytes together, and are indexed either way, in turn.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from pathlib import Path

from bench.alone import alone
from bench.corpora import generate
from bench.indexing import Tool, change, in_turn, median

DOCUMENTS = 2_000
SIZES = (10_000, 100_000, 1_000_000)

WITH = "from qmd.__main__ import main; main()"
WITHOUT = f"""
from qmd.ingest import outlines, inversion as tokens
tokens.Words = outlines._compiled = None
{WITH}
"""


def main() -> None:
    """Print both for each size, and for all documents."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        corpus = work / "corpus"
        alone(generate, corpus, DOCUMENTS)
        files, chance = sorted(corpus.rglob("*.md")), random.Random(7)
        whole = sum(file.stat().st_size for file in files)
        tools = [
            Tool(way, [sys.executable, "-c", program], work / way)
            for way, program in (("compiled", WITH), ("plain", WITHOUT))
        ]
        report(
            f"{whole:9,} bytes in {len(files):4} files, new",
            [in_turn(tools, lambda tool: tool.run("collection", "add", str(corpus)))],
        )
        for size in SIZES:
            count = max(1, round(size * len(files) / whole))
            taken = []
            for _ in range(options.rounds):
                change(chance.sample(files, count), chance)
                taken.append(in_turn(tools, lambda tool: tool.run("update")))
            report(f"{size:9,} bytes in {count:4} files, changed", taken)


def report(what: str, taken: list[dict]) -> None:
    """Print the medians of some rounds."""
    compiled, plain = (
        median([cost for each in taken for cost in each[way]]) for way in ("compiled", "plain")
    )
    print(
        f"{what}: compiled {compiled.cpu:.3f} s CPU, {compiled.memory:.0f} MB; "
        f"plain {plain.cpu:.3f} s CPU, {plain.memory:.0f} MB; {compiled.cpu / plain.cpu:.2f}",
        flush=True,
    )


if __name__ == "__main__":
    main()
