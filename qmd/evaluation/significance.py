"""Significance of the difference of two runs, by paired randomization."""

from __future__ import annotations

from collections.abc import Sequence

ROUNDS = 10_000
"""Random assignments: p is exact to about .005 near .05."""

SAME = 1e-12
"""Differences of means below this come from the order of a sum."""


def p_value(ours: Sequence[float], theirs: Sequence[float], *, rounds: int = ROUNDS) -> float:
    """Compute how likely a difference of means as large as this one is by chance.

    If both runs were equally good, either figure of a query could be of either run: the sign of
    each difference is drawn at random. The same figures always give the same value.

    Args:
        ours: a metric of each query, from 0 to 1.
        theirs: the same of another run, in the same order.

    Returns:
        A two-sided p, above 0 and up to 1.

    Source:
        Smucker, Allan, Carterette, CIKM 2007: Fisher's randomization test.
    """
    import numpy as np

    differences = np.array(ours, float) - np.array(theirs, float)
    if not len(differences):
        return 1.0
    chance = np.random.default_rng(0)
    least = abs(differences.mean()) - SAME
    reached = 0
    for _ in range(rounds):
        signs = chance.integers(0, 2, len(differences)) * 2 - 1
        reached += bool(abs((signs * differences).mean()) >= least)
    return (reached + 1) / (rounds + 1)
