"""Cost of each operation as the index grows: 1,000 documents to a million.

    python -m bench.growth [--sizes 1000,10000] [--million] [--json]

Documents are generated: about 200 words each, by Zipf's law, always the same. Every command is a
process of its own; warm searches are asked of one that stays, through the library. The exponent is
the slope of a line through the logarithms of sizes and times, by least squares: 0 is a time that
does not grow, 1 one that grows with the documents.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

from bench.alone import alone
from bench.corpora import COMMON, RARE, generate, searches
from bench.indexing import Cost, Tool, change, median, tools_in, warm

SIZES = (1_000, 10_000, 100_000)
QUICK = (500, 1_000, 3_000)
MILLION = 1_000_000

CHANGED = 100
"""Files that change before an update."""

ROUNDS = 3
"""Of each command that takes little; the median counts."""


class Figure(NamedTuple):
    """Cost of an operation at one size.

    Attributes:
        memory: megabytes of the process at most.
        cpu: seconds; None where it was not measured alone.
    """

    seconds: float
    memory: float
    cpu: float | None = None


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation at all sizes."""

    name: str
    figures: tuple[Figure, ...]


@dataclass(frozen=True, slots=True)
class Growth:
    """Measurements.

    Attributes:
        sizes: documents of each.
        megabytes: of text, for each size.
        index: megabytes of the index on disk, for each size.
        operations: each with a figure for each size.
    """

    sizes: tuple[int, ...]
    megabytes: tuple[float, ...]
    index: tuple[float, ...]
    operations: tuple[Operation, ...]


def exponent(sizes: Sequence[float], values: Sequence[float]) -> float:
    """Fit the exponent: the slope of the least-squares line through the logarithms.

    Raises:
        statistics.StatisticsError: there are fewer than two sizes.
    """
    logarithms = ([math.log(each) for each in column] for column in (sizes, values))
    return statistics.linear_regression(*logarithms).slope


def measured(sizes: Sequence[int]) -> Growth:
    """Measure one size after the other; each needs its documents and an index on disk."""
    texts, indexes, found = [], [], []
    for size in sizes:
        print(f"{size:,} documents:", flush=True)
        with tempfile.TemporaryDirectory() as name:
            began = time.perf_counter()
            alone(generate, Path(name, "docs"), size)
            print(f"    generated in {time.perf_counter() - began:.0f} s", flush=True)
            [tool] = tools_in(Path(name), None)
            figures = {}
            for operation, figure in operations(tool, Path(name, "docs")):
                print(
                    f"    {operation:34} {figure.seconds:9.4f} s {figure.memory:8.0f} MB",
                    flush=True,
                )
                figures[operation] = figure
            texts.append(alone(weighed, Path(name, "docs"))[0])
            indexes.append(tool.size)
            found.append(figures)
    rows = tuple(Operation(name, tuple(each[name] for each in found)) for name in found[0])
    return Growth(tuple(sizes), tuple(texts), tuple(indexes), rows)


def operations(tool: Tool, docs: Path) -> Iterator[tuple[str, Figure]]:
    """Measure each operation with the documents of a folder."""
    yield "index", figure(tool.run("collection", "add", str(docs), "--name", "docs"))
    yield "update, nothing changed", often(tool, "update")
    (some, common, rare), _ = alone(prepared, docs)
    yield f"update, {CHANGED} files changed", figure(tool.run("update"))
    yield "search, cold, common words", often(tool, "search", common[0], "-n", "10")
    yield "search, cold, rare words", often(tool, "search", rare[0], "-n", "10")
    for kind, queries in (("common", common), ("rare", rare)):
        milliseconds, memory = alone(warm, tool.environ, queries)
        yield f"search, warm, {kind} words", Figure(milliseconds / 1000, memory)
    yield "get", often(tool, "get", f"docs/{some}")
    yield "sql, count of documents", often(tool, "sql", "select count(*) from documents")
    yield "status", often(tool, "status")


def prepared(docs: Path) -> tuple[str, list[str], list[str]]:
    """Change some files.

    Returns:
        The path of one, and searches for common and for rare words.
    """
    chance, files = random.Random(7), sorted(docs.rglob("*.md"))
    chosen = chance.sample(files, CHANGED)
    change(chosen, chance)
    return chosen[0].relative_to(docs).as_posix(), searches(docs, COMMON), searches(docs, RARE)


def weighed(docs: Path) -> float:
    """Megabytes of text."""
    return sum(file.stat().st_size for file in docs.rglob("*.md")) / 1e6


def often(tool: Tool, *arguments: str) -> Figure:
    """Run a command several times."""
    return figure(median([tool.run(*arguments) for _ in range(ROUNDS)]))


def figure(cost: Cost) -> Figure:
    """Make the figure of a process."""
    return Figure(cost.wall, cost.memory, cost.cpu)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)))
    parser.add_argument("--million", action="store_true", help="a million documents as well")
    parser.add_argument("--json", action="store_true", help="print JSON at the end")
    options = parser.parse_args()
    sizes = [*map(int, options.sizes.split(",")), *([MILLION] if options.million else [])]
    found = measured(sizes)
    if len(sizes) > 1:
        for each in found.operations:
            slope = exponent(sizes, [figure.seconds for figure in each.figures])
            print(f"{each.name:38} time grows with documents to the power {slope:.2f}")
    if options.json:
        print(json.dumps(asdict(found), indent=1))


if __name__ == "__main__":
    main()
