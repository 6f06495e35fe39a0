"""Search of a folder of notes, with printed results.

python examples/search_notes.py [FOLDER [WORDS …]]
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import qmd

NOTES = Path(__file__).parent / "notes"


def main(folder: Path, query: str) -> None:
    """Index a folder for this once, and search it."""
    with TemporaryDirectory() as scratch, qmd.connect(path=Path(scratch) / "index.duckdb") as kb:
        report = kb.add_collection(folder, name="notes")
        print(f"{report.new} documents")
        for hit in kb.search(query, limit=3):
            print(f"\n{hit.score:.0%}  {hit.title}  ({hit.file}, line {hit.line})")
            print(hit.snippet)


if __name__ == "__main__":
    _, *given = sys.argv
    main(Path(given[0]) if given else NOTES, " ".join(given[1:]) or "staff turnover")
