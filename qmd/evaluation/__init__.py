"""Retrieval evaluation over judged queries.

fixtures ─▸ index_under_test ─▸ runner ─▸ runs ─▸ metrics ─▸ charts
"""

from __future__ import annotations

from enum import StrEnum


class Backend(StrEnum):
    """A search method: keyword, vector, hybrid, hybrid with helper models."""

    BM25 = "bm25"
    VECTOR = "vector"
    HYBRID = "hybrid"
    FULL = "full"
