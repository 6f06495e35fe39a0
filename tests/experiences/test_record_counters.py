"""Records are counted each time they are shown."""

from __future__ import annotations

from pathlib import Path
from uuid import UUID, uuid4

import pytest

from qmd.errors import IndexBusy
from qmd.operations.experiences import Experiences
from tests.experiences.submitting import REDIS, asked, record, submitted


def test_an_answer_shows_the_count_before_it_and_the_next_one_counts_it(records, library):
    submitted(records, REDIS)
    assert not records.uncounted
    for before in range(3):
        assert asked(records, "redis")["experiences"][0]["query_count"] == before
    assert records.uncounted
    assert library.ask("from experience_counts") == []
    records.count()
    assert not records.uncounted
    [(id_, count, updated)] = library.ask("from experience_counts")
    assert (str(UUID(id_)), count) == (id_, 3)
    assert updated is not None
    assert asked(records, "redis")["experiences"][0]["query_count"] == 3


def test_only_what_was_on_the_page_is_counted(records):
    records.add([record(f"n{number}", body="redis", days=number) for number in range(3)])
    asked(records, "redis", limit=1, offset=1)
    found = asked(records, "redis")["experiences"]
    assert {each["title"]: each["query_count"] for each in found} == {"n0": 0, "n1": 1, "n2": 0}


def test_two_servers_count_together(records, library):
    other = Experiences(library.engine)
    submitted(records, REDIS)
    for server in (records, other, other):
        asked(server, "redis")
    records.count()
    other.count()
    other.count()
    assert asked(Experiences(library.engine), "redis")["experiences"][0]["query_count"] == 3


def test_what_could_not_be_counted_is_counted_the_next_time(records, library, monkeypatch):
    submitted(records, REDIS)
    asked(records, "redis")
    with monkeypatch.context() as patch:

        def fail(work):
            asked(records, "redis")  # another query while it is tried
            raise IndexBusy(Path("index"), holder=None, waited=30)

        patch.setattr(library.engine.database, "write", fail)
        with pytest.raises(IndexBusy):
            records.count()
    assert records.uncounted
    records.count()
    assert library.ask("select query_count from experience_counts") == [(2,)]


def test_what_is_counted_of_a_record_that_is_gone_is_left_out(records, library):
    submitted(records, REDIS)
    records._uncounted[str(uuid4())] = 5
    records.count()
    assert library.ask("from experience_counts") == []
    assert library.problems() == []
