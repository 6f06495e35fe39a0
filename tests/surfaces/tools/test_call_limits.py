"""Calls that take too long, are cancelled, collide with others or fail."""

from __future__ import annotations

import logging
import os
import threading
import time
from pathlib import Path

import anyio
import pytest

from qmd.errors import IndexBusy
from qmd.storage.file_lock import FileLock
from qmd.surfaces.tools.build_reply import TimedOut
from qmd.surfaces.tools.reply import Code, Reply
from tests.surfaces.tools.calling import LONG, call, text

FOREVER = "select count(*) from range(1000000) a, range(1000000) b where a.range + b.range = 7"
"""A statement that would take minutes."""


def test_a_call_that_takes_too_long_is_ended_and_told(toolbox, monkeypatch):
    monkeypatch.setattr("qmd.surfaces.tools.dispatch.SOON", 0.3)
    ended = []
    slow_reads(toolbox, monkeypatch, ended)
    reply = call(toolbox, "search", query="tea")
    assert reply == Reply(("Timed out after 0 s.",), None, Code.TIMEOUT)
    assert ended == [True]


def test_a_cancelled_call_stops_its_statement_before_it_ends(toolbox, monkeypatch):
    ended = []
    began = slow_reads(toolbox, monkeypatch, ended)

    async def work():
        with anyio.fail_after(LONG):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(toolbox.call, "search", {"query": "tea"})
                await anyio.to_thread.run_sync(began.wait)
                tasks.cancel_scope.cancel()
            assert ended == [True]
            monkeypatch.undo()
            return await toolbox.call("search", {"query": "boil"})

    assert anyio.run(work).error is None


def slow_reads(toolbox, monkeypatch, ended):
    """Lets a search run a statement that would take minutes.

    Args:
        ended: gets True when the statement was interrupted.

    Returns:
        An event that is set when it begins.
    """
    began = threading.Event()

    def forever(cursor):
        began.set()
        try:
            cursor.connection.execute(FOREVER).fetchall()
        except BaseException:
            ended.append(True)
            raise

    monkeypatch.setattr(
        toolbox.engine, "with_default_collections", lambda cursor, among: forever(cursor)
    )
    return began


def test_a_call_that_waits_for_the_file_can_be_cancelled(toolbox):
    call(toolbox, "status")
    toolbox.engine.close()
    gate = FileLock(toolbox.engine.place.database)
    gate.shut()
    try:

        async def work():
            with anyio.fail_after(LONG):
                with anyio.move_on_after(0.2):
                    await toolbox.call("search", {"query": "tea"})
                return True

        assert anyio.run(work)
    finally:
        gate.open()
    assert call(toolbox, "search", query="tea").error is None


def test_an_index_that_is_busy_names_who_holds_it(toolbox, monkeypatch):
    def busy(*given, **named):
        raise IndexBusy(Path("index.duckdb"), holder="process 7", waited=8)

    monkeypatch.setattr(toolbox.engine, "with_default_collections", busy)
    reply = call(toolbox, "search", query="tea")
    assert reply.error is Code.DATABASE_BUSY
    assert "by process 7" in text(reply)


def test_a_fault_of_ours_is_logged_and_not_shown(toolbox, monkeypatch, caplog):
    monkeypatch.setattr(toolbox.engine, "with_default_collections", lambda *_: 1 / 0)
    with caplog.at_level(logging.ERROR):
        reply = call(toolbox, "search", query="tea")
    assert reply == Reply(("Internal error in search. See the server log.",), None, Code.INTERNAL)
    assert "ZeroDivisionError" in caplog.text


def test_many_calls_at_once_are_all_answered(toolbox):
    async def work():
        replies = []

        async def one(n):
            replies.append(await toolbox.call("search", {"query": "tea", "limit": n + 1}))

        with anyio.fail_after(LONG):
            async with anyio.create_task_group() as tasks:
                for n in range(20):
                    tasks.start_soon(one, n)
            await toolbox.drain(1)
        return replies

    assert all(reply.error is None for reply in anyio.run(work))


def test_draining_waits_for_what_is_under_way_but_not_for_ever(toolbox, monkeypatch):
    go_on = threading.Event()
    original = toolbox.engine.with_default_collections

    def slow(*given, **named):
        assert go_on.wait(LONG)
        return original(*given, **named)

    monkeypatch.setattr(toolbox.engine, "with_default_collections", slow)

    async def work():
        replies = []

        async def one():
            replies.append(await toolbox.call("search", {"query": "tea"}))

        with anyio.fail_after(LONG):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(one)
                await anyio.wait_all_tasks_blocked()
                await toolbox.drain(0.05)
                assert not replies
                go_on.set()
                await toolbox.drain(LONG)
                assert len(replies) == 1

    anyio.run(work)


