"""Near-duplicates in a ranked list: the best of a group stands for all of it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from qmd.named_tuple import NamedTuple
from qmd.ranking import bm25

if TYPE_CHECKING:
    from qmd.storage.cursor import Cursor

Item = TypeVar("Item")

MORE = 20
"""Further documents to rank where some have near-duplicates or are lists of links."""


class Member(NamedTuple):
    """A document that has near-duplicates.

    Attributes:
        group: of documents that are nearly the same.
        file: `collection/path`.
    """

    group: str
    file: str


Copies = Mapping[int, Member]
"""Members of groups of near-duplicates, by document_id."""


def load(cursor: Cursor) -> dict[int, Member]:
    """Load all documents that have near-duplicates.

    Where postings are held, the columns beside them tell the documents of a text; a join reads the
    hashes and paths of all documents.
    """
    postings = bm25.held(cursor)
    if postings is not None and postings.columns is not None:
        leaders = dict(cursor.run("search/leaders"))
        texts = postings.columns.having(leaders)
        places = postings.shelf.places(texts)
        return {
            number: Member(leaders[hashed], "/".join(places[number]))
            for number, hashed in sorted(texts.items())
        }
    return cursor.fact(
        "near_duplicates",
        partial(cursor.run, "search/near_duplicates"),
        lambda rows: {number: Member(group, file) for number, group, file in rows},
    )


def depth(limit: int, rearranged: Collection[object]) -> int:
    """Return how many documents to rank, so that about `limit` are left when some are rearranged.

    Args:
        rearranged: near-duplicates, which are folded, and lists of links, which others come before.
    """
    return 2 * limit + MORE if rearranged else limit


def folded(
    rank: Callable[[int], Sequence[Item]],
    document_id: Callable[[Item], int],
    copies: Copies,
    *,
    question: str,
    limit: int,
    rearranged: Collection[object],
) -> list[tuple[Item, tuple[str, ...]]]:
    """Rank until `limit` items are left without near-duplicates, or all items are ranked.

    Args:
        rank: returns the best items, as many as it is given, best first.
        rearranged: see `depth`.

    Returns:
        Items, best first, each with the files that it stands for; see `without_copies`.
    """
    most = depth(limit, rearranged)
    while True:
        found = rank(most)
        kept = without_copies(found, document_id, copies, question=question, limit=limit)
        if len(kept) == limit or len(found) < most:
            return kept
        most *= 4  # a group of near-duplicates is larger than that


def without_copies(
    found: Sequence[Item],
    document_id: Callable[[Item], int],
    copies: Copies,
    *,
    question: str,
    limit: int,
) -> list[tuple[Item, tuple[str, ...]]]:
    """Leave out near-duplicates of better documents.

    If some members of a group are named in the question by their files, those stay.

    Args:
        found: best first; several items of one document stay.
        question: as the user wrote it.
        limit: items at most.

    Returns:
        Items, best first, each with the files that it stands for.
    """
    if not copies:
        return [(each, ()) for each in found[:limit]]
    asked = question.casefold()
    named: dict[str, bool] = {}
    for each in found:
        if (member := copies.get(document_id(each))) is not None:
            named[member.group] = named.get(member.group, False) or _is_named(member, asked)
    first: dict[str, int] = {}
    others: dict[str, dict[str, None]] = {}
    kept = []
    for each in found:
        number = document_id(each)
        member = copies.get(number)
        if member is not None:
            stays = _is_named(member, asked) if named[member.group] else member.group not in first
            if stays:
                first.setdefault(member.group, number)
            elif number != first.get(member.group):
                others.setdefault(member.group, {})[member.file] = None
                continue
        kept.append(each)
    return [(each, _similar(document_id(each), first, others, copies)) for each in kept[:limit]]


def _similar(
    number: int, first: Mapping[str, int], others: Mapping[str, Mapping[str, None]], copies: Copies
) -> tuple[str, ...]:
    member = copies.get(number)
    if member is None or first.get(member.group) != number:
        return ()
    return tuple(others.get(member.group, ()))


def _is_named(member: Member, asked: str) -> bool:
    """Check that a question names a file: `tea-v2.md`, or a part of its path with that name."""
    name = member.file.rpartition("/")[2].casefold()
    return name in asked and (asked in member.file.casefold() or "/" not in asked)
