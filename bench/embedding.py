"""Embedding of a folder of Markdown, beside another tool and the limit of the processor.

    python -m bench.embedding FOLDER [--peer COMMAND] [--files N]

Both tools embed the same files with the same model on the CPU: qmd with the form that it carries,
the peer with the same weights as a GGUF file. Then onnxruntime alone makes the vectors of the same
chunks, on as many threads: what part of its rate is left of it is printed, in seconds and in
processor time. So is what part is reached of the largest matrix products that numpy's library
makes in 32 bits on all cores, divided by the operations that a BERT of this size needs for a
token: two for each weight of its layers, and those of the attention to a chunk's other tokens.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.alone import alone
from bench.indexing import Cost, Tool, in_turn, tools_in

LAYERS, WIDTH, INNER = 6, 384, 1536
"""Of all-MiniLM-L6-v2."""

ROOT = Path(__file__).parents[1]

PRODUCT = """
import time, numpy as np
rows = 2048
a, b = np.ones((rows, rows), np.float32), np.ones((rows, rows), np.float32)
a @ b
began = time.perf_counter()
for _ in range(12): a @ b
print(12 * 2 * rows**3 / (time.perf_counter() - began))
"""


def limit(tokens_per_chunk: float) -> float:
    """Tokens a second, if all was one large matrix product."""
    environ = {name: value for name, value in os.environ.items() if "NUM_THREADS" not in name}
    printed = subprocess.run(
        [sys.executable, "-c", PRODUCT], env=environ, capture_output=True, text=True, check=True
    )
    weights = LAYERS * (4 * WIDTH * WIDTH + 2 * WIDTH * INNER)
    attention = LAYERS * 2 * 2 * WIDTH * tokens_per_chunk
    return float(printed.stdout) / (2 * weights + attention)


def _write_model(file: Path) -> None:
    from bench import same_model  # what it needs takes more memory than most of what is measured

    same_model.write(file)


def prepared(
    tools: list[Tool],
    folder: Path,
    work: Path,
    *,
    files: int,
    longest: int = 1 << 30,
) -> int:
    """Index some files of a folder with all tools, which then use the same model on the CPU.

    Args:
        work: a folder to make, with the files in it.
        longest: bytes of a file.

    Returns:
        Bytes of all the files.
    """
    good = [file for file in sorted(folder.rglob("*.md")) if 200 < file.stat().st_size <= longest]
    work.mkdir()
    for number, file in enumerate(random.Random(3).sample(good, min(len(good), files))):
        shutil.copy(file, work / f"{number}-{file.name}")
    for tool in tools:
        model = "minilm"
        if tool.name == "peer":
            file = work.parent / "minilm.gguf"
            alone(_write_model, file)
            model = str(file)
        tool.environ |= {"QMD_EMBED_MODEL": model, "QMD_FORCE_CPU": "1"}
        # The peer's chunks can have 900 tokens and are cut to the context: with all of the model's
        # 512 positions, separators included, it runs over them and ends.
        tool.environ["QMD_EMBED_CONTEXT_SIZE"] = "480"
        tool.run("collection", "add", str(work), "--name", "docs")
    return sum(file.stat().st_size for file in work.iterdir())


def both_embed(tools: list[Tool], rounds: int = 1) -> dict[str, list[Cost]]:
    """Measure each tool on the embedding of all that it has indexed, in turn."""
    return in_turn(tools, lambda tool: tool.run("embed", "-f"), rounds)


def main() -> None:
    """Run both tools on the same files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--peer", help="command of tobi/qmd")
    parser.add_argument("--files", type=int, default=25)
    parser.add_argument("--longest", type=int, default=1 << 30, help="bytes of a file")
    parser.add_argument("--rounds", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        tools = tools_in(Path(name), shlex.split(options.peer or ""))
        size = prepared(
            tools,
            options.folder,
            Path(name, "docs"),
            files=options.files,
            longest=options.longest,
        )
        print(f"{size / 1000:.0f} kB", flush=True)
        rates = {}
        for tool, costs in both_embed(tools, options.rounds).items():
            rates[tool] = size / min(cost.wall for cost in costs)
            for cost in costs:
                print(
                    f"{tool:5} {cost.wall:6.1f} s, {cost.cpu:6.1f} s CPU, "
                    f"{cost.memory:4.0f} MB, {size / cost.wall / 1000:6.2f} kB/s"
                )
        if options.peer:
            print(f"ratio of bytes a second: {rates['qmd'] / rates['peer']:.2f}")
        report = json.loads(_printed(tools[0], "embed", "-f", "--json"))
        most = limit(report["tokens"] / report["chunks"])
        rate = report["tokens"] / report["seconds"]
        print(
            f"{rate:.0f} tokens/s in chunks of {report['tokens'] / report['chunks']:.0f}; "
            f"{rate / most:.0%} of the limit of {most:.0f} in 32 bits"
        )
        ours = both_embed(tools[:1])["qmd"][0]
        wall, cpu = map(float, _printed(tools[0], module="bench.alone_embedding").split())
        print(
            f"{wall / ours.wall:.0%} of the rate of onnxruntime alone; "
            f"{cpu / ours.cpu:.0%} for a second of processor time"
        )


def _printed(tool: Tool, *arguments: str, module: str = "qmd") -> str:
    return subprocess.run(
        [sys.executable, "-m", module, *arguments],
        env=tool.environ,
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    ).stdout


if __name__ == "__main__":
    began = time.monotonic()
    main()
    print(f"{time.monotonic() - began:.0f} s in all")
