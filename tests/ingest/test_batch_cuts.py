"""Cuts of the files of an update into commits."""

from __future__ import annotations

from itertools import chain, pairwise

from hypothesis import given
from hypothesis import strategies as st

from qmd.ingest import batches
from qmd.ingest.batches import BATCH_BYTES, MOST_BYTES, Batches, cut_by_bytes

MB = BATCH_BYTES // 24


def cuts(sizes):
    return [sizes[part] for part in cut_by_bytes(sizes)]


@given(st.lists(st.integers(0, 40 * MB), min_size=1, max_size=12))
def test_only_the_first_batch_of_a_row_group_can_be_small(sizes):
    found = cuts(sizes)
    assert list(chain(*found)) == sizes
    assert all(found)
    assert (sum(sizes) > MOST_BYTES) or found == [sizes]
    if sum(sizes) > MOST_BYTES:
        assert all(sum(batch) <= BATCH_BYTES or len(batch) == 1 for batch in found)
        assert all(before[-1] + sum(batch) > BATCH_BYTES for before, batch in pairwise(found))


def test_a_row_group_with_little_more_than_the_bytes_of_a_commit_is_one_commit():
    assert cuts([13 * MB, 13 * MB]) == [[13 * MB, 13 * MB]]
    assert cuts([10 * MB, 14 * MB, 10 * MB]) == [[10 * MB], [14 * MB, 10 * MB]]


def test_the_last_commit_of_an_update_is_not_the_small_one(library, monkeypatch):
    monkeypatch.setattr(batches, "BATCH_FILES", 4)
    monkeypatch.setattr(batches, "BATCH_BYTES", 100)
    monkeypatch.setattr(batches, "MOST_BYTES", 130)
    commit, made = Batches.commit, []

    def noted(self, files, batch):
        made.append([file.path for file in files])
        return commit(self, files, batch)

    monkeypatch.setattr(Batches, "commit", noted)
    for at, size in enumerate([20, 30, 30, 30, 31, 30, 50, 50, 30]):
        library.write(f"{at}.md", f"# {at}\n".ljust(size, "x"))
    library.update()
    assert made == [
        ["0.md"],
        ["1.md", "2.md", "3.md", "4.md"],
        ["5.md", "6.md"],
        ["7.md", "8.md"],
    ]
