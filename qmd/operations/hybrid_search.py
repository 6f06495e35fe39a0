"""Steps of the operation `query`: its query document, its models, its ranking and its results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from anyio import to_thread

from qmd.analytics.rows import Results
from qmd.errors import InvalidArgument, NotEmbedded
from qmd.named_tuple import NamedTuple
from qmd.operations import record_order
from qmd.operations.search import (
    NONE_INCLUDED,
    empty_index_notice,
    note,
    presented,
    respelling_notice,
)
from qmd.ranking import hybrid, query, query_document
from qmd.ranking.hybrid import Ranking
from qmd.ranking.hybrid_lists import Helpers, Recipe
from qmd.ranking.results import Form, Match

if TYPE_CHECKING:
    from qmd.operations.index import Index
    from qmd.ranking.query_document import Question
    from qmd.ranking.search_log import LoggedSearch
    from qmd.storage.cursor import Cursor
    from qmd.types import Filter, Result


class Shape(NamedTuple):
    """Number and form of the results of a hybrid search.

    Attributes:
        limit: results at most.
        min_score: 0 to 1; results below it are left out.
        explain: each result says how its score came about.
        full: whole bodies, no snippets.
        length: characters of a snippet.
        max_tokens: of the best passages of the results; None: none are given.
    """

    limit: int
    min_score: float
    explain: bool
    full: bool
    length: int
    max_tokens: int | None


def asked_document(
    question: str | None, typed: list[dict[str, str]] | None, intent: str | None
) -> Question:
    """Make the query document of a question, or of typed sub-queries.

    Raises:
        InvalidArgument: neither is given, or both.
        QueryError: the question cannot be read.
    """
    if (question is None) == (typed is None):
        raise InvalidArgument(
            "question", "and searches: give either one" + (", not both." if question else ".")
        )
    if question is not None:
        document = query_document.parse(question)
    else:
        document = query_document.typed(
            [
                query_document.Search(each["type"], each["query"], number)  # type: ignore[arg-type]
                for number, each in enumerate(typed or (), 1)
            ]
        )
    return document._replace(intent=intent) if intent else document


def chosen_helpers(
    index: Index,
    mode: str | None,
    *,
    meaning: bool,
    expand: bool | None,
    rerank: bool | None,
    typed: bool,
) -> Helpers:
    """Collect the models that a query uses, none of them loaded yet.

    Args:
        mode: see the operation `query`; it decides where `expand` or `rerank` is None.
        typed: the query is made of typed sub-queries, which are not expanded.
    """
    helping = mode == "full" or (mode is None and index.models.help_at_once())
    expand = (helping if expand is None else expand) and not typed
    rerank = helping if rerank is None else rerank
    return Helpers(
        index.models.space if meaning else None,
        index.models.vectors if meaning else None,
        index.vector_indexes.get,
        index.models.generator() if expand else None,
        index.models.reranker() if rerank else None,
    )


async def hybrid_results(
    index: Index,
    asked: Question,
    made: LoggedSearch,
    *,
    helpers: Callable[[], Helpers],
    recipe: Recipe,
    among: Filter,
    shape: Shape,
) -> Results:
    """Rank the documents for a query and return its results, best first.

    Args:
        helpers: gives the models that are used; it may block.

    Raises:
        CollectionNotFound: no collection has one of the names.
        QueryError: a search cannot be read.
        NotEmbedded, ModelError: nothing but meaning is asked for, and cannot be searched.
    """

    def begun() -> tuple[Filter | None, int, Helpers]:
        models = helpers()
        return *index.read(partial(_narrowed, index, among)), models

    narrowed, further, models = await to_thread.run_sync(begun)
    if narrowed is None:
        return Results([], NONE_INCLUDED)
    steering = query.content_words(asked.intent or "")

    def words_of(ranking: Ranking) -> Mapping[str, str]:
        return ranking.words or query.content_words(" ".join(asked.texts))

    def show(ranking: Ranking, cursor: Cursor) -> list[Result]:
        form = Form({**words_of(ranking), **steering}, shape.length, shape.full)
        found = _results(index, cursor, ranking, form=form, among=narrowed)[: shape.limit + further]
        if further:
            found = record_order.behind_documents(found, shape.limit)
        note(index, cursor, made, found)
        return found

    try:
        ranking, results = await hybrid.ranking(
            index.database,
            asked,
            helpers=models,
            recipe=recipe,
            among=narrowed,
            limit=shape.limit + further,
            show=show,
        )
    except NotEmbedded:
        if empty := await to_thread.run_sync(empty_index_notice, index):
            return Results([], empty)
        raise
    empty = None if results else await to_thread.run_sync(empty_index_notice, index)
    notices = [respelling_notice(ranking.respelled), *([empty] if empty else ranking.notices)]
    found = _kept(results, shape)
    found.notice = "\n".join(filter(None, notices)) or None
    found.words, found.steering = words_of(ranking), steering
    found.respelled = ranking.respelled
    if shape.max_tokens is not None:
        from qmd.operations import packing

        packed = partial(packing.packed, made.query, found, shape.max_tokens)
        found.passages = await to_thread.run_sync(index.read, packed)
    return found


def _narrowed(index: Index, among: Filter, cursor: Cursor) -> tuple[Filter | None, int]:
    """Add the default collections, and count the documents to rank besides."""
    return (
        index.with_default_collections(cursor, among),
        record_order.further(index, cursor, among),
    )


def _kept(results: Sequence[Result], shape: Shape) -> Results:
    """Leave out results below the least score, and explanations that were not asked for."""
    kept = [each for each in results if each.score >= shape.min_score]
    lower = [each.score for each in results if each.score < shape.min_score]
    return Results(
        kept if shape.explain else [each._replace(explain=None) for each in kept],
        below=len(lower),
        nearly=max(lower, default=0.0),
    )


def _results(
    index: Index, cursor: Cursor, ranking: Ranking, *, form: Form, among: Filter
) -> list[Result]:
    """Make results of ranked documents, without those that are gone since they were found."""
    matches = [Match(each.document_id, each.near, each.by_words) for each in ranking.documents]
    shown = presented(index, cursor, form, matches, among)
    results: dict[tuple[str, int], Result] = {}
    for each, match in zip(ranking.documents, matches, strict=True):
        if match in shown:
            result = shown[match]._replace(
                score=each.score, explain=each.explain, similar=each.similar
            )
            results.setdefault((result.file, result.line), result)  # no passage twice
    return list(results.values())
