"""Fusion of ranked lists: by scores, or by reciprocal ranks.

Both are statements (search/fuse_scores, search/fuse_ranks), unless there is only one list. Each
result has the contribution of every list, so that a score can be verified by hand.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Hashable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal, NamedTuple, TypedDict

from qmd.ranking import bm25, postings
from qmd.types import Nearest

if TYPE_CHECKING:
    from qmd.ranking.query_document import Kind
    from qmd.storage.cursor import Cursor, Value

Fusion = Literal["scores", "rrf"]

WORDS = 0.42
"""Share of the keyword lists in the fused score; the rest is that of the vector lists.

Measured: docs/relevance.md.
"""

HALF = 20
"""BM25 with a keyword score of one half, as in search/fuse_scores. Measured: docs/relevance.md."""

DEPTH: Mapping[Fusion, int] = {"scores": 200, "rrf": 20}
"""Documents of a list that are fused. Sources: docs/relevance.md; tobi/qmd (MIT)."""


class Listed(NamedTuple):
    """A ranked list.

    Attributes:
        scores: bm25 or cosine, by document, best first.
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
    """

    document_id: int
    score: float
    near: Nearest | None
    by_words: bool
    explain: dict[str, object]


def fused(
    cursor: Cursor,
    lists: Sequence[Listed],
    fusion: Fusion,
    *,
    banned: Container[int],
    half_life: float | None,
    limit: int,
    unknown: Collection[int] = (),
) -> list[Ranked]:
    """Fuse lists and return the best documents, best first.

    Args:
        banned: documents that may not answer.
        unknown: documents without a vector, absent from vector lists.
        half_life: days after which a document's claim to be recent is half; None: all are alike.
        limit: documents at most.
    """
    weights = _weights(lists, fusion)
    share = _share(lists, weights)
    entries = [
        (document_id, number, rank, score)
        for number, each in enumerate(lists)
        for rank, (document_id, score) in enumerate(each.scores.items(), start=1)
        if document_id not in banned
    ]
    given: dict[str, Value] = {
        "documents": [document_id for document_id, _, _, _ in entries],
        "lists": [number for _, number, _, _ in entries],
        "ranks": [rank for _, _, rank, _ in entries],
        "weights": [weights[number] for _, number, _, _ in entries],
        "half_life": half_life,
        "now": datetime.now(UTC).replace(tzinfo=None).isoformat(sep=" "),
    }
    absent: list[_Part] = []
    if fusion == "rrf":
        found = _best(cursor, "search/fuse_ranks", given, _worth_of_ranks, limit)
    else:
        floors = _floors(lists, entries)
        absent = [
            _Part(
                list=number,
                rank=None,
                weight=weights[number],
                contribution=weights[number] * floor,
            )
            for number, floor in floors.items()
        ]
        given |= {
            "scores": [score for _, _, _, score in entries],
            "lexical": [lists[number].kind == "lex" for _, number, _, _ in entries],
            "floors": [floors[number] for _, number, _, _ in entries],
            "least": sum(part["contribution"] for part in absent),
            "unknown": sorted(unknown) or None,
            "share": share,
        }
        if len(lists) == 1 and half_life is None:
            rows = _alone(lists[0].kind, entries)
            found = bm25.in_order(cursor, rows, _worth_of_scores, limit)
        else:
            found = _best(cursor, "search/fuse_scores", given, _worth_of_scores, limit)
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
                "lists": _explained(
                    lists,
                    parts,
                    _as_by_words(lists, parts, absent, share) if document_id in unknown else absent,
                ),
                "bonus": bonus,
                "recency": recency,
                "fused": score,
            },
        )
        for document_id, score, bonus, recency, parts in found
    ]


_Row = tuple[int, float, float, float, list[_Part]]
"""Columns of the statements: document_id, score, bonus, recency, parts."""


def _alone(kind: Kind, entries: Sequence[tuple[int, int, int, float]]) -> list[_Row]:
    """Convert a single list to the rows of search/fuse_scores; it keeps its order."""
    rows: list[_Row] = []
    for document_id, number, rank, score in entries:
        score = score / (score + HALF) if kind == "lex" else max(score, 0.0)
        part = _Part(list=number, rank=rank, weight=1.0, contribution=score)
        rows.append((document_id, round(score, 12), 0.0, 0.0, [part]))
    return rows


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


def _worth_of_scores(row: _Row) -> tuple[float, float]:
    _, score, _, recency, _ = row
    return score, recency


def _worth_of_ranks(row: _Row) -> tuple[float, int, int]:
    _, score, _, _, parts = row
    return score, min(part["list"] for part in parts), min(part["rank"] or 0 for part in parts)


def _floors(
    lists: Sequence[Listed], entries: Iterable[tuple[int, int, int, float]]
) -> dict[int, float]:
    """Compute the score of documents absent from each list. See search/fuse_scores."""
    floors: dict[int, float] = {}
    for _, number, _, score in entries:
        lowest = score if lists[number].kind != "lex" and score > 0 else 0.0
        floors[number] = min(floors.get(number, lowest), lowest)
    return {number: floors.get(number, 0.0) for number in range(len(lists))}


def _share(lists: Sequence[Listed], weights: Sequence[float]) -> float:
    """Sum the weights of all keyword lists."""
    pairs = zip(lists, weights, strict=True)
    return sum(weight for each, weight in pairs if each.kind == "lex")


def _as_by_words(
    lists: Sequence[Listed], parts: Iterable[_Part], absent: Iterable[_Part], share: float
) -> list[_Part]:
    """Score a document without a vector, for each list that it is absent from, by its keywords."""
    mean = sum(part["contribution"] for part in parts) / share
    return [
        part
        if lists[part["list"]].kind == "lex"
        else _Part(
            list=part["list"],
            rank=None,
            weight=part["weight"],
            contribution=part["weight"] * mean,
        )
        for part in absent
    ]


def _weights(lists: Sequence[Listed], fusion: Fusion) -> list[float]:
    """Return the weight of each list: unchanged for ranks, normalized to 1 for scores."""
    if fusion == "rrf":
        return [each.weight for each in lists]
    lexical = sum(each.weight for each in lists if each.kind == "lex")
    semantic = sum(each.weight for each in lists if each.kind != "lex")
    share = 1.0 if not semantic else 0.0 if not lexical else WORDS
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


def _explained(
    lists: Sequence[Listed], parts: Iterable[_Part], absent: Iterable[_Part]
) -> list[dict[str, object]]:
    """Describe the contribution of each list to a document.

    Args:
        parts: of the lists that have it.
        absent: of each list, what it gives to those that it does not have.
    """
    known = {part["list"]: part for part in (*absent, *parts)}
    return [
        {
            "kind": lists[number].kind,
            "query": lists[number].text,
            "rank": part["rank"],
            "weight": part["weight"],
            "contribution": part["contribution"],
        }
        for number, part in sorted(known.items())
    ]
