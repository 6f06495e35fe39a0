"""Rules by which the rows of a statement on all shards become one answer.

A statement without a rule cannot be run over shards, and is refused.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from functools import partial
from typing import Any

from qmd.cluster.numbers import overall_number
from qmd.cluster.rules import (
    Gathered,
    Parameters,
    Row,
    Rule,
    Shards,
    added,
    on_all,
    rows_of,
    the_same,
)
from qmd.cluster.term_rules import frequent_terms
from qmd.errors import ShardsDisagree
from qmd.storage.cursor import as_json


def _of_model(shards: Shards, name: str, parameters: Parameters) -> list[Row]:
    """Return the number of a model, which a shard without a passage does not know."""
    found = {tuple(row) for rows in on_all(shards, name, parameters).values() for row in rows}
    if len(found) > 1:
        raise ShardsDisagree(name)
    return list(found)


def _statistics(shards: Shards, _: str, parameters: Parameters) -> list[Row]:
    """Add up the figures for BM25: the mean length is that of the documents of all shards."""
    found = on_all(shards, "cluster/statistics", parameters)
    rows = [rows[0] for rows in found.values()]
    pages = sorted(
        overall_number(each, shard, shards.count)
        for shard, [row] in found.items()
        for each in row[3]
    )
    total = sum(row[0] for row in rows)
    length = sum(row[1] for row in rows)
    codes = sorted({code for row in rows for code in row[2]})
    return [(total, length / total if total else 0.0, codes, pages)]


def _frequencies(shards: Shards, name: str, parameters: Parameters) -> list[Row]:
    counts = Counter[int]()
    for rows in on_all(shards, name, parameters).values():
        counts.update(dict(rows))
    return sorted(counts.items())


def _all_true(shards: Shards, name: str, parameters: Parameters) -> list[Row]:
    return [(all(rows[0][0] for rows in on_all(shards, name, parameters).values()),)]


def _state(shards: Shards, name: str, parameters: Parameters) -> list[Row]:
    """Join the states of the shards to one."""
    found = on_all(shards, name, parameters)
    ordered = [found[shard][0] for shard in sorted(found)]
    return [(" ".join(row[0] for row in ordered), " ".join(row[1] for row in ordered))]


def _none(_: Shards, __: str, ___: Parameters) -> list[Row]:
    return []


def _chunks_of(shards: Shards, name: str, parameters: Parameters) -> list[Row]:
    """List the chunks of documents, in one array of numbers over all shards."""
    found = rows_of(shards, name, Gathered(only="documents").split_up(shards.count, parameters))
    chunks = [
        overall_number(each, shard, shards.count)
        for shard, [(own, _)] in found.items()
        for each in json.loads(own)
    ]
    return [(as_json(sorted(chunks)), len(chunks))]


def _by_signs(shards: Shards, name: str, parameters: Parameters) -> list[Row]:
    found = rows_of(shards, name, Gathered(only="chunks").split_up(shards.count, parameters))
    chunks = [
        overall_number(each, shard, shards.count)
        for shard, [(own,)] in found.items()
        for each in json.loads(own)
    ]
    return [(as_json(sorted(chunks)),)]


def _fused_order(row: Row) -> Any:
    """Key of the order of search/fuse_ranks."""
    number, score, _, _, parts = row
    return -score, min(each["list"] for each in parts), min(each["rank"] for each in parts), number


def _totals(shards: Shards, name: str, parameters: Parameters) -> list[Row]:
    """Add up totals. A word that several shards have is counted once."""
    [row] = added(range(6))(shards, name, parameters)
    words = {
        word for rows in on_all(shards, "held/words", {"after": None}).values() for word, *_ in rows
    }
    return [(*row[:4], len(words), *row[5:])]


def _of_first(shards: Shards, name: str, parameters: Parameters) -> list[Row]:
    """Return the rows of the first shard that has any: of a text that several have, once."""
    return next(filter(None, on_all(shards, name, parameters).values()), [])


def _document_totals(shards: Shards, name: str, parameters: Parameters) -> list[Row]:
    """Add up totals; the median is the lower one of all sizes, as quantile_disc chooses it."""
    [row] = added([0, 1], lowest=[2])(shards, name, parameters)
    sizes = Counter[int]()
    for rows in on_all(shards, "cluster/sizes", parameters).values():
        sizes.update(dict(rows))
    counted, left = None, row[0] - row[0] // 2
    for size in sorted(sizes):
        if left <= 0:
            break
        counted, left = size, left - sizes[size]
    return [(*row[:4], counted, row[5])]


_DOCUMENT = partial(Gathered, numbers=(0,))
"""Rows that begin with the number of a document or of a chunk."""

RULES: Mapping[str, Rule] = {
    "cache/kept": _none,
    "cluster/statistics": _none,
    "collections/all": the_same,
    "collections/contexts": the_same,
    "collections/folders": added([2], keys=[0, 1]),
    "collections/left_out": Gathered(is_distinct=True),
    "collections/lost_folders": _none,
    "collections/unread_files": _none,
    "collections/overview": added([4, 5, 7, 8], keys=[0, 1, 2, 3]),
    "documents/after": Gathered(order=lambda row: row[:2], limit="limit"),
    "documents/at": _DOCUMENT(),
    "documents/below": _DOCUMENT(order=lambda row: (row[1], row[2])),
    "documents/bodies": Gathered(is_distinct=True),
    "documents/encoded": Gathered(is_distinct=True),
    "documents/is_empty": _all_true,
    "documents/named": Gathered(numbers=(1,), order=lambda row: (row[0], row[2], row[3])),
    "documents/outlines": Gathered(),
    "documents/piece_sizes": Gathered(is_distinct=True, order=lambda row: row[0]),
    "documents/pieces": Gathered(is_distinct=True, order=lambda row: row[0]),
    "documents/places": _DOCUMENT(only="ids"),
    "documents/recorded_around": _none,
    "documents/recorded": _none,  # the files are on another machine
    "documents/why_unread": _none,
    "documents/state": _state,
    "documents/similar": Gathered(
        order=lambda row: row[1:], limit=5, instead="cluster/similar", width=1
    ),
    "documents/with_docid": _DOCUMENT(order=lambda row: (row[1], row[2])),
    "embeddings/cosines": _of_model,
    "embeddings/lacking": _DOCUMENT(only="documents"),
    "embeddings/model": _of_model,
    "embeddings/models": added([4, 5], keys=[0, 1, 2, 3]),
    "embeddings/pending": added([0, 1, 2]),
    "grep/lines": _DOCUMENT(only="ids", order=lambda row: (row[1], row[2])),
    "maintenance/totals": _totals,
    "search/allowed": _DOCUMENT(without="banned", order=lambda row: row[0]),
    "search/by_signs": _by_signs,
    "search/chunks_of": _chunks_of,
    "search/containing": Gathered(numbers=(1,), order=lambda row: row[:2]),
    "search/copies": _DOCUMENT(only="ids", order=lambda row: row[0]),
    "search/documents": _DOCUMENT(only="ids"),
    "search/files": _none,
    "search/frequencies": _frequencies,
    "search/fuse_ranks": _DOCUMENT(
        only="documents",
        beside=("lists", "ranks", "weights", "recency"),
        order=_fused_order,
        limit="limit",
    ),
    "search/large": _none,  # whole texts come from the shards
    "search/links_of": _DOCUMENT(only="ids"),
    "search/named": _DOCUMENT(only="ids"),
    "search/near_duplicates": _DOCUMENT(order=lambda row: row[0]),
    "search/nearest": Gathered(
        numbers=(0,), only="chunks", order=lambda row: (-row[1], row[0]), limit="depth"
    ),
    "search/newest": _DOCUMENT(
        only="ids",
        order=lambda row: (datetime.max - row[1], row[2], row[3]),
        limit="limit",
        instead="cluster/newest",
        width=1,
    ),
    "search/passage_vectors": _of_first,
    "search/passages": Gathered(numbers=(0, 4), only="chunks"),
    "search/paths": _DOCUMENT(only="ids"),
    "search/recency": _DOCUMENT(only="documents"),
    "search/statistics": _statistics,
    "search/tagged": _DOCUMENT(order=lambda row: row[0]),
    "search/there": Gathered(is_distinct=True, order=lambda row: row[0]),
    "stats/collections": added([1, 2], keys=[0], lowest=[3], order=lambda row: (-row[1], row[0])),
    "stats/longest": Gathered(order=lambda row: (-row[3], row[1]), limit="limit"),
    "stats/months": added([2, 3], keys=[0, 1], order=lambda row: row[:2]),
    "stats/sizes": added([2], keys=[0, 1], order=lambda row: row[0]),
    "stats/terms": frequent_terms,
    "stats/totals": _document_totals,
    "store/setting": the_same,
    "words/alike": Gathered(is_distinct=True, order=lambda row: row[0]),
}
"""Rules by statement."""

HERE = frozenset({"grep/parts"})
"""Statements that read no table, and run at the coordinator."""
