"""A folder of notes with an index, for tests, and a model whose vectors are known."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from hashlib import shake_128
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from qmd.errors import ModelFailure, TextTooLong
from qmd.models.protocols import Between, nothing
from qmd.models.registry import MINILM
from qmd.operations.embed import run_embed
from qmd.operations.index import Index
from qmd.operations.search import search
from qmd.operations.semantic_search import vector_search
from qmd.operations.update import run_update
from qmd.reports import Embedded, Report
from qmd.settings.environment import Machine, Place
from qmd.storage.database import Database

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from qmd.types import Result


class Library:
    """A folder of notes and the engine that has it as the collection `notes`.

    Args:
        machine: what is said of models; without it, there are no other models than qmd's own.
    """

    def __init__(self, folder: Path, machine: Machine | None = None) -> None:
        self.folder = folder
        self.root = folder / "notes"
        self.configure()
        self.engine = Index(
            Place(
                "index",
                folder / "index.yml",
                folder / "index.duckdb",
                None,
                folder / "trusted.json",
            ),
            machine or Machine(hub=folder / "hub"),
        )

    def configure(self, *others: str, excluded: Sequence[str] = (), more: str = "") -> None:
        """Write index.yml.

        Args:
            others: names of collections besides `notes`, each in a folder of its name.
            excluded: those of them that no search looks into unless it is told to.
            more: other lines.
        """
        lines = [more, "collections:"]
        for name in ("notes", *others):
            (self.folder / name).mkdir(exist_ok=True)
            lines += [f"  {name}:", f"    path: {self.folder / name}"]
            lines += ["    includeByDefault: false"] if name in excluded else []
        (self.folder / "index.yml").write_text("\n".join(lines) + "\n", encoding="utf-8")

    def write(self, path: str, text: str, *, collection: str = "notes") -> None:
        """Write a file."""
        file = self.folder / collection / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def update(self, *, removes: bool = False) -> Report:
        """Index what has changed; also remove documents of folders that have lost their files."""
        with staying_attached(self.engine.database):
            return anyio.run(partial(run_update, self.engine, removes=removes))[0]

    def embed(self, *names: str, **options: object) -> Embedded:
        """Embed what lacks vectors."""
        return anyio.run(partial(run_embed, self.engine, names, **options))  # type: ignore[arg-type]

    def found(self, query: str, **options: object) -> list[str]:
        """Paths of the documents that answer, best first."""
        answer = search(self.engine, query, **{"limit": 10, **options})  # type: ignore[arg-type]
        return [result.file.removeprefix("notes/") for result in answer]

    def nearest(self, question: str, **options: object) -> list[Result]:
        """What answers a question by its meaning, best first, however badly."""
        given: dict[str, object] = {"limit": 10, "min_score": -1, **options}
        return list(vector_search(self.engine, question, **given))  # type: ignore[arg-type]

    def ask(self, sql: str) -> list[tuple[object, ...]]:
        """Rows of a query of the index."""
        return self.engine.read(lambda cursor: cursor.connection.execute(sql).fetchall())

    def problems(self) -> list[str]:
        """Facts that have to hold and do not."""
        from qmd.storage import maintenance

        return [each.fact for each in self.engine.read(maintenance.problems) if each.times]


def examples(most: int) -> int:
    """Give the number of examples of a test that indexes anew for each.

    On the oldest DuckDB, a third of those that `make test` tries: what differs between versions is
    a statement, and each example runs all of them.
    """
    return most // 3 if os.environ.get("HYPOTHESIS_PROFILE") == "oldest" else most


@contextmanager
def staying_attached(database: Database) -> Iterator[None]:
    """Keep an index attached between reads, as commands that write do: each time takes 3 ms."""
    if database.stays_attached:
        yield
        return
    database._warm = True
    try:
        yield
    finally:
        with database._turn:
            database._warm = False
            watcher, database._watcher = database._watcher, None
            database._asleep.notify_all()
            if not database._active:
                database._detach()
        if watcher is not None:
            watcher.join()


class FakeEmbedder:
    """An embedder whose tokens are words, two more for each text, and whose vectors are known.

    Attributes:
        vector: gives the vector of a text.
        refused: words; a text with one of them is one that the model does not take.
        made: all texts that got a vector, in order.
        before: called with the number of the batch, from 1, and what says whether to go on.
    """

    model = MINILM

    def __init__(self, *, dimensions: int = 16, limit: int = 60) -> None:
        self.dimensions = dimensions
        self.limit = limit
        self.vector: Callable[[str], NDArray[np.float32]] = lambda text: drawn(text, dimensions)
        self.refused: set[str] = set()
        self.made: list[str] = []
        self.before: Callable[[int, Between], object] = lambda batch, between: None
        self._batches = 0

    def count(self, texts: Sequence[str]) -> list[int]:
        """Words, and two."""
        return [len(text.split()) + 2 for text in texts]

    def embed(self, texts: Sequence[str], *, between: Between = nothing) -> NDArray[np.float32]:
        """See `base.Embedder`."""
        import numpy as np

        self._batches += 1
        self.before(self._batches, between)
        for word in self.refused:
            if any(word in text for text in texts):
                raise ModelFailure(f"It has no vector for {word}.\n\nTry another model.")
        if max(self.count(texts)) > self.limit:
            raise TextTooLong(max(self.count(texts)), self.limit)
        self.made += texts
        return np.stack([self.vector(text) for text in texts])

    def close(self) -> None:
        """Nothing to give back."""


def drawn(text: str, dimensions: int) -> NDArray[np.float32]:
    """A vector of length 1 that the hash of a text decides."""
    import numpy as np

    numbers = np.frombuffer(shake_128(text.encode()).digest(2 * dimensions), "<i2")
    vector = numbers.astype(np.float32) + np.float32(0.5)
    return vector / np.linalg.norm(vector)


def turned(text: str) -> NDArray[np.float32]:
    """The vector that points as many degrees from another as the last number in a text says.

    The cosine of two texts is that of the difference of their numbers.
    """
    import re

    import numpy as np

    angle = np.radians(float(re.findall(r"\d+", text)[-1]))
    return np.array([np.cos(angle), np.sin(angle)], np.float32)
