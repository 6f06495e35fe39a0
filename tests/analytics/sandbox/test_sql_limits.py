"""The time, the memory and the disk that a query may take."""

from __future__ import annotations

import os
import shutil
import time

import pytest

from qmd.analytics import sandbox
from qmd.errors import SqlError, SqlTimeout, UsageError
from qmd.storage import scratch


def test_a_query_ends_when_its_time_is_up(answered):
    with pytest.raises(SqlTimeout, match=r"(?s)stopped after 0.2 seconds.*timeout="):
        answered("select count(*) from range(1_000_000_000_000)", timeout=0.2)
    with pytest.raises(SqlTimeout):
        answered("explain analyze select count(*) from range(1_000_000_000_000)", timeout=0.2)
    assert answered("select 1") == [("1",)]


def test_a_query_gets_no_more_memory_than_it_may_have(answered):
    with pytest.raises(SqlError, match=r"(?s)more than 50MB of memory.*memory="):
        answered("select list(range) from range(100_000_000)", memory="50MB")


def test_the_disk_is_named_only_if_there_is_not_enough_of_it(answered):
    rows = "select md5(range::text) || md5((range + 1)::text) as t from range(2_000_000)"
    with pytest.raises(SqlError) as raised:
        answered("select list(range) from range(100_000_000)", memory="50MB")
    assert "on disk" not in str(raised.value)
    sort = f"select max(t) from ({rows} order by t limit 1_999_999)"
    with pytest.raises(SqlError, match="more than 50MB of memory, and 5MB on disk"):
        answered(sort, memory="50MB", disk="5MB")


def test_too_little_memory_for_any_query_is_refused_with_what_is_enough(answered, monkeypatch):
    for memory in ("1KB", "100KB", "0MB", "31999KB"):
        with pytest.raises(UsageError, match=f"{memory} of memory is too little.*at least 32MB"):
            answered("select 1", memory=memory)
    for view in ("documents", "terms", "postings", "links", "bm25('tea')"):
        assert answered(f"select count(*) from (from {view} limit 1)", memory=sandbox.LEAST)
    # What is enough to begin with may not be for an index that is large.
    monkeypatch.setattr(sandbox, "LEAST_BYTES", 0)
    for memory in ("1KB", "100KB", "500KB"):
        with pytest.raises(SqlError, match=f"more than {memory} of memory"):
            answered("from documents", memory=memory)


def test_what_does_not_fit_into_memory_goes_to_disk_and_does_not_stay_there(answered, shared):
    query = "select repeat('x', 100) || range as t from range(1_000_000) order by t limit 999_999"
    [(count,)] = answered(f"select count(*) from ({query})", memory="100MB")
    assert count == "999999"
    assert [file.name for file in shared.folder.iterdir() if "spill" in file.name] == []


def test_what_a_killed_query_spilled_is_removed_a_day_later(answered, shared):
    folders = [shared.folder / f"index.duckdb.spill-{number}" for number in (1, 2)]
    for folder, age in zip(folders, (scratch.ABANDONED_SECONDS + 60, 0), strict=True):
        folder.mkdir()
        (folder / "duckdb_temp_storage-0.tmp").write_bytes(b"rows")
        os.utime(folder, (time.time() - age,) * 2)
    answered("select 1")
    assert [folder.exists() for folder in folders] == [False, True]
    shutil.rmtree(folders[1])


def test_a_time_is_told_in_words_that_fit_its_number():
    for seconds, told in [(1.0, "1 second."), (1, "1 second."), (0.5, "0.5 seconds.")]:
        assert f"stopped after {told}" in str(SqlTimeout(seconds))


@pytest.mark.parametrize("limits", [{"memory": "much"}, {"memory": "-5"}, {"timeout": 0.0}])
def test_limits_that_make_no_sense_are_refused(limits, answered):
    with pytest.raises(UsageError):
        answered("select 1", **limits)
