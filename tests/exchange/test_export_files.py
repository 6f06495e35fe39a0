"""Which rows share a file."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from qmd.exchange.parquet import MAX_NUMBERS, RowRange
from qmd.exchange.partitions import MAX_FILES, split_ranges

numbers = st.sets(st.integers(0, 5000), max_size=400)


def groups(ids: set[int], width: int) -> list[RowRange]:
    """Groups of numbers, each number a row."""
    cells = sorted({number // width for number in ids})
    counted = {cell: sum(number // width == cell for number in ids) for cell in cells}
    return [RowRange(None, cell, rows, 0, 0) for cell, rows in counted.items()]


@given(numbers)
def test_every_row_is_in_one_file_and_none_has_too_many(ids):
    files = list(split_ranges(groups(ids, 16), width=16, rows=64))
    for number in ids:
        assert sum(first <= number <= last for first, last, _ in files) == 1
    for first, last, some in files:
        assert sum(group.rows for group in some) == sum(first <= n <= last for n in ids)
        assert sum(group.rows for group in some) <= 64
    assert [first for first, _, _ in files] == sorted({first for first, _, _ in files})


@given(numbers, st.integers(1, 200))
def test_full_files_stay_as_they_are_when_rows_come_after_them(ids, more):
    # Numbers are given away in order, and few of those of old rows are missing.
    behind = max(ids, default=0) + 1
    before = list(split_ranges(groups(ids, 16), width=16, rows=64))
    after = list(
        split_ranges(groups(ids | set(range(behind, behind + more)), 16), width=16, rows=64)
    )
    untouched = [some for _, last, some in before if last < behind]
    kept = [some for _, _, some in after]
    assert all(some in kept for some in untouched)


def test_few_rows_of_many_numbers_share_a_file():
    sparse = {number * 100_000 for number in range(50)}
    assert len(list(split_ranges(groups(sparse, 256), width=256, rows=1024))) == 1


def test_no_rows_make_one_empty_file():
    assert list(split_ranges([], width=256, rows=1024)) == [(0, MAX_NUMBERS - 1, [])]


def test_very_many_rows_make_larger_files_not_more():
    whole = [RowRange(None, cell, 256, 0, 0) for cell in range(40_000)]
    files = list(split_ranges(whole, width=256, rows=1024))
    assert len(files) <= MAX_FILES
    assert sum(group.rows for _, _, some in files for group in some) == 256 * 40_000
