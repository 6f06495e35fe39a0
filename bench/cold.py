"""Cold commands over a folder: processor time of the whole process, beside what it cannot go below.

    python -m bench.cold FOLDER [--peer COMMAND] [--rounds 15]

Prints the least and the median processor time of each command, in turns, with the ratio to the
peer. The first rows are the interpreter alone, and the interpreter with an empty DuckDB.
"""

from __future__ import annotations

import argparse
import compileall
import shlex
import statistics
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench.indexing import Cost, Tool, tools_in

NAME = "texts"

OPENED = "import _duckdb; _duckdb.connect().execute('select 1').fetchall(); import os; os._exit(0)"

FLOORS = {"python": ("-c", "pass"), "python and DuckDB": ("-c", OPENED)}


def commands(document: str) -> dict[str, tuple[str, ...]]:
    """Commands that both tools have, by their names in the table."""
    return {
        "--version": ("--version",),
        "--help": ("--help",),
        "search": ("search", "error handling"),
        "query, by words": ("query", "lex: error handling", "--no-rerank"),
        "get": ("get", f"{NAME}/{document}"),
        "multi-get": ("multi-get", f"{NAME}/*.md"),
        "ls": ("ls", NAME),
        "status": ("status",),
        "collection list": ("collection", "list"),
    }


def measured(tools: list[Tool], document: str, rounds: int) -> dict[tuple[str, str], list[Cost]]:
    """Run all commands in turns; the costs of each, by command and tool."""
    taken: dict[tuple[str, str], list[Cost]] = {}
    floor = Tool("floor", [sys.executable], Path(tempfile.gettempdir()) / "qmd-bench-floor")
    for _ in range(rounds):
        for name, arguments in FLOORS.items():
            taken.setdefault((name, "qmd"), []).append(floor.run(*arguments))
        for name, arguments in commands(document).items():
            for tool in tools:
                taken.setdefault((name, tool.name), []).append(tool.run(*arguments))
    return taken


def rows(taken: dict[tuple[str, str], list[Cost]]) -> Iterator[str]:
    """Yield the table."""
    yield "| command | least CPU s | median | MB | peer, median | ratio |"
    yield "|---|---|---|---|---|---|"
    for name in dict.fromkeys(name for name, _ in taken):
        ours = taken[name, "qmd"]
        middle = statistics.median(cost.cpu for cost in ours)
        memory = max(cost.memory for cost in ours)
        row = f"| {name} | {min(cost.cpu for cost in ours):.3f} | {middle:.3f} | {memory:.0f} |"
        theirs = taken.get((name, "peer"))
        if theirs:
            other = statistics.median(cost.cpu for cost in theirs)
            row += f" {other:.3f} | {middle / other:.2f} |"
        else:
            row += " | |"
        yield row


def main() -> None:
    """Index the folder, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--peer", help="the command of tobi/qmd")
    parser.add_argument("--rounds", type=int, default=15)
    given = parser.parse_args()
    folder = given.folder.resolve()
    document = min(each.name for each in folder.glob("*.md"))
    compileall.compile_dir(Path(__file__).parents[1] / "qmd", quiet=1)
    with tempfile.TemporaryDirectory() as work:
        tools = tools_in(Path(work), shlex.split(given.peer) if given.peer else None)
        for tool in tools:
            tool.run("collection", "add", str(folder), "--name", NAME)
        for row in rows(measured(tools, document, given.rounds)):
            print(row)


if __name__ == "__main__":
    main()
