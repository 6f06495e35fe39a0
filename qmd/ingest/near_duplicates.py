"""Groups of texts that are nearly the same: editions, copies, mirrors.

signatures ─▸ buckets ─▸ pairs ─▸ groups around the text with the most near ones
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from qmd.ingest.sketches import near_pairs
from qmd.named_tuple import NamedTuple
from qmd.storage.cursor import as_json

if TYPE_CHECKING:
    from qmd.storage.cursor import Cursor


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

_WORD = re.compile(r"[^\W_]+|[<>=!+*/%&|^~'\"]+")
_COUNTED = re.compile(r"(?:v|ch|chapter|part)?\d{1,2}|(?:19|20)\d\d|\d(?:st|nd|rd|th)")
"""Numbers of versions, chapters and years."""

_VERSIONS = frozenset(
    "archive archived backup bak copy copies draft edition editions final first second third "
    "latest mirror new old orig original rev revised revision summary ver version".split()
)


class Grouped(NamedTuple):
    """A text in a group of texts that are nearly the same. See documents/add_copies."""

    hash: str
    leader: str
    similarity: float


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
    return grouped_pairs(near_pairs(signed.hashes, signed.bins, THRESHOLD, CROWD), named, copied)


def grouped_pairs(
    near: Sequence[tuple[str, str, float]],
    named: Callable[[Sequence[str]], Iterable[NamedText]],
    copied: Iterable[str],
) -> list[Grouped]:
    """Group texts of which the near pairs are known.

    Args:
        near: two hashes, the lower first, and their similarity; ascending.
        named: gives texts with their names.
        copied: texts that several documents have.
    """
    hashes = sorted({key for pair in near for key in pair[:2]})
    names = {each.hash: each for each in named(hashes)} if hashes else {}
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
