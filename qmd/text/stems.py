"""Snowball stems of languages other than English, by PyStemmer.

English stems come from DuckDB's fts extension (`storage/stemmer.py`).
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from qmd.text.languages import STEMMED
from qmd.text.tokenizer import fold

if TYPE_CHECKING:
    import Stemmer

_own = threading.local()
"""Stemmers of each thread: one must not be used by two at once."""


def stem(spelt: str, code: str) -> str | None:
    """Return the folded stem of a word; None: the language has no stemmer.

    Args:
        spelt: in small letters, with its accents.
        code: of the language.
    """
    name = STEMMED.get(code)
    return None if name is None else fold(_stemmer(name).stemWord(spelt))


def _stemmer(name: str) -> Stemmer.Stemmer:
    known: dict[str, Stemmer.Stemmer] = _own.__dict__.setdefault("stemmers", {})
    if name not in known:
        import Stemmer

        known[name] = Stemmer.Stemmer(name)
    return known[name]
