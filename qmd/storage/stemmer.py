"""Snowball stemmer of DuckDB's fts extension, for words that are new to the index."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path

import _duckdb

from qmd.errors import ExtensionUnusable
from qmd.storage.cursor import Connection, Cursor, connected
from qmd.storage.statements import filled
from qmd.text.hashes import accented_id, joined_id, term_id
from qmd.text.tokenizer import fold, is_folded, is_joined

FEW, MOST = 1_000, 10_000
"""Words that are cached if no more are asked for at once, and how many at most."""

UNCHECKED: dict[str, str | bool | int | float | list[str]] = {"allow_unsigned_extensions": "true"}
"""Settings of an engine that loads one extension and runs only our statements.

To check the signature would take 50 ms; a process that could change the extension could change this
module, too.
"""

_has_stem = re.compile("[a-z]+").fullmatch

Term = tuple[int, str]
"""term_id and term."""


class Stemmer:
    """Stemmer from the extension in the `duckdb-extension-fts` wheel.

    It is loaded when first needed, into a database of its own: loading takes longer than
    a search, and most searches are for words that the index knows. What is no English word at
    sight, such as a number, is unchanged.
    """

    def __init__(self) -> None:
        self._cursor: Cursor | None = None
        self._met: dict[str, Term] = {}
        self._turn = threading.Lock()

    def terms(self, words: Sequence[str]) -> list[Term]:
        """Return (term_id, term) of each word, in order. The words are distinct and folded.

        The term of two words joined by a hyphen is numbered after the word that they make, and that
        of a word with accents after the word without them.
        """
        forms = {word: form for word in words if (form := _form(word))}
        if not forms:
            found = self._terms(words)
        else:
            others = [word for word in words if word not in forms]
            bases = {base for base, _ in forms.values()}
            found = self._terms([*others, *bases.difference(others)])
            found |= {
                word: (number(found[base][0]), word) for word, (base, number) in forms.items()
            }
        return [found[word] for word in words]

    def _terms(self, words: Sequence[str]) -> dict[str, Term]:
        with self._turn:
            found = {word: self._met[word] for word in words if word in self._met}
            asked = [word for word in words if word not in found]
            if len(asked) <= FEW:
                found |= {word: (term_id(word), word) for word in asked if not _has_stem(word)}
                asked = list(filter(_has_stem, asked))
            if asked:
                found |= self._stems(asked)
        return found

    def _stems(self, words: Sequence[str]) -> dict[str, Term]:
        if self._cursor is None:
            self._cursor = self._loaded()
        rows = self._cursor.run("words/stems", words="\n".join(words))
        found = {word: (number, term) for word, number, term in rows}
        if len(found) <= FEW:
            if len(self._met) + len(found) > MOST:
                self._met.clear()
            self._met |= found
        return found

    @staticmethod
    def _loaded() -> Cursor:
        connection = connected({"threads": "1", **UNCHECKED})
        load(connection, "fts")
        return Cursor(connection)


def load(connection: Connection, name: str) -> None:
    """Load a DuckDB extension from its wheel.

    Raises:
        ExtensionUnusable: there is not enough memory for it, or its file is damaged.
        ModuleNotFoundError: the wheel is not installed.
    """
    try:
        connection.execute(filled("store/load_extension", path=extension(name)))
    except _duckdb.Error as error:
        raise ExtensionUnusable(name, str(error)) from error


def _form(word: str) -> tuple[str, Callable[[int], int]] | None:
    """Return the word after which another form of it is numbered, and how."""
    if "-" in word and is_joined(word):
        return word.replace("-", ""), joined_id
    if not is_folded(word):
        return fold(word), accented_id
    return None


def extension(name: str) -> Path:
    """Find the binary of a DuckDB extension inside its wheel.

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
