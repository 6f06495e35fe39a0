"""Fusion of ranked lists: by the weighted sum of their scores, or by reciprocal ranks.

The weights of all lists add up to 1, so that a sum is on the scale of each list (`scale`). A
document that is absent from a keyword list gets nothing from it. From a vector list it gets the
lowest score of that list, since it cannot have more: its floor. Each result has the contribution of
every list, so that a score can be verified by hand.

A document without a vector is absent from all vector lists. Its keywords decide its rank: as many
documents with a vector are before it as are before it by keywords. Its score is that of its
keywords, unless its neighbours have all more or all less. So an index with vectors of only a part
of its documents is ordered no worse than by keywords, if vectors order that part better.

A recent document gets up to 0.05 more, but never a score above 1; those that would have more keep
the order that they have without it.

Source: the convex combination of Bruch, Gai, Ingber, ACM TOIS 2023. Measured: docs/relevance.md.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Container, Hashable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal, TypedDict

from qmd.named_tuple import NamedTuple
from qmd.ranking import bm25, postings
from qmd.ranking.scale import RRF_K, WORDS
from qmd.types import Nearest

if TYPE_CHECKING:
    from qmd.ranking.query_document import Kind
    from qmd.storage.cursor import Cursor, Value

Fusion = Literal["scores", "rrf"]

DEPTH: Mapping[Fusion, int] = {"scores": 200, "rrf": 20}
"""Documents of a list that are fused. Sources: docs/relevance.md; tobi/qmd (MIT)."""


class Listed(NamedTuple):
    """A ranked list.

    Attributes:
        scores: 0 to 1, by document, best first.
    """

    kind: Kind
    text: str
    weight: float
    scores: Mapping[int, float]
    passages: Mapping[int, Nearest]


class _Part(TypedDict):
    """Contribution of one list to a document."""

    list: int
    rank: int | None
    weight: float
    contribution: float


class Ranked(NamedTuple):
    """A ranked document.

    Attributes:
        near: its passage nearest to the question, if meaning was searched.
        by_words: whether a keyword list has it, too.
        explain: how the score came about; it can be added up by hand.
        similar: files of near-duplicates that it stands for.
    """

    document_id: int
    score: float
    near: Nearest | None
    by_words: bool
    explain: dict[str, object]
    similar: tuple[str, ...] = ()


def fused(
    cursor: Cursor,
    lists: Sequence[Listed],
    fusion: Fusion,
    *,
    banned: Container[int],
    half_life: float | None,
    limit: int,
    unknown: Collection[int] = (),
    rrf_k: int = RRF_K,
    share: float = WORDS,
) -> list[Ranked]:
    """Fuse lists and return the best documents, best first.

    Args:
        banned: documents that may not answer.
        unknown: documents without a vector, absent from vector lists.
        half_life: days after which a document's claim to be recent is half; None: all are alike.
        limit: documents at most.
        rrf_k: constant of reciprocal rank fusion.
        share: of the keyword lists in the score.
    """
    weights = _weights(lists, fusion, share)
    entries = [
        (document_id, number, rank, score)
        for number, each in enumerate(lists)
        for rank, (document_id, score) in enumerate(each.scores.items(), start=1)
        if document_id not in banned
    ]
    recent = _recent(cursor, list(dict.fromkeys(each for each, *_ in entries)), half_life)
    if fusion == "rrf":
        given: dict[str, Value] = {
            "documents": [document_id for document_id, _, _, _ in entries],
            "lists": [number for _, number, _, _ in entries],
            "ranks": [rank for _, _, rank, _ in entries],
            "weights": [weights[number] for _, number, _, _ in entries],
            "recency": [recent.get(document_id, 0.0) for document_id, _, _, _ in entries],
            "k": rrf_k,
        }
        found = _best(cursor, "search/fuse_ranks", given, _worth_of_ranks, limit)
    else:
        found = _by_scores(cursor, lists, weights, entries, unknown, recent, limit)
    near = _nearest(lists)
    by_words = {number for each in lists if each.kind == "lex" for number in each.scores}
    return [
        Ranked(
            document_id,
            score,
            near.get(document_id),
            document_id in by_words,
            {
                "fusion": fusion,
                "lists": _explained(lists, parts),
                "bonus": bonus,
                "recency": recency,
                "link_page": 0.0,
                "fused": score,
            },
        )
        for document_id, score, bonus, recency, parts in found
    ]


_Row = tuple[int, float, float, float, list[_Part]]
"""A fused document: document_id, score, bonus, recency, parts."""


class _Total(NamedTuple):
    """The score of a document from all lists.

    Attributes:
        sum: weighted sum of its scores.
        side: of two with the same sum, the lower comes first.
        words: score from keyword lists, of documents that their keywords order.
    """

    sum: float
    side: int = 0
    words: float = 0.0


def _by_scores(
    cursor: Cursor,
    lists: Sequence[Listed],
    weights: Sequence[float],
    entries: Sequence[tuple[int, int, int, float]],
    unknown: Collection[int],
    recent: Mapping[int, float],
    limit: int,
) -> list[_Row]:
    """Find the documents with the highest weighted sum of scores."""
    floors = _floors(lists, entries)
    having: dict[int, dict[int, tuple[int, float]]] = {}
    for document_id, number, rank, score in entries:
        having.setdefault(document_id, {})[number] = rank, weights[number] * score
    least = [weight * floor for weight, floor in zip(weights, floors, strict=True)]
    lexical = [number for number, each in enumerate(lists) if each.kind == "lex"]

    def total(parts: Mapping[int, tuple[int, float]], numbers: Iterable[int]) -> float:
        return round(sum(parts[n][1] if n in parts else least[n] for n in numbers), 12)

    totals = {each: _Total(total(having[each], range(len(lists)))) for each in having}
    share = sum(weights[number] for number in lexical)
    if unknown:
        words = {each: total(having[each], lexical) for each in having}
        totals |= _by_words(totals, words, [each for each in having if each in unknown], share)
    ranked = [
        (document_id, found, round(min(recent.get(document_id, 0.0), max(1 - found.sum, 0)), 12))
        for document_id, found in totals.items()
    ]
    ranked.sort(key=lambda row: (-round(row[1].sum + row[2], 12), row[2], *_behind(row[1])))
    if len(lists) > 1 or recent:  # a list alone keeps its order
        ranked = bm25.in_order(cursor, ranked, lambda row: row[1:], limit)
    rows: list[_Row] = []
    for document_id, found, recency in ranked[:limit]:
        parts = [
            _Part(list=number, rank=rank, weight=weights[number], contribution=given)
            for number, (rank, given) in having[document_id].items()
        ]
        lacking = {n: least[n] for n in range(len(lists)) if n not in having[document_id]}
        if document_id in unknown:
            rest = found.sum - sum(part["contribution"] for part in parts)
            lacking |= {n: rest * weights[n] / (1 - share) for n in lacking if n not in lexical}
        parts += [
            _Part(list=number, rank=None, weight=weights[number], contribution=given)
            for number, given in lacking.items()
        ]
        rows.append((document_id, round(found.sum + recency, 12), 0.0, recency, parts))
    return rows


def _behind(total: _Total) -> tuple[int, float]:
    return total.side, -total.words


def _by_words(
    totals: Mapping[int, _Total],
    words: Mapping[int, float],
    unknown: Sequence[int],
    share: float,
) -> dict[int, _Total]:
    """Score documents without a vector, so that their keywords decide their ranks.

    Args:
        totals: of all documents.
        words: what each has of keyword lists.
        share: weight of all keyword lists.
    """
    known = set(totals).difference(unknown)
    before = sorted(-words[each] for each in known)
    sums = sorted((totals[each].sum for each in known), reverse=True)
    found = {}
    for document_id in unknown:
        place = bisect_left(before, -words[document_id])  # those with more of the words
        above = sums[place - 1] if place else 1.0
        below = sums[place] if place < len(sums) else 0.0
        worth = min(max(words[document_id] / share, below), above)
        side = -1 if worth == below < above or not place else 1
        found[document_id] = _Total(round(worth, 12), side, words[document_id])
    return found


def _recent(cursor: Cursor, documents: list[int], half_life: float | None) -> dict[int, float]:
    """Compute the bonus of recent documents."""
    if half_life is None:
        return {}
    rows = cursor.again("search/recency", documents=documents, half_life=half_life, now=_now())
    return dict(rows)


def _now() -> str:
    return datetime.now(UTC).replace(tzinfo=None).isoformat(sep=" ")


def _best(
    cursor: Cursor,
    name: str,
    given: Mapping[str, Value],
    worth: Callable[[_Row], Hashable],
    limit: int,
) -> list[_Row]:
    """Run a statement and return its best rows; equal ones go by path."""
    rows = cursor.again(name, **given, limit=limit + 1)
    if len(rows) > limit and worth(rows[limit]) == worth(rows[limit - 1]):
        rows = cursor.again(name, **given, limit=postings.ALL_ROWS)
    return bm25.in_order(cursor, rows, worth, limit)


def _worth_of_ranks(row: _Row) -> tuple[float, int, int]:
    _, score, _, _, parts = row
    return score, min(part["list"] for part in parts), min(part["rank"] or 0 for part in parts)


def _floors(lists: Sequence[Listed], entries: Iterable[tuple[int, int, int, float]]) -> list[float]:
    """Compute the score of documents absent from each list."""
    floors: dict[int, float] = {}
    for _, number, _, score in entries:
        lowest = score if lists[number].kind != "lex" else 0.0
        floors[number] = min(floors.get(number, lowest), lowest)
    return [floors.get(number, 0.0) for number in range(len(lists))]


def _weights(lists: Sequence[Listed], fusion: Fusion, words: float) -> list[float]:
    """Return the weight of each list: unchanged for ranks, normalized to 1 for scores."""
    if fusion == "rrf":
        return [each.weight for each in lists]
    lexical = sum(each.weight for each in lists if each.kind == "lex")
    semantic = sum(each.weight for each in lists if each.kind != "lex")
    share = 1.0 if not semantic else 0.0 if not lexical else words
    return [
        share * each.weight / lexical
        if each.kind == "lex"
        else (1 - share) * each.weight / semantic
        for each in lists
    ]


def _nearest(lists: Sequence[Listed]) -> dict[int, Nearest]:
    """Find the passage of each document that is nearest to the query, in any list."""
    best: dict[int, Nearest] = {}
    for each in lists:
        for document_id, passage in each.passages.items():
            if document_id not in best or passage.score > best[document_id].score:
                best[document_id] = passage
    return best


def _explained(lists: Sequence[Listed], parts: Iterable[_Part]) -> list[dict[str, object]]:
    """Describe the contribution of each list to a document."""
    return [
        {
            "kind": lists[part["list"]].kind,
            "query": lists[part["list"]].text,
            "rank": part["rank"],
            "weight": part["weight"],
            "contribution": part["contribution"],
        }
        for part in sorted(parts, key=lambda part: part["list"])
    ]
