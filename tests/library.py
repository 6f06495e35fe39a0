"""A folder of notes with an index, for tests."""

from __future__ import annotations

from pathlib import Path

import anyio

from qmd.config import Place
from qmd.engine import Engine
from qmd.types import Report


class Library:
    """A folder of notes and the engine that has it as the collection `notes`."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "notes"
        self.root.mkdir()
        config = folder / "index.yml"
        config.write_text(f"collections:\n  notes:\n    path: {self.root}\n", encoding="utf-8")
        self.engine = Engine(
            Place("index", config, folder / "index.duckdb", None, folder / "trusted.json")
        )

    def write(self, path: str, text: str) -> None:
        """Write a file."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def update(self) -> Report:
        """Index what has changed."""
        return anyio.run(self.engine.update)[0]

    def found(self, query: str, **options: object) -> list[str]:
        """Paths of the documents that answer, best first."""
        answer = self.engine.search(query, **{"limit": 10, **options})  # type: ignore[arg-type]
        return [result.file.removeprefix("notes/") for result in answer.results]
