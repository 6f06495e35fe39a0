"""Rows for a query in SQL from all shards."""

from __future__ import annotations

import io
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from qmd.analytics.sandbox import GatheredTable, Limits, memory_of
from qmd.analytics.search_calls import Parameters, parameter
from qmd.cluster.numbers import overall_number
from qmd.cluster.shard import SQL, ShardRequest
from qmd.cluster.shard_sql import ShardRows, too_many_rows
from qmd.cluster.sql_plan import IDS, SqlPlan
from qmd.cluster.sql_trees import Statement
from qmd.errors import SqlTimeout
from qmd.workers.channel import unpacked_error

if TYPE_CHECKING:
    from qmd.cluster.rules import Shards

_NUMBERS = "UBIGINT"
"""Type of numbers over all shards."""


def gathered(
    shards: Shards, plan: SqlPlan, parameters: Parameters, limits: Limits
) -> list[GatheredTable]:
    """Ask all shards for the tables of a plan.

    Raises:
        SqlError: a shard cannot answer, or not within the limits.
        ShardsMissing: one did not answer.
    """
    end = time.monotonic() + limits.timeout
    left = memory_of(limits)
    tables = []
    every = [(name, asked, True) for name, asked in plan.tables.items()]
    every += [(name, asked, False) for name, asked in plan.below.items()]
    for name, asked, is_view in every:
        seconds = end - time.monotonic()
        if seconds <= 0:
            raise SqlTimeout(limits.timeout)
        own = limits._replace(timeout=seconds, files=False)
        given = values_of(asked, parameters)
        request = ShardRequest(SQL, (asked.text, given, own, left), seconds)
        found = shards.ask(dict.fromkeys(range(shards.count), request))
        for each in found.values():
            _check(each, limits)
        left -= sum(len(each.data) for each in found.values())
        if left < 0:
            raise too_many_rows(limits)
        tables.append(_table(name, found, shards.count)._replace(is_view=is_view))
    return tables


def values_of(statement: Statement, parameters: Parameters) -> dict[str, Any]:
    """Choose the values of the parameters that a statement has, by name."""
    return {name: parameter(name, parameters) for name in statement.parameters}


def _check(rows: ShardRows, limits: Limits) -> None:
    """Raise the error of a shard."""
    if rows.error is not None:
        error = unpacked_error(rows.error)
        if isinstance(error, SqlTimeout):
            raise SqlTimeout(limits.timeout) from error
        raise error


def _table(name: str, found: Mapping[int, ShardRows], count: int) -> GatheredTable:
    headings = next(iter(found.values())).headings
    numbers = [each.name for each in headings if each.name in IDS]
    parts = []
    for shard in sorted(found):
        data = found[shard].data
        parts.append(_numbered(data, numbers, shard, count) if numbers else data)
    kinds = [each._replace(kind=_NUMBERS) if each.name in IDS else each for each in headings]
    return GatheredTable(name, tuple(kinds), parts)


def _numbered(data: bytes, columns: list[str], shard: int, count: int) -> bytes:
    """Give documents and chunks the numbers that they have over all shards."""
    import pyarrow as pa

    table = pa.ipc.open_stream(data).read_all()
    for name in columns:
        numbers = [overall_number(each, shard, count) for each in table[name].to_pylist()]
        place = table.schema.get_field_index(name)
        table = table.set_column(place, name, pa.array(numbers, pa.uint64()))
    written = io.BytesIO()
    with pa.ipc.new_stream(written, table.schema) as stream:
        stream.write_table(table)
    return written.getvalue()
