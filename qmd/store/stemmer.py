"""Terms of words that the index has never met: Snowball stems, from DuckDB's fts extension."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import _duckdb

from qmd.store.cursor import Cursor
from qmd.store.statements import filled


class Stemmer:
    """Stems by the extension that the `duckdb-extension-fts` wheel carries.

    It is loaded when first needed, into a database of its own: loading takes longer than
    a search, and most searches are for words that the index knows.
    """

    def __init__(self) -> None:
        self._cursor: Cursor | None = None
        self._turn = threading.Lock()

    def terms(self, words: Sequence[str]) -> list[tuple[int, str]]:
        """(term_id, term) of each word, in order. The words are distinct and folded."""
        if not words:
            return []
        with self._turn:
            if self._cursor is None:
                self._cursor = self._loaded()
            rows = self._cursor.run("words/stems", words="\n".join(words))
        found = {word: (term_id, term) for word, term_id, term in rows}
        return [found[word] for word in words]

    @staticmethod
    def _loaded() -> Cursor:
        connection = _duckdb.connect(":memory:", config={"threads": "1"})
        connection.execute(filled("words/load_stemmer", path=extension("fts")))
        return Cursor(connection)


def extension(name: str) -> Path:
    """The binary of a DuckDB extension, inside its wheel.

    Raises:
        ModuleNotFoundError: the wheel is not installed.
    """
    found = find_spec(f"duckdb_extension_{name}")
    if found is None or found.origin is None:
        raise ModuleNotFoundError(
            f"The package duckdb-extension-{name} is missing. Install qmd again."
        )
    folder = Path(found.origin).parent / "extensions"
    return next(folder.glob(f"v{_duckdb.__version__}/{name}.duckdb_extension"))
