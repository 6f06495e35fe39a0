"""Peak memory of commands over one large text file.

    python -m bench.large_file [--megabytes 60] [--code FOLDER] [--json]

The text is generated: words by Zipf's law in lines of about 90 characters, always the same. Each
command is a process of its own. Prints its peak memory, how much of it is more than the same
command takes over a small file, and that as a share of the large file.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

from bench.alone import alone
from bench.indexing import Cost, Tool

WORDS, LINE = 50_000, 14
"""Different words, and words of a line."""

AT_ONCE = 2_000
"""Lines that are drawn at once."""

RARE = "kettlewright"
"""A word that stands in one line, in the middle of the text."""


class Peak(NamedTuple):
    """Memory of a command, in megabytes.

    Attributes:
        small: over a small file.
        large: over the large one.
        cpu: seconds over the large one.
    """

    command: str
    small: float
    large: float
    cpu: float


def lines(megabytes: float) -> Iterator[str]:
    """Yield the lines of a text, some at once."""
    chance = random.Random(2026)
    letters = "abcdefghijklmnoprstuvwy"
    words = ["".join(chance.choices(letters, k=3 + at % 7)) for at in range(WORDS)]
    weights = list(accumulate(1 / (at + 3) for at in range(WORDS)))
    size, wanted, is_told = 0, megabytes * 1e6, False
    while size < wanted:
        drawn = chance.choices(words, cum_weights=weights, k=AT_ONCE * LINE)
        text = "".join(" ".join(drawn[at : at + LINE]) + "\n" for at in range(0, len(drawn), LINE))
        if not is_told and size + len(text) >= wanted / 2:
            text, is_told = f"{text}{RARE} and the words around it\n", True
        size += len(text)
        yield text


def written(path: Path, megabytes: float) -> int:
    """Write a text; return the number of its lines."""
    total = 0
    with path.open("w") as file:
        for text in lines(megabytes):
            total += text.count("\n")
            file.write(text)
    return total


def costs(code: Path, megabytes: float) -> dict[str, Cost]:
    """Run the commands over one file, in a folder of their own.

    Args:
        code: checkout whose `qmd` is run.
    """
    with tempfile.TemporaryDirectory() as work:
        folder = Path(work) / "docs"
        folder.mkdir()
        total, _ = alone(written, folder / "large.txt", megabytes)
        tool = Tool("qmd", [sys.executable, "-P", "-m", "qmd"], Path(work) / "home")
        tool.environ["PYTHONPATH"] = str(code)
        index = tool.run("collection", "add", str(folder), "--name", "docs")
        return {
            "collection add": index,
            f"search {RARE}": tool.run("search", RARE),
            "get of two lines": tool.run("get", f"docs/large.txt:{total // 2}:2"),
            "get of the whole": tool.run("get", "docs/large.txt"),
            "grep": tool.run("grep", RARE),
        }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=float, default=60)
    parser.add_argument("--code", type=Path, default=Path(__file__).parents[1])
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    small, large = (costs(given.code.resolve(), size) for size in (0.01, given.megabytes))
    found = [Peak(name, small[name].memory, cost.memory, cost.cpu) for name, cost in large.items()]
    if given.json:
        print(json.dumps([each._asdict() for each in found], indent=2))
        return
    print(
        f"| over {given.megabytes:g} MB | peak MB | more than over 0.01 MB | of the file | CPU s |"
    )
    print("|---|---|---|---|---|")
    for each in found:
        more = each.large - each.small
        share = more / given.megabytes
        print(f"| {each.command} | {each.large:.0f} | {more:.0f} | {share:.2f} | {each.cpu:.2f} |")


if __name__ == "__main__":
    main()
