"""Hybrid search, warm and cold, beside another tool in the same run.

    python -m bench.hybrid FOLDER [--peer COMMAND] [--files N | --whole]

Both tools index and embed the same files with the same model. Warm: a process that stays, asked
over MCP; and ours asked through the library. The same pairs of a keyword search and a search by
meaning, without a reranker; what is meant is put into new words each time, so that no vector of it
is remembered, and then asked once more as it was. With --whole, all of the folder has vectors,
which are noise (see `noise`). Cold: the whole process of a `query` command.
"""

from __future__ import annotations

import argparse
import os
import shlex
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from bench import noise
from bench.alone import alone
from bench.corpora import recombined
from bench.embedding import both_embed, prepared
from bench.indexing import Cost, Tool, in_turn, median, tools_in
from bench.stdio import Server

PAIRS = (
    ("error handling", "what happens when something fails"),
    ("install", "how do I set it up on my machine"),
    ("memory leak", "the program needs more and more memory"),
    ("configuration file", "where are the settings kept"),
    ("thread pool", "doing several things at the same time"),
    ("release notes", "what is new in this version"),
    ("test coverage", "how do we know that it works"),
    ("performance", "why is it so slow"),
)
ROUNDS = 5

EVERY = 1 << 30
"""More files than any folder has."""

Search = tuple[str, str]
"""A kind, 'lex' or 'vec', and what is asked."""


Question = TypeVar("Question", bound=tuple[object, ...])


def as_they_were(questions: Sequence[Question], turn: int) -> Sequence[Question]:
    """Questions asked again."""
    return questions


def in_new_words(questions: Sequence[tuple[Search, ...]], turn: int) -> list[tuple[Search, ...]]:
    """Make new queries by keyword or by vector, at least `ROUNDS`, so that no result is cached."""
    columns = []
    for column in zip(*questions, strict=True):
        [kind] = {kind for kind, _ in column}
        texts = [text for _, text in column]
        new = recombined(texts, turn) if kind == "lex" else [f"{text}, {turn}" for text in texts]
        columns.append([(kind, text) for text in new])
    return list(zip(*columns, strict=True))


def taken(
    ask: Callable[..., object],
    questions: Sequence[Question],
    again: Callable[[Sequence[Question], int], Sequence[Question]],
) -> list[float]:
    """Milliseconds of each question, all asked once before, from the fastest on.

    Args:
        again: what is asked in each round instead.
    """
    times = []
    for turn in range(ROUNDS + 1):
        for asked in again(questions, turn):
            began = time.perf_counter()
            ask(*asked)
            if turn:
                times.append((time.perf_counter() - began) * 1000)
    return sorted(times)


def through_python(environ: dict[str, str], questions: list[tuple[Search, ...]]) -> list[float]:
    """Ask the same through our library in this process."""
    import qmd

    os.environ.update(environ)
    with qmd.connect() as kb:
        return taken(
            lambda *searches: kb.query(as_text(searches), limit=10), questions, in_new_words
        )


def as_text(searches: tuple[Search, ...]) -> str:
    """Write searches as the command line takes them."""
    return "\n".join(f"{kind}: {text}" for kind, text in searches)


def cold(tools: list[Tool], searches: tuple[Search, ...], rounds: int) -> dict[str, Cost]:
    """Measure the whole process of a `query`."""

    def ask(tool: Tool) -> Cost:
        return tool.run("query", as_text(searches), "--no-rerank", "-n", "10")

    return {name: median(costs) for name, costs in in_turn(tools, ask, rounds).items()}


def over_mcp(
    tool: Tool,
    questions: list[tuple[Search, ...]],
    again: Callable[..., Sequence[tuple[Search, ...]]] = in_new_words,
) -> tuple[list[float], float]:
    """Milliseconds of each question to a server over stdin and stdout, and its megabytes."""
    server = Server(tool.command, tool.environ)
    try:
        return taken(server.query, questions, again), server.memory
    finally:
        server.close()


def main() -> None:
    """Print both, and the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--peer", help="command of tobi/qmd")
    parser.add_argument("--files", type=int, default=40)
    parser.add_argument("--whole", action="store_true", help="all files, with vectors of noise")
    options = parser.parse_args()
    questions: list[tuple[Search, ...]] = [(("lex", lex), ("vec", vec)) for lex, vec in PAIRS]
    with tempfile.TemporaryDirectory() as name:
        tools = tools_in(Path(name), shlex.split(options.peer or ""))
        files = {"files": EVERY} if options.whole else {"files": options.files, "longest": 4000}
        prepared(tools, options.folder, Path(name, "docs"), **files)
        if options.whole:
            for tool in tools:
                print(f"{tool.name}: {noise.fill(tool):,} vectors", flush=True)
        else:
            both_embed(tools)
        warm, same = (
            {
                tool.name: statistics.median(times)
                for tool in tools
                for times, _ in [over_mcp(tool, questions, again)]
            }
            for again in (in_new_words, as_they_were)
        )
        library, _ = alone(through_python, tools[0].environ, questions)
        once = {name: cost.wall * 1000 for name, cost in cold(tools, questions[0], 3).items()}
    for title, times in (("warm, over MCP", warm), ("the same again", same), ("cold", once)):
        line = ", ".join(f"{name} {value:.1f} ms" for name, value in times.items())
        ratio = f"; ratio {times['qmd'] / times['peer']:.2f}" if "peer" in times else ""
        print(f"{title} query, p50: {line}{ratio}")
    print(f"warm query through the library, p50: {statistics.median(library):.1f} ms")


if __name__ == "__main__":
    main()
