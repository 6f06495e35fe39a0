"""Operation `search`: keyword search (BM25), and what all searches share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Unpack

from qmd.analytics.rows import Results
from qmd.declaration.operation import operation
from qmd.declaration.parameters import (
    UNLIMITED,
    AllCopies,
    Exact,
    Fresh,
    Full,
    Keywords,
    Length,
    Limit,
    MinScore,
    PassagesUpTo,
    Selection,
    selected,
)
from qmd.operations import freshness, record_order
from qmd.ranking import search_log
from qmd.storage import catalog
from qmd.types import ALL

if TYPE_CHECKING:
    from qmd.operations.index import Index
    from qmd.ranking.copies import Copies
    from qmd.ranking.query import Query
    from qmd.ranking.results import Form, Match
    from qmd.storage.cursor import Cursor
    from qmd.types import Collection, Filter, Result

NONE_INCLUDED = (
    "All collections are excluded from searches that name none. "
    "Name one, or run 'qmd collection include NAME'."
)

NO_COLLECTIONS = "Nothing is indexed yet. Add a folder with 'qmd collection add PATH'."
NO_DOCUMENTS = "Nothing is indexed yet. Run 'qmd update'."
NO_FILES = (
    "Nothing is indexed: no collection has a file that matches its mask. "
    "'qmd collection list' shows their folders and masks."
)


@operation(
    title="Keyword search (BM25)",
    unlisted=("exact", "allCopies", "maxTokens", "since", "before", "filter", "path"),
    forwardable=True,
    sharded=True,
    partial=True,
    description='Fast BM25 keyword search. Supports "quoted phrases" and -negation. '
    "No model needed.",
    examples=(
        ("Documents that have these words", "qmd search green tea"),
        (
            "A phrase, without another word, of one collection",
            "qmd search '\"green tea\" -coffee' -c notes",
        ),
        (
            "What is open, of this year on, as JSON",
            "qmd search tea --filter 'status = open' --since 2025 --json",
        ),
        (
            "Either of two words, in documents with a tag, without drafts",
            "qmd search 'green OR black tag:tea -path:drafts'",
        ),
    ),
)
def search(
    index: Index,
    query: Keywords,
    *,
    limit: Limit = 10,
    min_score: MinScore = 0.0,
    exact: Exact = False,
    all_copies: AllCopies = False,
    full: Full = False,
    length: Length = 500,
    max_tokens: PassagesUpTo = None,
    fresh: Fresh = False,
    **among: Unpack[Selection],
) -> Results:
    """Find documents by keyword (BM25). Fast: no model is loaded.

    Args:
        query: words, `"phrases"`, `-exclusions`.
        limit: results at most; None: all.
        min_score: 0 to 1.
        exact: look for words as they are written; else the nearest words of the index stand for
            one that no document has, and `Results.respelled` and the notice say so.
        all_copies: near-duplicates one by one, not folded into the best of them.
        full: whole bodies, no snippets.
        length: characters of a snippet.
        max_tokens: give the best passages of the results, too, as `Results.passages`, with a text
            of so many tokens at most; None: no passages.
        fresh: update the index first; see `update`. No update command is run.
        among: documents that may answer; see `Selection`.

    Returns:
        Results, best first.

    Raises:
        QueryError: the query cannot be read.
        UsageError: a date or the filter cannot be read.
        CollectionNotFound: no collection has one of the names.
    """
    from qmd.ranking import query as queries

    documents = selected(**among)
    if fresh:
        freshness.update_first(index, documents.collections or ())
    made = search_log.begin("search", query, documents.collections, limit or UNLIMITED)
    asked = queries.parse(query, exact=exact)
    return index.read(
        partial(
            _search,
            index,
            asked,
            made,
            among=documents,
            limit=limit or UNLIMITED,
            min_score=min_score,
            length=length,
            full=full,
            copies=not all_copies,
            max_tokens=max_tokens,
        ),
        small=True,
    )


def _search(
    index: Index,
    asked: Query,
    made: search_log.LoggedSearch,
    cursor: Cursor,
    *,
    among: Filter,
    limit: int,
    min_score: float,
    length: int,
    full: bool,
    copies: bool,
    max_tokens: int | None,
) -> Results:
    from qmd.ranking import bm25 as ranked
    from qmd.ranking.copies import folded
    from qmd.ranking.link_pages import behind
    from qmd.ranking.results import Form, Match
    from qmd.ranking.scale import attained

    narrowed = index.with_default_collections(cursor, among)
    if narrowed is None:
        return Results([], NONE_INCLUDED)
    if max_tokens is not None:
        from qmd.operations import packing

        length = packing.WINDOW
    ranked.mapped(cursor)  # so that near-duplicates and statistics come from its columns
    known = near_duplicates(index, cursor) if copies else {}
    pages = ranked.statistics(cursor).link_pages
    further = record_order.further(index, cursor, among)
    wide = limit + further
    from_file = freshness.links_reader(index)
    found: ranked.Scored

    def rank(count: int) -> Sequence[tuple[int, float]]:
        nonlocal found
        found = ranked.bm25(cursor, asked, among=narrowed, limit=count)
        alike = [number for number, _ in found.scores if number in known]
        scores = behind(
            cursor,
            found.scores,
            pages,
            question=made.query,
            shown=wide + len(alike),
            from_file=from_file,
            always=alike,
        )
        return _in_order(cursor, scores, known)

    best = folded(
        rank, itemgetter(0), known, question=made.query, limit=wide, rearranged=known or pages
    )
    matches = {Match(number): bm25 for (number, bm25), _ in best}
    similar = {Match(number): files for (number, _), files in best}
    shown = presented(index, cursor, Form(found.words, length, full), matches, narrowed)
    hits = [
        (bm25, shown[match]._replace(score=attained(bm25, found.most), similar=similar[match]))
        for match, bm25 in matches.items()
    ]
    # Results with the same score are ordered by path, which the ranking does not know.
    hits.sort(key=lambda hit: (-hit[0], hit[1].file.partition("/")))
    ordered = [result for _, result in hits]
    if further:
        ordered = record_order.behind_documents(ordered, limit)
    results = [result for result in ordered if result.score >= min_score]
    notices = [respelling_notice(found.respelled)]
    if not results:
        notices.append(_empty_notice(index, cursor))
    answer = Results(
        results,
        "\n".join(filter(None, notices)) or None,
        words=dict(found.words),
        below=len(ordered) - len(results),
        nearly=max((hit.score for hit in ordered if hit.score < min_score), default=0.0),
        respelled=dict(found.respelled),
    )
    if max_tokens is not None:
        answer.passages = packing.packed(made.query, answer, max_tokens, cursor)
    note(index, cursor, made, results)  # at the end: what comes before may run twice
    return answer


def _in_order(
    cursor: Cursor, scores: Sequence[tuple[int, float]], known: Copies
) -> Sequence[tuple[int, float]]:
    """Sort equal scores by path where near-duplicates are folded: the first of a group stays."""
    from qmd.ranking.bm25 import in_order

    return in_order(cursor, scores, itemgetter(1), len(scores)) if known else scores


def respelling_notice(respelled: Mapping[str, Sequence[str]]) -> str | None:
    """Say which words were looked for in place of others; None: none were."""
    lines = [
        f"No document has *{asked}*; searched {' and '.join(f'*{each}*' for each in found)}."
        for asked, found in respelled.items()
    ]
    return "\n".join(lines) or None


def prepare(index: Index, limit: int) -> None:
    """Load modules and plan statements that the first search needs, if there is an index.

    Args:
        limit: results that will be asked for.
    """
    import importlib

    from qmd.ranking import matcher, search_plans

    if not index.place.database.exists():
        return
    index.load_postings(later=True)
    for name in ("ranking.results", "ranking.hybrid", "ranking.query", "ranking.query_document"):
        importlib.import_module(f"qmd.{name}")
    matcher.load_compiled()

    def work(cursor: Cursor) -> None:
        index.with_default_collections(cursor, ALL)
        index.described(cursor)
        search_plans.get_ready(cursor, limit=limit)
        cursor.get_ready("documents/recorded")

    index.database.read(work)  # the first search brings the settings into the tables
    index.load_postings()
    for name in ("ingest.front_matters", "ingest.outlines"):  # for links of pages
        importlib.import_module(f"qmd.{name}")


def empty_index_notice(index: Index) -> str | None:
    """Return what to do about an index without documents; None: it has some."""
    return index.read(partial(_empty_notice, index))


def _empty_notice(index: Index, cursor: Cursor) -> str | None:
    if not cursor.one("documents/is_empty"):
        return None
    known = index.database.remembered("collections", catalog.collections, cursor=cursor)
    if not known:
        return NO_COLLECTIONS
    return NO_DOCUMENTS if any(_may_have_files(index, each) for each in known) else NO_FILES


def _may_have_files(index: Index, collection: Collection) -> bool:
    """Return whether an update finds a file in a collection, or has something else to report."""
    from qmd.errors import CannotUpdate, UsageError
    from qmd.ingest.walk import has_files
    from qmd.operations.update import may_read

    try:
        return not may_read(index, collection) or has_files(collection)
    except (CannotUpdate, UsageError):  # a missing folder, or a mask that cannot be read
        return True


def presented(
    index: Index, cursor: Cursor, form: Form, matches: Iterable[Match], among: Filter
) -> dict[Match, Result]:
    """Make results of matches, still without scores, and without documents removed since."""
    from qmd.ranking.results import results

    fresh: set[int] = set()
    from_file = partial(freshness.text_of_file, index, cursor, fresh)
    shown = results(cursor, form, index.described(cursor), matches, from_file)
    shown = freshness.marked(index, cursor, shown, fresh)
    if not among.overlaps:
        return shown
    from qmd.storage.overlaps import elsewhere

    others = elsewhere(cursor, [each.file for each in shown.values()], among.overlaps)
    return {
        match: result._replace(also_in=others.get(result.file, ()))
        for match, result in shown.items()
    }


def near_duplicates(index: Index, cursor: Cursor) -> Copies:
    """Return the documents that have near-duplicates, loaded once for each state of the index."""
    from qmd.ranking import copies

    return index.database.remembered("near_duplicates", copies.load, cursor=cursor)


def note(
    index: Index, cursor: Cursor, made: search_log.LoggedSearch, results: Sequence[Result]
) -> None:
    """Write a search into the log, if the user keeps one."""
    kept = index.log if search_log.WANTED.get() else None
    if kept and index.database.remembered("log", search_log.is_kept, cursor=cursor):
        kept.add(made, [result.file for result in results])
