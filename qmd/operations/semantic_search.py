"""Operations `vector_search` and `query`: semantic and hybrid search."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Unpack

from qmd.analytics.rows import Results
from qmd.declaration.operation import operation
from qmd.declaration.parameters import (
    UNLIMITED,
    AllCopies,
    Candidates,
    Exact,
    Expand,
    Explain,
    Fresh,
    Full,
    Fusion,
    Intent,
    Length,
    Limit,
    Meaning,
    MinScore,
    Mode,
    PassagesUpTo,
    PerFile,
    QueryDocument,
    Question,
    Recent,
    Rerank,
    Selection,
    Timeout,
    TypedQueries,
    selected,
)
from qmd.embedding.vector_status import other_vectors_notice, vector_status
from qmd.errors import InvalidArgument, NotEmbedded, QueryError
from qmd.operations import freshness, record_order
from qmd.operations.search import (
    NONE_INCLUDED,
    empty_index_notice,
    near_duplicates,
    note,
    presented,
    respelling_notice,
)
from qmd.ranking import search_log as searches
from qmd.storage import cancellation
from qmd.types import SIMILAR, Filter, Nearest, Result

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from qmd.models.selection import Space
    from qmd.operations.index import Index
    from qmd.ranking import query_document
    from qmd.ranking.fusion import Ranked
    from qmd.ranking.hybrid import Helpers, Ranking
    from qmd.ranking.results import Form
    from qmd.storage.cursor import Cursor


# -- by meaning --------------------------------------------------------------------------


@operation(
    name="vsearch",
    title="Semantic search (vectors)",
    unlisted=("perFile", "allCopies", "since", "before", "filter", "path"),
    forwardable=True,
    sharded=True,
    description="Semantic search over embeddings: other words for the same. Needs `qmd embed`.",
    asks_models=True,
    aliases=("vsearch",),
    examples=(
        ("Passages that mean the same in other words", "qmd vsearch 'how hot should the water be'"),
        ("Several passages of each document", "qmd vsearch 'brewing a drink' --per-file 3"),
        (
            "Only passages that are very near",
            "qmd vsearch 'brewing a drink' --min-score 0.5 --json",
        ),
    ),
)
def vector_search(
    index: Index,
    question: Question,
    *,
    limit: Limit = 10,
    min_score: MinScore = SIMILAR,
    per_file: PerFile = 1,
    all_copies: AllCopies = False,
    full: Full = False,
    length: Length = 500,
    fresh: Fresh = False,
    **among: Unpack[Selection],
) -> Results:
    """Find documents by meaning: passages that say what you ask, in whatever words.

    Args:
        question: what to look for.
        limit: results at most; None: all.
        min_score: 0 to 1, from which on a passage counts.
        per_file: passages of one document at most.
        all_copies: near-duplicates one by one, not folded into the best of them.
        full: whole bodies, no snippets.
        length: characters of a snippet.
        fresh: update the index first; see `update`. No update command is run.
        among: documents that may answer; see `Selection`.

    Returns:
        Results, best first.

    Raises:
        QueryError: the question cannot be read.
        UsageError: a date or the filter cannot be read.
        CollectionNotFound: no collection has one of the names.
        NotEmbedded: there are no vectors of the model in use.
        ModelError: the model cannot run here, or did not answer.
    """
    from qmd.models import truncation
    from qmd.ranking import query

    documents = selected(**among)
    if fresh:
        freshness.update_first(index, documents.collections or ())
    made = searches.begin("vsearch", question, documents.collections, limit or UNLIMITED)
    problem = query.check_semantic(question)
    if problem or not question.strip():
        raise QueryError(problem or query.NOTHING_TO_FIND)
    space, state = vector_status(index, documents.collections)
    if not state.documents and (empty := empty_index_notice(index)):
        return Results([], empty)
    if not state.vectors:
        raise NotEmbedded(other_vectors_notice(index))
    cut: list[str] = []
    [vector] = index.models.vectors(
        space,
        [space.model.as_query(question)],
        between=cancellation.check,
        cut=lambda _, tokens: cut.append(
            truncation.truncation_notice(question, space.model, tokens)
        ),
    )
    found = index.read(
        partial(
            _nearest,
            index,
            vector,
            made,
            space=space,
            vectors=state.vectors,
            words=query.content_words(question),
            among=documents,
            limit=limit or UNLIMITED,
            min_score=min_score,
            per_file=per_file,
            length=length,
            full=full,
            copies=not all_copies,
        )
    )
    chance = None if space.model.knows(question) else space.model.chance
    notices = [found.notice] if found.notice else [chance, *cut, state.notice]
    found.notice = "\n".join(filter(None, notices)) or None
    return found


def _nearest(
    index: Index,
    vector: NDArray[np.float32],
    made: searches.LoggedSearch,
    cursor: Cursor,
    *,
    space: Space,
    vectors: int,
    words: dict[str, str],
    among: Filter,
    limit: int,
    min_score: float,
    per_file: int,
    length: int,
    full: bool,
    copies: bool,
) -> Results:
    from qmd.embedding import cosines
    from qmd.embedding import vectors as embeddings
    from qmd.ranking import bm25, nearest, postings
    from qmd.ranking.copies import depth, without_copies
    from qmd.ranking.link_pages import passages_behind
    from qmd.ranking.results import Form, Match

    narrowed = index.with_default_collections(cursor, among)
    if narrowed is None:
        return Results([], NONE_INCLUDED)
    number = embeddings.model_id(cursor, space.fingerprint, dimensions=len(vector))
    if number is None:
        raise NotEmbedded
    known = near_duplicates(index, cursor) if copies else {}
    find = partial(
        nearest.nearest,
        cursor,
        vector,
        model_id=number,
        vectors=vectors,
        documents=postings.allowed(cursor, narrowed),
        per_file=per_file,
        faster=index.vector_indexes.get(space, number, vectors, len(vector)),
    )
    pages = bm25.link_pages(cursor)
    further = record_order.further(index, cursor, among)
    wide = limit + further
    most = depth(wide, known or pages)
    fold = partial(without_copies, copies=known, question=made.query, limit=wide)
    while True:
        found = find(limit=most)
        best = fold(passages_behind(cursor, found, pages, question=made.query), _document_of)
        if len(best) == wide or len(found) < most:
            break
        most *= 4  # a group of near-duplicates is larger than that
    similarity = cosines.of(cursor, number).similarity
    near = {
        Match(hit.document_id, hit, by_words=False): (similarity(hit.score), similar)
        for hit, similar in best
    }
    shown = presented(index, cursor, Form(words, length, full), near, narrowed)
    ordered = [
        shown[match]._replace(score=score, similar=similar)
        for match, (score, similar) in near.items()
    ]
    if further:
        ordered = record_order.behind_documents(ordered, limit)
    results = [each for each in ordered if each.score >= min_score]
    note(index, cursor, made, results)
    nearly = max((each.score for each in ordered if each.score < min_score), default=0.0)
    return Results(results, words=words, below=len(ordered) - len(results), nearly=nearly)


def _document_of(hit: Nearest | Ranked) -> int:
    return hit.document_id


# -- by both -----------------------------------------------------------------------------


@operation(
    title="Hybrid search",
    unlisted=(
        *("mode", "perFile", "fusion", "exact", "recent", "allCopies", "maxTokens"),
        *("since", "before", "filter", "path"),
    ),
    forwardable=True,
    sharded=True,
    description="Best search: keywords and meaning, fused by scores (or by RRF). Give `query`, or "
    "typed `searches` of which the first counts double.",
    asks_models=True,
    examples=(
        ("Ask in your own words", "qmd query 'how hot should tea water be'"),
        ("Prefer what was written of late", "qmd query 'what is planned' -c work --recent 90"),
        ("See how each score came about", "qmd query 'green tea' --explain"),
        (
            "Say which words and which meaning to look for",
            "printf 'lex: tea\\nvec: temperature of water\\n' | qmd query -",
        ),
    ),
)
async def query(
    index: Index,
    question: QueryDocument = None,
    *,
    searches: TypedQueries = None,
    limit: Limit = 10,
    min_score: MinScore = 0.0,
    mode: Mode = None,
    meaning: Meaning = True,
    per_file: PerFile = 1,
    intent: Intent = None,
    candidates: Candidates = 40,
    expand: Expand = None,
    rerank: Rerank = None,
    fusion: Fusion = "scores",
    exact: Exact = False,
    timeout: Timeout = None,  # noqa: ASYNC109  # of a model, not of the call
    recent: Recent = None,
    all_copies: AllCopies = False,
    explain: Explain = False,
    full: Full = False,
    length: Length = 500,
    max_tokens: PassagesUpTo = None,
    fresh: Fresh = False,
    **among: Unpack[Selection],
) -> Results:
    """Find documents by words and by meaning, the best of both first.

    Args:
        question: plain, or lines `lex:`, `vec:`, `hyde:`, `intent:`.
        searches: typed sub-queries in place of a question: `{"type": "lex", "query": "tea"}`.
        limit: results at most; None: all.
        min_score: 0 to 1.
        mode: "fast": words only; "hybrid": and meaning; "full": and models that expand and rerank;
            None: "full" where such a model is fast here, else "hybrid".
        meaning: search by meaning, too; False is the same as the mode "fast".
        per_file: passages of one document at most: further ones by their meaning.
        intent: what the question is about; over that of the question.
        candidates: documents that are reranked; the default is that of tobi/qmd (MIT).
        expand: let a model put the question in other words; None: as `mode` says.
        rerank: let a model judge the best candidates; None: as `mode` says.
        fusion: how lists become one: by scores, or by reciprocal ranks.
        exact: look for words as they are written; see `search`.
        timeout: seconds for each model that helps.
        recent: prefer new documents: days after which a claim to be new is half.
        all_copies: near-duplicates one by one, not folded into the best of them.
        explain: give each result how its score came about.
        full: whole bodies, no snippets.
        length: characters of a snippet.
        max_tokens: give the best passages of the results, too; see `search`.
        fresh: update the index first; see `update`. No update command is run.
        among: documents that may answer; see `Selection`.

    Returns:
        Results, best first.

    Raises:
        QueryError: the question cannot be read.
        UsageError: a date or the filter cannot be read.
        CollectionNotFound: no collection has one of the names.
        NotEmbedded, ModelError: nothing but meaning is asked for, and cannot be searched.
    """
    from anyio import to_thread

    from qmd.ranking import hybrid
    from qmd.ranking import query as queries
    from qmd.ranking.expansion import fields_of
    from qmd.ranking.results import Form
    from qmd.ranking.search_log import begin

    asked = _document(question, searches, intent)
    documents = selected(**among)
    documents = documents._replace(clauses=fields_of(asked))
    if fresh:
        await to_thread.run_sync(freshness.update_first, index, documents.collections or ())
    most = limit or UNLIMITED
    if max_tokens is not None:
        from qmd.operations import packing

        per_file, length = max(per_file, packing.PER_FILE), packing.WINDOW
    made = begin("query", asked.document, documents.collections, most)
    options = hybrid.Recipe(
        fusion,
        meaning and mode != "fast",
        candidates,
        timeout,
        recent,
        per_file,
        exact,
        None if all_copies else partial(near_duplicates, index),
    )

    def begun() -> tuple[Filter | None, int, Helpers]:
        helping = mode == "full" or (mode is None and index.models.help_at_once())
        helpers = _helpers(
            index,
            meaning=options.meaning,
            expand=(helping if expand is None else expand) and searches is None,
            rerank=helping if rerank is None else rerank,
        )
        return *index.read(partial(_narrowed, index, documents)), helpers

    narrowed, further, helpers = await to_thread.run_sync(begun)
    if narrowed is None:
        return Results([], NONE_INCLUDED)

    steering = queries.content_words(asked.intent or "")

    def told(ranking: Ranking) -> Mapping[str, str]:
        return ranking.words or queries.content_words(" ".join(asked.texts))

    def shown(ranking: Ranking, cursor: Cursor) -> list[Result]:
        form = Form({**told(ranking), **steering}, length, full)
        return _shown(
            index,
            made,
            cursor,
            ranking=ranking,
            form=form,
            among=narrowed,
            limit=most,
            further=further,
        )

    try:
        ranking, results = await hybrid.ranking(
            index.database,
            asked,
            helpers=helpers,
            recipe=options,
            among=narrowed,
            limit=most + further,
            show=shown,
        )
    except NotEmbedded:
        if empty := await to_thread.run_sync(empty_index_notice, index):
            return Results([], empty)
        raise
    empty = None if results else await to_thread.run_sync(empty_index_notice, index)
    notices = [respelling_notice(ranking.respelled), *([empty] if empty else ranking.notices)]
    kept = [
        result if explain else result._replace(explain=None)
        for result in results
        if result.score >= min_score
    ]
    answer = Results(
        kept,
        "\n".join(filter(None, notices)) or None,
        words=told(ranking),
        steering=steering,
        below=len(results) - len(kept),
        nearly=max((each.score for each in results if each.score < min_score), default=0.0),
        respelled=ranking.respelled,
    )
    if max_tokens is not None:
        packed = partial(packing.packed, made.query, answer, max_tokens)
        answer.passages = await to_thread.run_sync(index.read, packed)
    return answer


def _narrowed(index: Index, among: Filter, cursor: Cursor) -> tuple[Filter | None, int]:
    """Add the default collections, and count the documents to rank besides."""
    return (
        index.with_default_collections(cursor, among),
        record_order.further(index, cursor, among),
    )


def _document(
    question: str | None, typed: list[dict[str, str]] | None, intent: str | None
) -> query_document.Question:
    """Make the query document of a question, or of typed sub-queries.

    Raises:
        InvalidArgument: neither is given, or both.
        QueryError: the question cannot be read.
    """
    from qmd.ranking import query_document

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


def _shown(
    index: Index,
    made: searches.LoggedSearch,
    cursor: Cursor,
    *,
    ranking: Ranking,
    form: Form,
    among: Filter,
    limit: int,
    further: int,
) -> list[Result]:
    """Make results of ranked documents, without those that are gone since they were found.

    Args:
        further: documents that are ranked besides those that are shown.
    """
    from qmd.ranking.results import Match

    matches = [Match(each.document_id, each.near, each.by_words) for each in ranking.documents]
    shown = presented(index, cursor, form, matches, among)
    results: dict[tuple[str, int], Result] = {}
    for each, match in zip(ranking.documents, matches, strict=True):
        if match in shown:
            result = shown[match]._replace(
                score=each.score, explain=each.explain, similar=each.similar
            )
            results.setdefault((result.file, result.line), result)  # no passage twice
    found = list(results.values())[: limit + further]
    if further:
        found = record_order.behind_documents(found, limit)
    note(index, cursor, made, found)
    return found


def _helpers(index: Index, *, meaning: bool, expand: bool, rerank: bool) -> Helpers:
    """Collect the models that are at hand, none of them loaded yet."""
    from qmd.ranking.hybrid import Helpers

    return Helpers(
        index.models.space if meaning else None,
        index.models.vectors if meaning else None,
        index.vector_indexes.get,
        index.models.generator() if expand else None,
        index.models.reranker() if rerank else None,
    )
