"""Terms over shards: how frequent they are in all documents, and what they are called."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from qmd.cluster.rules import Parameters, Row, Shards, on_all, rows_of
from qmd.declaration.parameters import UNLIMITED
from qmd.named_tuple import NamedTuple
from qmd.storage.cursor import Value, as_json

FURTHER = 200
"""Terms that each shard lists besides, as the most frequent ones say nothing and are left out."""

_NUMBER = re.compile("[0-9_]")


class TermName(NamedTuple):
    """Name of a term in all shards.

    Attributes:
        word: the shortest of its words; of those, the first.
        longest: characters of the longest.
        is_left_out: one of its words is to be left out, or the shortest is a number.
    """

    word: str
    longest: int
    is_left_out: bool


def names_of(shards: Shards, terms: Iterable[int], without: Value) -> dict[int, TermName]:
    """Name terms by the words of all shards.

    Args:
        without: words to leave out, as JSON.
    """
    found: dict[int, TermName] = {}
    asked = {"terms": as_json(sorted(terms)), "without": without}
    for rows in on_all(shards, "cluster/term_words", asked).values():
        for term, *rest in rows:
            own = TermName(*rest)
            other = found.get(term, own)
            found[term] = TermName(
                min(own.word, other.word, key=lambda word: (len(word), word)),
                max(own.longest, other.longest),
                own.is_left_out or other.is_left_out,
            )
    return {
        term: name._replace(is_left_out=name.is_left_out or bool(_NUMBER.match(name.word)))
        for term, name in found.items()
    }


def terms_of(shards: Shards, parameters: Parameters) -> list[dict[str, Any]]:
    """List the terms of a document that may tell it from others: see search/telling_words.

    Returns:
        Rows of cluster/telling.
    """
    number = parameters["document_id"]
    assert isinstance(number, int)
    place, shard = divmod(number, shards.count)
    rows = rows_of(shards, "cluster/own_terms", {shard: {"document_id": place}})
    own: dict[int, int] = dict(rows.get(shard, ()))
    counts = dict.fromkeys(own, 0)
    asked = {"terms": as_json(sorted(own)), "since": None}
    for found in on_all(shards, "search/frequencies", asked).values():
        for term, documents in found:
            counts[term] += documents
    return [
        {"word": name.word, "frequency": own[term], "documents": counts[term]}
        for term, name in names_of(shards, own, parameters["without"]).items()
        if not name.is_left_out and name.longest > 1
    ]


def frequent_terms(shards: Shards, _: str, parameters: Parameters) -> list[Row]:
    """List the most frequent terms of all shards: see stats/terms.

    The most frequent terms of each shard are counted in all of them. A term that has as many
    occurrences as the last of the first ones has its share of them in some shard at least. So all
    terms that have a share in some shard are counted then, and no other can be among the first.
    """
    limit = parameters["limit"]
    assert isinstance(limit, int)
    found = _counted(shards, parameters, least=1, limit=limit + FURTHER)
    if limit > 0 and len(found) >= limit:
        share = -(-found[limit - 1][2] // shards.count)
        found = _counted(shards, parameters, least=share, limit=UNLIMITED)
    elif limit > 0:
        found = _counted(shards, parameters, least=1, limit=UNLIMITED)
    return found[:limit]


def _counted(shards: Shards, parameters: Parameters, *, least: int, limit: int) -> list[Row]:
    """List terms that some shard has often enough, with their counts of all shards."""
    asked = {"collections": parameters["collections"], "least": least, "limit": limit}
    listed = on_all(shards, "cluster/term_counts", {**asked, "terms": None})
    terms = {term for rows in listed.values() for term, *_ in rows}
    counts = {term: [0, 0] for term in terms}
    asked |= {"least": 1, "limit": UNLIMITED, "terms": as_json(sorted(terms))}
    for rows in on_all(shards, "cluster/term_counts", asked).values():
        for term, documents, occurrences in rows:
            counts[term][0] += documents
            counts[term][1] += occurrences
    names = names_of(shards, terms, parameters["without"])
    rows = [
        (name.word, *counts[term])
        for term, name in names.items()
        if not name.is_left_out and len(name.word) > 1
    ]
    return sorted(rows, key=lambda row: (-row[2], row[0]))
