"""Cut all Markdown and code of a folder into pieces, in one process and one thread.

    python -m bench.chunking FOLDER [--rounds N]

Prints megabytes of UTF-8 a second, best of the rounds: cut by characters, each of what that needs
alone, cut by tokens with a counter that costs next to nothing, and the syntax of code. Last, how
much the counter is given for each character of text.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path, PurePath

from qmd.embedding import chunker, code_chunker

MARKDOWN = (".md", ".mdx", ".markdown", ".txt")


class Counter:
    """A token for every four characters.

    Attributes:
        seen: characters counted.
    """

    def __init__(self) -> None:
        self.seen = 0

    def __call__(self, texts: Sequence[str]) -> list[int]:
        self.seen += sum(map(len, texts))
        return [len(text) // 4 + 1 for text in texts]


def read(folder: Path, wanted: Callable[[str], bool]) -> dict[str, str]:
    """Read the files of a folder whose name is wanted."""
    files = sorted(file for file in folder.rglob("*") if file.is_file() and wanted(file.name))
    return {str(file): file.read_text("utf-8", "replace") for file in files}


def rate(texts: Iterable[str], rounds: int, work: Callable[[str], object]) -> float:
    """Megabytes a second, best of the rounds."""
    texts = list(texts)
    size = sum(len(text.encode()) for text in texts)
    best = float("inf")
    for _ in range(rounds):
        began = time.perf_counter()
        for text in texts:
            work(text)
        best = min(best, time.perf_counter() - began)
    return size / best / 1e6


def main() -> None:
    """Measure each part on the same texts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    texts = read(options.folder, lambda name: name.endswith(MARKDOWN))
    size = sum(map(len, texts.values()))
    print(f"{len(texts)} texts, {size / 1e6:.1f} million characters")
    if texts:
        counter = Counter()

        def by_tokens(text: str) -> object:
            return chunker.token_chunks(text, counter)

        for name, work in {
            "chunks": chunker.chunks,
            "fences": chunker.fences,
            "breaks of whole texts": chunker.breaks,
            "token_chunks": by_tokens,
        }.items():
            print(f"{name}: {rate(texts.values(), options.rounds, work):.1f} MB/s", flush=True)
        one = "\n".join(texts.values())
        print(f"chunks, all in one text: {rate([one], options.rounds, chunker.chunks):.1f} MB/s")
        print(f"counted: {counter.seen / options.rounds / size:.2f} times")
    programs = defaultdict[str, list[str]](list)
    for path, text in read(
        options.folder, lambda name: bool(code_chunker.grammar_of(name))
    ).items():
        programs[PurePath(path).suffix].append(text)
    for suffix, found in sorted(programs.items()):

        def parse(text: str, path: str = f"x{suffix}") -> object:
            return code_chunker.syntax_breaks(text, path)

        speed = rate(found, options.rounds, parse)
        print(f"syntax of {len(found)} {suffix}: {speed:.1f} MB/s", flush=True)


if __name__ == "__main__":
    main()
