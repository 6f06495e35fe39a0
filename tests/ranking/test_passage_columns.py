"""Columns of passages in memory: they say the same as the statement."""

from __future__ import annotations

import json

import _duckdb
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qmd.operations.index import Index
from qmd.ranking import nearest, passage_columns
from qmd.ranking.passage_columns import PassageColumns
from qmd.storage.cursor import Cursor, Memory

PATHS = {1: ("b", "x.md"), 2: ("a", "y.md"), 3: ("a", "x.md"), 4: ("a", "z.md")}


class Rows:
    """A cursor and a shelf over passages that are given."""

    def __init__(self, rows):
        self.rows = rows

    def each(self, kind, keys, work, **_):
        return work(list(keys))

    def again(self, name, *, chunks):
        return [
            (chunk_id, *PATHS[document_id], seq, document_id, *place)
            for chunk_id, document_id, seq, *place in self.rows
            if chunk_id in json.loads(chunks)
        ]

    def places(self, ids):
        return {number: PATHS[number] for number in ids}


@given(
    st.lists(
        st.tuples(st.integers(0, 9), st.sampled_from(sorted(PATHS))), max_size=30, unique=True
    ),
    st.lists(
        st.tuples(st.integers(0, 11), st.sampled_from([0.9, 0.5, 0.1])),
        max_size=12,
        unique_by=lambda score: score[0],
    ),
    st.sampled_from([None, {1, 2}, set()]),
    st.integers(1, 6),
    st.integers(1, 3),
)
def test_the_same_passages_are_found_in_the_same_order(places, scores, among, limit, per_file):
    rows = sorted(
        (chunk_id, number, chunk_id % 3, 10 * chunk_id, 5 + chunk_id, 1 + chunk_id)
        for chunk_id, number in places
    )
    scores = sorted(scores, key=lambda score: (-score[1], score[0]))
    columns = PassageColumns(*np.array(rows, np.uint32).reshape(-1, 6).T.copy())
    given = Rows(rows)
    options = {"among": among, "limit": limit, "per_file": per_file}
    found = columns.placed(scores, given, **options)
    assert found == nearest._placed(given, scores, **options)


@pytest.fixture
def filled(faked):
    for number in range(12):
        faked.write(f"{number}.md", f"# Drink {number % 5}\n\nWhat drink {number % 5} is made of.")
    faked.update()
    faked.embed()
    return faked


def test_a_process_that_stays_reads_them_once_it_has_searched(filled, monkeypatch):
    expected = [filled.nearest(f"drink {number}") for number in range(5)]
    filled.engine.close()
    place, machine = filled.engine.place, filled.engine.models.machine
    filled.engine = Index(place, machine, warm=True, stays=True)
    filled.engine.load_postings()
    filled.engine.holder.settle()
    taken = []
    real = PassageColumns.placed

    def note(*given, **options):
        taken.append(real(*given, **options))
        return taken[-1]

    monkeypatch.setattr(PassageColumns, "placed", note)
    found, used = [], []
    for number in range(5):
        found.append(filled.nearest(f"drink {number}"))
        used.append(len(taken))
    assert used[0] == 0
    assert used[-3:] == [1, 2, 3]
    assert found == expected
    assert found[0]
    (filled.root / "2.md").unlink()
    filled.update()
    left = [filled.nearest(f"drink {number}") for number in (2, 2)]
    assert left[0] == left[1]
    assert "notes/2.md" not in {each.file for each in left[1]}
    again = filled.nearest("drink 3")
    monkeypatch.setattr(passage_columns, "MOST", 0)
    del taken[:]
    assert filled.nearest("drink 3") == again
    assert not taken


def test_columns_of_too_many_passages_are_not_held(monkeypatch):
    connection = _duckdb.connect(":memory:")
    connection.execute(
        "create table chunks as select range as chunk_id, 'a' as hash, 0 as seq, 0 as position, "
        "9 as length, 1 as line from range(3)"
    )
    connection.execute(
        "create table documents as select range as document_id, 'a' as hash from range(4)"
    )
    cursor = Cursor(connection, Memory())
    monkeypatch.setattr(passage_columns, "MOST", 11)
    found = [passage_columns.held_passages(cursor, 3) for _ in range(3)]
    assert found == [None, None, None]
    monkeypatch.setattr(passage_columns, "MOST", 12)
    cursor = Cursor(connection, Memory())
    assert passage_columns.held_passages(cursor, 3) is None
    held = passage_columns.held_passages(cursor, 3)
    assert held is not None
    assert len(held.chunk_id) == 12
