"""The door that waits and the one that is awaited: how calls end, and how programs do."""

from __future__ import annotations

import asyncio
import gc
import inspect
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import anyio
import pytest

import qmd
from qmd.storage.cancellation import Stopped
from qmd.surfaces.python import AsyncKnowledgeBase, KnowledgeBase
from qmd.surfaces.python.clients import _Call
from tests.surfaces.python.programs import FOREVER, LONG, python


class Slow:
    """Makes searches take minutes.

    Attributes:
        began: set when a statement begins.
        ended: set when it was interrupted.
    """

    def __init__(self, kb: AsyncKnowledgeBase) -> None:
        self.began = threading.Event()
        self.ended = threading.Event()
        self._engine = kb._engine
        self._engine.with_default_collections = lambda cursor, among: self._read(cursor)

    def _read(self, cursor) -> None:
        self.began.set()
        try:
            cursor.connection.execute(FOREVER).fetchall()
        finally:
            self.ended.set()


def test_both_doors_have_the_same_verbs():
    def verbs(kind):
        return {
            name: inspect.signature(verb)
            for name, verb in inspect.getmembers(kind)
            if not name.startswith("_") and callable(verb)
        }

    assert len(verbs(KnowledgeBase)) > 20
    assert verbs(AsyncKnowledgeBase).keys() == verbs(KnowledgeBase).keys()
    for name, signature in verbs(AsyncKnowledgeBase).items():
        assert verbs(KnowledgeBase)[name] == signature
        assert getattr(KnowledgeBase, name).__doc__


def test_the_blocking_door_can_be_used_inside_a_running_event_loop(kb):
    async def cell():
        return kb.search("tea")

    assert len(asyncio.run(cell())) == 2


def test_the_other_door_is_awaited(kb):
    async def work():
        with anyio.fail_after(LONG):
            async with qmd.open(kb.path) as other:
                hits = await other.search("tea")
                return [hit.file for hit in hits], (await other.status()).documents

    files, documents = anyio.run(work)
    assert files == [hit.file for hit in kb.search("tea")]
    assert documents == 3


def test_many_calls_at_once_are_all_answered(kb):
    async def work():
        async with qmd.open(kb.path) as other:
            return await asyncio.gather(*(other.search("tea") for _ in range(20)))

    assert {len(hits) for hits in asyncio.run(asyncio.wait_for(work(), LONG))} == {2}
    with ThreadPoolExecutor(8) as threads:
        found = threads.map(lambda _: len(kb.search("tea")), range(20), timeout=LONG)
        assert set(found) == {2}


def test_a_timeout_interrupts_a_search_and_the_next_is_answered(kb):
    async def work():
        async with qmd.open(kb.path) as other, asyncio.timeout(LONG):
            slow = Slow(other)
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.5):
                    await other.search("tea")
            assert slow.ended.is_set()
            del other._engine.with_default_collections
            return await other.search("tea")

    assert len(asyncio.run(work())) == 2


def test_ctrl_c_interrupts_a_blocking_search(kb, press_ctrl_c):
    slow = Slow(kb._within)

    def press():
        slow.began.wait(LONG)
        press_ctrl_c()

    threading.Thread(target=press, daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        kb.search("tea")
    assert slow.ended.wait(LONG)
    del kb._within._engine.with_default_collections
    assert len(kb.search("tea")) == 2


class InterruptedPortal:
    """A portal whose caller is interrupted before it waits for what it began.

    Args:
        begun: whether the call begins at all.
    """

    def __init__(self, provider, slow: Slow, *, begun: bool) -> None:
        self._provider, self._slow, self._begun = provider, slow, begun

    def __enter__(self):
        self._portal = self._provider.__enter__()
        return self

    def __exit__(self, *error):
        return self._provider.__exit__(*error)

    def call(self, work):
        if work.__name__ != "run":
            return self._portal.call(work)
        if self._begun:
            self._portal.start_task_soon(work)
            assert self._slow.began.wait(LONG)
        raise KeyboardInterrupt


@pytest.mark.parametrize("begun", [True, False])
def test_ctrl_c_just_before_the_wait_interrupts_the_search_too(kb, begun, monkeypatch):
    slow = Slow(kb._within)
    with monkeypatch.context() as patched:
        patched.setattr(kb, "_portal", InterruptedPortal(kb._portal, slow, begun=begun))
        with pytest.raises(KeyboardInterrupt):
            kb.search("tea")
    assert slow.ended.is_set() == begun
    del kb._within._engine.with_default_collections
    assert len(kb.search("tea")) == 2


def test_a_closed_knowledge_base_says_so(kb):
    kb.close()
    with pytest.raises(RuntimeError, match="is closed"):
        kb.search("tea")


def test_what_nobody_closes_lets_go_of_the_file_when_it_is_forgotten(kb):
    other = qmd.connect(kb.path)
    other.search("tea")
    database = other._within._engine.database
    assert database._attachment.is_there
    del other
    gc.collect()
    assert not database._attachment.is_there


def test_a_program_ends_also_if_the_index_cannot_be_closed(kb):
    code = (
        f"import qmd\n"
        f"with qmd.connect({str(kb.path)!r}) as kb:\n"
        f"    print(len(kb.search('tea')))\n"
        f"    kb._within._engine.database.close = lambda _: 1 / 0\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=LONG)
    assert done.stdout == b"2\n"
    assert b"ZeroDivisionError" in done.stderr


@pytest.mark.parametrize("entered", ["", ".__enter__()"])
def test_a_program_that_closes_nothing_ends(kb, entered):
    code = f"import qmd; kb = qmd.connect({str(kb.path)!r}){entered}; print(len(kb.search('tea')))"
    assert python(code) == "2"


def test_a_call_that_is_cancelled_before_it_begins_does_nothing():
    done = []

    async def work() -> None:
        await anyio.lowlevel.checkpoint()
        done.append(True)

    async def late() -> None:
        call = _Call(work)
        call.cancel()
        with anyio.fail_after(LONG), pytest.raises(Stopped):
            await call.run()

    anyio.run(late)
    assert done == []


def test_what_another_process_writes_is_found_at_once(kb, notes):
    (notes / "late.md").write_text("# Late\n\nOolong.\n")
    assert len(kb.search("oolong")) == 0
    python(f"import qmd; qmd.connect({str(kb.path)!r}).update()")
    assert [hit.file for hit in kb.search("oolong")] == ["notes/late.md"]


def test_a_program_that_ends_while_a_query_runs_ends_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code = f"""
import asyncio
import qmd

async def main(moment):
    kb = qmd.open("index.duckdb")
    await kb.sql("select 1")
    task = asyncio.create_task(kb.sql({FOREVER!r}, timeout=600))
    await asyncio.sleep(moment)

for moment in (0.0, 0.02, 0.05, 0.1, 0.02, 0.05):
    asyncio.run(main(moment))
print("ended")
"""
    assert python(code, HOME=str(tmp_path)) == "ended"
