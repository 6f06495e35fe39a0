"""A question that nobody waits for any more."""

from __future__ import annotations

import threading
from functools import partial

import anyio
import pytest
from anyio import from_thread

from qmd.operations.semantic_search import query
from tests.ranking.hybrid.asking import found, garage
from tests.ranking.hybrid.fakes import LONG, never


@pytest.mark.parametrize("which", ["embedder", "writer", "judge"])
def test_a_question_that_is_given_up_stops_the_model_and_leaves_no_thread(
    helped, fake, writer, judge, which
):
    garage(helped)
    found(helped, "vehicle")  # what stays while the index is open is there
    threads = set(threading.enumerate())
    at_work = []

    async def give_up():
        started = anyio.Event()

        def work(*arguments):
            at_work.append(which)
            from_thread.run_sync(started.set)
            try:
                never(arguments[-1])
            finally:
                at_work.clear()

        {"embedder": fake, "writer": writer, "judge": judge}[which].before = work
        with anyio.fail_after(LONG):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(partial(query, helped.engine, "car", expand=True, rerank=True))
                await started.wait()
                assert at_work
                tasks.cancel_scope.cancel()

    anyio.run(give_up)
    assert at_work == []
    for thread in set(threading.enumerate()) - threads:
        thread.join(LONG)
        assert not thread.is_alive()
    for each in (writer, judge):
        each.before = lambda between: None
    fake.before = lambda batch, between: None
    assert len(found(helped, "car", limit=12, expand=True, rerank=True)) == 12
