"""Operations `vector_search` and `query`: semantic and hybrid search."""

from __future__ import annotations

from collections.abc import Sequence
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
    RrfK,
    Selection,
    Timeout,
    TypedQueries,
    selected,
)
from qmd.embedding.vector_status import other_vectors_notice, vector_status
from qmd.errors import NotEmbedded
from qmd.operations import freshness, record_order
from qmd.operations.search import (
    NONE_INCLUDED,
    empty_index_notice,
    near_duplicates,
    note,
    presented,
)
from qmd.ranking import search_log as searches
from qmd.ranking.scale import RRF_K
from qmd.storage import cancellation
from qmd.types import SIMILAR, Filter, Nearest

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from qmd.models.selection import Space
    from qmd.operations.index import Index
    from qmd.ranking.fusion import Ranked
    from qmd.storage.cursor import Cursor


# -- by meaning --------------------------------------------------------------------------


@operation(
    name="vsearch",
    title="Semantic search (vectors)",
    unlisted=("perFile", "allCopies", "since", "before", "filter", "path"),
    forwardable=True,
    sharded=True,
    partial=True,
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
        question: what to look for; fields in it, such as `tag:draft`, limit the documents.
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
    text, fields = query.text_and_fields(question)
    documents = documents._replace(clauses=fields)
    space, state = vector_status(index, documents.collections)
    if not state.documents and (empty := empty_index_notice(index)):
        return Results([], empty)
    if not state.vectors:
        raise NotEmbedded(other_vectors_notice(index))
    cut: list[str] = []
    [vector] = index.models.vectors(
        space,
        [space.model.as_query(text)],
        between=cancellation.check,
        cut=lambda _, tokens: cut.append(truncation.truncation_notice(text, space.model, tokens)),
    )
    found = index.read(
        partial(
            _nearest,
            index,
            vector,
            made,
            space=space,
            vectors=state.vectors,
            words=query.content_words(text),
            among=documents,
            limit=limit or UNLIMITED,
            min_score=min_score,
            per_file=per_file,
            length=length,
            full=full,
            copies=not all_copies,
        )
    )
    chance = None if space.model.knows(text) else space.model.chance
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
    from qmd.ranking.copies import folded
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
    pages = bm25.statistics(cursor).link_pages
    from_file = freshness.links_reader(index)
    further = record_order.further(index, cursor, among)
    wide = limit + further

    def rank(count: int) -> Sequence[Nearest]:
        found = find(limit=count)
        return passages_behind(cursor, found, pages, question=made.query, from_file=from_file)

    best = folded(
        rank, _document_of, known, question=made.query, limit=wide, rearranged=known or pages
    )
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
        *("mode", "perFile", "fusion", "rrfK", "exact", "recent", "allCopies", "maxTokens"),
        *("since", "before", "filter", "path"),
    ),
    forwardable=True,
    sharded=True,
    partial=True,
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
    rrf_k: RrfK = RRF_K,
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
        rrf_k: constant of the latter.
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

    from qmd.operations import hybrid_search
    from qmd.ranking.expansion import fields_of
    from qmd.ranking.hybrid_lists import Recipe
    from qmd.ranking.search_log import begin

    asked = hybrid_search.asked_document(question, searches, intent)
    documents = selected(**among)
    documents = documents._replace(clauses=fields_of(asked))
    if fresh:
        await to_thread.run_sync(freshness.update_first, index, documents.collections or ())
    most = limit or UNLIMITED
    if max_tokens is not None:
        from qmd.operations import packing

        per_file, length = max(per_file, packing.PER_FILE), packing.WINDOW
    made = begin("query", asked.document, documents.collections, most)
    recipe = Recipe(
        fusion,
        meaning and mode != "fast",
        candidates,
        timeout,
        recent,
        per_file,
        exact,
        None if all_copies else partial(near_duplicates, index),
        freshness.links_reader(index),
        rrf_k,
        index.keyword_share(),
    )
    helpers = partial(
        hybrid_search.chosen_helpers,
        index,
        mode,
        meaning=recipe.meaning,
        expand=expand,
        rerank=rerank,
        typed=searches is not None,
    )
    shape = hybrid_search.Shape(most, min_score, explain, full, length, max_tokens)
    return await hybrid_search.hybrid_results(
        index, asked, made, helpers=helpers, recipe=recipe, among=documents, shape=shape
    )
