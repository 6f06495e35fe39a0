"""Rules for the rows of a statement on all shards: how they become one answer."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
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


def added(
    columns: Sequence[int],
    *,
    keys: Sequence[int] = (),
    lowest: Sequence[int] = (),
    order: Callable[[Row], Any] | None = None,
) -> Rule:
    """Make a rule: add up columns of rows with the same keys; of other columns, take the highest.

    Args:
        columns: to add up.
        keys: columns that tell rows apart.
        lowest: columns of which the lowest is taken.
        order: key of a row; None: in the order of the shards.
    """

    def rule(shards: Shards, name: str, parameters: Parameters) -> list[Row]:
        groups: dict[Row, list[Row]] = {}
        for rows in on_all(shards, name, parameters).values():
            for row in rows:
                groups.setdefault(tuple(row[key] for key in keys), []).append(row)
        found = [_sum(rows, columns, keys, lowest) for rows in groups.values()]
        return found if order is None else sorted(found, key=order)

    return rule


def _sum(
    rows: Sequence[Row], columns: Sequence[int], keys: Sequence[int], lowest: Sequence[int]
) -> Row:
    found = []
    for place in range(len(rows[0])):
        values = [row[place] for row in rows]
        if place in columns:
            found.append(sum(values))
        elif place in keys:
            found.append(values[0])
        else:
            chosen = min if place in lowest else max
            found.append(chosen((each for each in values if each is not None), default=None))
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
