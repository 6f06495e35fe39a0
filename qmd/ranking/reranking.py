"""Reranking of the best candidates by a cross-encoder.

The model scores one passage of each document, and equal passages once. The scores are blended with
the previous order, in one statement (search/blend).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from anyio import from_thread, to_thread

from qmd.errors import ModelFailure
from qmd.ranking import bm25, snippets
from qmd.ranking.helper_calls import Aid, key
from qmd.ranking.matcher import Matcher
from qmd.ranking.poor_lines import data_elided
from qmd.ranking.results import passage_of
from qmd.storage.cursor import as_json

if TYPE_CHECKING:
    from qmd.models.loader import Helper
    from qmd.models.protocols import Reranker
    from qmd.ranking.fusion import Ranked
    from qmd.storage.database import Database
    from qmd.types import Text

PASSAGE = 1500
"""Characters of a passage to rerank, where no vector selects one."""


async def reranked(
    database: Database,
    judge: Helper[Reranker],
    asked: str,
    found: Sequence[Ranked],
    *,
    candidates: int,
    words: Mapping[str, str],
    aid: Aid,
) -> list[Ranked]:
    """Rerank documents; if the model fails, keep the order and add a notice.

    Args:
        asked: the question.
        found: best first.
        candidates: number of documents to rerank; the others follow.
        words: that the question is about: those of the index, and those of its intent.
    """
    best, rest = list(found[:candidates]), found[candidates:]
    ids = [each.document_id for each in best]
    texts = await to_thread.run_sync(database.read, partial(bm25.documents, ids=ids))
    best = [each for each in best if each.document_id in texts]  # others are gone
    match = Matcher(words)
    passages = [_judged(texts[each.document_id], each, match) for each in best]
    work = partial(_scores, judge, asked, passages, aid)
    scores = await aid.within("The results were not reranked", work)
    if scores is None:
        return list(found)
    judged = {
        each.document_id: {"document_id": each.document_id, "rank": rank, "rerank": score}
        for rank, (each, score) in enumerate(
            zip([*best, *rest], [*scores, *(None for _ in rest)], strict=True), start=1
        )
    }
    blended = await to_thread.run_sync(
        database.read,
        lambda cursor: cursor.run("search/blend", fused=as_json([*judged.values()])),
    )
    before = {each.document_id: each for each in found}
    return [
        before[number]._replace(
            score=score,
            explain={
                **before[number].explain,
                "rank": judged[number]["rank"],
                "rerank": judged[number]["rerank"],
                "weight": weight,
            },
        )
        for number, score, weight in blended
    ]


def _scores(judge: Helper[Reranker], asked: str, passages: Sequence[str], aid: Aid) -> list[float]:
    """Score each passage from 0 to 1, from the cache where possible."""
    identity = judge.identity()
    keys = [key("rerank", identity, asked, passage) for passage in passages]
    known = aid.kept(keys)
    missing = {k: p for k, p in zip(keys, passages, strict=True) if k not in known}
    if missing:
        scores = judge.load().score(
            asked, list(missing.values()), between=from_thread.check_cancelled
        )
        if not all(map(math.isfinite, scores)):
            raise ModelFailure(f"{judge.model.name} gave a score that is no number.")
        fresh = dict(zip(missing, scores, strict=True))
        aid.keep("rerank", fresh)
        known |= fresh
    return [float(str(known[each])) for each in keys]


def _judged(text: Text, ranked: Ranked, match: Matcher) -> str:
    """Choose the text to rerank: the matching passage, else the lines with query words."""
    near = passage_of(text, ranked.near, match, by_words=ranked.by_words)
    if near is not None:
        return data_elided(text.body[near.position : near.position + near.length])
    body = text.body[text.matter :]
    return "\n".join(snippets.snippet(body, match, length=PASSAGE).lines)
