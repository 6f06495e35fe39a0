"""Pairs of characters in the highest possible score of a query, for scripts without spaces."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from qmd.ranking.query import Query
from qmd.text.tokenizer import characters, is_pair, is_segment


def _runs_of_pairs(query: Query) -> Iterator[list[str]]:
    """Yield the overlapping pairs of each run of a script without spaces."""
    pairs = [word for word in query.words if word in query.grams and is_pair(word)]
    run: list[str] = []
    for pair in pairs:
        if run and characters(run[-1])[1] != characters(pair)[0]:
            yield run
            run = []
        run.append(pair)
    if run:
        yield run


def share_of_pairs(
    query: Query, term: Mapping[str, int], documents: Mapping[int, int]
) -> dict[int, float]:
    """Compute how much each pair of characters counts in the most that a document can attain.

    Pairs overlap, and at most every second one can be a word: a document that has all words of a
    question lacks most pairs between them. So a run counts as many pairs as fit side by side, of
    the mean worth of those that documents have; others only where there are too few.

    Returns:
        A factor of the weight, by term.
    """
    shares: dict[int, list[float]] = {}
    for run in _runs_of_pairs(query):
        fit = (len(run) + 1) // 2
        known = sum(bool(documents[term[pair]]) for pair in run)
        share = min(1.0, fit / known) if known else 0.0
        unknown = max(0, fit - known) / max(1, len(run) - known)
        for pair in run:
            each = share if documents[term[pair]] else unknown
            shares.setdefault(term[pair], []).append(each)
    for word in filter(is_segment, query.grams):
        if not documents[term[word]]:
            shares[term[word]] = [0.0]  # documents have it cut otherwise, and its pairs count
    return {number: sum(each) / len(each) for number, each in shares.items()}
