"""An index with some documents."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from qmd.operations.update import run_update


class Embedder:
    """Embedder of vectors without meaning."""

    dimensions = 8

    def embed(self, texts: Sequence[str], **_: object) -> Any:
        import numpy as np

        return np.ones((len(texts), self.dimensions), np.float32) / np.float32(8**0.5)


@contextmanager
def library(*, lines: int = 2000) -> Iterator[Any]:
    """Open an engine with some documents, whose names are unusual.

    Args:
        lines: of the longest.
    """
    import anyio

    from qmd.operations.index import Index
    from qmd.settings.environment import Machine, Place

    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        texts = {
            "tea.md": "---\nstatus: open\ntags: [a, urgent]\nn: 3\na: {b: x}\n---\n# Tea\ngreen\n",
            "deep/a b.md": "# Pot\n\n日本 tea\n",
            "deep/tea.md": "# Same name\n\nboil\n",
            "é/[x]{y}.md": "# Odd\n\nodd\n",
            "100% #1?.md": "---\nstatus: 1e3\nwhen: 2024-01-02\n---\nodd\n",
            "long.md": "tea pot\n" * lines,
        }
        for path, text in texts.items():
            file = work / "notes" / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        settings = work / "index.yml"
        settings.write_text(
            f"collections:\n  notes:\n    path: {work / 'notes'}\n", encoding="utf-8"
        )
        place = Place("index", settings, work / "index.duckdb", None, work / "trusted")
        engine = Index(place, Machine(hub=work / "hub"), warm=True)
        anyio.run(run_update, engine)
        try:
            yield engine
        finally:
            engine.close()
