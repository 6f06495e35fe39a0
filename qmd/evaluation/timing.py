"""Latency of each stage of a hybrid search."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from qmd.embedding.vector_status import vector_status
from qmd.errors import ModelError, QueryError
from qmd.evaluation.runner import searched_texts
from qmd.evaluation.runs import Spread, spread
from qmd.ranking import bm25, postings, query
from qmd.storage.cursor import Memory

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from qmd.evaluation.index_under_test import Bench, Progress
    from qmd.models.selection import Space
    from qmd.storage.cursor import Cursor

Value = TypeVar("Value")

MAX_TIMED_QUERIES = 200
"""Queries whose stages are timed, at most."""


def stages(bench: Bench, space: Space | None, progress: Progress) -> dict[str, Spread]:
    """Measure each stage of a hybrid search alone: `words`, `embed`, `vectors`.

    Args:
        space: None: words alone are timed.
    """
    from qmd.embedding import vectors as embeddings
    from qmd.ranking import nearest
    from qmd.ranking.fusion import DEPTH

    engine, limit = bench.engine, DEPTH["scores"]
    chosen = bench.fixture.sampled(MAX_TIMED_QUERIES).questions
    vectors = vector_status(engine)[1].vectors if space is not None else 0
    times: dict[str, list[float]] = {"words": [], "embed": [], "vectors": []}
    told = progress("Timing stages")

    def timed(stage: str, work: Callable[[], Value]) -> Value:
        began = time.perf_counter()
        value = work()
        times[stage].append((time.perf_counter() - began) * 1000)
        return value

    def by_words(text: str, cursor: Cursor) -> object:
        asked = query.parse(text)
        cursor.memory = Memory()  # else it would be known from the searches before
        return bm25.scored(cursor, asked, among=bench.among, limit=limit)

    def by_meaning(space: Space, vector: NDArray[np.float32], cursor: Cursor) -> object:
        number = embeddings.model_id(cursor, space.fingerprint)
        assert number is not None
        return nearest.nearest(
            cursor,
            vector,
            model_id=number,
            vectors=vectors,
            documents=postings.allowed(cursor, bench.among),
            limit=limit,
        )

    for done, question in enumerate(chosen, start=1):
        with suppress(QueryError, ModelError):
            for text in searched_texts(bench.fixture, question, "lex")[:1]:
                timed("words", partial(engine.read, partial(by_words, text)))
            for text in searched_texts(bench.fixture, question, "vec", "hyde")[:1]:
                if space is not None:
                    asked = [space.model.as_query(text)]
                    [vector] = timed("embed", partial(engine.models.embedder(space).embed, asked))
                    timed("vectors", partial(engine.read, partial(by_meaning, space, vector)))
        told(done, len(chosen))
    return {stage: found for stage, each in times.items() if (found := spread(each)) is not None}
