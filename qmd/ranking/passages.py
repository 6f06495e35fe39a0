"""Further passages of one document in a result list."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from qmd.storage.cursor import as_json
from qmd.types import SIMILAR, Nearest

if TYPE_CHECKING:
    from qmd.ranking.fusion import Ranked
    from qmd.storage.cursor import Cursor


def with_passages(
    cursor: Cursor,
    documents: Sequence[Ranked],
    nearest: Callable[..., list[Nearest]],
    *,
    similarity: Callable[[float], float],
    per_file: int,
) -> list[Ranked]:
    """Add to each document further passages that are similar to the query.

    They have the score of their document, and come as near as they are in meaning.

    Args:
        documents: best first.
        nearest: `neighbours.nearest`, of the question.
        similarity: what a cosine is worth.
        per_file: passages of a document at most.
    """
    passages: dict[int, list[Nearest]] = {each.document_id: [] for each in documents}
    for hit in nearest(
        cursor,
        documents=as_json(list(passages)),
        limit=per_file * len(passages),
        per_file=per_file,
    ):
        if similarity(hit.score) >= SIMILAR:
            passages[hit.document_id].append(hit)
    found = []
    for each in documents:
        first = each.near.position if each.near is not None else None
        others = [hit for hit in passages[each.document_id] if hit.position != first]
        found.append(each)
        found += [each._replace(near=hit, by_words=False) for hit in others[: per_file - 1]]
    return found
