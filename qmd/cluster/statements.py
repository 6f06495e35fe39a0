"""Rules by which the rows of a statement on all shards become one answer.

A statement without a rule cannot be run over shards, and is refused.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from qmd.cluster.numbers import numbers_by_shard, overall_number
from qmd.cluster.shard import ROWS, ShardRequest
from qmd.errors import ShardsDisagree
from qmd.storage.cursor import as_json

if TYPE_CHECKING:
    from qmd.storage.cursor import Value

Row = tuple[Any, ...]
Parameters = Mapping[str, "Value"]


class Shards(Protocol):
    """Shards of one index.

    Attributes:
        count: of all, a power of two.
    """

    @property
    def count(self) -> int:
        """Shards of the index."""
        ...

    def ask(self, requests: Mapping[int, ShardRequest]) -> Mapping[int, Any]:
        """Ask shards all at once; give the answer of each.

        Raises:
            ShardsMissing: one did not answer in time.
        """


Rule = Callable[[Shards, str, Parameters], list[Row]]


def rows_of(
    shards: Shards, name: str, parameters: Mapping[int, Parameters]
) -> dict[int, list[Row]]:
    """Run a statement on some shards, and return the rows of each, by number of the shard."""
    requests = {shard: ShardRequest(ROWS, (name, dict(each))) for shard, each in parameters.items()}
    answers = shards.ask(requests) if requests else {}
    return {shard: answers[shard] for shard in sorted(answers)}


def on_all(shards: Shards, name: str, parameters: Parameters) -> dict[int, list[Row]]:
    """Run a statement on all shards with the same parameters."""
    return rows_of(shards, name, dict.fromkeys(range(shards.count), parameters))


@dataclass(frozen=True)
class Gathered:
    """Rule: the rows of all shards together.

    Attributes:
        numbers: columns that number documents or chunks.
        only: parameter with numbers; shards that have none of them are not asked.
        without: parameter with numbers that are left out.
        beside: parameters with a value for each number of `only`.
        order: key of a row; None: in the order of the shards.
        is_distinct: equal rows of several shards count once.
        limit: parameter with the rows at most.
        instead: statement with the same parameters that has further columns for the order.
        width: columns of the answer; None: all.
    """

    numbers: tuple[int, ...] = ()
    only: str | None = None
    without: str | None = None
    beside: tuple[str, ...] = ()
    order: Callable[[Row], Any] | None = None
    is_distinct: bool = False
    limit: str | int | None = None
    instead: str | None = None
    width: int | None = None

    def __call__(self, shards: Shards, name: str, parameters: Parameters) -> list[Row]:
        """Run the statement on the shards and gather their rows."""
        found = rows_of(shards, self.instead or name, self.split_up(shards.count, parameters))
        rows = [
            self._numbered(row, shard, shards.count)
            for shard, each in found.items()
            for row in each
        ]
        if self.is_distinct:
            rows = list(dict.fromkeys(rows))
        if self.order is not None:
            rows.sort(key=self.order)
        if self.limit is not None:
            most = self.limit if isinstance(self.limit, int) else parameters[self.limit]
            assert isinstance(most, int)
            rows = rows[:most]
        return rows if self.width is None else [row[: self.width] for row in rows]

    def split_up(self, count: int, parameters: Parameters) -> dict[int, Parameters]:
        """Give each shard its own numbers."""
        own: list[dict[str, Value]] = [dict(parameters) for _ in range(count)]
        asked = set(range(count))
        if self.without is not None and parameters[self.without] is not None:
            for shard, numbers in enumerate(
                numbers_by_shard(_list(parameters[self.without]), count)
            ):
                own[shard][self.without] = _as_given(parameters[self.without], numbers)
        if self.only is not None and parameters[self.only] is not None:
            numbers = _list(parameters[self.only])
            for shard, each in enumerate(numbers_by_shard(numbers, count)):
                own[shard][self.only] = _as_given(parameters[self.only], each)
                if not each:
                    asked.discard(shard)
            for name in self.beside:
                values = zip(numbers, _list(parameters[name]), strict=True)
                parts: list[list[Any]] = [[] for _ in range(count)]
                for number, value in values:
                    parts[number % count].append(value)
                for shard, part in enumerate(parts):
                    own[shard][name] = _as_given(parameters[name], part)
        return {shard: own[shard] for shard in sorted(asked)}

    def _numbered(self, row: Row, shard: int, count: int) -> Row:
        if not self.numbers:
            return tuple(row)
        columns = list(row)
        for place in self.numbers:
            columns[place] = overall_number(columns[place], shard, count)
        return tuple(columns)


def _list(value: Value) -> list[Any]:
    if isinstance(value, list):
        return list(value)
    found: list[Any] = json.loads(str(value))
    return found


def _as_given(before: Value, values: list[Any]) -> Value:
    """Give a list in the form of the parameter that it is a part of."""
    return values if isinstance(before, list) else as_json(values)


def added(columns: Sequence[int], *, keys: Sequence[int] = ()) -> Rule:
    """Make a rule: add up columns of rows with the same keys; of other columns, take the highest.

    Args:
        columns: to add up.
        keys: columns that tell rows apart.
    """

    def rule(shards: Shards, name: str, parameters: Parameters) -> list[Row]:
        groups: dict[Row, list[Row]] = {}
        for rows in on_all(shards, name, parameters).values():
            for row in rows:
                groups.setdefault(tuple(row[key] for key in keys), []).append(row)
        return [_sum(rows, columns, keys) for rows in groups.values()]

    return rule


def _sum(rows: Sequence[Row], columns: Sequence[int], keys: Sequence[int]) -> Row:
    found = []
    for place in range(len(rows[0])):
        values = [row[place] for row in rows]
        if place in columns:
            found.append(sum(values))
        elif place in keys:
            found.append(values[0])
        else:
            found.append(max((each for each in values if each is not None), default=None))
    return tuple(found)


def the_same(shards: Shards, name: str, parameters: Parameters) -> list[Row]:
    """Return the rows that all shards have alike.

    Raises:
        ShardsDisagree: one of them has others.
    """
    found = list(on_all(shards, name, parameters).values())
    if any(rows != found[0] for rows in found):
        raise ShardsDisagree(name)
    return found[0]


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
        for each in row[4]
    )
    total = sum(row[0] for row in rows)
    length = sum(row[1] for row in rows)
    codes = sorted({code for row in rows for code in row[3]})
    return [(total, length / total if total else 0.0, any(row[2] for row in rows), codes, pages)]


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
    "documents/places": _DOCUMENT(only="ids"),
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
    "grep/documents": _DOCUMENT(only="ids", order=lambda row: (row[1], row[2])),
    "grep/lines": _DOCUMENT(only="ids", order=lambda row: row[0]),
    "maintenance/totals": _totals,
    "search/allowed": _DOCUMENT(without="banned", order=lambda row: row[0]),
    "search/by_signs": _by_signs,
    "search/chunks_of": _chunks_of,
    "search/containing": Gathered(numbers=(1,), order=lambda row: row[:2]),
    "search/copies": _DOCUMENT(only="ids", order=lambda row: row[0]),
    "search/documents": _DOCUMENT(only="ids"),
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
    "search/passages": Gathered(numbers=(0, 4), only="chunks"),
    "search/paths": _DOCUMENT(only="ids"),
    "search/recency": _DOCUMENT(only="documents"),
    "search/statistics": _statistics,
    "search/tagged": _DOCUMENT(order=lambda row: row[0]),
    "search/there": Gathered(is_distinct=True, order=lambda row: row[0]),
    "store/setting": the_same,
    "words/alike": Gathered(is_distinct=True, order=lambda row: row[0]),
}
"""Rules by statement."""

HERE = frozenset({"grep/parts"})
"""Statements that read no table, and run at the coordinator."""
