"""A cold `qmd sql` beside the command line of DuckDB, in the same run.

    python -m bench.sql [FOLDER] [--duckdb COMMAND] [--rounds 15]

FOLDER, by default the notes in examples/, is copied and indexed. Each query is then asked by a new
process of each tool, in turn: `qmd sql`, `duckdb -readonly` on the same file (from the package
duckdb-cli, of the same version), and Python doing nothing, which is where `qmd` begins. Prints
processor and wall milliseconds: medians, and the wall time that 95 of 100 stay below.
"""

from __future__ import annotations

import argparse
import shlex
import shutil
import sys
import tempfile
from pathlib import Path

from bench.indexing import Cost, Tool, median

TARGET = 0.3
"""Seconds of wall time for the first query."""

QUERIES = {
    "count": (
        "select count(*) from documents",
        "select count(*) from documents",
    ),
    "common terms": (
        "select term, documents from terms order by documents desc, term limit 10",
        "select term, count(distinct document_id) as documents from postings "
        "join (select distinct term_id, term from words) using (term_id) "
        "group by term order by documents desc, term limit 10",
    ),
    "search": ("select file, score from bm25('error handling') order by rank limit 10", None),
}
"""What is asked of qmd, and the same of the tables themselves."""


def main() -> None:
    """Index, ask, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    notes = Path(__file__).parents[1] / "examples" / "notes"
    parser.add_argument("folder", type=Path, nargs="?", default=notes)
    parser.add_argument("--duckdb", help="command line of DuckDB; by default the one beside Python")
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    command = options.duckdb or shutil.which("duckdb", path=str(Path(sys.executable).parent))
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        shutil.copytree(options.folder, work / "corpus")
        qmd = Tool("qmd sql", [sys.executable, "-m", "qmd"], work / "ours")
        index = work / "index.duckdb"
        qmd.environ |= {"PYTHONPATH": str(Path(__file__).parents[1]), "INDEX_PATH": str(index)}
        qmd.run("collection", "add", str(work / "corpus"), "--name", "corpus")
        python = Tool("python", [sys.executable, "-c", "pass"], work / "python")
        peer = Tool("duckdb", shlex.split(command), work / "peer") if command else None
        print(f"{sum(1 for _ in (work / 'corpus').rglob('*.md'))} files, {options.rounds} rounds")
        if peer is None:
            print("duckdb is not here: pip install duckdb-cli")
        for title, (ours, theirs) in QUERIES.items():
            taken: dict[str, list[Cost]] = {}
            for _ in range(options.rounds):
                taken.setdefault("qmd sql", []).append(qmd.run("sql", ours))
                if peer is not None and theirs is not None:
                    cost = peer.run("-readonly", str(index), theirs)
                    taken.setdefault("duckdb", []).append(cost)
                taken.setdefault("python", []).append(python.run())
            _tell(title, taken)


def _tell(title: str, taken: dict[str, list[Cost]]) -> None:
    print(f"\n{title:<14}{'cpu ms':>10}{'wall ms':>10}{'p95':>10}{'MB':>8}")
    for name, costs in taken.items():
        middle = median(costs)
        walls = sorted(cost.wall for cost in costs)
        late = walls[round(0.95 * (len(walls) - 1))]
        figures = [1000 * middle.cpu, 1000 * middle.wall, 1000 * late]
        print(f"{name:<14}" + "".join(f"{each:>10.0f}" for each in figures), end="")
        print(f"{middle.memory:>8.0f}")
    if title == "count":
        wall = median(taken["qmd sql"]).wall
        word = "met" if wall <= TARGET else "missed"
        print(f"target: {1000 * TARGET:.0f} ms of wall time: {word}")


if __name__ == "__main__":
    main()
