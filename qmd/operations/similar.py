"""Operation `similar`: documents that are near another one, by meaning and by words."""

from __future__ import annotations

from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Annotated, Unpack

from qmd.analytics.rows import Results
from qmd.declaration.operation import Parameter, operation
from qmd.declaration.parameters import (
    UNLIMITED,
    AllCopies,
    Full,
    Length,
    Limit,
    MinScore,
    Selection,
    selected,
)
from qmd.operations import record_order
from qmd.operations.documents import CurrentFolder
from qmd.operations.search import NONE_INCLUDED, near_duplicates, presented

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from qmd.models.selection import Space
    from qmd.operations.index import Index
    from qmd.ranking.bm25 import Scored
    from qmd.ranking.fusion import Listed, Ranked
    from qmd.ranking.query import Query
    from qmd.storage.cursor import Cursor
    from qmd.types import DocumentRow, Filter

WORDS = 16
"""Telling words of a document that are searched."""

NO_VECTORS = "Compared by words alone: the document has no vectors. Run 'qmd embed'."

SimilarTo = Annotated[
    str,
    Parameter(
        help="collection/path, a docid, or a path.",
        helps={"tool": "Path, #docid or qmd:// URI of the document."},
        json="file",
        metavar="FILE",
        aliases=("docid", "id", "name", "uri", "document"),
        bare=True,
    ),
]


@operation(
    title="Similar documents",
    sharded=True,
    partial=True,
    unlisted=(
        *("limit", "minScore", "allCopies", "collection", "collections"),
        *("since", "before", "filter", "path"),
    ),
    description="Documents most like one that you have found.",
    examples=(
        ("What else there is about the subject of a note", "qmd similar notes/tea.md"),
        ("The three nearest of one collection, as JSON", "qmd similar tea.md -c notes -n 3 --json"),
    ),
)
def similar(
    index: Index,
    name: SimilarTo,
    *,
    limit: Limit = 10,
    min_score: MinScore = 0.0,
    all_copies: AllCopies = False,
    full: Full = False,
    length: Length = 500,
    folder: CurrentFolder = None,
    **among: Unpack[Selection],
) -> Results:
    """Find documents that are similar to another one.

    Its meaning is the mean of the vectors of its passages, and its words are those that tell it
    from other documents. Without vectors its words decide.

    Args:
        name: `collection/path`, a docid, a path, or the end of one.
        limit: results at most; None: all.
        min_score: 0 to 1.
        all_copies: near-duplicates one by one, not folded into the best of them.
        full: whole bodies, no snippets.
        length: characters of a snippet.
        folder: where paths such as `./tea.md` begin; see `document_lookup.found`.
        among: documents that may answer; see `Selection`.

    Returns:
        Results, best first, without the document itself.

    Raises:
        DocumentNotFound, Ambiguous: the name names no document, or several.
        UsageError: a date or the filter cannot be read.
        CollectionNotFound: no collection has one of the names.
    """
    from qmd.errors import ModelError

    documents = selected(**among)
    try:
        space = index.models.space()
    except ModelError:
        space = None
    return index.read(
        partial(
            _similar,
            index,
            name,
            space=space,
            folder=folder,
            among=documents,
            limit=limit or UNLIMITED,
            min_score=min_score,
            copies=not all_copies,
            length=length,
            full=full,
        )
    )


