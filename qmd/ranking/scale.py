"""One scale of scores for all searches: 0 to 1, with even odds that a result is relevant near 0.5.

Words reach a share of what a document could have of the query at most; meaning is a cosine, beside
those of passages that have nothing to do with each other (`Cosines`). Both are as good on their own
as together, so that a search by one of them has the scores that their weighted sum has.
Measured: docs/relevance.md.
"""

from __future__ import annotations

WORDS = 0.45
"""Share of the keyword lists in the fused score; the rest is that of the lists by meaning.
Measured: docs/relevance.md."""

RRF_K = 60
"""Constant of reciprocal rank fusion. Source: Cormack, Clarke, Büttcher, SIGIR 2009."""


def attained(bm25: float, most: float) -> float:
    """Compute the share that a document attains of the highest possible score.

    Args:
        most: bm25 of a document that has nothing but what is asked for; longer words that stand
            for one that is asked for may add to that.
    """
    return min(bm25 / most, 1.0) if most else 0.0
