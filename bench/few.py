"""Small updates: with what makes many files fast, and without it, which takes no time to load.

    python -m bench.few [--rounds 7]

Two thousand documents are generated and indexed; then some of them change, as many as have so many
bytes together, and are indexed either way, in turn. `FEW_BYTES` in qmd/pipeline/compare.py is where
the one begins to take longer than the other.
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
SIZES = (10_000, 50_000, 100_000, 250_000, 500_000, 1_000_000)

LIMITED = """
from qmd.pipeline import compare
compare.FEW_BYTES = compare.FEW_FILES = {limit}
from qmd.__main__ import main
main()
"""


def main() -> None:
    """Print both for each size."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        corpus = work / "corpus"
        alone(generate, corpus, DOCUMENTS)
        files, chance = sorted(corpus.rglob("*.md")), random.Random(7)
        each = sum(file.stat().st_size for file in files) / len(files)
        tools = [
            Tool(way, [sys.executable, "-c", LIMITED.format(limit=limit)], work / way)
            for way, limit in (("plain", 1 << 60), ("numpy", -1))
        ]
        for tool in tools:
            tool.run("collection", "add", str(corpus))
        for size in SIZES:
            count = max(1, round(size / each))
            taken = {tool.name: [] for tool in tools}
            for _ in range(options.rounds):
                change(chance.sample(files, count), chance)
                for way, [cost] in in_turn(tools, lambda tool: tool.run("update")).items():
                    taken[way].append(cost)
            plain, fast = (median(taken[tool.name]) for tool in tools)
            print(
                f"{size:9,} bytes in {count:4} files: plain {plain.cpu:.3f} s CPU, "
                f"{plain.memory:.0f} MB; numpy {fast.cpu:.3f} s CPU, {fast.memory:.0f} MB; "
                f"ratio {plain.cpu / fast.cpu:.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