def _similar(
    index: Index,
    name: str,
    cursor: Cursor,
    *,
    space: Space | None,
    folder: Path | None,
    among: Filter,
    limit: int,
    min_score: float,
    copies: bool,
    length: int,
    full: bool,
) -> Results:
    from qmd.operations import document_parts
    from qmd.ranking import bm25
    from qmd.ranking.copies import folded
    from qmd.ranking.fusion import fused
    from qmd.ranking.results import Form, Match
    from qmd.text import paths

    document, _ = document_parts.resolved(cursor, paths.Range(name, None, None), folder)
    narrowed = index.with_default_collections(cursor, among)
    if narrowed is None:
        return Results([], NONE_INCLUDED)
    known = near_duplicates(index, cursor) if copies else {}
    further = record_order.further(index, cursor, among)
    asked = _telling_words(cursor, document)
    near = None if space is None else _neighbors(cursor, document, narrowed, space)
    words: dict[str, str] = {}

    def rank(count: int) -> list[Ranked]:
        lists = []
        if asked is not None:
            found = bm25.scored(cursor, asked, among=narrowed, limit=count + 1)
            words.update(found.words)
            lists.append(_listed(cursor, found))
        if near is not None:
            lists.append(near(count + 1))
        own = {document.document_id}  # the best of all, and no result
        return fused(cursor, lists, "scores", banned=own, half_life=None, limit=count)

    kept = folded(rank, _number, known, question="", limit=limit + further, rearranged=known)
    matches = {Match(each.document_id, each.near, each.by_words): each for each, _ in kept}
    files = {each.document_id: others for each, others in kept}
    shown = presented(index, cursor, Form(words, length, full), matches, narrowed)
    results = [
        shown[match]._replace(score=each.score, similar=files[each.document_id])
        for match, each in matches.items()
        if match in shown
    ]
    if further:
        results = record_order.behind_documents(results, limit)
    reached = [result for result in results if result.score >= min_score]
    notice = NO_VECTORS if near is None else None
    nearly = max((each.score for each in results if each.score < min_score), default=0.0)
    below = len(results) - len(reached)
    return Results(reached, notice, words=words, below=below, nearly=nearly)


def _number(each: Ranked) -> int:
    return each.document_id


def _telling_words(cursor: Cursor, document: DocumentRow) -> Query | None:
    """Ask for the telling words of a document; None: it has none."""
    from qmd.ranking import query
    from qmd.storage.cursor import as_json

    rows = cursor.run(
        "search/telling_words",
        document_id=document.document_id,
        without=as_json(sorted(query.STOP_WORDS)),
        limit=WORDS,
    )
    if not rows:
        return None
    return query.parse(" ".join(word for (word,) in rows), exact=True)


def _listed(cursor: Cursor, found: Scored) -> Listed:
    from qmd.ranking import bm25
    from qmd.ranking.fusion import Listed
    from qmd.ranking.scale import attained

    ordered = bm25.in_order(cursor, found.scores, itemgetter(1), len(found.scores))
    scores = {number: attained(score, found.most) for number, score in ordered}
    return Listed("lex", " ".join(found.words), 1.0, scores, {})


def _neighbors(
    cursor: Cursor, document: DocumentRow, among: Filter, space: Space
) -> Callable[[int], Listed] | None:
    """Give what lists the documents with the passages nearest to one; None: it has no vectors."""
    import numpy as np

    from qmd.embedding import cosines
    from qmd.embedding import vectors as embeddings
    from qmd.ranking import nearest, postings
    from qmd.ranking.fusion import Listed

    number = embeddings.model_id(cursor, space.fingerprint)
    if number is None:
        return None
    rows = cursor.run("search/passage_vectors", model_id=number, hash=document.hash)
    if not rows:
        return None
    mean = np.mean(np.asarray([vector for (vector,) in rows], dtype=np.float32), axis=0)
    size = float(np.linalg.norm(mean))
    if not size:
        return None
    state = embeddings.pending(cursor, fingerprint=space.fingerprint, collections=None)
    find = partial(
        nearest.nearest,
        cursor,
        (mean / size).astype(np.float32),
        model_id=number,
        vectors=state.vectors,
        documents=postings.allowed(cursor, among),
    )
    similarity = cosines.of(cursor, number).similarity

    def listed(count: int) -> Listed:
        hits = find(limit=count)
        scores = {hit.document_id: similarity(hit.score) for hit in hits}
        return Listed("vec", document.name, 1.0, scores, {hit.document_id: hit for hit in hits})

    return listed
