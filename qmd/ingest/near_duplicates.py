"""Groups of texts that are nearly the same: editions, copies, mirrors.

signatures ─▸ buckets ─▸ pairs ─▸ groups around the text with the most near ones
"""

from __future__ import annotations

import re
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, NamedTuple

from qmd.ingest.sketches import near_pairs, sketches
from qmd.storage.cursor import as_json
from qmd.storage.statements import statement

if TYPE_CHECKING:
    from qmd.ingest.merging import PostingColumns
    from qmd.storage.cursor import Cursor
    from qmd.storage.database import Database


class Signatures(NamedTuple):
    """Texts with their signatures.

    Attributes:
        hashes: of the texts, no hash twice.
        bins: `sketches.SIZE` bytes for each.
    """

    hashes: list[str]
    bins: bytearray


class NamedText(NamedTuple):
    """A text with the names of one of its documents. See documents/names_of_texts."""

    hash: str
    title: str
    path: str
    named: int


THRESHOLD = 0.7
"""Share of their runs of three words that two texts have in common at least to be near-duplicates.
Chosen on data: docs/decisions/025-near-duplicates.md."""

ALIKE = 0.97
"""The same of texts whose names differ: pages of a template share up to .96."""

COMMON = 8
"""Texts with one title up to which it names a subject; that of more is the title of a template, and
their paths name the subjects."""

CROWD = 100
"""Texts of one bucket from which on each is compared with the first only."""

TEXTS = 2000
"""Texts of one commit of a backfill."""

AT_ONCE = 10_000
"""Signatures that are read at once."""

_WORD = re.compile(r"[^\W_]+|[<>=!+*/%&|^~'\"]+")
_COUNTED = re.compile(r"(?:v|ch|chapter|part)?\d{1,2}|(?:19|20)\d\d|\d(?:st|nd|rd|th)")
"""Numbers of versions, chapters and years."""

_VERSIONS = frozenset(
    "archive archived backup bak copy copies draft edition editions final first second third "
    "latest mirror new old orig original rev revised revision summary ver version".split()
)


def settle(database: Database) -> None:
    """Give signatures to texts that lack one, and group those that are nearly the same.

    Raises:
        IndexFailure: the index is busy or cannot be written.
    """
    while database.read(lambda cursor: cursor.one("documents/lack_sketches")):
        rows = database.read(lambda cursor: cursor.run("documents/unsketched", limit=TEXTS))
        if not rows:
            break
        database.write(lambda cursor, rows=rows: _fill(cursor, rows))  # type: ignore[misc]
    if database.read(_is_unsettled):
        database.write(_group)


def _is_unsettled(cursor: Cursor) -> bool:
    return any(map(cursor.one, ("documents/unsettled", "documents/outdated_groups")))


def _fill(cursor: Cursor, rows: Sequence[tuple[Any, ...]]) -> None:
    found, hashes = _postings(rows)
    with cursor.staged(sketched=sketches(found, hashes)):
        cursor.run("documents/fill_sketches")


def _postings(rows: Sequence[tuple[Any, ...]]) -> tuple[PostingColumns, list[str]]:
    """Make columns of postings of rows of documents/unsketched."""
    from qmd.ingest.merging import PostingColumns

    hashes: dict[int, str] = {}
    starts = array("I")
    terms, numbers, offsets, positions = array("q"), array("I"), array("i", [0]), array("I")
    for number, hash_, body_start, term_id, places in rows:
        if number not in hashes:
            hashes[number] = hash_
            starts.extend((0, 0, body_start))
        if term_id is not None:
            terms.append(term_id)
            numbers.append(number)
            positions.extend(places)
            offsets.append(len(positions))
    none = memoryview(array("I"))
    found = PostingColumns(
        memoryview(terms), memoryview(numbers), none, none, none, none,
        memoryview(offsets), memoryview(positions), none, memoryview(starts),
    )  # fmt: skip
    return found, list(hashes.values())


class Grouped(NamedTuple):
    """A text in a group of texts that are nearly the same. See documents/add_copies."""

    hash: str
    leader: str
    similarity: float


def _group(cursor: Cursor) -> None:
    cursor.run("documents/forget_sketches")

    def named(hashes: Sequence[str]) -> list[NamedText]:
        return cursor.rows(NamedText, "documents/names_of_texts", hashes=as_json(list(hashes)))

    copied = [hash_ for (hash_,) in cursor.run("documents/copied")]
    put_groups(cursor, groups_of(signatures(cursor, "documents/sketches"), named, copied))
    cursor.run("documents/settle_sketches")


def signatures(cursor: Cursor, name: str) -> Signatures:
    """Load the signatures of texts, some at a time.

    Args:
        name: of a statement that gives hash and bins.
    """
    found = Signatures([], bytearray())
    rows = cursor.connection.execute(statement(name))
    while some := rows.fetchmany(AT_ONCE):
        found.hashes.extend(hash_ for hash_, _ in some)
        found.bins.extend(b"".join([bins for _, bins in some]))
    return found


def groups_of(
    signed: Signatures,
    named: Callable[[Sequence[str]], Iterable[NamedText]],
    copied: Iterable[str],
) -> list[Grouped]:
    """Group texts that are nearly the same.

    Args:
        named: gives texts with their names.
        copied: texts that several documents have.
    """
    near = near_pairs(signed.hashes, signed.bins, THRESHOLD, CROWD)
    names = {each.hash: each for each in named(sorted({key for pair in near for key in pair[:2]}))}
    pairs = [
        (one, other, similarity)
        for one, other, similarity in near
        if similarity >= ALIKE or not differ(names[one], names[other])
    ]
    groups = [Grouped(*each) for each in around_leaders(pairs)]
    known = {each.hash for each in groups}
    return groups + [Grouped(each, each, 1.0) for each in copied if each not in known]


def put_groups(cursor: Cursor, groups: Sequence[Grouped]) -> None:
    """Replace the groups of an index."""
    cursor.run("documents/clear_copies")
    if groups:
        cursor.run("documents/add_copies", found=as_json([each._asdict() for each in groups]))


def differ(one: NamedText, other: NamedText) -> bool:
    """Check that two texts are named after different subjects, as pages of one template are.

    One name has a word that the other lacks; versions, years and numbers of chapters do not count.
    """
    by_title = max(one.named, other.named) <= COMMON
    first, second = (
        _subject(each.title if by_title else PurePosixPath(each.path).stem) for each in (one, other)
    )
    return first != second


def _subject(name: str) -> set[str]:
    words = {word.casefold() for word in _WORD.findall(name)} - _VERSIONS
    return {word for word in words if not _COUNTED.fullmatch(word)}


def around_leaders(pairs: Iterable[tuple[str, str, float]]) -> list[tuple[str, str, float]]:
    """Group texts around leaders, so that each is nearly the same as its leader.

    A chain of small changes does not join its ends: the text with the most near ones leads, then
    the one with the most of those that are left.

    Returns:
        (text, leader, similarity) of all members of groups, leaders included.
    """
    near: dict[str, dict[str, float]] = defaultdict(dict)
    for one, other, similarity in pairs:
        near[one][other] = near[other][one] = similarity
    found = []
    order = sorted(near, key=lambda each: (-len(near[each]), each))
    taken: set[str] = set()
    for leader in order:
        members = [each for each in sorted(near[leader]) if each not in taken]
        if leader in taken or not members:
            continue
        taken.update((leader, *members))
        found.append((leader, leader, 1.0))
        found += [(each, leader, near[leader][each]) for each in members]
    return found