def test_embedding_texts_takes_as_long_as_a_call_may(faked, fake, toolbox, monkeypatch):
    monkeypatch.setattr("qmd.surfaces.tools.dispatch.LATER", 0.2)

    def until_stopped(batch, between):
        while True:
            between()

    fake.before = until_stopped
    with pytest.raises(TimedOut, match=r"Timed out after 0 s\."):
        anyio.run(toolbox.embed_texts, ["tea"])


def test_what_was_written_as_the_time_ran_out_is_told_as_written(toolbox, monkeypatch):
    monkeypatch.setattr("qmd.surfaces.tools.dispatch.SOON", 0.2)
    database = toolbox.engine.database
    original = database.write

    def slow(work):
        def slower(cursor):
            time.sleep(0.5)
            return work(cursor)

        return original(slower)

    monkeypatch.setattr(database, "write", slow)
    told = {"title": "Tea", "problem_description": "Cold.", "solution": "Brew."}
    assert call(toolbox, "submit_experience", **told).error is None


def test_a_write_that_nobody_waits_for_any_more_does_not_begin(toolbox, monkeypatch):
    monkeypatch.setattr("qmd.surfaces.tools.dispatch.SOON", 0.3)
    call(toolbox, "status")
    began, go_on = threading.Event(), threading.Event()

    def reading(cursor):
        began.set()
        assert go_on.wait(LONG)

    reader = threading.Thread(target=toolbox.engine.read, args=(reading,))
    reader.start()
    assert began.wait(LONG)
    told = {"title": "Tea", "problem_description": "Cold.", "solution": "Brew."}
    reply = call(toolbox, "submit_experience", **told)
    go_on.set()
    reader.join(LONG)
    assert reply.error is Code.TIMEOUT
    assert call(toolbox, "query_experiences", keywords="tea").structured["data"]["total"] == 0


def test_a_cancelled_search_by_meaning_leaves_the_model_to_the_next(faked, fake, toolbox):
    faked.embed()
    began = threading.Event()

    def until_stopped(batch, between):
        began.set()
        end = time.monotonic() + 2 * LONG
        while time.monotonic() < end:
            between()

    async def work():
        with anyio.fail_after(LONG):
            async with anyio.create_task_group() as tasks:
                fake.before = until_stopped
                tasks.start_soon(toolbox.call, "vsearch", {"query": "tea"})
                await anyio.to_thread.run_sync(began.wait)
                tasks.cancel_scope.cancel()
            fake.before = lambda batch, between: None
            return await toolbox.call("vsearch", {"query": "tea"})

    assert anyio.run(work).error is None


def test_calls_that_waited_for_the_index_in_turn_are_all_told_who_holds_it(toolbox, monkeypatch):
    call(toolbox, "status")
    toolbox.engine.close()
    monkeypatch.setattr("qmd.surfaces.tools.dispatch.SOON", 1.0)
    for each in (toolbox.engine.database, toolbox.engine.database._gate):
        monkeypatch.setattr(each, "_patience", 0.7)
    holder = FileLock(toolbox.engine.place.database)
    holder.shut()
    told = {"title": "Tea", "problem_description": "Cold.", "solution": "Brew."}
    replies = []
    looks = []

    async def one(name, given):
        replies.append(await toolbox.call(name, given))

    async def look():
        with pytest.raises(IndexBusy, match="has been held for"):
            await toolbox.look(lambda index: index.read(lambda cursor: None))
        looks.append(True)

    async def work():
        async with anyio.create_task_group() as tasks:
            for _ in range(4):
                tasks.start_soon(one, "submit_experience", told)
                tasks.start_soon(one, "search", {"query": "tea"})
                tasks.start_soon(look)

    try:
        anyio.run(work)
    finally:
        holder.open()
    assert {reply.error for reply in replies} == {Code.DATABASE_BUSY}
    assert (len(replies), len(looks)) == (8, 4)
    for reply in replies:
        assert "has been held for" in reply.content[0]
        assert f", process {os.getpid()} (this process)." in reply.content[0]
    assert call(toolbox, "submit_experience", **told).error is None
    assert toolbox.engine.database.busy_for(LONG) is None
