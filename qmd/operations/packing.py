"""Passages of search results, as many as a budget of tokens holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from qmd.analytics.rows import CONTEXT_SHARE, Excerpts
from qmd.operations.record_order import is_record
from qmd.ranking import excerpts
from qmd.ranking.excerpts import Excerpted, Spot
from qmd.ranking.matcher import matcher_of
from qmd.storage import document_lookup
from qmd.storage.cursor import as_json
from qmd.text import headings
from qmd.text.tokens import estimated_tokens

if TYPE_CHECKING:
    from qmd.analytics.rows import Results
    from qmd.storage.cursor import Cursor

PER_FILE = 5
"""Passages of a document, at most."""

WINDOW = 600
"""Characters around a match, which then grow to the bounds of a section."""

RELATED = 0.35
"""Share of the best score below which a document is not worth its tokens."""

RESERVED = 60
"""Tokens kept for the places that are left out, if they are no more than two fifths."""


def packed(question: str, found: Results, most: int, cursor: Cursor) -> Excerpts:
    """Take as many passages of results as a budget holds.

    Args:
        found: with snippets of `WINDOW` characters.
        most: tokens of the text.
    """
    spots: dict[str, list[tuple[int, int, int]]] = {}
    for result in found:
        if found and result.score < RELATED * found[0].score:
            continue
        numbers = [int(line.partition(":")[0]) for line in result.snippet.split("\n")]
        spots.setdefault(result.file, []).append((result.line, numbers[0], numbers[-1]))
    documents = _documents(cursor, found, list(spots))
    match = matcher_of(found.about)
    spotted: list[Spot] = []
    for number, (document, _) in enumerate(documents):
        own = [excerpts.grown(document, Spot(number, *lines)) for lines in spots[document.file]]
        more = excerpts.further(document.lines, match, own, number, PER_FILE - len(own))
        spotted += [*own, *(excerpts.grown(document, each) for each in more)]
    notice = f"{found.notice}\n" if found.notice else ""
    room = most - estimated_tokens(notice) - min(RESERVED, most * 2 // 5)
    described = {each.context for each, _ in documents if each.context}
    room -= min(
        sum(estimated_tokens(f"Context: {text}\n") for text in described), most // CONTEXT_SHARE
    )
    budget = excerpts.Budget(documents, room)
    ordered = excerpts.ranked_places(documents, spotted, match, question)
    if found and not is_record(found[0]):  # then they are not asked for, and stand behind
        ordered.sort(key=lambda spot: is_record(documents[spot.document][0]))
    for spot in ordered:
        budget.add(spot)
    return Excerpts(
        question, budget.excerpts(), budget.left, found.notice, most=most - estimated_tokens(notice)
    )


def _documents(
    cursor: Cursor, found: Results, files: Sequence[str]
) -> list[tuple[Excerpted, float]]:
    """Load the texts and headings of results; those that are gone since are left out."""
    best = {result.file: result for result in reversed(found)}
    there = {file: document_lookup.exactly(cursor, file) for file in files}
    known = {file: document.hash for file, document in there.items() if document is not None}
    bodies = document_lookup.bodies(cursor, list(known.values()))
    outlines = {
        str(key): headings.stored_headings(*stored)
        for key, *stored in cursor.run(
            "documents/outlines", hashes=as_json(list(dict.fromkeys(known.values())))
        )
    }
    return [
        (
            Excerpted(
                best[file].docid,
                file,
                best[file].title,
                best[file].context,
                bodies[digest].split("\n"),
                outlines.get(digest, []),
            ),
            best[file].score,
        )
        for file, digest in known.items()
        if digest in bodies
    ]
