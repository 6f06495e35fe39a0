"""Batches of texts of any length, several of which run at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from itertools import islice

from qmd.models.protocols import Between

POLL = 0.05
"""Seconds between two checks for cancellation."""


def packed_batches(
    lengths: Sequence[int],
    budget: int,
    *,
    most: int | None = None,
    alike: bool = False,
    filled: bool = False,
) -> list[list[int]]:
    """Pack texts into batches of at most `budget` tokens, the longest first.

    A text of more tokens is a batch of its own.

    Args:
        lengths: tokens of each text.
        most: texts of a batch.
        alike: only texts of one length are together.
        filled: each text of a batch takes as many tokens as its longest.

    Returns:
        The numbers of the texts of each batch.
    """
    batches: list[list[int]] = []
    size = longest = 0
    for number in sorted(range(len(lengths)), key=lambda n: -lengths[n]):
        length = longest if filled and batches else lengths[number]
        if (
            not batches
            or size + length > budget
            or len(batches[-1]) == most
            or (alike and lengths[number] != longest)
        ):
            batches.append([])
            size, longest = 0, lengths[number]
            length = longest
        batches[-1].append(number)
        size += length
    return batches


def run_batches(
    run: Callable[[list[int]], None], batches: list[list[int]], workers: int, between: Between
) -> None:
    """Run each batch, several at once, with a cancellation check between batches."""
    if workers == 1 or len(batches) == 1:
        for batch in batches:
            between()
            run(batch)
        return
    waiting: Iterator[list[int]] = iter(batches)
    with ThreadPoolExecutor(workers, thread_name_prefix="qmd-model") as pool:
        running = {pool.submit(run, batch) for batch in islice(waiting, workers)}
        while running:
            done, running = wait(running, POLL, return_when="FIRST_COMPLETED")
            between()
            for future in done:
                future.result()
                running |= {pool.submit(run, batch) for batch in islice(waiting, 1)}
