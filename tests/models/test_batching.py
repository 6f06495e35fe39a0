"""Texts in batches."""

from __future__ import annotations

import pytest

from qmd.models.batching import packed_batches, run_batches


def lengths_of(batches, lengths):
    return [[lengths[number] for number in batch] for batch in batches]


@pytest.mark.parametrize(
    ("lengths", "options", "expected"),
    [
        ([3, 9, 2, 5], {}, [[9], [5, 3, 2]]),
        ([3, 30, 2], {}, [[30], [3, 2]]),
        ([1] * 5, {"most": 2}, [[1, 1], [1, 1], [1]]),
        ([2, 4, 2, 4, 4], {"alike": True}, [[4, 4], [4], [2, 2]]),
        ([5, 1, 1, 1], {"filled": True}, [[5, 1], [1, 1]]),
        ([], {}, []),
    ],
)
def test_texts_are_packed_the_longest_first(lengths, options, expected):
    batches = packed_batches(lengths, 10, **options)
    assert lengths_of(batches, lengths) == expected
    assert sorted(number for batch in batches for number in batch) == list(range(len(lengths)))


@pytest.mark.parametrize("workers", [1, 3])
def test_each_batch_is_run_once_and_what_fails_is_raised(workers):
    batches = [[number] for number in range(20)]
    done, asked = [], []
    run_batches(done.append, batches, workers, lambda: asked.append(1))
    assert sorted(done) == batches
    assert asked

    def fail(batch):
        if batch == [7]:
            raise ValueError("seven")

    with pytest.raises(ValueError, match="seven"):
        run_batches(fail, batches, workers, lambda: None)
