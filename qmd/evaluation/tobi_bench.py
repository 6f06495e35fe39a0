"""Metrics as the bench of tobi/qmd computes them, for comparison."""

from __future__ import annotations

from collections.abc import Sequence

from qmd.named_tuple import NamedTuple


class TobiScores(NamedTuple):
    """Metrics of one query, or their means.

    Attributes:
        precision_at_k: expected files among the first k, over the smaller of k and all of them.
        recall: share of the expected files that were found at all.
        mrr: 1 / rank of the first result that was expected; 0 if none was.
        f1: harmonic mean of `precision_at_k` and `recall`.
        hits_at_k: expected files among the first k.
    """

    precision_at_k: float
    recall: float
    recall_at_1: float
    recall_at_3: float
    recall_at_5: float
    mrr: float
    f1: float
    hits_at_k: int
    matched_files: list[str]
    unmatched_expected_files: list[str]


def same_file(result: str, expected: str) -> bool:
    """Check that two names mean one file: either ends with the other, in any case.

    Of qmd://collection/path the path counts.

    Source:
        tobi/qmd (MIT), src/bench/score.ts, pathsMatch.
    """
    one, other = _bare(result), _bare(expected)
    return one.endswith(other) or other.endswith(one)


def _bare(name: str) -> str:
    if name.startswith("qmd://"):
        collection, slash, path = name.removeprefix("qmd://").partition("/")
        name = path if slash else collection
    return name.lower().strip("/")


def scores(results: Sequence[str], expected: Sequence[str], k: int) -> TobiScores:
    """Compute the metrics of one query.

    Args:
        results: files, best first.

    Source:
        tobi/qmd (MIT), src/bench/score.ts, scoreResults.
    """

    def found(depth: int | None) -> list[str]:
        return [each for each in expected if any(same_file(r, each) for r in results[:depth])]

    def share(depth: int | None) -> float:
        return len(found(depth)) / len(expected) if expected else 0.0

    right = (rank for rank, r in enumerate(results, 1) if any(same_file(r, e) for e in expected))
    first = next(right, None)
    hits, all_found = len(found(k)), found(None)
    most = min(k, len(expected))
    precision, recall = hits / most if most else 0.0, share(None)
    both = precision + recall
    return TobiScores(
        precision,
        recall,
        share(1),
        share(3),
        share(5),
        1 / first if first else 0.0,
        2 * precision * recall / both if both else 0.0,
        hits,
        all_found,
        [each for each in expected if each not in all_found],
    )
