"""Weights of hybrid search, compared on judged queries of the user's own documents."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from functools import partial
from statistics import fmean
from typing import TYPE_CHECKING

from qmd.evaluation import Backend, metrics, runner
from qmd.evaluation.significance import p_value
from qmd.named_tuple import NamedTuple

if TYPE_CHECKING:
    from qmd.evaluation.index_under_test import Bench, Progress

SHARES = (0.15, 0.25, 0.35, 0.45, 0.55, 0.65, 0.75, 0.85)
"""Shares of keywords that are tried, besides the one in use."""

FOLDS = 5
"""Parts of the queries: the share for each is chosen on the others."""

FEWEST = 20
"""Queries below which nothing is proposed: chance decides."""

SURE = 0.05
"""p below which a difference is more than chance, by convention."""


class Tuned(NamedTuple):
    """Shares of keywords, compared on judged queries.

    Attributes:
        now: share in use.
        best: share with the highest mean; of equal ones, the nearest to that in use.
        means: nDCG@10 by share, ascending.
        before: nDCG@10 with the share in use.
        after: the same with shares that were chosen without the queries they are measured on.
        p: probability of such a difference by chance.
    """

    queries: int
    now: float
    best: float
    means: Mapping[float, float]
    before: float
    after: float
    p: float

    @property
    def is_proposed(self) -> bool:
        """True if another share is better by more than chance."""
        is_better = self.best != self.now and self.after > self.before
        return is_better and self.p < SURE and self.queries >= FEWEST


def tune(bench: Bench, progress: Progress) -> Tuned:
    """Compare shares of keywords by cross-validation; the index and its settings stay as they are.

    Raises:
        QmdError: the index has no vectors, or cannot be searched.
    """
    import anyio

    runner.ready(bench, [Backend.HYBRID], progress)
    now = bench.engine.keyword_share()
    figures: dict[float, Sequence[float]] = {}
    try:
        for share in sorted({*SHARES, now}):
            bench.engine.tried_share = share
            ask = partial(
                runner.ask,
                bench,
                [Backend.HYBRID],
                meaning=True,
                depth=bench.fixture.depth,
                progress=progress,
            )
            [run] = anyio.run(ask)
            each = metrics.score(run, bench.fixture, depth=bench.fixture.depth).each
            figures[share] = [each[name][metrics.QUALITY] for name in sorted(each)]
    finally:
        bench.engine.tried_share = None
    return chosen_share(figures, now)


def chosen_share(figures: Mapping[float, Sequence[float]], now: float) -> Tuned:
    """Choose a share by its figures, and estimate what it gains.

    Args:
        figures: nDCG@10 of each query, by share; the same queries in the same order.
        now: share in use, which is one of them.
    """
    count = len(figures[now])
    order = random.Random(0).sample(range(count), count)
    after = [0.0] * count
    for fold in range(FOLDS):
        inside = order[fold::FOLDS]
        others = sorted(set(range(count)).difference(inside))
        share = _best(figures, others, now)
        for query in inside:
            after[query] = figures[share][query]
    return Tuned(
        count,
        now,
        _best(figures, range(count), now),
        {share: fmean(figures[share]) for share in sorted(figures)},
        fmean(figures[now]),
        fmean(after),
        p_value(after, figures[now]),
    )


def _best(figures: Mapping[float, Sequence[float]], queries: Sequence[int], now: float) -> float:
    """Return the share with the highest mean over some queries; without any, that in use."""
    if not queries:
        return now

    def worth(share: float) -> tuple[float, float]:
        mean = fmean(figures[share][query] for query in queries)
        return round(mean, 9), -abs(share - now)

    return max(figures, key=worth)
