"""How good the answers to judged questions are.

fixtures ─▸ indexes ─▸ running ─▸ runs ─▸ scoring ─▸ charts
questions   asked of   asked      found   figures    a picture
"""

from __future__ import annotations

from enum import StrEnum


class Backend(StrEnum):
    """A way to answer: by words, by meaning, by both, by both with models that help."""

    BM25 = "bm25"
    VECTOR = "vector"
    HYBRID = "hybrid"
    FULL = "full"
